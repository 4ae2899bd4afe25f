/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-topprof - aggregate a stream to a pprof profile; merge profiles.
 *
 * Reads a raw or resolved stream or a perf.data file (pmu-stream(5)) from FILE
 * or stdin, and writes profile.proto, gzip'd, as go tool pprof reads it; or
 * adds up the profiles that are given.  Called perf_to_profile it takes that
 * program's options, and resolves the addresses as well: so go tool pprof calls it.
 */
#include "base/command.h"
#include "base/directory.h"
#include "base/text.h"
#include "base/units.h"
#include "profile/collect.h"
#include "profile/fold.h"
#include "profile/merge.h"
#include "profile/select.h"
#include "stream/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool no_scale, drop_lost, mark_cut, not_sampled, data_frames, folded, force, jit;
static const char *file, *input_file, *pid_text, *tid_text, *cpu_text, *time_text, *label_list;
static const char *naming_text, *stacks_text, *process_dir, *thread_dir, *interval_text;
static const char *template, *pack_text, *diff_base;
static struct collect_options how = { .choice = CHOICE_ALL };

static const struct command_option options[] = {
	{ 'e', "event", "NAME", "leave out samples of other events", &how.choice.event, NULL },
	{ 'p', "pid", "PID", "leave out samples of other processes", &pid_text, NULL },
	{ 't', "tid", "TID", "leave out samples of other threads", &tid_text, NULL },
	{ 0, "comm", "NAME", "leave out samples of threads of other names", &how.choice.comm,
	  NULL },
	{ 'C', "cpu", "CPU", "leave out samples of other CPUs", &cpu_text, NULL },
	{ 0, "time", "FROM,TO", "leave out samples before FROM or from TO on, in seconds",
	  &time_text, NULL },
	{ 'l', "label", "LIST", "label samples: pid,tid,cpu,...; none", &label_list, NULL },
	{ 0, "data-frames", NULL, "make the address of data the leaf of the stack", &data_frames,
	  NULL },
	{ 0, "mark-cut", NULL, "say at the root of a stack that was cut why: [cut: ...]", &mark_cut,
	  NULL },
	{ 0, "drop-lost", NULL, "leave out what never came, instead of showing it at [lost]",
	  &drop_lost, NULL },
	{ 0, "not-sampled", NULL, "show what was counted, but not sampled, at [not sampled]",
	  &not_sampled, NULL },
	{ 0, "no-scale", NULL, "leave values of multiplexed events as they were counted",
	  &no_scale, NULL },
	{ 0, "naming", "STYLE", "name sample types as go does (usual), or as perf_to_profile: perf",
	  &naming_text, NULL },
	{ 0, "max-stacks", "COUNT", "keep at most COUNT stacks; the rest goes to [other stacks]",
	  &stacks_text, NULL },
	{ 0, "per-process", "DIR", "write a profile for each process into DIR", &process_dir,
	  NULL },
	{ 0, "per-thread", "DIR", "write a profile for each thread into DIR", &thread_dir, NULL },
	{ 0, "interval", "TIME", "write a profile each TIME of the stream", &interval_text, NULL },
	{ 0, "output-template", "NAME", "name those by their begin, as strftime(3) does", &template,
	  NULL },
	{ 0, "diff", "BASE", "take away the profile BASE from the profiles given", &diff_base,
	  NULL },
	{ 0, "folded", NULL, "write lines of text for flame graphs instead of a profile", &folded,
	  NULL },
	{ 'Z', "pack", "HOW", "compress the profile by gzip (usual), zstd, or none", &pack_text,
	  NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-topprof",
	.purpose = "aggregate a stream to a pprof profile; merge profiles",
	.operands = "[FILE...]",
	.options = options,
};

static const struct command_option drop_in_options[] = {
	{ 'i', "input", "FILE", "read FILE, a perf.data file or a stream", &input_file, NULL },
	{ 'o', "output", "FILE", "write the profile to FILE", &file, NULL },
	{ 'f', "force", NULL, "write over FILE if it is there", &force, NULL },
	{ 'j', "jit", NULL, "resolve JIT code, which is always done", &jit, NULL },
	{ 0 }
};

static const struct command drop_in = {
	.name = "perf_to_profile",
	.purpose = "make a pprof profile of a perf.data file, with symbols",
	.options = drop_in_options,
};

/* Where profiles go. */
struct target {
	struct report *report;
	struct output out;
	const char *input;
	const char *dir;	/* one for each process or thread goes there; NULL: no */
	int directory;		/* DIR, open */
	uint64_t files;		/* written into DIR, or by the template */
	char last[PATH_MAX];	/* the one before */
	uint64_t bytes, stacks;
};

static void parse_time(const char *text)
{
	if (!choice_parse_time(&how.choice, text))
		command_misused(&command, "--time takes FROM,TO in seconds of the stream's clock, "
				"either may be missing, not '%s'", text);
}

static enum pack_how parse_pack(void)
{
	static const char *const names[] = {
		[PACK_GZIP] = "gzip", [PACK_NONE] = "none", [PACK_ZSTD] = "zstd",
	};

	for (enum pack_how h = PACK_GZIP; pack_text && h <= PACK_ZSTD; h++)
		if (!strcmp(names[h], pack_text))
			return h;
	if (pack_text)
		command_misused(&command, "--pack takes gzip, zstd or none, not '%s'", pack_text);
	return PACK_GZIP;
}

static void parse_intervals(void)
{
	if (interval_text && (!units_parse_duration(interval_text, &how.interval) ||
			      how.interval == 0))
		command_misused(&command, "--interval takes a time such as 10s, not '%s'",
				interval_text);
	if (!interval_text != !template)
		command_misused(&command, "--interval and --output-template belong together");
	if (template && !strchr(template, '%'))
		command_misused(&command, "--output-template needs the time in it, as in "
				"p-%%Y%%m%%d-%%H%%M%%S.pb.gz, or each profile replaces the last");
	if (!!interval_text + !!process_dir + !!thread_dir + !!file > 1)
		command_misused(&command, "only one of --interval, --per-process, --per-thread and "
				"--output");
}

static void parse_options(void)
{
	if (pid_text)
		how.choice.pid = (pid_t)command_count(&command, "pid", pid_text, 0, INT_MAX);
	if (tid_text)
		how.choice.tid = (pid_t)command_count(&command, "tid", tid_text, 0, INT_MAX);
	if (cpu_text)
		how.choice.cpu = (int)command_count(&command, "cpu", cpu_text, 0, INT_MAX);
	if (time_text)
		parse_time(time_text);
	if (stacks_text)
		how.max_stacks = command_count(&command, "max-stacks", stacks_text, 2,
					       UINT32_MAX);
	if (naming_text && strcmp(naming_text, "perf") && strcmp(naming_text, "go"))
		command_misused(&command, "--naming takes go or perf, not '%s'", naming_text);
	parse_intervals();
	how.naming = naming_text && !strcmp(naming_text, "perf") ? NAMING_PERF : NAMING_GO;
	how.pack = parse_pack();
	how.split = process_dir ? SPLIT_PROCESSES : thread_dir ? SPLIT_THREADS : SPLIT_NOT;
	how.labels = label_list ? label_list : folded ? "thread_comm" : NULL;
	how.data_frames = data_frames;
	how.mark_cut = mark_cut;
	how.drop_lost = drop_lost;
	how.not_sampled = not_sampled;
	if (not_sampled && (pid_text || tid_text || cpu_text || time_text || how.choice.comm ||
			    how.interval || how.split))
		command_misused(&command, "--not-sampled is known of all that was recorded, and of "
				"no part of it");
	how.no_scale = no_scale;
}

/* The event whose values are folded: the one asked for, or the first. */
static uint32_t folded_event(const struct stream_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (profile_shows(&events->event[i]) &&
		    (!how.choice.event || !strcmp(events->event[i].name, how.choice.event)))
			return i;
	return 0;
}

static void write_profile(struct collect *c, struct profile *p, struct output *out)
{
	if (folded)
		profile_write_folded(p, folded_event(stream_events(c->in)), out);
	else
		profile_write(p, stream_events(c->in), stream_origin(c->in), out);
}

/* Into a file of its own, which appears when it is whole: NAME in DIRECTORY. */
static void write_file(struct collect *c, struct collect_part *part, struct target *t,
		       int directory, const char *name)
{
	struct output out;

	output_open_in(&out, directory, name, t->report);
	write_profile(c, &part->profile, &out);
	output_flush(&out);
	t->bytes += out.written;
	t->files += output_close(&out);
}

/*
 * Make a process's own name one that a file may have, and that neither a shell nor an
 * option parser takes for anything else.
 */
static void make_file_name(char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789+,-.:=@_ ";

	text_make_safe(name);
	for (char *at = name; *at; at++)
		if ((unsigned char)*at < 0x80 && !strchr(plain, *at))
			*at = '_';
	if (*name == '.' || *name == '-' || *name == ' ')
		*name = '_';
}

/* "name-PID.pb.gz" */
static void name_of_part(const struct collect *c, const struct collect_part *part,
			 char *path, size_t room)
{
	static const char *const ends[] = {
		[PACK_GZIP] = "pb.gz", [PACK_NONE] = "pb", [PACK_ZSTD] = "pb.zst",
	};
	const char *comm = process_dir ? part->process
			   : part->comm ? c->tables.string[part->comm] : "";
	char name[64];

	snprintf(name, sizeof(name), "%s", *comm ? comm : "unnamed");
	make_file_name(name);
	snprintf(path, room, "%s-%d.%s", name, part->id, folded ? "folded" : ends[how.pack]);
}

/* strftime(3) with the user's format: it writes no more than SIZE, whatever that asks for. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t format_time(char *text, size_t size, const struct tm *time)
{
	return strftime(text, size, template, time);
}
#pragma GCC diagnostic pop

/* The template with the time in it at which P begins.  Each name may be used once. */
static bool name_of_interval(const struct collect *c, const struct profile *p, struct target *t,
			     char path[PATH_MAX])
{
	const struct stream_origin *o = stream_origin(c->in);
	time_t begin = time(NULL);
	struct tm local;

	if (o->has_clock)
		begin = (time_t)((o->wall_time + (p->first_time - o->clock_time)) / 1000000000);
	if (!localtime_r(&begin, &local) || format_time(path, PATH_MAX, &local) == 0) {
		report_error(t->report, "--output-template '%s' makes no name", template);
		return false;
	}
	if (!strcmp(path, t->last)) {
		report_error(t->report, "two profiles would be called '%s': put more of the time "
			     "into --output-template", path);
		return false;
	}
	snprintf(t->last, sizeof(t->last), "%s", path);
	return true;
}

/* Write P to PATH, in a directory that nobody else can change. */
static void write_interval(struct collect *c, struct collect_part *part, struct target *t,
			   const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX], why[DIRECTORY_WHY];

	if (command_is_input(path, &t->input, 1)) {
		report_error(t->report, "'%s' is not written: it is the input", path);
		return;
	}
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash + 1 - path) : 1,
		 slash ? path : ".");
	int directory = directory_open(parent, why);
	if (directory < 0) {
		report_error(t->report, "cannot write into '%s': %s", parent, why);
		return;
	}
	write_file(c, part, t, directory, slash ? slash + 1 : path);
	close(directory);
}

