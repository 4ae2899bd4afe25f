/* SPDX-License-Identifier: Apache-2.0 */
/* jvm-attach - one request by HotSpot's attach protocol, in a process of its own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jvm_request {
	pid_t pid;		/* the Java virtual machine */
	pid_t own_id;		/* its id in its own PID namespace */
	int pidfd;		/* of it */
	int tmp;		/* its /tmp (O_PATH) */
	uid_t user;		/* its effective user, whose rights the request has */
	gid_t group;
	const char *forbidden;	/* why no signal may be sent; NULL: it may */
	uint64_t deadline;	/* monotonic, in ns */
};

enum jvm_outcome {
	JVM_NOTHING,		/* no outcome: the process that asked has died */
	JVM_ANSWERED,		/* it says that it has done what it was asked for */
	JVM_ENDED,
	JVM_FOREIGN_SOCKET,	/* the socket is not the process's */
	JVM_FORBIDDEN,		/* it does not listen, and request.forbidden */
	JVM_STOPPED,		/* it does not listen, and could not answer a signal */
	JVM_NOT_CAUGHT,		/* it does not listen, and the signal would kill it */
	JVM_NO_SIGNAL,		/* the signal could not be sent, by ERROR */
	JVM_NO_FILE,		/* its /tmp cannot be written to, by ERROR */
	JVM_NO_RIGHTS,		/* no change to its user, by ERROR */
	JVM_SILENT,		/* no answer before the deadline */
	JVM_CLOSED,		/* it closed the connection without an answer */
	JVM_REFUSED,		/* its answer, in TEXT, is an error */
};

struct jvm_answer {
	enum jvm_outcome outcome;
	int error;		/* errno */
	char text[120];		/* first line of an answer that is an error, printable */
};

/*
 * Ask the Java virtual machine of Q to write its map, and set *A, which is zero.  This changes the
 * user and the working directory of the calling process.
 */
void jvm_attach(const struct jvm_request *q, struct jvm_answer *a);
