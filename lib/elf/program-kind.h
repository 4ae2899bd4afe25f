/* SPDX-License-Identifier: Apache-2.0 */
/* program-kind - what a program's file says about the frame pointers of its code. */
#pragma once

enum program_kind {
	PROGRAM_UNKNOWN,	/* the file is missing or may not be read */
	PROGRAM_32_BITS,
	PROGRAM_GO,		/* all code is Go's: compiled code keeps frame pointers */
	PROGRAM_GO_AND_C,	/* a Go program that may load code in C */
	PROGRAM_OTHER,		/* also a script */
};

/* Return the kind of the program in the file FD, which is closed in any case; -1: unknown. */
enum program_kind program_kind(int fd);

/* Open the program NAME of a command, as a shell finds it.  Return its descriptor, or -1. */
int program_open_command(const char *name);

/* Open the program that process PID runs.  Return its descriptor, or -1. */
int program_open_process(int pid);