static void done(struct collect *c, struct collect_part *part, void *context)
{
	struct target *t = context;
	char path[PATH_MAX];

	part->profile.packing = how.pack;
	part->profile.only = how.choice.event;
	t->stacks += part->profile.stacks.count;
	if (t->dir) {
		if (part->id == 0 && part->profile.stacks.count == 0)
			return;		/* no sample has come at all */
		name_of_part(c, part, path, sizeof(path));
		write_file(c, part, t, t->directory, path);
	} else if (template) {
		if (name_of_interval(c, &part->profile, t, path))
			write_interval(c, part, t, path);
	} else {
		write_profile(c, &part->profile, &t->out);
		t->bytes += t->out.written;
	}
}

static bool open_directory(struct target *t)
{
	char why[DIRECTORY_WHY];

	if (mkdir(t->dir, 0755) < 0 && errno != EEXIST) {
		report_failure(t->report, "cannot make the directory '%s'", t->dir);
		return false;
	}
	t->directory = directory_open(t->dir, why);
	if (t->directory < 0)
		report_error(t->report, "cannot write into '%s': %s", t->dir, why);
	return t->directory >= 0;
}

static bool open_target(struct target *t, const struct command *cmd)
{
	t->dir = process_dir ? process_dir : thread_dir;
	t->directory = -1;
	if (t->dir)
		return open_directory(t);
	if (folded && !file)
		output_open(&t->out, "-", t->report);	/* text may go to a terminal */
	else if (!template)	/* go tool pprof makes perf_to_profile's FILE, and keeps it open */
		command_output_whole(cmd, &t->out, file, cmd == &drop_in, t->report);
	return true;
}

