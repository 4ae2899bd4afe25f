/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-unwind - any bytes as a stream whose samples are unwound; or as the registers and the stack
 * of a thread in a real program, this one.
 *
 * In the second case, words become addresses that the unwinder gets far with: by their top byte,
 * of this program's code, of the stack, or as they are.
 */
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/memory-file.h"
#include "unwind/deferred.h"
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PID = 5, REGISTERS = 20, STACK_AT = 0x7ffe0000 };
#define CODE_AT 0x400000ULL
#define CODE_SIZE 0x400000ULL

static uint8_t made[RECORD_MAX_SIZE];

static void unwind_stream(const char *file)
{
	struct report report = { .tool = "fuzz-unwind", .quiet = true };
	struct unwind_options how = { 0 };
	struct stream_reader *in = stream_open(file, NULL, &report);
	struct deferred *d = deferred_new();
	struct output out;
	struct record rec;
	struct sample s;

	output_open(&out, "/dev/null", &report);
	struct unwind *u = unwind_new(&how, stream_origin(in), &report);
	while (stream_next(in, &rec)) {
		if (rec.type == RECORD_CALLCHAIN_DEFERRED)
			deferred_take(d, &rec, PID, &out);
		if (rec.type != PERF_RECORD_SAMPLE) {
			unwind_follow(u, &rec);
			continue;
		}
		if (!stream_sample(in, &rec, &s))
			continue;
		size_t n = unwind_sample(u, &stream_events(in)->event[s.event], &rec, &s, made);
		if (n > RECORD_MAX_SIZE)
			abort();
		const uint8_t *start = record_bytes(&rec);
		size_t chain = s.callchain.at ? (size_t)(s.callchain.at - start) - 8 : 0;
		deferred_write(d, n ? made : record_bytes(&rec), n ? n : record_size(&rec), chain,
			       s.tid, &out);
	}
	deferred_end(d, &out);
	unwind_report(u);
	unwind_free(u);
	deferred_free(d);
	output_close(&out);
	stream_close(in);
}

/* Map this program at CODE_AT. */
static void map_program(struct unwind *u)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		uint64_t start, bytes, offset;
		char path[256];
	} map = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_USER, .size = sizeof(map),
		  .pid = PID, .tid = PID, .start = CODE_AT, .bytes = CODE_SIZE };
	struct record rec;

	if (readlink("/proc/self/exe", map.path, sizeof(map.path) - 1) < 0)
		abort();
	record_frame(&rec, (const uint8_t *)&map, false);
	unwind_follow(u, &rec);
}

static uint64_t address_of(uint64_t word)
{
	switch (word >> 56 & 3) {
	case 0:
		return CODE_AT + word % CODE_SIZE;
	case 1:
		return STACK_AT + word % 65536;
	case 2:
		return word & 0xffff;
	default:
		return word;
	}
}

/* Unwind with SIZE bytes of DATA: registers, then the stack. */
static void unwind_dump(struct unwind *u, const uint8_t *data, size_t size)
{
	uint64_t word[4096] = { 0 };
	size_t words = size / 8 < 4096 ? size / 8 : 4096;
	struct stream_event event = { .attr = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 0xff0fff, .sample_stack_user = 8192 } };
	uint64_t record[1 + 4 + REGISTERS + 4096] = { 0 };
	struct sample s = { .pid = PID, .tid = PID, .user_regs_abi = 2 };
	struct record rec;

	memcpy(word, data, 8 * words);
	for (size_t i = 0; i < words; i++)
		word[i] = address_of(word[i]);
	word[7] = STACK_AT + (word[7] & 0x38);
	uint64_t stack = words > REGISTERS ? 8 * (words - REGISTERS) : 0, *at = record + 1;
	*at++ = s.user_regs_abi;
	s.user_regs = (struct words){ (uint8_t *)at, REGISTERS };
	memcpy(at, word, 8 * REGISTERS);
	at += REGISTERS;
	*at++ = stack;
	s.user_stack = (struct bytes){ (uint8_t *)at, stack };
	memcpy(at, word + REGISTERS, stack);
	at += stack / 8;
	if (stack)
		*at++ = stack;
	uint16_t bytes = (uint16_t)((uint8_t *)at - (uint8_t *)record);
	memcpy((uint8_t *)record + 6, &bytes, sizeof(bytes));
	record_frame(&rec, (const uint8_t *)record, false);
	size_t n = unwind_sample(u, &event, &rec, &s, made);
	if (n < RECORD_HEADER_SIZE || n > bytes + 8ULL * 2 * UNWIND_STACK_MAX + 16)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct report report = { .tool = "fuzz-unwind", .quiet = true };
	static struct unwind *program;	/* its caches live on, as in a long stream */
	struct unwind_options how = { 0 };
	char file[MEMORY_FILE_PATH];

	if (size == 0)
		return 0;
	if (!program) {
		program = unwind_new(&how, NULL, &report);
		map_program(program);
	}
	if (data[0] % 2) {
		unwind_dump(program, data + 1, size - 1);
		return 0;
	}
	int fd = memory_file(data + 1, size - 1, file);
	unwind_stream(file);
	close(fd);
	return 0;
}
