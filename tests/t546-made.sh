#!/bin/sh
# Callchains and names as they come: by streams put together by hand.
# kinds: release asan
. tests/lib.sh

# Samples of process 1 with libraries at 0x10000 and 0x20000, the kernel at KERNEL.
cat >"$scratch/chains.py" <<'END'
KERNEL, USER = 0xffffffffffffff80, 0xfffffffffffffe00	# PERF_CONTEXT_*
TEXT = 0xffffffff81000000
def sample(ip, chain, misc=2, pid=1):
    form = "<QIIQ%dQ" % (len(chain) + 1)
    return record(9, struct.pack(form, ip, pid, pid, 7, len(chain), *chain), misc)
def stream(*samples):
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN)),
                record(1, mmap(0xffffffff, TEXT, 0x1000000, b"[kernel.kallsyms]_text", TEXT), 1),
                record(1, mmap(1, 0x10000, 0x1000, b"/a.so")),
                record(1, mmap(1, 0x20000, 0x1000, b"/b.so")), *samples)
END

# folded: the objects of each stack, and how many samples of period 7 it has
folded() { pmu-topprof --to folded --label none s.data | sort; }

check 'an entry 0 is not a caller; an IP of 0 is one address' <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		out = stream(sample(0x10100, [USER, 0x10100, 0, 0x20100, 0, 0]),
		             sample(0x10100, [USER, 0x10100, 0]),
		             sample(0, [USER, 0, 0x20100]))
	EOF
	printf '%s\n' '[a.so] 7' '[b.so];[a.so] 7' '[b.so];[unknown] 7' >want
	folded | same want -
	pmu-symbolize -q s.data | pmu-topprof --to folded --label none | sort | same want -
END

# The call in last() is its last instruction, and next() follows without a gap.
check 'a caller is looked up before its return address, a leaf at its own' <<'END'
	cat >calls.s <<-"ASM"
		.globl last, next, after
		.type last, @function
		.type next, @function
		.type after, @function
		last: .fill 11, 1, 0x90
		call after
		.size last, . - last
		next: .fill 16, 1, 0x90
		.size next, . - next
		after: .fill 16, 1, 0x90
		.size after, . - after
	ASM
	test "$(uname -m)" = x86_64 || skip "its code is of x86-64"
	gcc -nostdlib -static -Wl,-Ttext=0x401000,-e,last calls.s -o calls
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		last, next, after = 0x401000, 0x401010, 0x401020
		def calls(*samples):
		    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN)),
		                record(1, mmap(1, 0x401000, 0x1000, b"$PWD/calls", 0x1000)), *samples)
		out = calls(sample(after, [USER, after, next]), sample(next, [USER, next]))
	EOF
	for way in "" "pmu-unwind |"; do
		eval "cat s.data | $way pmu-symbolize --sysroot /" | pmu-topprof --to folded -l none >got
		printf "%s 7\n" "last;after" next | same - got
	done
END

check "the kernel's part of a chain did not call a precise address of the program" <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		chain = [KERNEL, TEXT + 0x100, TEXT + 0x200, USER, 0x10108, 0x20100]
		out = stream(sample(0x10100, chain), sample(TEXT + 0x100, chain, 1))
	EOF
	printf '%s\n' '[b.so];[a.so] 7' '[b.so];[a.so];[kernel.kallsyms];[kernel.kallsyms] 7' >want
	pmu-topprof --to folded --label none s.data |
		sed 's/\[kernel.kallsyms\]_text/[kernel.kallsyms]/g' | sort | same want -
END

check 'the idle task is selected by pid 0 and tid 0, as perf shows it' <<'END'
	{ cat "$scratch/chains.py"; cat <<-EOF; } | compose s.data
		out = stream(sample(0x10100, []), sample(0x10100, []), sample(TEXT + 0x100, [], 1, 0))
	EOF
	test "$(samples s.data pid | grep -cx ' *0 *')" = 1
	for select in '-p 0' '-t 0'; do
		pmu-topprof --label none $select --to folded s.data >got
		test "$(cut -d ' ' -f 2 got)" = 7
		grep -q kernel got
		pmu-stream $select -o selected.data s.data
		test "$(perf_samples selected.data)" = 1
	done
	test "$(pmu-topprof -p 1 --to folded s.data | cut -d ' ' -f 2)" = 14
END

# What a program may call itself and its files: UTF-8, a cursor moved by C0 and C1, no UTF-8.
cat >"$scratch/names.py" <<'END'
good, bad = "Grüße-日本".encode(), b"\x1b[31mR\x07\n\xc2\x9b2J\xff\xe2\x80\xae"
def named(comm):
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD)),
                record(3, struct.pack("<II", 1, 1) + pad(comm)),
                record(1, mmap(1, 0x10000, 0x1000, b"/tmp/" + comm + b".so")),
                record(9, struct.pack("<QIIQ", 0x10100, 1, 1, 7)))
END

check 'names in UTF-8 are shown as they are, everywhere' <<'END'
	{ cat "$scratch/names.py"; echo 'out = named(good)'; } | compose s.data
	pmu-stream --dump s.data >text
	pmu-stream --dump --json s.data >json
	python3 - <<-EOF
		import json
		assert [json.loads(l)["comm"] for l in open("json") if "COMM" in l] == ["Grüße-日本"]
	EOF
	pmu-topprof s.data -o p.pb.gz
	pmu-topprof --to folded s.data >folded
	pmu-top p.pb.gz >table
	pmu-symbolize -v s.data 2>said >r.data
	for file in text folded table said; do grep -q 'Grüße-日本' $file; done
	go tool pprof -symbolize=none -raw p.pb.gz | grep -q '/tmp/Grüße-日本.so'
END

check 'no name moves a cursor or is anything but UTF-8, in text, messages and profiles' <<'END'
	{ cat "$scratch/names.py"; echo 'out = named(bad)'; } | compose s.data
	pmu-stream --dump s.data >text
	pmu-stream --dump --json s.data >json
	pmu-topprof --to folded s.data >folded
	pmu-topprof s.data -Z none -o p.pb
	pmu-top p.pb >table 2>said
	pmu-symbolize -v s.data 2>>said >r.data
	pmu-topprof -Z none p.pb -o q.pb
	go tool pprof -symbolize=none -raw p.pb >raw
	python3 - <<-EOF
		import json, unicodedata
		for name in "text", "json", "folded", "table", "said", "raw":
		    text = open(name, "rb").read().decode()     # fails if it is not UTF-8
		    assert text
		    wrong = [c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t"]
		    assert not wrong, (name, wrong)
		[json.loads(line) for line in open("json")]
		for name in "p.pb", "q.pb":
		    assert b"\x1b" not in open(name, "rb").read(), name
	EOF
END

done_testing
