/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build-id - reads the GNU build ID, or Go's build ID, from an ELF file.
 *
 * Go's build ID is text.  Before version 1.24, Go's linker writes no GNU build ID.
 */
#pragma once
#include "record/record.h"

/*
 * Store the GNU build ID of the ELF file FD; return its size in bytes (1..20), or 0.  Keeps FD's
 * position.
 */
size_t build_id_of_file(int fd, uint8_t id[BUILD_ID_MAX]);

/*
 * Store the GNU build ID of the MODULE that is loaded, or if it is NULL, of the running kernel;
 * return its size, or 0.
 */
size_t build_id_of_kernel(const char *module, uint8_t id[BUILD_ID_MAX]);

/*
 * Store Go's build ID of the ELF file FD, with a NUL; return its length without the NUL, or 0.
 */
size_t build_id_go_in_file(int fd, uint8_t id[GO_BUILD_ID_MAX]);
