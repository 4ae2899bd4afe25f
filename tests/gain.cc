/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gain ROUNDS - a program that a compiler can make faster if it knows how often each
 * branch is taken: the common cases are last, errors are handled in line, and calls go through an
 * interface that nearly always has one type behind it.
 *
 * It reads a text of bank orders, made by a generator, and applies each.  SIGURG, which does nothing
 * by default, marks the beginning and the end of the rounds for tests/bin/branch-step.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace {

constexpr unsigned ACCOUNTS = 64, ORDERS = 160, TEXT = ORDERS * 24;

unsigned long faults, fees;

void report(const char *what, long value)
{
	if (++faults < 3)
		fprintf(stderr, "gain: %s: %ld\n", what, value);
}

/* What an account does with an amount: the interface. */
struct Account {
	long balance = 1000, moves = 0;
	virtual ~Account() = default;
	virtual long apply(long amount) = 0;
};

struct Frozen : Account {
	long apply(long amount) override
	{
		report("frozen", amount);
		return 0;
	}
};

struct Savings : Account {
	long apply(long amount) override
	{
		if (amount < 0 && moves > 3)
			fees += 2;
		moves++;
		return balance += amount - amount / 64;
	}
};

struct Current : Account {
	long apply(long amount) override
	{
		long after;
		if (__builtin_add_overflow(balance, amount, &after)) {
			report("overflow", amount);
			return balance;
		}
		if (after < -1000000) {
			report("overdrawn", after);
			after = -1000000;
		}
		moves++;
		return balance = after;
	}
};

Account *account[ACCOUNTS];

struct Order {
	char kind;
	unsigned from, to;
	long amount;
};

/* The next number at P, which ends at anything but a digit. */
long number(const char *&p)
{
	long n = 0;
	for (char c; (c = *p, c >= '0' && c <= '9') || c == '_'; p++) {
		if (c == '_')
			report("underscore", n);
		else if (n > 100000000)
			report("too large", n);
		else
			n = n * 10 + (c - '0');
	}
	return n;
}

/* Read the order at P.  False: there are no more. */
__attribute__((noinline)) bool parse(const char *&p, Order &o)
{
	while (*p != '\n') {
		char c = *p++;
		if (c == '\0')
			return false;
		if (c == '#') {
			while (*p && *p != '\n')
				p++;
		} else if (c == '"' || c == '\\') {
			report("quoted", c);
		} else if (c == 'f') {
			o.from = static_cast<unsigned>(number(p));
		} else if (c == 't') {
			o.to = static_cast<unsigned>(number(p));
		} else if (c == 'a') {
			o.amount = number(p);
		} else if (c >= 'A' && c <= 'Z') {
			o.kind = c;
		} else if (c != ' ') {
			report("unknown", c);
		}
	}
	p++;
	return true;
}

/* Apply O; returns the balance after it. */
__attribute__((noinline)) long apply(const Order &o)
{
	if (o.from >= ACCOUNTS || o.to >= ACCOUNTS) {
		report("no account", o.from);
		return 0;
	}
	switch (o.kind) {
	case 'X':
		account[o.from]->balance = 0;
		return 0;
	case 'D': return account[o.to]->apply(o.amount);
	case 'W':
		if (account[o.from]->balance < o.amount) {
			fees++;
			return account[o.from]->apply(-o.amount / 2);
		}
		return account[o.from]->apply(-o.amount);
	case 'T': {
		long left = account[o.from]->apply(-o.amount);
		if (o.from == o.to)
			report("to itself", o.to);
		return left + account[o.to]->apply(o.amount);
	}
	default:
		report("kind", o.kind);
		return -1;
	}
}

unsigned draw()
{
	static unsigned seed = 7;
	seed = seed * 1664525 + 1013904223;
	return seed >> 16;
}

void make_text(char *text)
{
	for (unsigned i = 0; i < ORDERS; i++) {
		unsigned kind = draw() % 40;
		text += snprintf(text, 24, "%c f%u t%u a%u\n",
				 kind < 5 ? "XDDWW"[kind] : 'T',
				 draw() % ACCOUNTS, draw() % ACCOUNTS, draw() % 1000);
	}
	*text = '\0';
}

} // namespace

int main(int argc, char **argv)
{
	static char text[TEXT + 24];
	unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1;
	unsigned long sum = 0;

	make_text(text);
	for (unsigned i = 0; i < ACCOUNTS; i++)
		if (i % 32 == 31)
			account[i] = new Savings;
		else if (i == 13)
			account[i] = new Frozen;
		else
			account[i] = new Current;
	kill(getpid(), SIGURG);
	for (unsigned long i = 0; i < rounds; i++) {
		const char *p = text;
		Order o = {};
		while (parse(p, o))
			sum = sum * 31 + static_cast<unsigned long>(apply(o));
	}
	kill(getpid(), SIGURG);
	printf("%lu %lu %lu\n", sum, faults, fees);
	return 0;
}
