/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do if the code of a JIT compiler has no names.
 *
 * A process that was there before the recording does not end with it, so the advice comes at once:
 * its names may still come while the recording runs. A process that the recording started may have
 * been told to write its names at its end. So the advice waits for that end, or for the stream's.
 */
#include "linux/proc.h"
#include "resolve/jits.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 20 };	/* samples: some code belongs to the compiler itself, and never has names */

/* Compilers that write names of their code only on request. */
static const struct compiler {
	const char *file;	/* base name of the compiler's program or library */
	const char *program;
	const char *option;	/* part of the option or variable that asks for a map */
	const char *advice;
} compilers[] = {
	{ "libjvm.so", "Java", "+DumpPerfMapAtExit", "start it with "
	  "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (Java 17)" },
	{ "node", "Node.js", "--perf-", "start it with --perf-basic-prof" },
	{ "libcoreclr.so", ".NET", "PerfMapEnabled=", "start it with DOTNET_PerfMapEnabled=1" },
};
enum { JAVA, COMPILERS = sizeof(compilers) / sizeof(*compilers) };

/* Return the index of the compiler that process PID has mapped; COMPILERS: none is known. */
static size_t compiler_of(struct jits *j, pid_t pid)
{
	const struct space *space = spaces_find(j->spaces, pid);

	for (const struct mapping *m = mappings_from(&space->code, 0); m;
	     m = mappings_from(&space->code, m->end)) {
		const char *path = j->spaces->objects.object[m->object].path;
		const char *slash = strrchr(path, '/');
		for (size_t k = 0; slash && k < COMPILERS; k++)
			if (!strcmp(slash + 1, compilers[k].file))
				return k;
	}
	return COMPILERS;
}

/* Return whether the arguments or the environment of process PID have OPTION. */
static bool has_option(pid_t pid, const char *option)
{
	static const char *const files[] = { "cmdline", "environ" };
	bool found = false;
	size_t size;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !found; i++) {
		char *words = proc_read_words(pid, files[i], &size);
		for (char *at = words; at && at < words + size && !found; at += strlen(at) + 1)
			found = strstr(at, option);
		free(words);
	}
	return found;
}

void jits_note_nameless(struct jits *j, pid_t pid)
{
	struct jit_process *p = jits_process(j, pid);

	if (p)
		p->is_nameless = true;
}

/* Advise, once for each compiler.  IS_ALIVE: the process runs. */
static void advise(struct jits *j, const struct jit_process *p, bool is_alive)
{
	size_t compiler = p->compiler;
	char text[100];

	if (compiler >= COMPILERS || j->advised >> compiler & 1)
		return;
	j->advised |= 1U << compiler;
	const char *advice = compilers[compiler].advice;
	if (p->was_asked && !is_alive) {
		snprintf(text, sizeof(text), "it ended before it wrote /tmp/perf-%d.map", p->pid);
		advice = text;
	} else if (compiler == JAVA && is_alive) {
		snprintf(text, sizeof(text), "type 'jcmd %d Compiler.perfmap' (Java 17), or record "
			 "with --jit-map", p->pid);
		advice = text;
	}
	report_note(j->report, "no names of code that %s compiled in process %d: %s",
		    compilers[compiler].program, p->pid, advice);
}

bool jits_lack_pointers(struct jits *j, pid_t pid)
{
	struct jit_process *p = jits_process(j, pid);

	if (!p)
		return false;
	if (p->java == JAVA_UNKNOWN)
		p->java = compiler_of(j, pid) != JAVA ? JAVA_NOT
			: has_option(pid, "-XX:+PreserveFramePointer") ? JAVA_KEEPS
			: JAVA_LACKS;
	return p->java == JAVA_LACKS;
}

/* Return whether P runs.  It may still be in /proc when its end is recorded. */
static bool is_alive(const struct jits *j, const struct stream_reader *in,
		     const struct jit_process *p)
{
	uid_t user;

	return !p->ended && !j->sysroot && is_recorded_here(in) &&
	       proc_owner(p->pid, &user) && !proc_is_zombie(p->pid);
}

void jits_advise(struct jits *j, const struct stream_reader *in, pid_t pid)
{
	struct jit_process *p = jits_process(j, pid);

	if (!p || !p->is_nameless || ++p->unnamed != MANY)
		return;
	p->compiler = compiler_of(j, pid);
	bool lives = is_alive(j, in, p);
	if (lives && p->compiler < COMPILERS)
		p->was_asked = has_option(pid, compilers[p->compiler].option);
	if (lives && !spaces_find(j->spaces, pid)->is_new)
		advise(j, p, true);
}

void jits_advise_at_end(struct jits *j, const struct stream_reader *in,
				const struct jit_process *p)
{
	pid_t pid = p->pid;

	if (p->unnamed < MANY)
		return;
	struct jitmap *map = jits_map(j, in, pid);	/* this may move j->process */
	p = jits_process(j, pid);
	if (!map || jitmap_is_empty(map))
		advise(j, p, is_alive(j, in, p));
}

void jits_advise_python(struct jits *j, const struct stream_reader *in, pid_t pid)
{
	struct jitmap *map = jits_map(j, in, pid);

	if (map && jitmap_is_empty(map))
		report_note(j->report, "process %d runs Python, whose functions have no names, "
			    "only its C code has: start it with -X perf (Python 3.12 or later)",
			    pid);
}
