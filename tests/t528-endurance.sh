#!/bin/sh
# Two profilers of the whole machine, for long, beside all that makes it hard: each other and a
# foreign profiler, BPF programs that come and go, short processes that rename themselves and
# compile code, processes in namespaces of their own; and each tool is stopped for moments.
#
# Three minutes of it are in make check.  ENDURANCE_SECONDS=3600: so long; make check-all
# PARTS=endurance.
# kinds: alone
. tests/lib.sh
. tests/serving.sh

seconds=${ENDURANCE_SECONDS:-180}
scene=$scratch/scene
interval=1
# What is sampled by count, with the period; primes, and small: many samples.
counted_events='page-faults=37 context-switches=29 cpu-migrations=1'

# --- What makes it hard.  Each runs until the scene ends, at a low priority: it must not keep the
# --- tools from running, only give them much to do.

# compile: a JIT compiler with a jitdump file, again and again
compile() {
	mkdir -p "$scene/jit" && cd "$scene/jit" || exit
	while :; do
		nice -n 5 rejit 2>/dev/null
		rm -f jit-*.dump
	done
}

# contain: short processes, as of a container: of a file system that only they see
contain() {
	while sleep 0.1; do
		unshare -m -p -f sh -c "mount -t tmpfs none '$scene/box' &&
			cp '$HELP/spin' '$scene/box/boxed' &&
			exec chroot '$scene/box' /boxed serial 20" >/dev/null 2>&1 || sleep 1
	done
}

# profile: a foreign profiler, which starts and ends, and samples the same faults and switches by
# a clock of its own
profile() {
	while :; do
		command perf record -q -a -e cpu-clock -F 49 -o /dev/null -- sleep 2 \
			>/dev/null 2>&1 || sleep 2
		command perf record -q -a -e page-faults -c 1 -o /dev/null -- sleep 1 \
			>/dev/null 2>&1 || sleep 1
		command perf record -q -a -e context-switches -c 1 -o /dev/null -- sleep 1 \
			>/dev/null 2>&1 || sleep 1
	done
}

# request: profiles from pmu-serve, whose recorder loads BPF programs; the answers' statuses
request() {
	for query in '' '&callgraph=dwarf' '&callgraph=fp'; do
		sleep 4
		test ! -e "$scene/closing" || return
		curl -sS -m 60 -o "$scene/answer" -w '%{http_code}\n' \
			"$url/debug/pprof/profile?seconds=1$query" >>"$scene/answers" 2>&1
	done
}

# tools: the pids of all that is being tested, with the processes that unwind stacks
tools() {
	running="$own_tools $server $(pgrep -P $server | tr '\n' ' ')"
	echo $running $(pgrep -P "$(echo $running | tr ' ' ,)")
}

# beat: the time of day, ten times a second: where there is a gap, the machine stood still
beat() { while date +%s.%N; do sleep 0.1; done >"$scene/beats"; }

# freeze: stop one tool for up to a second, any, and note which and when
freeze() {
	while sleep 1.$(shuf -i 10-99 -n 1); do
		victim=$(tools | tr ' ' '\n' | shuf -n 1)
		name=$(cat "/proc/$victim/comm" 2>/dev/null) || continue
		kill -STOP "$victim" 2>/dev/null || continue
		start=$(date +%s.%N)
		sleep 0.$(shuf -i 10-99 -n 1)
		kill -CONT "$victim" 2>/dev/null || :	# a tool of a request may have ended
		echo "$start $(date +%s.%N) $name" >>"$scene/stops"
	done
}

# held PID: its resident memory without pages of files, in KiB
held() { sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null; }

# watch: a line every 5 seconds, while pmu-sample runs: seconds, and the memory of each tool
watch() {
	begin=$(date +%s)
	while test -n "$(held "$sampler")"; do
		echo $(($(date +%s) - begin)) \
			"$(held "$sampler")" "$(held "$symbolizer")" "$(held "$aggregator")" \
			"$(held "$server")" "$(held "$(pgrep -o -P "$server" -x pmu-symbolize)")"
		sleep 5
	done >"$scene/memory"
}

