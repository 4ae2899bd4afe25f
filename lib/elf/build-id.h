/* SPDX-License-Identifier: Apache-2.0 */
/* build-id - the GNU build ID of a file or of notes, read while the object is still there. */
#pragma once
#include "record/record.h"

/* Bytes (1..20) of the build ID in the ELF notes NOTES, stored in ID; 0: none. */
size_t build_id_in_notes(struct cursor notes, uint8_t id[BUILD_ID_MAX]);

/* The same from the ELF file open at FD, which is positioned anywhere and stays open. */
size_t build_id_of_file(int fd, uint8_t id[BUILD_ID_MAX]);

/* The same from a file that holds just notes, as /sys/kernel/notes. */
size_t build_id_of_notes_file(const char *path, uint8_t id[BUILD_ID_MAX]);
