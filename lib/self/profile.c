/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of this program, or of another process, which pmu-sample records. */
#include "self/running-profile.h"
#include "base/descriptor.h"
#include "library/system.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct profile_starting {
	struct pmukit_profile *p;
	const struct pmukit_profile_config *given;
};

/* The descriptors that the sampler gets; -1: not open. */
struct sampler_fds {
	int input, output, messages, control;
};

/* The place of the control socket among the sampler's descriptors. */
enum { CONTROL_AT = 3 };

static int fail_to_open(struct pmukit_profile *p, const char *what)
{
	int status = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? PMUKIT_NO_MEMORY
									    : PMUKIT_SYSTEM;

	report_failure(&p->handle.report, "cannot open %s", what);
	return status;
}

/* Open what connects the sampler with this program.  Return 0 or a status. */
static int open_all(struct pmukit_profile *p, struct sampler_fds *fds)
{
	fds->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fds->input < 0)
		return fail_to_open(p, "/dev/null");
	fds->messages = owned_take(&p->messages, memfd_create("pmukit-messages", MFD_CLOEXEC));
	if (fds->messages < 0)
		return fail_to_open(p, "a file in memory");
	fds->control = dialog_open(p);
	if (fds->control < 0)
		return fail_to_open(p, "a socket");
	fds->output = result_open(p);
	return fds->output < 0 ? fail_to_open(p, "a file for what is recorded") : 0;
}

/* Close what only the sampler needs. */
static void close_sampler_fds(const struct pmukit_profile *p, const struct sampler_fds *fds)
{
	descriptor_close(fds->input);
	descriptor_close(fds->control);
	if (fds->output != p->records.fd && fds->output != p->config.fd)
		descriptor_close(fds->output);
}

/* Start the sampler with FDS.  Return 0 or a status. */
static int start_sampler(struct pmukit_profile *p, const struct pmukit_profile_config *given,
			 const struct sampler_fds *fds)
{
	struct profile_arguments arguments = { 0 };

	profile_arguments_make(&arguments, given, CONTROL_AT);
	const struct spawn_what what = {
		.path = p->program, .argv = arguments.item,
		.fd = { fds->input, fds->output, fds->messages, fds->control },
	};
	int error = spawn(&p->sampler, &what, p->handle.mark);
	profile_arguments_release(&arguments);
	if (!error)
		return 0;
	errno = error;
	report_failure(&p->handle.report, "cannot run '%s'", p->program);
	switch (error) {
	case ENOENT: case ENOTDIR: case EACCES: case ENOEXEC: case ELIBBAD: case ELOOP:
		return PMUKIT_NO_SAMPLER;
	case ENOMEM: case EMFILE: case ENFILE:
		return PMUKIT_NO_MEMORY;
	default:
		return PMUKIT_SYSTEM;
	}
}

/* The sampler has ended before it was ready, without an error: return why. */
static int fail_at_end(struct pmukit_profile *p)
{
	struct report *report = &p->handle.report;
	int status = result_check(p, report);

	messages_pass(p);
	if (status < 0)
		return status;
	report_error(report, "the process has ended before it was sampled");
	return PMUKIT_NOT_FOUND;
}

static int start(void *arguments)
{
	const struct profile_starting *a = arguments;
	struct pmukit_profile *p = a->p;
	struct sampler_fds fds = { -1, -1, -1, -1 };

	p->program = profile_find_sampler(a->given->sampler, &p->handle.report);
	if (!p->program)
		return PMUKIT_NO_SAMPLER;
	int status = open_all(p, &fds);
	if (status == 0)
		status = start_sampler(p, a->given, &fds);
	close_sampler_fds(p, &fds);
	if (status < 0)
		return status;
	/* It reads commands when it has attached to all threads. */
	p->has_started = dialog_command(p, "ping");
	if (!p->has_started)
		return p->exit_status == 0 ? fail_at_end(p) : messages_fail(p);
	messages_pass(p);
	return 0;
}

