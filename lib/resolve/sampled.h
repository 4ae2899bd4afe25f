/* SPDX-License-Identifier: Apache-2.0 */
/* sampled - what decides which code the addresses of a sample mean, besides the records so far. */
#pragma once
#include "locate/locate.h"
#include "stream/reader.h"

struct sampled {
	const struct stream_reader *in;	/* the stream that has the sample */
	pid_t pid;
	uint64_t time;		/* of the sample, in the stream's clock; 0: not recorded */
	uint64_t jit_time;	/* the same in jitdump's clock; JIT_LATEST: unknown */
};

/* Return whether IN was recorded on this machine with the kernel release that runs now. */
static inline bool is_recorded_here(const struct stream_reader *in)
{
	return locate_is_local(stream_origin(in));
}

/* The same, but false if WHERE forbids to ask this machine. */
static inline bool may_ask_here(const struct locate_options *where, const struct stream_reader *in)
{
	return locate_may_ask(where, stream_origin(in));
}
