/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Makefile defines PMU_VERSION and the like for this file only.  Versions of libraries are
 * those of the headers: for a static tool, the versions of what is in it.
 */
#include "base/version.h"

#include <event2/event.h>
#include <libdeflate.h>
#include <lzma.h>
#include <protobuf-c/protobuf-c.h>
#include <zlib.h>
#include <zstd.h>

#ifndef PMU_VERSION
#define PMU_VERSION "0.0"
#define PMU_COMMIT "unknown"
#define PMU_LIBIBERTY "libiberty"
#define PMU_LIBPFM "libpfm"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#ifdef __GLIBC__
#define LIBC "glibc " TEXT(__GLIBC__) "." TEXT(__GLIBC_MINOR__)
#else
#define LIBC "a C library without a version"
#endif

const char version_text[] = PMU_VERSION;

/* The v is for lintian, which takes "deflate 1.14" for a copy of zlib. */
const char version_details[] =
	"commit: " PMU_COMMIT "\n"
	"compiler: " COMPILER "\n"
	"libraries: " LIBC ", libdeflate v" LIBDEFLATE_VERSION_STRING ", libevent " LIBEVENT_VERSION
	", " PMU_LIBIBERTY ", liblzma " LZMA_VERSION_STRING ", " PMU_LIBPFM
	", libprotobuf-c " PROTOBUF_C_VERSION ", zlib " ZLIB_VERSION ", zstd " ZSTD_VERSION_STRING
	"\n";
