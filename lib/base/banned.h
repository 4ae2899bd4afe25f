/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banned - unsafe functions that no code may use, and machines for which pmukit is not built.  The
 * build includes this before every file.
 */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __SIZEOF_POINTER__ != 8
#error "pmukit does not run on 32-bit machines: addresses in recordings have 64 bits"
#endif

#undef sprintf	/* with clang, glibc's checks define it as a macro */
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol gets
