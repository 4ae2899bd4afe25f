#!/bin/sh
# pmu-events --doctor --report: what the counters of a machine can do, and nothing else about it.
# kinds: release user
. tests/lib.sh

# value SECTION NAME FILE: the text of that line
value() {
	awk -v section="$1" -v name="$2" '
		/^[a-z]/ { now = $0 }
		now == section && index($0, "  " name "  ") == 1 {
			sub(/^  /, ""); print substr($0, length(name) + 1) }' "$3" | sed 's/^ *//'
}

# full_report: the report of this machine, as report.txt and report.json, made once.  Names of many
# kinds are planted where a report could find them: of the host and on the kernel's command line
# only where root runs this.
full_report() {
	at=$ONCE/report.$KIND
	test -d "$at" || {
		mkdir "$at" planted-directory
		cp "$BIN/pmu-events" "$BIN/pmu-sample" planted-directory
		cp "$(command -v sleep)" planted-process
		./planted-process 3600 &
		planted=$!
		echo 'quiet planted-command-line=1' >cmdline
		cat >job <<-'JOB'
			test "$(id -u)" != 0 || { hostname planted-host; mount --bind cmdline /proc/cmdline; }
			cd planted-directory
			PLANTED=planted-variable LOGNAME=planted-user USER=planted-user \
				HOME=/planted-home ./pmu-events --doctor --report planted-file --json >../json
			awk '{ print $14 + $15 + $16 + $17 }' /proc/$$/stat >../ticks
			cat /proc/cmdline /proc/sys/kernel/hostname >../seen
		JOB
		if test "$(id -u)" = 0; then unshare -u -m sh -e job; else sh -e job; fi
		kill $planted
		cp planted-directory/planted-file "$at/report.txt"
		cp json "$at/report.json"
		cp ticks seen "$at"
	}
	cp "$at"/* .
}

check 'a report has every part, and at most 200 lines' <<'END'
	needs_sampling
	full_report
	at_most "$(wc -l <report.txt)" 200
	for section in machine events 'events of this CPU' 'branch records' sampling counts accuracy; do
		grep -qx "$section" report.txt
	done
	test "$(value machine 'CPUs online' report.txt)" = "$(getconf _NPROCESSORS_ONLN)"
	test "$(value machine kernel report.txt)" = \
		"Linux $(uname -r | sed -E 's/([0-9][0-9.-]*[0-9]).*/\1/'), $(uname -m)"
	for event in cycles instructions branch-misses LLC-load-misses cpu-clock; do
		test -n "$(value events $event report.txt)"
	done
	ls -d /sys/bus/event_source/devices/cpu* /sys/bus/event_source/devices/armv* >cores 2>&1 ||
		grep -Eqx ' +counters +no hardware PMU' report.txt
END

# A run on a busy machine has few samples, or a CPU that changes its speed, so the limit is wide;
# one that mixes up the functions is off by 10 points and more.
check 'the shares of ten functions are as known, by a clock and by a timer' <<'END'
	needs_sampling
	full_report
	worst=$(value accuracy cpu-clock:u report.txt)
	at_least "$(echo "$worst" | sed 's/.* of \([0-9]*\) samples.*/\1/')" 500
	at_most "$(echo "$worst" | sed 's/.*by \([0-9.]*\) points.*/\1/')" 4
	test "$(grep -c '^  share of [A-J] ' report.txt)" = 10
	test "$(value accuracy 'share of J' report.txt | cut -d, -f1)" = '18.18 %'
	test "$(value accuracy 'share of A' report.txt | cut -d, -f1)" = '1.82 %'
	grep '^  share of' report.txt | sed 's/.*cpu-clock:u \([0-9.]*\).*/\1/' >shares
	near "$(awk '{ sum += $1 } END { print sum }' shares)" 100 0.1
	near "$(grep '^  share of' report.txt | sed 's/.*timer \([0-9.]*\).*/\1/' |
		awk '{ sum += $1 } END { print sum }')" 100 0.1
END

