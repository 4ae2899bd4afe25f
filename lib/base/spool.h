/* SPDX-License-Identifier: Apache-2.0 */
/* spool - a file without a name, for data that must wait. */
#pragma once

/*
 * Open a file without a name for reading and writing: in $TMPDIR or /tmp, to which *DIRECTORY is
 * set, or else in memory.  Return its descriptor, or -1 (errno is set).
 */
int spool_open(const char **directory);
