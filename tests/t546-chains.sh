#!/bin/sh
# Callchains as CPUs and kernels leave them: by streams put together by hand.
# kinds: release asan
. tests/lib.sh

# Samples of process 1 with libraries at 0x10000 and 0x20000, the kernel at KERNEL.
cat >"$scratch/chains.py" <<'END'
KERNEL, USER = 0xffffffffffffff80, 0xfffffffffffffe00	# PERF_CONTEXT_*
TEXT = 0xffffffff81000000
def sample(ip, chain, misc=2, pid=1):
    return record(9, struct.pack("<QIIQ%dQ" % (len(chain) + 1), ip, pid, pid, 7, len(chain), *chain), misc)
def stream(*samples):
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN)),
                record(1, mmap(0xffffffff, TEXT, 0x1000000, b"[kernel.kallsyms]_text", TEXT), 1),
                record(1, mmap(1, 0x10000, 0x1000, b"/a.so")),
                record(1, mmap(1, 0x20000, 0x1000, b"/b.so")), *samples)
END

# folded: the objects of each stack, and how many samples of period 7 it has
folded() { pmu-topprof --folded --label none s.data | sort; }

check 'an entry 0 is no caller; an IP of 0 is one address' <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		out = stream(sample(0x10100, [USER, 0x10100, 0, 0x20100, 0, 0]),
		             sample(0x10100, [USER, 0x10100, 0]),
		             sample(0, [USER, 0, 0x20100]))
	EOF
	printf '%s\n' '[a.so] 7' '[b.so];[a.so] 7' '[b.so];[unknown] 7' >want
	folded | same want -
	pmu-symbolize -q s.data | pmu-topprof --folded --label none | sort | same want -
END

check "the kernel's part of a chain did not call a precise address of the program" <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		out = stream(sample(0x10100, [KERNEL, TEXT + 0x100, TEXT + 0x200, USER, 0x10108, 0x20100]),
		             sample(TEXT + 0x100, [KERNEL, TEXT + 0x100, TEXT + 0x200, USER, 0x10108, 0x20100], 1))
	EOF
	printf '%s\n' '[b.so];[a.so] 7' '[b.so];[a.so];[kernel.kallsyms];[kernel.kallsyms] 7' >want
	pmu-topprof --folded --label none s.data | sed 's/\[kernel.kallsyms\]_text/[kernel.kallsyms]/g' |
		sort | same want -
END

check 'the idle task is selected by pid 0 and tid 0, as perf shows it' <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		out = stream(sample(0x10100, []), sample(0x10100, []), sample(TEXT + 0x100, [], 1, 0))
	EOF
	test "$(samples s.data pid | grep -cx ' *0 *')" = 1
	for select in '-p 0' '-t 0'; do
		pmu-topprof --label none $select --folded s.data >got
		test "$(cut -d ' ' -f 2 got)" = 7
		grep -q kernel got
		pmu-stream $select -o selected.data s.data
		test "$(perf_samples selected.data)" = 1
	done
	test "$(pmu-topprof -p 1 --folded s.data | cut -d ' ' -f 2)" = 14
END

done_testing
