/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-like ROUNDS - touches 1,024 new pages in grow(), then works in area(), called by total().
 *
 * Its debug information says that it is a program in Go, with the first lines of functions, which
 * Go before 1.20 writes nowhere.
 */
#include <stdlib.h>
#include <sys/mman.h>

#line 10 "/src/app/main.go"
static inline __attribute__((always_inline)) unsigned step(unsigned x, unsigned i)
{
	return x * 31 + ((i * i) ^ (x >> 3));
}

#line 20 "/src/app/main.go"
static __attribute__((noinline)) unsigned area(unsigned x)
{
	for (unsigned i = 0; i < 50; i++)
		x = step(x, i);
	return x;
}

#line 30 "/src/app/main.go"
static __attribute__((noinline)) unsigned total(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += area(i);
	return sum;
}

#line 40 "/src/app/main.go"
static __attribute__((noinline)) void grow(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		at[i] = 1;
}

#line 50 "/src/app/main.go"
int main(int argc, char **argv)
{
	unsigned sum = 0, rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	size_t size = (1 << 22) - (size_t)(argc > 2);
	void *at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return 1;
	madvise(at, size, MADV_NOHUGEPAGE);
	grow(at, size);
	for (unsigned i = 0; i < rounds; i++)
		sum += total(10000 + i);
	return sum == 7;
}
