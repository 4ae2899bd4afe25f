/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits KIND [ROUNDS] - as tests/bin/waits.c, with std::atomic's wait():
 *	word	for an int, at which the library waits itself
 *	proxy	for a type of another size: it waits at a word that many objects share
 *	shared	the same, and stranger() notifies those who wait for another object, too
 */
#include "tests/bin/waiting.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static std::atomic<int> word;
/* As far from each other as from one word of the library to the same one again. */
struct { alignas(64) std::atomic<long long> own, other; } proxies;
static std::atomic<uint64_t> waited;
static std::atomic<bool> stop;
static bool is_word;

FUNCTION void waiter(int round)
{
	uint64_t start = now();

	if (is_word)
		word.wait(round);
	else
		proxies.own.wait(round);
	waited += now() - start;
	STAY;
}

FUNCTION void culprit()
{
	nap(4000);
	if (is_word) {
		word++;
		word.notify_all();
	} else {
		proxies.own++;
		proxies.own.notify_all();
	}
	STAY;
}

FUNCTION void stranger()
{
	nap(700);
	proxies.other++;
	proxies.other.notify_all();
	STAY;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "word";
	int rounds = argc > 2 ? atoi(argv[2]) : 300;
	std::vector<std::thread> threads;

	is_word = !strcmp(kind, "word");
	for (int i = 0; i < 3; i++)
		threads.emplace_back([=] {
			for (int round = 0; round < rounds; round++)
				waiter(round);
		});
	if (!strcmp(kind, "shared"))
		threads.emplace_back([] {
			while (!stop)
				stranger();
		});
	for (int round = 0; round < rounds; round++)
		culprit();
	stop = true;
	for (std::thread &thread : threads)
		thread.join();
	truth("waited", kind, "-", "waiter", waited);
	truth("caused", kind, "-", "culprit", waited);
	return 0;
}
