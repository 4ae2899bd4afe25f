/* SPDX-License-Identifier: Apache-2.0 */
/* object-name - what rows and boxes call an object file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Write FILE without directories and brackets to NAME, or with its brackets if BRACKETS; "unknown"
 * if it is empty.
 */
void object_name(const char *file, bool brackets, char *name, size_t size);

/*
 * Write what all addresses of an object that have no function are called, such as
 * "[libfoo.so: 6,570 addresses]", to NAME.  OBJECT: from object_name(), without brackets.
 */
void object_name_addresses(const char *object, uint64_t addresses, char *name, size_t size);

/* Return whether NAME is what object_name_addresses() writes for OBJECT. */
bool object_name_is_of(const char *name, const char *object);
