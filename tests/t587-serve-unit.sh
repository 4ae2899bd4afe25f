#!/bin/sh
# pmu-serve under the rights of doc/pmu-serve.service: its system calls, capabilities and files.
# kinds: release
. tests/lib.sh
. tests/serving.sh

unit=$TOP/doc/pmu-serve.service

check 'the unit for systemd is valid, hardened, and the one on the page' <<'END'
	any_user
	sed -n '/^\[Unit\]/,/^WantedBy/p' "$TOP/man/pmu-serve.1" | same "$unit" -
	needs_command systemd-analyze
	sed "s|/usr/local/bin/pmu-serve|$BIN/pmu-serve|" "$unit" >pmu-serve.service
	systemd-analyze verify ./pmu-serve.service >said 2>&1
	none cat said
	systemd-analyze security --offline=true --threshold=27 ./pmu-serve.service >said || {
		cat said
		exit 1
	}
	grep "SystemCallFilter=~@" said >filters
	test "$(grep -c "is not included" filters)" -ge 9
	grep -v "is not included" filters | grep -v "@debug.*perf_event_open" >more || :
	none cat more
END

# names SET-OR-NAME...: the names of these system calls
names() {
	local word
	for word; do
		case $word in
		@*) names $(systemd-analyze syscall-filter "$word" | sed '1d; /#/d') ;;
		*) echo "$word" ;;
		esac
	done
}

# allowed UNIT: the numbers of the system calls that UNIT allows
allowed() {
	names @default >calls
	sed -n 's/^SystemCallFilter=//p' "$1" | while read -r words; do
		case $words in
		~*) names ${words#\~} >removed
			grep -vxF -f removed calls >rest || :
			mv rest calls ;;
		*) names $words >>calls ;;
		esac
	done
	printf '#include <asm/unistd.h>\n' | gcc -E -dM - | sed -n 's/^#define __NR_//p' >numbers
	awk 'NR == FNR { number[$1] = $2; next } $1 in number { print number[$1] }' numbers calls
}

# write_enter: make ./enter, which in its own mount namespace runs pmu-serve as dir/unit does
write_enter() {
	cat >enter <<-"EOF"
	set -e
	mount --make-rprivate /
	mount --bind "$DIR" /mnt
	mount --bind "$BIN" /mnt/bin
	mount --bind "$HELP" /mnt/help
	mount -t tmpfs none /tmp
	mount -t tmpfs none /dev
	mknod -m 666 /dev/null c 1 3
	mount -o remount,bind,ro /
	cd /mnt
	rights=-all$(sed -n 's/^CapabilityBoundingSet=//p' unit | tr A-Z a-z | sed 's/ *cap_/,+/g')
	exec setpriv --reuid 65533 --regid 65533 --clear-groups --no-new-privs \
		--inh-caps "$rights" --ambient-caps "$rights" --bounding-set "$rights" \
		help/only-syscalls calls bin/pmu-serve "$@"
	EOF
}

# serve_confined UNIT OPTION...: serve() by that unit, all processes
serve_confined() {
	mkdir -p dir/bin dir/help dir/ring path
	cp "$1" dir/unit
	allowed "$1" >dir/calls
	shift
	test "$(wc -l <dir/calls)" -gt 200
	chown 65533 dir dir/ring
	write_enter
	printf '#!/bin/sh\nexec unshare -m sh "%s" "$@"\n' "$PWD/enter" >path/pmu-serve
	chmod +x path/pmu-serve
	DIR=$PWD/dir
	export DIR BIN HELP
	PATH=$PWD/path:$PATH serve -a "$@"
}

needs_confinement() {
	needs_root
	needs_command systemd-analyze curl gcc go setpriv unshare
	unshare -m mount -t tmpfs none /mnt 2>/dev/null || skip "no mounts in namespaces"
	setpriv --bounding-set -all,+perfmon,+bpf true 2>/dev/null ||
		skip "setpriv does not know these capabilities"
}

# jit: a process with code of a JIT compiler, $jit, whose map is in /tmp
jit() {
	cat >t.c <<-"EOF"
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <time.h>
	#include <unistd.h>
	/* mov $0x1000000, %ecx; 1: dec %ecx; jne 1b; ret */
	static const unsigned char code[] = { 0xb9, 0, 0, 0, 1, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	int main(void)
	{
		const struct timespec pause = { .tv_nsec = 50000000 };
		char name[64];
		void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(at, code, sizeof(code));
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(name, "w");
		fprintf(map, "%lx %zx jit_loop\n", (long)at, sizeof(code));
		fclose(map);
		for (;;) {
			((void (*)(void))at)();
			nanosleep(&pause, 0);
		}
	}
	EOF
	gcc -O1 t.c -o jit-loop
	./jit-loop &
	jit=$!
}

check 'profiles are taken with the calls and rights of the unit, and files in /tmp are read' <<'END'
	needs_confinement
	test "$(uname -m)" = x86_64 || skip "its code is of x86-64"
	workload
	jit
	taker
	serve_confined "$unit" --keep 1h --interval 1s --push "http://$taker" --push-as pprof ring
	# has PATTERN QUERY: a profile has such a function
	has() {
		get -f "$url/debug/pprof/profile?seconds=0.5&frequency=500&$2" >p &&
		go tool pprof -top -nodecount=1000 p 2>/dev/null | grep -q "$1"
	}
	for how in fp dwarf auto; do
		eventually has jit_loop "callgraph=$how&label=pid"
		eventually has " J$" "callgraph=$how"
	done
	get -f "$url/debug/pprof/pmu?event=page-faults&period=1&seconds=0.2" | gzip -t
	get -f "$url/debug/pprof/offcpu?seconds=0.2" | gzip -t
	get -f "$url/flame?seconds=0.2" | grep -q "</html>"
	get -f "$url/debug/pprof/events" | grep -q page-faults
	kept_there() { ls dir/ring | grep -q "^profile"; }
	eventually kept_there
	get -f "$url/history" | gzip -t
	get -f "$url/history/flame" | grep -q "</html>"
	pushed() { at_least "$(metric push_profiles_total)" 1; }
	eventually pushed
	gzip -t <sent/001.body
	test "$(metric keep_starts_total)" = 1
	kill $server
	exits 0 wait $server
	none grep -i "bad system call\|signal" err
	rm -f /tmp/perf-$jit.map
END

check '--labels works with what the page adds to the unit' <<'END'
	needs_confinement
	pmu-sample --labels -e cpu-clock -o /dev/null true 2>why || skip "$(head -n 1 why)"
	sed 's/^\(CapabilityBoundingSet=.*\)/\1 CAP_BPF/
		/^SystemCallErrorNumber/s/^/SystemCallFilter=bpf\n/' "$unit" >unit
	grep -q "^.Li SystemCallFilter=bpf" "$TOP/man/pmu-serve.1"
	workload
	serve_confined "$PWD/unit" --labels
	get -f "$url/debug/pprof/profile?seconds=0.5" | gzip -t
	none grep . err
END

done_testing
