/* SPDX-License-Identifier: Apache-2.0 */
#include "target/jvm.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "target/jvm-attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_NS 10000000000ULL
#define LOOK_NS 2000000		/* between looks whether the child has ended */

static const char only_its_user[] = "only its own user and root may ask";

enum jvm_kind { JVM_KIND_NONE, JVM_KIND_HOTSPOT, JVM_KIND_OPENJ9, JVM_KIND_HIDDEN };

/* Return whose code process PID has mapped.  OpenJ9 has a libjvm.so, too, that starts its own. */
static enum jvm_kind kind_of(pid_t pid)
{
	struct proc_maps maps = proc_maps_open(pid);
	enum jvm_kind kind = maps.file || errno != EACCES ? JVM_KIND_NONE : JVM_KIND_HIDDEN;
	struct proc_mapping m;

	while (kind != JVM_KIND_OPENJ9 && proc_maps_next(&maps, &m)) {
		const char *slash = strrchr(m.path, '/'), *name = slash ? slash + 1 : m.path;
		if (!(m.prot & PROT_EXEC))
			continue;
		if (!strncmp(name, "libj9vm", strlen("libj9vm")))
			kind = JVM_KIND_OPENJ9;
		else if (!strcmp(name, "libjvm.so") || !strcmp(name, "libjvm.so (deleted)"))
			kind = JVM_KIND_HOTSPOT;
	}
	proc_maps_close(&maps);
	return kind;
}

/* Return why OPTIONS, some of Java's, forbid to attach; NULL: they do not. */
static const char *forbidden_by(const char *options, bool may_have_files)
{
	if (strstr(options, "+DisableAttachMechanism"))
		return "-XX:+DisableAttachMechanism forbids it";
	if (strstr(options, "-XX:Flags=") || strstr(options, "-XX:VMOptionsFile=") ||
	    (may_have_files && (*options == '@' || strstr(options, " @"))))
		return "some of its options are in a file, and may forbid it; use jcmd";
	return NULL;
}

/* The same of WORD of the environment. */
static const char *forbidden_by_variable(const char *word)
{
	static const char *const names[] = {
		"JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS="
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return forbidden_by(word + strlen(names[i]), *names[i] == 'J');
	return NULL;
}

/* Return why no signal may be sent to process PID, by the options that it was started with. */
static const char *forbidden(pid_t pid)
{
	const char *why = NULL;
	size_t size;

	for (int environment = 0; environment < 2 && !why; environment++) {
		char *words = proc_read_words(pid, environment ? "environ" : "cmdline", &size);
		if (!words || (!environment && size == 0))
			why = "its options cannot be read";
		for (char *at = words; at && at < words + size && !why; at += strlen(at) + 1)
			why = environment ? forbidden_by_variable(at) : forbidden_by(at, true);
		free(words);
	}
	return why;
}

/* Run the request in a child: it may get other rights, and must end in time.  STOP may be NULL. */
static void ask_apart(const struct jvm_request *q, const volatile sig_atomic_t *stop,
		      struct jvm_answer *a)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	struct jvm_answer *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return;
	pid_t child = fork();
	if (child == 0) {
		jvm_attach(q, shared);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, WNOHANG) == 0) {
		if (monotonic_ns() > q->deadline + ANSWER_NS / 10 || (stop && *stop))
			kill(child, SIGKILL);
		nanosleep(&pause, NULL);
	}
	*a = *shared;
	munmap(shared, sizeof(*shared));
}

