/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C++ program with many threads, which uses libpmukit in all of them.
 *
 *	threads rounds ROUNDS THREADS	profiles itself again and again
 *	threads apart TIMES FILE...	uses handles of every kind in four threads at a time
 *
 * rounds: in each round, THREADS threads start and end, some at a time, and each touches some fresh
 * pages of its own.  In the profile of their page faults, each page must be found once.  If samples
 * were lost, the profile must say so.
 *
 * apart: FILE is a stream, then a profile, then a program.  Each thread must get the same from them
 * each time.
 *
 * Exit 1 after a line about what is wrong.
 */
#include <pmukit.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <linux/perf_event.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr size_t page_size = 4096, pages_each = 5;

std::atomic<int> problems;

void problem(const char *what)
{
	std::printf("%s: %d %s\n", what, pmukit_error_code(), pmukit_error());
	problems++;
}

/* Fresh pages. */
class Pages {
public:
	explicit Pages(size_t count) : size(count * page_size)
	{
		start = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		madvise(start, size, MADV_NOHUGEPAGE);
	}
	~Pages()
	{
		munmap(start, size);
	}
	void touch(size_t page)
	{
		*static_cast<volatile char *>(start + page * page_size) = 1;
	}
	/* Return the number of the page at ADDRESS, or -1. */
	long at(uint64_t address) const
	{
		uint64_t from = address - reinterpret_cast<uintptr_t>(start);

		return from < size ? static_cast<long>(from / page_size) : -1;
	}

private:
	size_t size;
	char *start;
};

/* Start and end COUNT threads; each of four starts some of them. */
void run_threads(Pages &pages, size_t count)
{
	std::vector<std::thread> starters;

	for (size_t first = 0; first < 4; first++)
		starters.emplace_back([&pages, count, first] {
			std::vector<std::thread> some;

			for (size_t i = first; i < count; i += 4) {
				some.emplace_back([&pages, i] {
					for (size_t k = 0; k < pages_each; k++)
						pages.touch(i * pages_each + k);
				});
				if (some.size() == 5) {
					for (auto &thread : some)
						thread.join();
					some.clear();
				}
			}
			for (auto &thread : some)
				thread.join();
		});
	for (auto &starter : starters)
		starter.join();
}

/* What a profile has. */
struct Found {
	std::vector<int> samples;	/* of each page */
	uint64_t lost = 0;
};

Found read_profile(int fd, const Pages &pages, size_t count)
{
	Found found;
	const pmukit_record *record;
	int status;

	found.samples.resize(count);
	lseek(fd, 0, SEEK_SET);
	pmukit_stream *s = pmukit_stream_open_fd(fd, nullptr);
	while ((status = pmukit_stream_next(s, &record)) > 0)
		if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES)
			found.lost++;
	if (status < 0)
		problem("reading records");
	pmukit_stream_close(s);
	lseek(fd, 0, SEEK_SET);
	s = pmukit_stream_open_fd(fd, nullptr);
	auto on_sample = [](void *context, const pmukit_sample *sample) {
		auto &both = *static_cast<std::pair<Found *, const Pages *> *>(context);
		long page = both.second->at(sample->address);

		if (page >= 0)
			both.first->samples[static_cast<size_t>(page)]++;
		return 0;
	};
	std::pair<Found *, const Pages *> both(&found, &pages);
	if (pmukit_stream_each_sample(s, on_sample, &both) < 0)
		problem("reading samples");
	pmukit_stream_close(s);
	return found;
}

void on_message(void *context, pmukit_severity severity, const char *text)
{
	if (severity == PMUKIT_PROBLEM && std::strstr(text, "lost"))
		*static_cast<bool *>(context) = true;
}

void run_round(size_t threads)
{
	static const char *const events[] = { "page-faults:u", nullptr };
	static const char *const options[] = { "--record=data", nullptr };
	int fd = memfd_create("profile", MFD_CLOEXEC);
	size_t count = threads * pages_each;
	bool says_lost = false;
	pmukit_profile_config config = {};

	config.size = sizeof(config);
	config.events = events;
	config.period = 1;
	config.flags = PMUKIT_NO_CALLCHAINS;
	config.result = PMUKIT_RECORDS;
	config.fd = fd;
	config.message = on_message;
	config.context = &says_lost;
	config.options = options;
	{
		Pages pages(count);
		pmukit_profile *p = pmukit_profile_start(&config);

		if (!p) {
			problem("start");
			return;
		}
		run_threads(pages, threads);
		if (pmukit_profile_stop(p) < 0 && !says_lost)
			problem("stop");
		Found found = read_profile(fd, pages, count);
		size_t missing = 0, twice = 0;
		for (int samples : found.samples) {
			missing += samples == 0;
			twice += samples > 1;
		}
		if (twice > 0 || (missing > 0 && !says_lost && found.lost == 0)) {
			std::printf("%zu pages: %zu missing, %zu twice\n", count, missing, twice);
			problems++;
		} else if (missing > 0) {
			std::printf("lost samples of %zu pages, and said so\n", missing);
		}
	}
	close(fd);
}

