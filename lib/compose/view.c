/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/view.h"
#include "base/arena.h"
#include "base/sibling.h"
#include "base/signals.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *view_address(const char *file)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._~+-";
	static const char hex[] = "0123456789ABCDEF";
	char path[PATH_MAX];
	const char *from = realpath(file, path) ? path : file;
	char *address = mem_resize(NULL, strlen("file://") + 3 * strlen(from) + 1);
	char *to = mempcpy(address, "file://", strlen("file://"));

	for (; *from; from++) {
		unsigned char byte = (unsigned char)*from;
		if (strchr(plain, *from)) {
			*to++ = *from;
			continue;
		}
		*to++ = '%';
		*to++ = hex[byte >> 4];
		*to++ = hex[byte & 15];
	}
	*to = '\0';
	return address;
}

/* Start PROGRAM with ADDRESS, detached from this terminal.  Return whether it could be started. */
static bool start(const char *program, const char *address)
{
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)address, NULL };

	return sibling_spawn_apart(argv) > 0;
}

bool view_open(const char *address, struct report *report)
{
	const char *list = secure_getenv("BROWSER");
	char *browser = list ? mem_text(list) : NULL;

	if (geteuid() == 0) {
		report_note(report, "root's browser is not opened: open the page as a user");
		free(browser);
		return false;
	}
	if (browser)
		browser[strcspn(browser, ":")] = '\0';
	bool good = (browser && *browser && start(browser, address)) || start("xdg-open", address);
	if (!good)
		report_note(report, "no browser could be started: neither $BROWSER nor xdg-open");
	free(browser);
	return good;
}

void view_pprof(const char *profile, struct report *report)
{
	char *argv[] = { (char *)(uintptr_t)"go", (char *)(uintptr_t)"tool",
			 (char *)(uintptr_t)"pprof", (char *)(uintptr_t)"-http=localhost:0",
			 (char *)(uintptr_t)profile, NULL };

	signals_restore(0);
	execvp(argv[0], argv);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	report_failure(report, "cannot run 'go tool pprof'");
}
