/* SPDX-License-Identifier: Apache-2.0 */
/* banned - unsafe functions that no code may use.  The build includes this before every file. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef sprintf	/* with clang, glibc's checks define it as a macro */
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol gets