size_t descriptors()
{
	DIR *d = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

int run_rounds(int rounds, size_t threads)
{
	run_round(threads);
	size_t before = descriptors();
	for (int i = 1; i < rounds && problems == 0; i++)
		run_round(threads);
	if (descriptors() != before) {
		std::printf("%zu descriptors, and then %zu\n", before, descriptors());
		problems++;
	}
	std::printf("rounds %d, threads %zu\n", rounds, threads);
	return problems > 0;
}

void get(std::string &all, const char *text)
{
	all += text ? text : "?";
	all += '\n';
}

std::string use_events()
{
	const pmukit_event_name *event;
	perf_event_attr attr;
	std::string all;

	get(all, std::to_string(pmukit_event_encode("page-faults:u", &attr, sizeof(attr))).c_str());
	pmukit_event_encode("no-such-event", &attr, sizeof(attr));
	get(all, pmukit_error());
	pmukit_event_list *list = pmukit_event_list_open("faults");
	while (pmukit_event_list_next(list, &event) > 0)
		get(all, event->name);
	pmukit_event_list_close(list);
	return all;
}

std::string use_stream(const char *file)
{
	const pmukit_sample *sample;
	const pmukit_frame *frame;
	std::string all;
	pmukit_stream *s = pmukit_stream_open(file, nullptr);

	while (pmukit_stream_next_sample(s, &sample) > 0) {
		int frames = pmukit_stream_frames(s, &frame);
		for (int i = 0; i < frames; i++)
			get(all, frame[i].function);
	}
	pmukit_stream_close(s);
	s = pmukit_stream_open(file, nullptr);
	pmukit_pprof *p = pmukit_stream_profile(s, nullptr);
	get(all, std::to_string(pmukit_pprof_stacks(p)).c_str());
	pmukit_pprof_close(p);
	pmukit_stream_close(s);
	return all;
}

int append(void *context, const void *bytes, size_t size)
{
	static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), size);
	return 0;
}

std::string use_profile(const char *file)
{
	const pmukit_stack *stack;
	std::string all;
	pmukit_pprof *p = pmukit_pprof_open(file, nullptr);

	for (int64_t i = 0; pmukit_pprof_stack(p, i, &stack) > 0; i++)
		for (size_t k = 0; k < stack->frames_size; k++)
			get(all, stack->frames[k].function);
	pmukit_pprof_merge(p, p);
	if (pmukit_pprof_write_callback(p, append, &all) < 0)
		problem("write");
	pmukit_pprof_close(p);
	return all;
}

std::string use_binary(const char *file)
{
	const pmukit_frame *frame;
	std::string all;
	pmukit_binary *b = pmukit_binary_open(file, nullptr);

	get(all, pmukit_binary_build_id(b));
	for (uint64_t at = 0x2000; at < 0x8000; at += 0x111) {
		int frames = pmukit_binary_frames(b, at, &frame);
		for (int i = 0; i < frames; i++)
			get(all, frame[i].function);
	}
	pmukit_binary_close(b);
	return all;
}

std::string use_profiler()
{
	static const char *const events[] = { "page-faults:u", nullptr };
	std::string all, result;
	pmukit_profile_config config = {};

	config.size = sizeof(config);
	config.events = events;
	config.period = 1;
	config.result = PMUKIT_PPROF;
	config.write = append;
	config.context = &result;
	pmukit_profile *p = pmukit_profile_start(&config);
	{
		Pages pages(20);
		for (size_t i = 0; i < 20; i++)
			pages.touch(i);
	}
	pmukit_label_set("thread", "one");
	if (pmukit_profile_pause(p) < 0 || pmukit_profile_resume(p) < 0)
		problem("pause");
	if (pmukit_profile_stop(p) < 0 || result.empty())
		problem("stop");
	pmukit_label_set("thread", nullptr);
	pmukit_label_clear();
	return all;
}

std::string use_all(char **files)
{
	return use_events() + use_stream(files[0]) + use_profile(files[1]) + use_binary(files[2]) +
	       (std::getenv("NO_SAMPLING") ? "" : use_profiler());
}

int run_apart(int times, char **files)
{
	std::vector<std::thread> threads;
	std::string first = use_all(files);

	for (int i = 0; i < 4; i++)
		threads.emplace_back([times, files, &first] {
			for (int k = 0; k < times; k++)
				if (use_all(files) != first)
					problem("another result");
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("bytes %zu\n", first.size());
	return problems > 0;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string what = argc > 3 ? argv[1] : "";

	if (what == "rounds")
		return run_rounds(std::atoi(argv[2]), static_cast<size_t>(std::atoi(argv[3])));
	if (what == "apart" && argc > 5)
		return run_apart(std::atoi(argv[2]), argv + 3);
	return 2;
}
