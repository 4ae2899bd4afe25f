/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error - what was wrong with the last call of a thread that failed.
 *
 * The text is on the heap, so that threads which never fail do not pay for it.  A key of the thread
 * frees it when the thread ends.
 */
#include "base/version.h"
#include "library/handle.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct error {
	int status;
	char text[1024];
};

/* When there is no memory even for this. */
static const struct error no_memory = { PMUKIT_NO_MEMORY, "out of memory" };

static __thread const struct error *last_error;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void free_error(void *error)
{
	last_error = NULL;
	free(error);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, free_error) == 0;
}

/* Return this thread's error, to be written, or NULL. */
static struct error *own_error(void)
{
	struct error *error;

	if (pthread_once(&once, make_key) || !has_key)
		return NULL;
	error = pthread_getspecific(key);
	if (error)
		return error;
	error = calloc(1, sizeof(*error));
	if (error && pthread_setspecific(key, error)) {
		free(error);
		return NULL;
	}
	return error;
}

int fail(int status, const char *format, ...)
{
	int before = errno;
	struct error *error = own_error();

	last_error = error ? error : &no_memory;
	if (error) {
		va_list args;

		error->status = status;
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	errno = before;
	return status;
}

void succeed(void)
{
	last_error = NULL;
}

const char *pmukit_error(void)
{
	return last_error ? last_error->text : "";
}

int pmukit_error_code(void)
{
	return last_error ? last_error->status : PMUKIT_OK;
}

const char *pmukit_version(void)
{
	return version_text;
}