# record: all of it, for $seconds
record() {
	mkdir -p "$scene/profiles" "$scene/storm" "$scene/box"
	cd "$scene" || return
	mkfifo raw resolved
	disturbers=
	(cd storm && exec nice -n 5 storm 1000000 >../born) & disturbers="$disturbers $!"
	bpf-load 20 >loaded & disturbers="$disturbers $!"
	nice -n 5 rename 50 & disturbers="$disturbers $!"
	beat & disturbers="$disturbers $!"
	compile & disturbers="$disturbers $!"
	contain & disturbers="$disturbers $!"
	profile & disturbers="$disturbers $!"
	serve -a $labels --keep 1h --interval ${interval}s --keep-query frequency=97 kept
	pmu-topprof -v --split ${interval}s -o profiles/%s.pb.gz \
		<resolved 2>aggregated & aggregator=$!
	pmu-symbolize <raw 2>symbolized >resolved & symbolizer=$!
	pmu-sample -v -a -g -e cpu-clock/freq=97/ $(printf -- '-e %s ' $(echo $counted_events |
		sed 's|\([^ =]*\)=\([0-9]*\)|\1/period=\2/|g')) -d "$seconds" \
		>raw 2>sampled & sampler=$!
	own_tools="$sampler $symbolizer $aggregator"
	while request; do :; done & requester=$!
	freeze & freezer=$!
	watch
	# who is stopped now goes on
	kill $freezer || :
	wait $freezer || :
	kill -CONT $(tools) 2>/dev/null || :
	for tool in sampler symbolizer aggregator; do
		ended=0
		eval "wait \$$tool" || ended=$?
		echo "$tool $ended" >>ends
	done
	# a server that ends gives a request a second and a half, and then closes the connection
	touch closing
	wait $requester || :
	get "$url/metrics" >metrics
	kill -TERM $server
	ended=0
	wait $server || ended=$?
	echo "server $ended" >>ends
	mv err served
	kill -TERM $disturbers 2>/dev/null || :
	eventually test -s loaded || test -z "$labels"
}

# --- What is judged.

# gaps DIRECTORY: the start times in names of its files, where one does not follow the other.
# That may be where a tool was stopped, the machine stood still for half an interval, or samples
# were lost, which the profile before the gap or after it says.
gaps() {
	ls "$1" | grep -o '[0-9]\{9,\}' | sort -n >starts
	awk -v step=$interval '$1 - last > step / 2 && last { print last, $1 } { last = $1 }' \
		"$scene/beats" | cat - "$scene/stops" >halts
	awk -v step=$interval '
	NR == FNR { if ($2 - $1 > step / 2) { n++; from[n] = $1; to[n] = $2 } next }
	last && ($1 - last < step || $1 - last > step) {
		excused = 0
		for (i = 1; i <= n; i++)
			excused = excused || from[i] < $1 + step && to[i] > last
		if (!excused || $1 - last < step) print last, $1
	} { last = $1 }' halts starts | while read -r before after; do
		# what was lost is counted once a second, so a later profile may say it
		for side in $before $after $((after + interval)) $((after + 2 * interval)); do
			# there may be none
			go tool pprof -symbolize=none -comments "$1"/*"$side"* 2>/dev/null || :
		done >comments
		test "$after" -gt "$before" && grep -q '^lost: ' comments ||
			echo "$before and then $after"
	done
}

# flat COLUMN MOST: in the last quarter at times no more than after five to ten minutes, and MOST
# KiB.  What runs on the machine decides how much is needed at a time, so it goes up and down.
flat() {
	awk -v c="$1" -v more="$2" -v end="$seconds" 'NF == 6 {
		if ($1 >= 300 && $1 < 600 && $c > warm) warm = $c
		if ($1 >= end * 3 / 4 && (!n++ || $c < late)) late = $c
	} END {
		print "column", c ":", warm, "KiB in the first ten minutes, at the end", late, "KiB"
		exit !n || late > warm + more
	}' "$scene/memory"
}

# peak COLUMN MOST: never more than MOST KiB
peak() {
	most=$(awk -v c="$1" 'NF == 6 && $c > most { most = $c } END { print most + 0 }' \
		"$scene/memory")
	echo "column $1: $most KiB"
	test "$most" -gt 0
	test "$most" -le "$2"
}

# in_profiles TYPE: its total in all profiles of the pipe, by pprof
in_profiles() {
	go tool pprof -symbolize=none -raw all.pb.gz 2>/dev/null | awk -v type="$1/" '
	/^Samples:/ { getline; for (i = 1; i <= NF; i++) if (index($i, type) == 1) column = i }
	/^Locations/ { exit }
	/^ +[0-9]+ .*: / { sub(/:.*/, ""); n += $column } END { print n }'
}

