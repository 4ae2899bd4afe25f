/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded - mappings of libraries that are stored in an APK, Android's archive.  The kernel names
 * the archive and an offset in it.  simpleperf names the library, as "base.apk!/lib/x86_64/x.so",
 * with an offset in that; so do we, if the archive is here.
 */
#pragma once
#include "locate/locate.h"

#define EMBEDDED_MOST (256ULL << 20)	/* bytes that archives may cost, and */
enum { EMBEDDED_EACH = 16 << 10 };	/* what each mapping adds to that */

/* Zero-initialised except WHERE. */
struct locate_embedded {
	const struct locate_options *where;
	uint64_t spent;			/* bytes of archives that were read; see EMBEDDED_MOST */
	char path[2 * PATH_MAX];	/* of the last library */
};

/*
 * If M maps a library that is stored in an APK, make M a mapping of the library: set its path to
 * "APK!/LIBRARY", and its offset to the offset in the library.  The path is valid until the next
 * call.  IS_LOCAL: the stream was recorded on this machine.
 */
void locate_embedded(struct locate_embedded *e, struct mmap_record *m, bool is_local);
