#!/bin/sh
# The waits of one process, and who ended them, whoever that was.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

# follow: a reader of lines, process $reader, which waits for another process, $writer, 100 times
follow() {
	rm -f lines go
	mkfifo lines go
	sh -c 'read -r line <go; while read -r line; do :; done <lines' &
	reader=$!
	sh -c 'i=0; while [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.01; echo $i; done >lines' &
	writer=$!
}

# recorded OPTION...: that, in s.data
recorded() { lossless s.data followed "$@"; }
followed() {
	follow
	rm -f s.data
	pmu-sample -q --waits -e dummy -m 64Mi -o s.data "$@" -p $reader &
	eventually test -s s.data
	echo >go
	wait
}

# delay PROFILE [LABEL=VALUE]: ns of the stacks with that label, or of all
delay() {
	go tool pprof -symbolize=none -sample_index=delay -unit=ns -nodefraction=0 \
		${2:+-tagfocus=$2} -top "$1" 2>why |
		sed -n 's/^Showing nodes accounting for \([0-9]*\)ns.*/\1/p'
}

check '-a beside -p: waits of that process only, ended by all others' <<'END'
	needs_waits
	recorded -a
	samples s.data comm,pid,event,trace | grep -a -v '^[[:space:]]' >all
	# whose waits, and who is woken: nobody else, except by that process
	awk -v pid=$reader '/context-switches/ && $2 != pid' all >others
	test ! -s others
	samples s.data comm,pid,event,trace,ip,sym >stacks
	# nor by others, but in calls whose first argument may be the address of a word of the target
	awk -v pid=$reader -v RS= '/sched_waking/ && $2 != pid && /ksys_write|ksys_read/ &&
		!index($0, " pid=" pid " ")' stacks >others
	none cat others
	at_least "$(awk -v pid=$reader '/sched_waking/ && $2 != pid' all | wc -l)" 50
	pmu-topprof -q --block --frames no-lost -o block s.data
	by_shell=$(delay block ended=process:sh)
	at_least "$by_shell" 500000000	# of 1 s, less what a busy machine loses
	# the stack that wrote the line, of a process that is not recorded otherwise; other waits
	# ended when it opened the pipe
	pmu-topprof -q --mutex --to folded s.data | grep '_write;' >written
	at_least "$(awk '{ n += $NF } END { print n }' written)" $((by_shell / 2))
END

check 'of a lock of several processes, who holds it is charged, not the next in the queue' <<'END'
	needs_waits
	queued() {
		shared-lock 600 >pids & target=$!
		eventually has_lines pids 3
		lossless s.data pmu-sample -q --waits -e dummy -m 16Mi --unwind --call-graph dwarf,4096 \
			-a -p "$(sed -n 2p pids)" -d 1 -o s.data
		kill $target
		pmu-topprof -q --mutex -o mutex s.data || return
		culprit=$(delay_of culprit) waiter=$(delay_of waiter)
		echo "$culprit by culprit(), $waiter by waiter()"
		at_least "$culprit" $((9 * waiter))
	}
	has_lines() { test "$(wc -l <"$1")" -ge "$2"; }
	delay_of() { ns_with mutex -focus="^$1\$" -ignore=scheduler | grep . || echo 0; }
	tried queued
END

check 'it is what an oracle finds in that stream' <<'END'
	needs_waits
	recorded -a
	pmu-topprof -q --block -o block s.data
	pmu-topprof -q --mutex -o mutex s.data
	truth --compare s.data "$(command -v waits)" block mutex
END

check 'with -p alone there is nobody to blame: a message says how to find out' <<'END'
	needs_waits
	recorded
	for how in block mutex; do
		pmu-topprof --$how -o p.pb.gz s.data 2>err
		cat err
		grep 'no thread waited for another of this target: .* processes, which --waits -a -p' err
	done
END

# all_followed: the same, of all processes
all_followed() {
	follow
	pmu-sample -q --waits -e dummy -m 64Mi -a -o s.data -- sh -c "echo >go; sleep 0.7"
	wait
}

check 'of a recording of all: the waits of a process, by a selection and by labels' <<'END'
	needs_waits
	lossless s.data all_followed
	for how in block block=all; do
		pmu-topprof -q --$how --frames no-lost --pid $reader -o selected s.data
		pmu-topprof -q --$how --frames no-lost --label pid -o labelled s.data
		at_least "$(delay selected)" 1
		test "$(delay selected)" = "$(delay labelled pid=$reader)"
	done
	# each part of these waits is charged to somebody, whoever that was
	pmu-topprof -v --mutex --frames no-lost --pid $reader -o mutex s.data 2>err
	pmu-topprof -q --block --frames no-lost --pid $reader -o block s.data
	test "$(delay mutex)" = "$(delay block)"
	grep 'ended by no wake that was recorded' err
END

check 'other targets, and what they cannot be combined with' <<'END'
	needs_waits
	sleep 100 & target=$!
	for options in "--waits -a -t $target" "-a -p $target" "--waits -a -p $target -C 0"; do
		exits 2 pmu-sample $options -d 0.1 >s.data 2>err
		grep 'more than one kind of target' err
	done
	pmu-sample -q --waits -a --comm sleep -d 0.1 -o s.data
	kill $target
END

done_testing