struct pmukit_profile *pmukit_profile_start(const struct pmukit_profile_config *config)
{
	struct pmukit_profile_config own;
	struct pmukit_profile *p;

	if (profile_given(&own, config) < 0)
		return NULL;
	p = handle_new(HANDLE_PROFILE, sizeof(*p), own.message, own.context);
	if (!p)
		return NULL;
	p->config = own;
	p->config.events = p->config.options = NULL;
	p->config.sampler = NULL;
	p->control = p->messages = p->records = p->sampler.pidfd = OWNED_NONE;
	struct profile_starting a = { .p = p, .given = &own };
	if (guarded(&p->handle, HANDLE_PROFILE, start, &a) < 0)
		return handle_free(&p->handle);
	return p;
}

bool profile_is_lost(struct pmukit_profile *p)
{
	struct owned *all[] = { &p->control, &p->messages, &p->records, &p->sampler.pidfd };
	bool is_lost = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		is_lost |= owned_is_lost(all[i]);
	return is_lost;
}

/* Send COMMAND.  Return 0, or why the sampler did not carry it out. */
static int command(struct pmukit_profile *p, const char *command)
{
	bool is_done = !profile_is_lost(p) && dialog_command(p, command);

	if (profile_is_lost(p) || (!is_done && p->exit_status != 0))
		return messages_fail(p);
	messages_pass(p);
	if (is_done)
		return 0;
	report_error(&p->handle.report, "pmu-sample has ended: there is nothing left to sample");
	return PMUKIT_SAMPLER_FAILED;
}

static int pause_sampler(void *p)
{
	return command(p, "disable");
}

static int resume_sampler(void *p)
{
	return command(p, "enable");
}

int pmukit_profile_pause(struct pmukit_profile *p)
{
	return guarded(p ? &p->handle : NULL, HANDLE_PROFILE, pause_sampler, p);
}

int pmukit_profile_resume(struct pmukit_profile *p)
{
	return guarded(p ? &p->handle : NULL, HANDLE_PROFILE, resume_sampler, p);
}

static int look(void *profile)
{
	struct pmukit_profile *p = profile;

	if (profile_is_lost(p))
		return messages_fail(p);
	dialog_look(p);
	if (!p->has_ended)
		messages_pass(p);
	return !p->has_ended;
}

int pmukit_profile_is_running(struct pmukit_profile *p)
{
	return guarded(p ? &p->handle : NULL, HANDLE_PROFILE, look, p);
}

static int stop(void *profile)
{
	struct pmukit_profile *p = profile;
	int status = 0;

	dialog_end(p);
	if (p->exit_status == 0 && !profile_is_lost(p))
		messages_pass(p);
	else
		status = messages_fail(p);
	p->is_stopped = true;
	return result_finish(p, status);
}

static int release(void *profile)
{
	struct pmukit_profile *p = profile;

	/* without a pidfd, another process may have its number by now */
	if (p->has_ended && p->sampler.pidfd.fd < 0)
		p->sampler.pid = 0;
	spawned_release(&p->sampler);
	owned_close(&p->control);
	owned_close(&p->messages);
	owned_close(&p->records);
	free(p->program);
	free(p->directory);
	return 0;
}

int pmukit_profile_stop(struct pmukit_profile *p)
{
	int status = guarded(p ? &p->handle : NULL, HANDLE_PROFILE, stop, p);

	if (status == PMUKIT_OTHER_PROCESS || !p || p->handle.kind != HANDLE_PROFILE)
		return status;
	if (p->config.result == PMUKIT_PPROF && p->is_stopped)
		status = profile_make(p, status);
	handle_close(&p->handle, HANDLE_PROFILE, release, p);
	return status;
}

void pmukit_profile_cancel(struct pmukit_profile *p)
{
	handle_close(p ? &p->handle : NULL, HANDLE_PROFILE, release, p);
}