/* Return why there is no map, for the end of a sentence; NULL: there is one. */
static const char *explain(const struct jvm_request *q, const struct jvm_answer *a,
			   char text[256])
{
	int id = (int)q->own_id;

	*text = '\0';
	switch (a->outcome) {
	case JVM_NOTHING:
		return "the request was interrupted";
	case JVM_ENDED:
		return "the process has ended";
	case JVM_FORBIDDEN:
		return q->forbidden;
	case JVM_STOPPED:
		return "the process is stopped";
	case JVM_NOT_CAUGHT:
		return "it does not catch SIGQUIT: it is still starting, or was started with -Xrs";
	case JVM_SILENT:
		return "it did not answer within 10 seconds";
	case JVM_CLOSED:
		return "it closed the connection without an answer";
	case JVM_FOREIGN_SOCKET:
		snprintf(text, 256, "its /tmp/.java_pid%d is not its own socket", id);
		break;
	case JVM_NO_FILE:
		snprintf(text, 256, "cannot create /tmp/.attach_pid%d there: %s", id,
			 strerror(a->error));
		break;
	case JVM_NO_SIGNAL:
		snprintf(text, 256, "cannot send a signal to it: %s", strerror(a->error));
		break;
	case JVM_NO_RIGHTS:
		snprintf(text, 256, "cannot act as its user %u: %s", q->user, strerror(a->error));
		break;
	case JVM_REFUSED:
		snprintf(text, 256, "it has no such command, as before Java 17: '%s'", a->text);
		break;
	case JVM_ANSWERED:
		break;
	}
	return *text ? text : NULL;
}

/* Return whether the process of Q has written its map. */
static bool has_map(const struct jvm_request *q)
{
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "perf-%d.map", (int)q->own_id);
	return fstatat(q->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == q->user;
}

/* Ask process Q->pid.  Return why there is no map; NULL: there is one. */
static const char *ask(struct jvm_request *q, bool may_signal, const volatile sig_atomic_t *stop,
		       char text[256])
{
	struct jvm_answer a = { .outcome = JVM_NOTHING };

	if (!proc_effective_user(q->pid, &q->user) || !proc_effective_group(q->pid, &q->group))
		return "the process has ended";
	if (geteuid() != 0 && geteuid() != q->user)
		return only_its_user;
	if (q->tmp < 0) {
		snprintf(text, 256, "cannot open its /tmp: %s", strerror(errno));
		return text;
	}
	q->own_id = proc_own_id(q->pid);
	q->forbidden = may_signal ? forbidden(q->pid) : "it does not listen any more";
	q->deadline = monotonic_ns() + ANSWER_NS;
	ask_apart(q, stop, &a);
	const char *why = explain(q, &a, text);
	return why || has_map(q) ? why : "it answered, but wrote no map into its /tmp";
}

/* Ask process PID, which runs HotSpot.  Return why there is no map; NULL: there is one. */
static const char *ask_process(pid_t pid, bool may_signal, const volatile sig_atomic_t *stop,
			       char text[256])
{
	struct jvm_request q = { .pid = pid, .pidfd = -1 };

	q.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (q.pidfd < 0)
		return errno == ENOSYS ? "the kernel is older than Linux 5.3"
				       : "the process has ended";
	/* The process was looked at before: is it still the same one? */
	bool is_same = kind_of(pid) == JVM_KIND_HOTSPOT;
	q.tmp = proc_open_tmp(pid);
	const char *why = is_same ? ask(&q, may_signal, stop, text) : "the process has ended";
	descriptor_close(q.tmp);
	descriptor_close(q.pidfd);
	return why;
}

bool jvm_ask(const struct target *target, const volatile sig_atomic_t *stop,
	     struct report *report)
{
	bool good = true, any = false;
	char text[256];

	for (size_t i = 0; i < target->pids; i++) {
		pid_t pid = target->pid[i];
		enum jvm_kind kind = kind_of(pid);
		if (kind == JVM_KIND_NONE)
			continue;
		any = true;
		const char *why = kind == JVM_KIND_HIDDEN ? only_its_user
			: kind == JVM_KIND_OPENJ9 ? "OpenJ9 does not write such maps"
			: ask_process(pid, true, stop, text);
		if (why)
			report_error(report, "no map from Java in process %d: %s", (int)pid, why);
		good &= !why;
	}
	if (!any)
		report_error(report, "--jit-map: no process of the target runs Java "
			     "(none has mapped libjvm.so)");
	return any && good;
}

void jvm_ask_again(const struct target *target, struct report *report)
{
	char text[256];

	for (size_t i = 0; i < target->pids; i++) {
		pid_t pid = target->pid[i];
		const char *why = kind_of(pid) == JVM_KIND_HOTSPOT
			? ask_process(pid, false, NULL, text) : NULL;
		if (why && kind_of(pid) == JVM_KIND_HOTSPOT)
			report_note(report, "code that Java in process %d compiled after the start "
				    "of the recording has no names: %s", (int)pid, why);
	}
}
