/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits steps FILE, limits inflate FILE - what no reader can do faster, for make bench: read a
 * stream and step from record to record; decompress all sections of an ELF file.  FILE is trusted.
 */
#include <elf.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Print the number of records. */
static int step(int fd)
{
	enum { ROOM = 256 * 1024, STREAM_HEADER = 16, RECORD_HEADER = 8 };
	static uint8_t bytes[ROOM];
	size_t used = 0, at = STREAM_HEADER, records = 0;
	ssize_t n;

	while ((n = read(fd, bytes + used, ROOM - used)) > 0) {
		used += (size_t)n;
		while (at + RECORD_HEADER <= used) {
			uint16_t size;
			memcpy(&size, bytes + at + 6, sizeof(size));
			if (size < RECORD_HEADER)
				return 1;
			if (at + size > used)
				break;
			at += size;
			records++;
		}
		memmove(bytes, bytes + at, used - at);
		used -= at;
		at = 0;
	}
	printf("%zu\n", records);
	return used > 0;
}

/* Print the number of bytes that the compressed sections of a 64-bit ELF file have. */
static int inflate(int fd)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	struct stat st;

	if (!d || fstat(fd, &st))
		return 1;
	const uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		return 1;
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Shdr *section = (const void *)(file + head->e_shoff);
	size_t all = 0;
	for (unsigned i = 0; i < head->e_shnum; i++) {
		if (!(section[i].sh_flags & SHF_COMPRESSED))
			continue;
		const Elf64_Chdr *packed = (const void *)(file + section[i].sh_offset);
		uint8_t *to = malloc(packed->ch_size);
		if (!to || libdeflate_zlib_decompress(d, packed + 1, section[i].sh_size -
						      sizeof(*packed), to, packed->ch_size, NULL))
			return 1;
		all += packed->ch_size;
		free(to);
	}
	libdeflate_free_decompressor(d);
	printf("%zu\n", all);
	return all == 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 2;
	if (!strcmp(argv[1], "steps"))
		return step(fd);
	return strcmp(argv[1], "inflate") ? 2 : inflate(fd);
}
