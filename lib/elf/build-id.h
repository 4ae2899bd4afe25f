/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build-id - the GNU build ID of a file or of notes, read while the object is still there;
 * and Go's own, a text: Go's linker writes no other before Go 1.24.
 */
#pragma once
#include "record/record.h"

/* Bytes (1..20) of the build ID in the ELF notes NOTES, stored in ID; 0: none. */
size_t build_id_in_notes(struct cursor notes, uint8_t id[BUILD_ID_MAX]);

/* The same from the ELF file open at FD, which is positioned anywhere and stays open. */
size_t build_id_of_file(int fd, uint8_t id[BUILD_ID_MAX]);

/* The same from a file that holds just notes, as /sys/kernel/notes. */
size_t build_id_of_notes_file(const char *path, uint8_t id[BUILD_ID_MAX]);

/* Bytes of Go's build ID in NOTES, stored in ID with a NUL; 0: none. */
size_t go_build_id_in_notes(struct cursor notes, uint8_t id[GO_BUILD_ID_MAX]);

/* The same from the ELF file open at FD. */
size_t go_build_id_of_file(int fd, uint8_t id[GO_BUILD_ID_MAX]);