check 'a report names neither host, user, file nor process, and takes little time' <<'END'
	needs_sampling
	full_report
	test "$(id -u)" != 0 || { grep -q planted-command-line seen && grep -q planted-host seen; }
	test -s report.txt
	none grep -i planted report.txt report.json
	sed 1d report.txt >facts	# without our own version, which may be that of a commit
	none grep -E '[0-9a-f]{8,}|0x[0-9a-f]{6}|/[a-z]+/' facts	# addresses, serial numbers, paths
	none grep -F "$(hostname)" report.txt
	at_most "$(cat ticks)" 1500	# 15 s, also where other programs share the caches
END

check 'JSON has the same facts as the text' <<'END'
	needs_sampling
	full_report
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/report.py" report.txt report.json
END

check 'where perf_event_open is forbidden, each line says that it is hidden' <<'END'
	any_user
	mkdir alone
	cp "$BIN/pmu-events" alone
	PATH=/usr/bin:/bin "$HELP/no-perf" EPERM alone/pmu-events --doctor --report >out
	for event in cpu-clock page-faults; do
		case $(value events $event out) in "hidden: "*) ;; *) cat out; exit 1 ;; esac
	done
	case $(value sampling 'highest rate' out) in "hidden: "*) ;; *) cat out; exit 1 ;; esac
	# and without pmu-sample there is a line
	test "$(value accuracy cpu-clock:u out)" = 'unknown: pmu-sample was not found'
	grep -q '^  timer of 100 Hz  *worst share' out
	grep -q '^  share of J  *18.18 %, timer' out
END

check 'an ordinary user learns what the missing right hides' <<'END'
	test "$(id -u)" != 0 || skip 'root: the kind user does it'
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ||
		skip 'kernel.perf_event_paranoid is not 2'
	full_report
	grep -q 'CAP_PERFMON, or kernel.perf_event_paranoid below 2' report.txt
	test "$(value events cpu-clock report.txt)" = \
		"samples; the kernel's part is hidden from this user"
	# a PMU that also refuses what needs fewer rights
	test ! -e /sys/bus/event_source/devices/msr || pmu-events --check msr/tsc/ >can || :
	! grep -q perf_event_paranoid can ||
		grep -Eq '^  msr  *0 of [0-9]+ open; hidden: [0-9]+, which this user' report.txt
END

check 'without /proc nothing is made up' <<'END'
	any_user
	needs_root
	cat >job <<-'JOB'
		umount -l /proc && mount -t tmpfs none /proc
		"$BIN/pmu-events" --doctor >doctor || :
		"$HELP/no-perf" ENOSYS "$BIN/pmu-events" --doctor --report >out
	JOB
	unshare -m sh job
	grep -q '^note  settings  *there is no /proc/sys' doctor
	grep -q '^ok    capabilities  *cap_' doctor
	test "$(value machine 'highest sample rate' out)" = 'unknown: there is no /proc/sys'
	test "$(value machine 'NMI watchdog' out)" = unknown
	value machine rights out | grep -q '^may sample everything; .* is unknown$'
END

check 'interrupted, it prints what it has, also to the file' <<'END'
	any_user
	no-perf ENOSYS pmu-events --doctor --report file >out &
	eventually grep -q '^branch records' out
	kill -INT $!
	wait $!
	test "$(tail -n 2 out | head -n 1)" = report
	grep -q '^  interrupted  *the rest was not measured$' out
	same out file
	test "$(value events cpu-clock out)" = 'hidden: there is no perf_event_open here'
END

check 'a file that cannot be written is an error, and wrong usage is told' <<'END'
	any_user
	no-perf ENOSYS pmu-events --doctor --report missing/file >out 2>err &
	eventually grep -q missing/file err
	kill -INT $!
	exits 1 wait $!
	grep -q '^pmu-events: .*missing/file' err
	exits 2 pmu-events --report 2>err
	exits 2 pmu-events --doctor --to perf 2>err
	grep -q 'not perf' err
	exits 2 pmu-events --doctor --report a b 2>err
	grep -q 'one FILE' err
END
check 'doc/machines.md is made of the reports beside it' <<'END'
	any_user
	sh "$TOP/doc/machines/table" "$TOP"/doc/machines/*.txt | same "$TOP/doc/machines.md" -
	test "$(grep -c '^| \[' "$TOP/doc/machines.md")" -ge 3
END
done_testing
