/* SPDX-License-Identifier: Apache-2.0 */
#include "library/guard.h"
#include "base/arena.h"
#include "library/handle.h"

__thread struct guard *current_guard;

void out_of_memory(void)
{
	/* whatever takes memory works for a handle: guarded() */
	if (!current_guard)
		__builtin_trap();
	longjmp(current_guard->back, 1);
}

/* Run WORK.  No variable of this function changes, so a jump to it loses none. */
static int run(struct guard *guard, int (*work)(void *arguments), void *arguments)
{
	if (setjmp(guard->back))
		return PMUKIT_NO_MEMORY;
	return work(arguments);
}

/* What STATUS means, if nobody has reported more. */
static const char *meaning(int status)
{
	switch (status) {
	case PMUKIT_NO_MEMORY:
		return "out of memory";
	case PMUKIT_WRONG_ARGUMENT:
		return "an argument is wrong";
	case PMUKIT_SYSTEM:
		return "the system refused something";
	case PMUKIT_DAMAGED:
		return "the input is damaged";
	case PMUKIT_NOT_FOUND:
		return "not found";
	case PMUKIT_NO_RIGHTS:
		return "permission denied";
	case PMUKIT_NO_SAMPLER:
		return "no program pmu-sample was found";
	case PMUKIT_SAMPLER_FAILED:
		return "pmu-sample failed";
	case PMUKIT_STOPPED:
		return "a callback asked to end";
	default:
		return "failed";
	}
}

/* Return whether H's first report says that there are too many descriptors. */
static bool lacks_descriptors(const struct handle *h)
{
	return h->subject == REPORT_FAILURE && (h->error == EMFILE || h->error == ENFILE);
}

/* Return 0 if H can work, or fail. */
static int check(const struct handle *h, enum handle_kind kind)
{
	if (!h)
		return fail(PMUKIT_WRONG_ARGUMENT, "the handle is NULL");
	if (h->kind != kind)
		return fail(PMUKIT_WRONG_ARGUMENT, "the handle is of another kind, or was closed");
	if (!*h->mark)
		return fail(PMUKIT_OTHER_PROCESS,
			    "the handle was made by the parent of this process, before fork()");
	if (h->is_busy)
		return fail(PMUKIT_WRONG_ARGUMENT, "the handle is in use by another call");
	if (h->is_broken)
		return fail(PMUKIT_BROKEN, "the handle failed before: it can only be closed");
	return 0;
}

/*
 * Begin a call for H.  The program's locale has no influence on the library's code, which reads and
 * writes numbers.  The locale "C" is static in each C library: newlocale() takes no memory for it.
 */
static void begin(struct guard *guard, struct handle *h)
{
	*guard = (struct guard){ .handle = h, .outer = current_guard };
	guard->locale = uselocale(newlocale(LC_ALL_MASK, "C", NULL));
	h->is_busy = true;
	current_guard = guard;
}

static void end(struct guard *guard)
{
	current_guard = guard->outer;
	guard->handle->is_busy = false;
	uselocale(guard->locale);
}

int guarded(struct handle *h, enum handle_kind kind, int (*work)(void *arguments), void *arguments)
{
	int status = check(h, kind);
	struct guard guard;

	if (status < 0)
		return status;
	h->sentence[0] = '\0';
	h->subject = REPORT_NOTE;
	begin(&guard, h);
	status = run(&guard, work, arguments);
	end(&guard);
	if (h->has_lost)
		return fail(PMUKIT_BROKEN, OWNED_LOST);
	if (status >= 0)
		return status;
	if (status == PMUKIT_NO_MEMORY) {
		h->is_broken = true;
		if (!lacks_descriptors(h))
			return fail(status, "%s", meaning(status));
	}
	fail(status, "%s", h->sentence[0] ? h->sentence : meaning(status));
	if (h->subject == REPORT_FAILURE)
		errno = h->error;
	return status;
}

void handle_close(struct handle *h, enum handle_kind kind, int (*release)(void *arguments),
		  void *arguments)
{
	int error = errno;

	if (!h || h->kind != kind || h->is_busy)
		return;
	if (!h->is_broken && *h->mark) {
		struct guard guard;

		begin(&guard, h);
		h->is_broken = run(&guard, release, arguments) == PMUKIT_NO_MEMORY;
		end(&guard);
#ifdef CHECK_ROOMS
		if (!h->is_broken && !room_is_empty(&h->room))
			__builtin_trap();
#endif
	}
	handle_free(h);
	errno = error;
}

struct aside leave_guard(void)
{
	struct aside aside = { .guard = current_guard };

	if (current_guard) {
		aside.locale = uselocale(current_guard->locale);
		current_guard = current_guard->outer;
	}
	return aside;
}

void return_to_guard(struct aside aside)
{
	if (aside.guard) {
		uselocale(aside.locale);
		current_guard = aside.guard;
	}
}

int handle_status(const struct handle *h, int otherwise)
{
	switch (h->subject) {
	case REPORT_DAMAGE:
		return PMUKIT_DAMAGED;
	case REPORT_FAILURE:
		return h->error == ENOMEM ? PMUKIT_NO_MEMORY :
		       h->error == ENOENT ? PMUKIT_NOT_FOUND :
		       h->error == EACCES || h->error == EPERM ? PMUKIT_NO_RIGHTS : PMUKIT_SYSTEM;
	default:
		return otherwise;
	}
}
