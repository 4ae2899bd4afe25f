/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ending.h"
#include "base/clock.h"
#include "base/signals.h"
#include "linux/proc.h"

#define KILL_DELAY 5000000000ULL	/* ns from SIGTERM to SIGKILL */

/* How the last signal was sent that has not been handled yet. */
enum { NOT_SENT, BY_KERNEL, BY_PROCESS };
static volatile sig_atomic_t interrupt, terminate, hangup;

static void on_signal(int number, siginfo_t *info, void *context)
{
	volatile sig_atomic_t *sent = number == SIGINT ? &interrupt
				    : number == SIGTERM ? &terminate : &hangup;

	(void)context;
	*sent = info->si_code == SI_KERNEL ? BY_KERNEL : BY_PROCESS;
}

void ending_begin(struct ending *e, pid_t pid, const struct bystander *witness)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, hangups;
	sigset_t ours;

	*e = (struct ending){ .witness = witness, .pid = pid };
	sigemptyset(&act.sa_mask);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, NULL, &hangups);
	if (hangups.sa_handler != SIG_IGN)	/* ignored by nohup(1): go on */
		sigaction(SIGHUP, &act, NULL);
}

/* Return whether a signal NUMBER, sent in the way of SENT, was sent to the command as well. */
static bool has_command_got(const struct ending *e, int number, int sent)
{
	bool was_seen = bystander_saw(e->witness, number);	/* always ask: the bystander then
								   forgets the signal */

	return sent == BY_KERNEL || was_seen;
}

static void end(struct ending *e, bool has_signal)
{
	if (e->kill_due)
		return;
	e->kill_due = monotonic_ns() + KILL_DELAY;
	if (!has_signal)
		kill(e->pid, SIGTERM);
	kill(e->pid, SIGCONT);	/* a stopped process handles no other signal */
}

static void handle_interrupt(struct ending *e, bool has_signal)
{
	bool is_ignored = signals_ignored_interrupts();
	uint64_t now = monotonic_ns();

	/* Our parent has made us ignore the terminal's interrupts. */
	if (e->kill_due || (is_ignored && has_signal))
		return;
	if (e->interrupted && now - e->interrupted < SIGNALS_TWICE) {
		end(e, false);
		return;
	}
	e->interrupted = now;
	if (has_signal)
		return;
	if (is_ignored && proc_has_signal(e->pid, "SigIgn", SIGINT))
		end(e, false);	/* the command has inherited this, so SIGINT would do nothing */
	else
		kill(e->pid, SIGINT);
}

/* Return how the signal of *SENT was sent, and forget it. */
static int take(volatile sig_atomic_t *sent)
{
	int how = *sent;

	*sent = NOT_SENT;
	return how;
}

bool ending_work(struct ending *e)
{
	if (!e->pid)
		return false;
	if ((interrupt || terminate || hangup) && proc_child_has_ended(e->pid))
		return true;
	int how = take(&interrupt);
	if (how)
		handle_interrupt(e, has_command_got(e, SIGINT, how));
	how = take(&terminate);
	if (how)
		end(e, has_command_got(e, SIGTERM, how));
	if (take(&hangup))
		end(e, false);
	if (e->kill_due && !e->is_killed && monotonic_ns() >= e->kill_due) {
		kill(e->pid, SIGKILL);
		e->is_killed = true;
	}
	return false;
}

int ending_wait_ms(const struct ending *e, int milliseconds)
{
	uint64_t now = monotonic_ns();

	if (!e->kill_due || e->is_killed)
		return milliseconds;
	int left = e->kill_due > now ? (int)((e->kill_due - now + 999999) / 1000000) : 0;
	return left < milliseconds ? left : milliseconds;
}
