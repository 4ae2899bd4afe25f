/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin-self - the workloads of tests/bin/spin.c, in a program that profiles itself by libpmukit.
 *
 *	spin-self EVENT PERIOD FILE MODE ROUNDS
 *
 * FILE is a profile if its name ends with .gz, else a stream.
 */
#define main spin
#include "../bin/spin.c"
#undef main

#include <fcntl.h>
#include <pmukit.h>

static void on_message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", severity == PMUKIT_PROBLEM ? "problem" : "note", text);
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	const char *const events[] = { argv[1], NULL };
	struct pmukit_profile_config config = {
		.size = sizeof(config), .events = events, .period = strtoull(argv[2], NULL, 10),
		.flags = PMUKIT_NO_CALLCHAINS, .message = on_message,
		.result = strstr(argv[3], ".gz") ? PMUKIT_PPROF : PMUKIT_RECORDS,
		.fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
	};
	struct pmukit_profile *p = pmukit_profile_start(&config);

	if (!p) {
		fprintf(stderr, "%s\n", pmukit_error());
		return 1;
	}
	int status = spin(argc - 3, argv + 3);
	if (pmukit_profile_stop(p) < 0) {
		fprintf(stderr, "%s\n", pmukit_error());
		return 1;
	}
	return status;
}