/* An event that the stream does not have selects nothing: the user should know its events. */
static void check_event(const struct stream_events *events, struct report *report)
{
	char names[400] = "";

	if (!how.choice.event || events->count == 0)
		return;
	for (uint32_t i = 0; i < events->count; i++) {
		size_t used = strlen(names);
		if (!strcmp(events->event[i].name, how.choice.event))
			return;
		snprintf(names + used, sizeof(names) - used, " '%s'", events->event[i].name);
	}
	report_error(report, "the stream has no event '%s'; it has%s", how.choice.event, names);
}

/* All of the stream in INPUT. */
static void aggregate(const struct command *cmd, const char *input, struct report *report)
{
	struct target t = { .report = report, .input = input, .out.fd = -1 };
	const char *wrong;
	struct collect c;

	command_spare_inputs(cmd, file, &input, 1);
	if (!collect_init(&c, &how, report, &wrong))
		command_misused(cmd, "cannot label by '%s': no label is called so, or another has "
				"that name, or there are more than 32; there are %s", wrong,
				facts_names);
	if (!open_target(&t, cmd)) {
		collect_release(&c);
		return;
	}
	struct stream_reader *in = stream_open(input, report);
	stream_stop_on(in, &command_stop);
	collect_stream(&c, in, done, &t);
	report_summary(report, "%" PRIu64 " samples, %" PRIu64 " distinct stacks, %" PRIu64
		       " lost, throttled %" PRIu64 " times, %" PRIu64 " bytes", c.samples, t.stacks,
		       c.lost, c.throttled, t.bytes);
	if (t.dir || template)
		report_summary(report, "%" PRIu64 " files", t.files);
	stack_ends_report(collect_ends(&c), report);
	check_event(stream_events(in), report);
	if (in && c.samples == 0 && (how.choice.event || how.choice.comm || pid_text || tid_text ||
				     cpu_text || time_text))
		report_note(report, "no sample of the stream is selected by --event, --pid, --tid, "
			    "--comm, --cpu and --time");
	stream_close(in);
	if (c.samples == 0 && report->status)
		output_discard(&t.out);
	collect_release(&c);
	if (t.out.fd >= 0 || (!t.dir && !template))
		output_close(&t.out);
	if (t.directory >= 0)
		close(t.directory);
}

