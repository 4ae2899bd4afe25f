/* SPDX-License-Identifier: Apache-2.0 */
/* hypervisor - whether this machine is virtual, as far as its CPU or its firmware says. */
#pragma once

enum { HYPERVISOR_SIZE = 40 };

/*
 * Return "real", "virtual (KVM)" or the like, or "unknown": a constant, or TEXT.  It is made of
 * words of our own: the firmware's text, which may name an owner, is only compared.
 */
const char *hypervisor_describe(char text[HYPERVISOR_SIZE]);
