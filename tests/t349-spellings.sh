#!/bin/sh
# perf record's spellings of options: each means ours, has no effect, or is answered by ours.
# kinds: release user
. tests/lib.sh

# means OURS SPELLING...: pmu-prof passes OURS to pmu-sample for it
means() {
	ours=$1
	shift
	pmu-prof --dry-run "$@" -e cpu-clock -- true >out
	grep -q -- "pmu-sample.* $ours .*--event=cpu-clock" out || { cat out; return 1; }
	exits 0 pmu-sample --max-size 1Mi -e cpu-clock:u "$@" -o s.data -- true 2>err || {
		grep -q "cannot\|not permitted\|may not" err && return 0	# rights, hardware
		cat err
		return 1
	}
}

check 'spellings of perf that mean an option of ours' <<'END'
	means --period=20000 --count 20000
	means --period=20000 --count=20000
	means --frequency=200 --freq=200
	means --all-user --all-user
	means --ring=512K --mmap-pages=512K
	means --record=time=monotonic -k monotonic
	means --record=time=boottime --clockid boottime
	means --record=data --data
	means --record=data -W
	means --record=data --weight
	means --record=phys --phys-data
	means --record=cpu --sample-cpu
	means --record=page-size --code-page-size
	means --record=page-size --data-page-size
	means --record=cgroup --all-cgroups
	means --record=branches -b
	means --record=branches=any_call+u -j any_call,u
	means --record=branches=any+u --branch-filter=any,u
	means --record=user-regs=ip+sp --user-regs ip,sp
	means --record=intr-regs=ip+sp --intr-regs=ip,sp
	means --record=intr-regs -I
	means --duration=size=100000 --max-size 100000
	means --call-graph=auto -g
	means --flight-recorder --overwrite
	means --call-graph=user --user-callchains
	means --call-graph=kernel --kernel-callchains
	means --call-graph=user -U -g
	means --record=raw --raw-samples
	means --record=raw -R
	means --record=switches --switch-events
	means --zstd=3 --compression-level=3
	pmu-prof --dry-run --all-cpus -G / -e cpu-clock -- true | grep -q -- "--all --cgroup=/"
END

check '-F max is the highest frequency that the kernel allows' <<'END'
	# the kernel lowers its limit if interrupts take too long
	before=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	test "$before" -le 100000 || skip "clocks cannot be so fast"
	pmu-sample -e cpu-clock:u -F max -o s.data -- true
	after=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	got=$(pmu-stream --dump s.data | sed -n "s/.* ATTR .* config=0x0 period=\([0-9]*\) .*/\1/p")
	test "$got" -le "$before" && test "$got" -ge "$after"
END

check 'spellings of perf that have no effect are taken' <<'END'
	for option in -B --no-buildid -N --no-buildid-cache -T --timestamp -P --buildid-mmap \
		--no-buffering --tail-synthesize --per-thread --buildid-all --bpf-event --aio --threads \
		--strict-freq --sample-identifier "--synth all" -BNT; do
		pmu-sample -e cpu-clock:u $option -o s.data -- true
		test -s s.data
	done
END

check 'other spellings of perf are refused, and the message names the option of ours' <<'END'
	while read -r option words; do
		exits 2 pmu-sample $option -e cpu-clock:u -o s.data -- true 2>err
		grep -q "there is no option '.*$option.*': .*$words" err
	done <<-EOF
	-i no-inherit
	--no-inherit no-inherit
	--all-kernel cycles:k
	--group {cycles,instructions}
	-s -v prints
	--stat -v prints
	-n pmu-stat
	-A pmu-stream --cat
	--exclude-perf --comm
	--dry-run pmu-events --check
	--transaction pmu-events --list
	--snapshot --flight-recorder
	EOF
	exits 2 pmu-sample -d -p 1 2>err
	grep -q "a size such as 64Mi, not '-p'; perf's -d is --record data" err
	exits 2 pmu-sample record -p 1 2>err
	grep -q "leave out 'record'" err
	exits 2 pmu-sample --nosuch 2>err
	grep -q "unrecognized option" err
	# all of the perf here, but for those that few builds of perf have
	perf record -h 2>&1 | grep -oE -- " --[a-z-]+|^ +-[A-Za-z], " | tr -d " ," | sort -u >options
	test "$(wc -l <options)" -ge 60
	for option in $(grep -v -e "--clang" options); do
		pmu-sample $option --help >out 2>>all || :	# which samples nothing
	done
	none grep "unrecognized option\|invalid option" all
END

check 'old names of our own are answered by the new ones' <<'END'
	any_user
	answered() {
		says=$1
		shift
		exits 2 "$@" </dev/null 2>err
		grep -q -- "there is no option '.*': .*$says" err
	}
	answered "cycles:u$" pmu-sample --user true
	answered "cycles:uk$" pmu-sample --kernel true
	answered "--call-graph max=COUNT" pmu-sample --max-stack 9 true
	answered "--record switches" pmu-sample --switches true
	answered "--record time=CLOCK" pmu-sample --clock tai true
	answered "--split thread -o DIR" pmu-topprof --per-thread d
	answered "--split TIME -o NAME" pmu-topprof --interval 1s
	answered "--add latency" pmu-topprof --latency
	answered "--frames cut" pmu-topprof --mark-cut
	answered "--show asm" pmu-annotate --asm main
	answered "--doctor PID" pmu-events --doctor -p 1
	answered "--keep TIME,SIZE" pmu-serve --keep-bytes 1Gi
END

check 'second spellings are in the man page, and not in --help' <<'END'
	any_user
	pmu-sample --help >help
	for name in count all-cpus all-user mmap-pages clockid no-inherit; do
		none grep -e "--$name" help
		grep -q -e "--$name" "$TOP/man/pmu-sample.1"
	done
END

check '-m: a plain number is pages, K, M and G are binary, as in perf' <<'END'
	page=$(getconf PAGESIZE)
	ring() { means "--ring=$1" -m "$1"; }
	ring 512K && ring 128k && ring 1M && ring 16 && ring 64Ki
	for size in 3M 100 0 2G x 4Kib; do
		exits 2 pmu-sample -m $size -e cpu-clock:u -o s.data -- true 2>err
	done
	exits 2 pmu-sample -m 100 -e cpu-clock:u -o s.data -- true 2>err
	grep -q "a power of two of at least $page bytes, not $((100 * page))" err
	needs_command strace
	# the mappings: a page for the header, and the ring
	for size in 16:$((16 * page)) 256K:262144 1M:1048576; do
		strace -qq -f -e trace=mmap -o calls pmu-sample -m ${size%:*} -e cpu-clock:u -o s.data -- \
			true 2>err || skip "strace may not trace"
		grep -q "mmap(NULL, $((${size#*:} + page)), .*MAP_SHARED" calls
	done
END

check 'a cgroup by its path in the file system, and with -a' <<'END'
	root=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)
	test -n "$root" || skip "no cgroups of version 2"
	test "$(id -u)" = 0 || skip "only root may sample a cgroup"
	mine=$root$(sed -n "s/^0:://p" /proc/self/cgroup)
	for path in "$mine" "${mine#"$root"}"; do
		exits 0 pmu-sample -m 8M -a --cgroup "$path" -e cpu-clock -o s.data -- ten serial 0.2 2>err || {
			grep -q "no cgroups are mounted\|version 1" err && skip "no cgroups for events"
			cat err
			exit 1
		}
		test "$(samples s.data comm | grep -c ten)" -gt 20
	done
	exits 2 pmu-sample -a -p 1 -e cpu-clock -o s.data 2>err
END

done_testing