/* The first SIZE bytes of a file or pipe, which stay there to be read; how many came. */
static size_t peek(int fd, uint8_t *bytes, size_t size)
{
	struct stat st;
	ssize_t n = 0;
	int copy[2];

	if (fstat(fd, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		n = pread(fd, bytes, size, lseek(fd, 0, SEEK_CUR));
	} else if (S_ISFIFO(st.st_mode) && pipe2(copy, O_CLOEXEC) == 0) {
		n = tee(fd, copy[1], size, 0);
		if (n > 0)
			n = read(copy[0], bytes, (size_t)n);
		close(copy[0]);
		close(copy[1]);
	}
	return n > 0 ? (size_t)n : 0;
}

/*
 * Whether FILE is a profile, by its first bytes, and no stream: in gzip with anything but
 * a stream inside, or plain, which begins with a sample type (field 1, its length, its
 * first field).
 */
static bool is_profile(const char *path)
{
	uint8_t magic[512] = { 0 }, first[4] = { 0 };
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	size_t size = peek(fd, magic, sizeof(magic));
	if (!is_stdin)
		close(fd);
	if (magic[0] == 0x1f && magic[1] == 0x8b)
		return inflate_first(magic, size, first, sizeof(first)) < sizeof(first) ||
		       memcmp(first, "PERF", sizeof(first)) != 0;
	return size >= 3 && magic[0] == 0x0a && magic[1] < 0x20 && magic[2] == 0x08;
}

/* What can be done to a stream only: options that say how its samples are aggregated. */
static void refuse_options_of_streams(void)
{
	const struct {
		const char *name;
		bool given;
	} of_streams[] = {
		{ "time", time_text }, { "per-process", process_dir }, { "per-thread", thread_dir },
		{ "interval", interval_text }, { "max-stacks", stacks_text },
		{ "naming", naming_text }, { "data-frames", data_frames },
		{ "mark-cut", mark_cut }, { "drop-lost", drop_lost }, { "no-scale", no_scale },
	};

	for (size_t i = 0; i < sizeof(of_streams) / sizeof(*of_streams); i++)
		if (of_streams[i].given)
			command_misused(&command, "--%s works on a stream, but the input is a "
					"profile: give the stream that it was made of",
					of_streams[i].name);
	if (folded && diff_base)
		command_misused(&command, "--folded shows no differences: leave out --diff");
}

/* A profile with what was asked for of it; NULL (reported). */
static struct decoded *read_selected(const char *path, struct report *report)
{
	const struct profile_selection want = {
		.event = how.choice.event, .comm = how.choice.comm,
		.pid = pid_text ? how.choice.pid : -1, .tid = tid_text ? how.choice.tid : -1,
		.cpu = cpu_text ? how.choice.cpu : -1, .labels = label_list,
	};

	command_on_signals(SIGNALS_END_BUT_ONE);
	struct decoded *d = decoded_read(path, command_input_ended, report);
	if (d && profile_select(d, &want, path, report))
		return d;
	decoded_free(d);
	return NULL;
}

static void fold(const char *const *files, int count, struct report *report)
{
	struct folded lines = { .sum = NULL };
	struct output out;
	bool good = true;

	for (int i = 0; i < count && good; i++) {
		struct decoded *d = read_selected(files[i], report);
		good = d != NULL;
		if (good)
			fold_profile(d, &lines);
		decoded_free(d);
	}
	if (good) {
		output_open_whole(&out, file ? file : "-", false, report);
		folded_write(&lines, &out);
		output_close(&out);
	}
	folded_release(&lines);
}

static void merge(const char *const *files, int count, struct report *report)
{
	struct merge *m = merge_new(report);
	struct output out;
	bool good = true;

	for (int i = 0; i <= count && good; i++) {
		const char *path = i < count ? files[i] : diff_base;
		struct decoded *d = path ? read_selected(path, report) : NULL;
		good = !path || (d && merge_add(m, d, i < count ? MERGE_SUM : MERGE_BASE, path));
		decoded_free(d);
	}
	if (!good) {
		merge_free(m);
		return;
	}
	command_on_signals(SIGNALS_STOP);
	command_output_whole(&command, &out, file, false, report);
	merge_write(m, how.pack, &out);
	output_close(&out);
}

static void work_on_profiles(const char *const *files, int count, struct report *report)
{
	refuse_options_of_streams();
	command_spare_inputs(&command, file, files, (size_t)count);
	command_spare_inputs(&command, file, &diff_base, diff_base != NULL);
	if (folded)
		fold(files, count, report);
	else
		merge(files, count, report);
}

static int run_drop_in(int argc, char **argv)
{
	struct report report;

	if (command_begin(&drop_in, &report, argc, argv) < argc || !input_file || !file)
		command_misused(&drop_in, "needs -i FILE and -o FILE, nothing else");
	if (!force && access(file, F_OK) == 0) {
		report_error(&report, "'%s' is there: -f writes over it", file);
		return command_end(&report);
	}
	how.resolve = (struct resolver_options){ .symbols = true,
						 .demangle = DEMANGLE_TEMPLATES };
	aggregate(&drop_in, input_file, &report);
	return command_end(&report);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	struct report report;

	if (argc > 0 && !strcmp(slash ? slash + 1 : argv[0], drop_in.name))
		return run_drop_in(argc, argv);
	int first = command_begin(&command, &report, argc, argv);
	parse_options();
	if (diff_base && first == argc)
		command_misused(&command, "--diff needs the profiles that BASE is taken away from");
	if (argc - first > 1 || diff_base) {
		work_on_profiles((const char *const *)argv + first, argc - first, &report);
		return command_end(&report);
	}
	const char *input = command_input(&command, argc, argv, first);
	if (is_profile(input))
		work_on_profiles(&input, 1, &report);
	else
		aggregate(&command, input, &report);
	return command_end(&report);
}
