/* SPDX-License-Identifier: Apache-2.0 */
/* ring-size - the default size of rings. */
#pragma once
#include "counters/settings.h"

/*
 * Return the data bytes per CPU that hold a quarter of a second of samples of EVENTS: at least 512
 * KiB, at most as much as the kernel lets us lock, and for root 16 MiB; to record waits 64 MiB, if
 * that is not more than 256 MiB for all CPUs.
 */
size_t ring_size_default(const struct event_list *events, const struct sample_settings *settings);

/* Return the size of the largest ring per CPU that this user may usually lock, in bytes. */
size_t ring_size_most(void);
