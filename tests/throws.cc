/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throws - throws exceptions through frames with destructors and virtual calls, and catches them,
 * also in a function that std::sort() calls.
 */
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static volatile unsigned long sink;

struct Guard {
	std::string text;
	explicit Guard(int n) : text(static_cast<size_t>(n % 50), 'x') {}
	~Guard() { sink = sink + text.size(); }
};

struct Base {
	virtual ~Base() {}
	virtual int go(int n) = 0;
};

struct Deep : Base {
	int go(int n) override
	{
		Guard guard(n);
		if (n == 0)
			throw std::runtime_error(guard.text + "end");
		return go(n - 1) + static_cast<int>(guard.text.size());
	}
};

__attribute__((noinline)) static int caught(Base *base, int n)
{
	try {
		return base->go(n % 7);
	} catch (const std::exception &e) {
		return e.what()[0];
	}
}

__attribute__((noinline)) static int sorts(Base *base, int n)
{
	std::vector<std::string> names;

	for (int i = 0; i < 20; i++)
		names.push_back(std::to_string(i * n % 13));
	std::sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
		sink = sink + static_cast<unsigned long>(caught(base, 2));
		return a < b;
	});
	return static_cast<int>(names[0].size());
}

int main()
{
	Deep deep;

	for (int i = 0; i < 1000; i++)
		sink = sink + static_cast<unsigned long>(caught(&deep, i) + sorts(&deep, i));
	std::printf("%lu\n", sink);
}
