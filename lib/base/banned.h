/* SPDX-License-Identifier: Apache-2.0 */
/* banned - functions with no place here; included by the compiler, before every file. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef sprintf	/* glibc's checks make it a macro, for clang */
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol gets