recorded() { test -e "$scene/done" || skip "nothing was recorded"; }

check 'the whole machine is profiled twice, for long, and all tools end well' <<'END'
	needs_root
	needs_command curl perf go
	unshare -m -p -f true || skip "no namespaces"
	pmu-sample -q -a -e cpu-clock -o /dev/null true 2>why || skip "$(head -n 1 why)"
	# where BPF programs cannot be loaded, all the rest is tried
	labels=--labels
	pmu-sample -q -a --labels -e cpu-clock -o /dev/null true 2>why || labels=
	mkdir "$scene"
	date +%s >"$scene/start"
	record
	touch "$scene/done"
	tail -n 3 "$scene"/ends "$scene"/stops "$scene"/memory
	echo "$(cat "$scene/loaded") BPF programs"
	at_least "$(wc -l <"$scene/stops")" $((seconds / 20))
	printf '%s 0\n' sampler symbolizer aggregator server | same - "$scene/ends"
END

check 'every interval is there' <<'END'
	recorded
	gaps "$scene/profiles" >missing
	none cat missing
	at_least "$(ls "$scene/profiles" | wc -l)" $((seconds / 10))
	gaps "$scene/kept" >missing
	none cat missing
	at_least "$(ls "$scene/kept" | grep -c profile-)" $((seconds / 10))
END

check 'no message is wrong: each is about something that happened' <<'END'
	recorded
	cd "$scene"
	wc -l sampled symbolized aggregated served
	python3 "$TOP/tests/endurance.py" "$(cat start)" sampled symbolized aggregated served
END

check 'what is counted is in the profiles; what a clock lacks is reported' <<'END'
	recorded
	cd "$scene"
	pmu-topprof -o all.pb.gz profiles/*.pb.gz
	for pair in $counted_events; do
		event=${pair%=*} period=${pair#*=}
		counted=$(sed -n "s/^pmu-sample: $event: \([0-9]*\) counted.*/\1/p" sampled)
		shown=$(in_profiles $event)
		echo "$event: $counted counted, $shown in the profiles"
		at_least "$counted" $((period * 10))
		# a period a counter, of which there is one on each CPU; and some kernels leave
		# tasks out of all samples (of perf, too), but not out of counts: a process of
		# the host, and the idle task
		near "$shown" "$counted" $((period * $(nproc) + counted / 100))
		# what was lost is estimated
		lost=$(sed -n "s/^pmu-sample: $event: .* lost \([0-9]*\) samples$/\1/p" sampled)
		at_most "$shown" $((counted + period * $(nproc) + lost * period / 20))
	done
	counted=$(sed -n "s/^pmu-sample: cpu-clock: \([0-9]*\) counted.*/\1/p" sampled)
	shown=$(in_profiles cpu)
	echo "cpu-clock: $counted ns counted, $shown ns in the profiles"
	at_most "$shown" $((counted + counted / 100))
	# what was lost for seconds is more than an interval can show
	lost=$(sed -n "s/^pmu-sample: cpu-clock: .* lost \([0-9]*\) samples$/\1/p" sampled)
	grep -q "'cpu-clock'.*samples stand for" sampled ||
		at_least $((shown + lost * 1000000000 / 97)) $((counted * 88 / 100))
END

check 'the memory of each tool stays where it was after ten minutes' <<'END'
	recorded
	# 64 MiB are kept while the reader is stopped; the kernel's symbols take 10
	peak 2 $((65536 + 32768))
	peak 3 262144	# what other programs of the machine map counts, too
	peak 4 65536
	peak 5 32768
	peak 6 262144
	if test "$seconds" -lt 900; then exit 0; fi
	flat 2 16384
	flat 3 65536
	flat 4 8192
	flat 5 4096
	flat 6 65536
END

check 'pmu-serve answers beside its own history, and counts it' <<'END'
	recorded
	cd "$scene"
	sort answers | uniq -c
	# while a tool of the request is stopped, it may come to nothing
	at_least "$(grep -c '^200$' answers)" $(($(wc -l <answers) / 2))
	none grep -v '^\(200\|429\|5..\)$' answers
	# one pipe, from start to end
	test "$(awk '$1 == "pmu_serve_keep_starts_total" { print $2 }' metrics)" = 1
END

done_testing
