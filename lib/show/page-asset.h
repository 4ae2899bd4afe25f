/* SPDX-License-Identifier: Apache-2.0 */
/* page-asset - a script or style of our pages: a file of lib/, which the build embeds. */
#pragma once
#include <stddef.h>

struct page_asset {
	const char *text;
	size_t size;
	const char *hash;	/* SHA-256, in base64 */
};
