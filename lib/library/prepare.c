/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "library/handle.h"

#include <pthread.h>

void prepare_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, hash_draw_secret);
}
