/* SPDX-License-Identifier: Apache-2.0 */
/* ring-size - how large rings should be where nobody has said it. */
#pragma once
#include "sample/wants.h"

/*
 * Bytes of data per CPU: a quarter second of samples at the rate of EVENTS, but
 * not less than what the kernel locks for anyone, nor more than it locks for us.
 */
size_t ring_size_default(const struct event_list *events, const struct wants *wants);
