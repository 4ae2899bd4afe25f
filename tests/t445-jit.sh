#!/bin/sh
# JIT code by jitdump files made here, in which it is known what was where when.
# kinds: release asan
. tests/lib.sh

# names FILE [ROOT]: of each sample's leaf, in order of thread; its object where it has none
names() {
	pmu-symbolize ${2:+--sysroot "$2"} "$1" 2>said >resolved
	pmu-topprof -l tid resolved >p.pb.gz
	go tool pprof -traces p.pb.gz 2>/dev/null | awk '
		$1 == "tid:" { tid = $2 }
		$2 == "" || $1 == "tid:" || tid == "" { next }
		{ sub("^ *[^ ]* *", ""); print tid, $0; tid = "" }' |
	sort -n | sed "s/^[0-9]* //"
}

# Code that is replaced at one place, moved, and then replaced where it was.
cat >"$scratch/replaced.py" <<'END'
from jitdumps import *
def replaced(dump):
    dump.load(1000, 0x20000, 64, "first", 1)
    dump.load(1100, 0x50000, 64, "alone", 9)
    dump.load(1200, 0x30000, 64, "early", 8)
    dump.load(2000, 0x20000, 64, "second", 2)
    dump.move(3000, 0x20000, 0x30000, 64, 2)
    dump.load(3100, 0x20010, 16, "third", 3)
    dump.load(4000, 0x30000, 128, "fourth", 4)
    return dump
samples = [(1500, 0x20010, "first"), (1600, 0x50000, "alone"), (1700, 0x30010, "early"),
           (1999, 0x2003f, "first"), (2000, 0x20010, "second"), (2999, 0x30010, "early"),
           (3050, 0x20010, "second"), (3050, 0x30010, "second"),
           (3200, 0x20010, "third"), (3200, 0x2000f, "second"), (3200, 0x20020, "second"),
           (3999, 0x30000, "second"), (4000, 0x30000, "fourth"), (4001, 0x30050, "fourth"),
           (5000, 0x50010, "alone"), (5001, 0x20010, "third"), (5002, 0x30010, "fourth")]
at_last = {0x2: "second", 0x3: "fourth", 0x5: "alone"}
latest = [(t, a, "third" if 0x20010 <= a < 0x20020 else at_last[a >> 16]) for t, a, n in samples]
END

check 'replaced code is named by what was there at its time, as perf inject --jit has it' <<'END'
	compose s.data <<-END
		$(cat "$scratch/replaced.py")
		open("jit-4194000.dump", "wb").write(replaced(Dump()).out)
		out = jit_file(samples, "jit-4194000.dump")
	END
	names s.data >got
	same want got
	test ! -s said
	needs_command perf
	perf inject --jit -f -i s.data -o injected 2>/dev/null
	perf script -f -i injected -F ip,sym 2>/dev/null | awk '{ print $2 }' >theirs
	same want theirs
END

check 'the same in a dump of the other byte order' <<'END'
	compose s.data <<-END
		$(cat "$scratch/replaced.py")
		open("jit-1.dump", "wb").write(replaced(Dump(">")).out)
		out = jit_file(samples, "jit-1.dump")
	END
	names s.data >got
	same want got
END

check 'records that were written out of order count by their times' <<'END'
	compose s.data <<-END
		from jitdumps import *
		dump = Dump()
		dump.load(3000, 0x20000, 64, "third", 3)
		dump.load(1000, 0x20000, 64, "first", 1)
		dump.load(2000, 0x20000, 64, "second", 2)
		open("jit-1.dump", "wb").write(dump.out)
		out = jit_file([(1500, 0x20000, "first"), (2500, 0x20000, "second"),
		                (3500, 0x20000, "third")], "jit-1.dump")
	END
	names s.data >got
	same want got
END

for how in "no clock:clock=None" "another clock:clock=4" "the CPU's own time:flags=1"; do
check "without a common clock (${how%:*}): the latest name" <<'END'
	compose s.data <<-END
		$(cat "$scratch/replaced.py")
		def make(clock=1, flags=0):
		    open("jit-1.dump", "wb").write(replaced(Dump(flags=flags)).out)
		    return jit_file(latest, "jit-1.dump", clock)
		out = make(${how#*:})
	END
	names s.data >got
	same want got
END
done

check 'samples from before all records of a dump: the latest name, as the clocks differ' <<'END'
	compose s.data <<-END
		$(cat "$scratch/replaced.py")
		open("jit-1.dump", "wb").write(replaced(Dump()).out)
		early = [(t - 1000 if t < 2000 else 1, a, n) for t, a, n in latest]
		out = jit_file(early, "jit-1.dump")
	END
	names s.data >got
	same want got
END

check 'records of 3 MiB: of a function, of its lines, of unknown type; what follows is read' <<'END'
	compose s.data <<-END
		from jitdumps import *
		dump = Dump()
		dump.load(1000, 0x20000, 3 << 20, "large", 1)
		dump.record(77, 1000, bytes(3 << 20))
		dump.lines(1000, 0x520000, [(0x520000 + i, 1 + i // 2, b"a.c") for i in range(160000)])
		dump.load(1000, 0x520000, 160000, "with_lines", 2)
		head = dump.pack("IIQQQQ", PID, PID, 0x600000, 0x600000, 16, 3)
		dump.record(0, 1000, head + b"n" * (3 << 20) + bytes(17))
		dump.load(1000, 0x700000, 16, "last", 4)
		open("jit-1.dump", "wb").write(dump.out)
		out = jit_file([(1500, 0x20000, "large"), (1500, 0x31ffff, "large"),
		                (1500, 0x520100, "with_lines"), (1500, 0x546fff, "with_lines"),
		                (1500, 0x600000, "n" * 4096), (1500, 0x700000, "last")], "jit-1.dump")
	END
	names s.data >got
	same want got
	test ! -s said
	go tool pprof -raw p.pb.gz 2>/dev/null | grep "with_lines a.c:129 "
	go tool pprof -raw p.pb.gz 2>/dev/null | grep "with_lines a.c:79872 "
END

# harm HARM MESSAGE NAMES: the message about a dump harmed so, and what still has a name
harm() {
harm=$1 message=$2 name=$3
check "a dump harmed by $1: reported, exit 0, and the intact part counts" <<'END'
	compose s.data <<-END
		from jitdumps import *
		dump = Dump()
		dump.load(1000, 0x20000, 64, "before", 1)
		at = len(dump.out)
		$harm
		dump.load(1000, 0x30000, 64, "behind", 2)
		open("jit-1.dump", "wb").write(dump.out)
		open("at", "w").write("0x%x" % at)
		out = jit_file([(1500, 0x20000, "before"), (1500, 0x30000, "$name")], "jit-1.dump")
	END
	names s.data >got
	cat said
	same want got
	test -z "$message" || grep -q "jit-1.dump.: offset $(cat at): $message" said
	exits 0 pmu-symbolize s.data >out 2>err
END
}
harm 'dump.out += dump.pack("IIQ", 0, 15, 1000)' \
	"a record shorter than its header; not read further" "[anon]"
harm 'dump.out += dump.pack("IIQ", 77, 0, 1000)' \
	"a record shorter than its header; not read further" "[anon]"
harm 'dump.record(0, 1000, bytes(39))' \
	"a record whose fields do not fit it; skipped" behind
harm 'dump.record(0, 1000, bytes(40) + b"unending")' \
	"a record whose fields do not fit it; skipped" behind
harm 'dump.record(1, 1000, bytes(47))' \
	"a record whose fields do not fit it; skipped" behind
harm 'dump.out += dump.pack("IIQ", 1, 0xffffffff, 1000)' \
	"" "[anon]"

check 'a file that is not a dump, and an empty file' <<'END'
	for size in 0 3 39 4000; do
		compose s.data <<-END
			from jitdumps import *
			open("jit-1.dump", "wb").write(b"nonsense" * 500)
			os.truncate("jit-1.dump", $size)
			out = jit_file([(1500, 0x20000, "[anon]")], "jit-1.dump")
		END
		names s.data >got
		same want got
		test $size -lt 40 || grep -q "jit-1.dump.: offset 0x0: no jitdump header; not read" said
	done
END

check 'a dump that goes on with zeros, to be written yet, is whole' <<'END'
	compose s.data <<-END
		from jitdumps import *
		dump = Dump()
		dump.load(1000, 0x20000, 64, "before", 1)
		open("jit-1.dump", "wb").write(dump.out + bytes(5 << 20))
		out = jit_file([(1500, 0x20000, "before")], "jit-1.dump")
	END
	names s.data >got
	same want got
	test ! -s said
END

check 'map and dump of another machine, below its root; bad lines of a map are reported' <<'END'
	mkdir -p root/tmp root/var
	compose s.data <<-END
		from jitdumps import *
		dump = Dump()
		dump.load(1000, 0x20000, 64, "first", 1)
		dump.load(2000, 0x20000, 64, "second", 2)
		open("root/var/jit-1.dump", "wb").write(dump.out)
		open("root/tmp/perf-%d.map" % PID, "w").write(
		    "40000 40 mapped\nnonsense\n40040 40 next\n40000 10 again\n")
		os.chdir("/var")
		path = os.path.abspath("jit-1.dump")
		os.chdir("$PWD")
		out = jit_file([(1500, 0x20000, "first"), (2500, 0x20000, "second"),
		                (1500, 0x40000, "again"), (1500, 0x40010, "mapped"),
		                (1, 0x40040, "next")], path, host="elsewhere")
	END
	names s.data root >got
	same want got
	grep -q "perf-4194000.map.: offset 0x10: a line that is not .START SIZE NAME.; skipped" said
	test "$(wc -l <said)" = 1
END

check 'files of others than the user of the process, root and oneself: reported, not read' <<'END'
	needs_root
	setpriv --reuid=12345 --clear-groups sleep infinity & target=$! map=/tmp/perf-$!.map
	trap "kill $target 2>/dev/null || :; rm $map" EXIT
	is_of() { test "$(stat -c %u "/proc/$1")" = "$2"; }
	eventually is_of $target 12345
	mkdir -p "root/tmp" "root$PWD"
	compose s.data <<-END
		import jitdumps
		from jitdumps import *
		jitdumps.PID = $target
		dump = Dump()
		dump.load(1000, 0x20000, 64, "dumped", 1)
		for root in "", "root":
		    open(root + "$PWD/jit-1.dump", "wb").write(dump.out)
		    open(root + "$map", "w").write("40000 40 mapped\n")
		out = jit_file([(1500, 0x20000, "dumped"), (1500, 0x40000, "mapped")], "jit-1.dump")
	END
	chown 12346 "root$PWD/jit-1.dump" root$map
	names s.data root >got
	same want got
	for owner in 0 12345; do
		chown $owner jit-1.dump $map
		names s.data >got
		same want got
		test ! -s said
	done
	refused() {
		chown $1 jit-1.dump $map
		names s.data >got
		test "$(grep -c "anon" got)" = 2
		cat said
		grep -q "perf-$target.map. is not read: it belongs to user $1, who is not" said
		grep -q "jit-1.dump. is not read: it belongs to user $1, who is not" said
		test "$(wc -l <said)" = 2
	}
	refused 12346
	kill $target
	wait $target || :
	refused 12345
END

# 200 processes, one after the other; each has a jitdump file, maps, samples, and ends.
cat >"$scratch/many.py" <<'END'
from jitdumps import *
records, names = [], []
def one(pid, time):
    dump = Dump()
    dump.load(time, 0x20000, 64, "of_%d" % pid, 1)
    open("jit-%d.dump" % pid, "wb").write(dump.out)
    records.extend(process(pid, "jit-%d.dump" % pid))
    records.append(sample(pid, pid, time + 1, 0x20000))
    names.append("of_%d" % pid)
END

check 'what was read of processes is given up when they have ended' <<'END'
	compose s.data <<-END
		$(cat "$scratch/many.py")
		for i in range(200):
		    time = 1000 + 100 * i
		    one(PID + i, time)
		    records.append(task(4, PID + i, 1, PID + i, 1, time + 50))
		    records.append(round_end())
		want(names)
		out = wrap(records)
	END
	ulimit -n 30
	names s.data >got
	same want got
END

check 'a thread whose process was thought to have ended: its files are read again' <<'END'
	compose s.data <<-END
		$(cat "$scratch/many.py")
		one(PID, 1000)
		records.append(task(7, PID, PID, PID + 1, PID, 1050))
		records.append(task(4, PID, 1, PID, 1, 1100))
		for i in range(9):
		    records += [sample(PID - 1, PID - 1, 1200 + i, 0x1), round_end()]
		records.append(sample(PID, PID + 1, 2000, 0x20000))
		records.append(sample(PID, PID + 2, 2000, 0x90000))
		names = ["<unknown>", "of_4194000", "of_4194000", "[anon]"]
		want(names)
		out = wrap(records)
	END
	strace -f -o calls true 2>err && trace="strace -o calls -e trace=openat" || trace=
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 $trace pmu-symbolize s.data >resolved
	test -z "$trace" || test "$(grep -c "jit-4194000.dump.*NOFOLLOW.* = [0-9]" calls)" = 2
	names s.data >got
	same want got
END

check 'a pid that another process has now, or another program: not the names of before' <<'END'
	compose s.data <<-END
		$(cat "$scratch/many.py")
		one(PID, 1000)
		records.append(task(7, PID, 1, PID, 1, 1200))
		code = mmap(PID, 0x10000, 0x10000000, b"//anon")
		records.append(record(1, code + end(PID, PID, 1201)))
		records.append(sample(PID, PID + 1, 1300, 0x20000))
		one(PID + 10, 2000)
		pid = PID + 10
		name = struct.pack("<II", pid, pid) + pad(b"new")
		records.append(record(3, name + end(pid, pid, 2100), 1 << 13))
		code = mmap(pid, 0x10000, 0x10000000, b"//anon")
		records.append(record(1, code + end(pid, pid, 2101)))
		records.append(sample(pid, pid + 1, 2200, 0x20000))
		want(["of_4194000", "[anon]", "of_4194010", "[anon]"])
		out = wrap(records)
	END
	names s.data >got
	same want got
END

# are_named STREAM: in each phase of rejit, the code has the name of what ran then
are_named() {
	while read -r name times; do
		pmu-topprof --to folded --time="$times" "$1" >folded
		echo "$times: $name, samples:"
		grep -E ';(one|two|three|four|five) ' folded
		test "$(grep -cE ';(one|two|three|four|five) ' folded)" = 1
		at_least "$(sed -n "s/.*;$name //p" folded)" 20000000	# ns, of 60 ms or more
	done <ran
}

check 'a JIT compiler that replaces code: what was sampled has the name of what ran then' <<'END'
	unsanitized	# dumps with such records are above
	pmu-sample -e cpu-clock -F 1000 -- rejit 2>ran | tee s.data | pmu-symbolize >live
	cat ran
	test "$(wc -l <ran)" = 5
	echo "symbolized live:"
	are_named live
	echo "symbolized afterwards:"
	pmu-symbolize s.data >later
	are_named later
END

# A JIT compiler, of a kind: a loop of some 400 million turns, run by a child
check 'a child of a process with JIT code has its names, until it runs another program' <<'END'
	unsanitized
	test "$(uname -m)" = x86_64 || skip "its code is of x86-64"
	cat >t.c <<-END
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	/* mov $0x17359400, %ecx; 1: dec %ecx; jne 1b; ret */
	static const unsigned char code[] = { 0xb9, 0, 0x94, 0x35, 0x17,
					      0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	int main(void)
	{
		char name[64];
		void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(at, code, sizeof(code));
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(name, "w");
		fprintf(map, "%lx %zx jit_loop\n", (long)at, sizeof(code));
		fclose(map);
		if (fork() == 0) {
			((void (*)(void))at)();
			_exit(0);
		}
		wait(0);
		puts(name);
	}
	END
	gcc -O1 t.c -o t
	pmu-sample --all-user -e cpu-clock -F 500 -o s.data -- ./t >map
	pmu-symbolize s.data | pmu-topprof --to folded >folded
	rm "$(cat map)"
	cat folded
	at_least "$(awk '{ sum += $NF } /jit_loop/ { n += $NF }
		END { print 100 * n / sum }' folded)" 90	# percent
	none grep "anon\]" folded
END

# Parts of the stream of a process with the code first, second and third: the samples in start.data,
# its EXIT in exit.data.  In grow, the loads of a jitdump file whose header is there already.
cat >"$scratch/late.py" <<'END'
from jitdumps import *
dump = Dump()
open("jit-1.dump", "wb").write(dump.out)
def load(*functions):
    before = len(dump.out)
    for function in functions:
        dump.load(*function)
    open("grow", "wb").write(dump.out[before:])
uname = os.uname()
attrs = bytearray(attr(1, 0, 1000, IP | TID | TIME | IDENT, 1 << 18 | 1 << 25))
struct.pack_into("<i", attrs, 92, 1)
features = [record(80, struct.pack("<Q", n) + text(value), 0)
            for n, value in ((3, uname.nodename), (4, uname.release))]
samples = [sample(PID, PID + 1, 1500, 0x20010), sample(PID, PID + 2, 1600, 0x30000),
           sample(PID, PID + 3, 1700, 0x40000)]
open("start.data", "wb").write(
    pipe(record(64, bytes(attrs) + struct.pack("<Q", 7), 0), *features,
         *process(PID, "jit-1.dump"), *samples, round_end(), round_end()))
out = task(4, PID, 1, PID, 1, 2000) + round_end() + round_end()
END

# late FILE: resolve start.data and then FILE, after which the jitdump file grows
late() {
	has_samples() { pmu-stream resolved 2>&1 | grep -q "^CHAIN_SAMPLE  *${samples:-3}"; }
	{
		cat start.data
		eventually has_samples >&2
		cat grow >>jit-1.dump
		cat $1
	} | pmu-symbolize --definitions ${definitions:-16Mi} >resolved
	pmu-topprof -l tid --to folded resolved | sed "s/ [0-9]*$//; s/.*;//" | sort >got
	cat got
}

# harmed CODE: resolved, with the Python CODE done to its bytes DATA, of which NAME is at AT
harmed() {
	python3 - "$1" <<-END
		import struct, sys
		data, at = bytearray(open("resolved", "rb").read()), 16
		while struct.unpack_from("<I", data, at)[0] != 0x504d0009:
		    at += struct.unpack_from("<H", data, at + 6)[0]
		size = struct.unpack_from("<H", data, at + 6)[0]
		exec(sys.argv[1])
		open("harmed", "wb").write(data)
	END
}

check 'code that gets its name after its samples: named before the EXIT, or at the end' <<'END'
	any_user
	printf "%s\n" first second third >want
	touch no.data
	for end in exit.data no.data; do
		compose exit.data <<-END
			$(cat "$scratch/late.py")
			load((1000, 0x20000, 64, "first", 1), (1000, 0x30000, 64, "second", 2),
			     (1000, 0x40000, 64, "third", 3))
		END
		late $end
		same want got
		exits 0 pmu-topprof resolved -o p.pb.gz 2>err
		none cat err
		pmu-stream --dump resolved | grep -oE " (NAME|EXIT|END) " | tr -d "\n" >order.$end
	done
	test "$(cat order.exit.data)" = " NAME  NAME  NAME  EXIT  END "
END

check 'definitions forgotten between samples and names: all samples are named' <<'END'
	any_user
	compose exit.data <<-END
		$(cat "$scratch/late.py")
		load((1000, 0x20000, 64, "first", 1), (1000, 0x30000, 64, "second", 2),
		     (1000, 0x40000, 64, "third", 3))
	END
	definitions=1 late exit.data
	printf "%s\n" first second third | same - got
	pmu-stream resolved 2>&1 | grep "^RESTART"
	exits 0 pmu-topprof resolved -o p.pb.gz 2>err
	none cat err
END

check 'code replaced after the sample gives it no name; harmed and unknown records' <<'END'
	any_user
	printf "%s\n" "[anon]" first third >want
	compose exit.data <<-END
		$(cat "$scratch/late.py")
		load((1000, 0x20000, 64, "first", 1), (1000, 0x30000, 64, "second", 2),
		     (1900, 0x30000, 64, "replaced", 4), (1000, 0x40000, 64, "third", 3))
	END
	late exit.data
	same want got
	pmu-topprof -l none --to folded resolved >folded
	# readers that do not know the record skip it; a frame keeps its first name
	harmed 'data = data.replace(struct.pack("<I", 0x504d0009), struct.pack("<I", 0x504d0fff))'
	exits 0 pmu-topprof -l none --to folded harmed >skipped 2>err
	grep -q "unknown: records 2, features 0, events with new fields 0$" err
	test "$(wc -l <err)" = 1
	none grep "first\|third" skipped
	harmed 'data[at:at] = data[at:at + size]'
	exits 0 pmu-topprof -l none --to folded harmed >again 2>err
	none cat err
	same folded again
	# u32 frame, u32 lines; each: u32 function, u32 file, ...
	for at in 8 12 16 20; do
		harmed "struct.pack_into('<I', data, at + $at, 0xfffffff)"
		exits 1 pmu-topprof harmed -o p.pb.gz 2>err
		grep "NAME record \(of an undefined frame\|with an impossible line\); skipped" err
	done
	harmed 'struct.pack_into("<I", data, at + 12, 0)'
	exits 1 pmu-topprof harmed -o p.pb.gz 2>err
	grep "NAME record with an impossible line; skipped" err
END

check 'code that is replaced while its samples come: each has the name of its time' <<'END'
	any_user
	compose more.data <<-END
		$(cat "$scratch/late.py")
		dump.load(1000, 0x20000, 64, "first", 1)
		open("jit-1.dump", "wb").write(dump.out)
		load((2000, 0x20000, 64, "second", 2))
		out = round_end() + sample(PID, PID + 4, 2500, 0x20010) + round_end()
	END
	late more.data
	printf "%s\n" "[anon]" first second | same - got
END

check 'more addresses than may wait for a name: the first get theirs, others are counted' <<'END'
	any_user
	unsanitized
	compose exit.data <<-END
		$(cat "$scratch/late.py")
		load((1000, 0x20000, 64 << 20, "all", 1))
		several = b"".join(sample(PID, PID, 1800, 16 * i) for i in range(20480, 544868))
		open("start.data", "ab").write(several + round_end() + round_end())
	END
	samples=524391 late exit.data 2>err
	cat err
	grep "^pmu-symbolize: 103 addresses of code .* no names, because 524288 others waited" err
	pmu-topprof -l none --to folded resolved >folded
	cat folded
	grep "^all 524288000$" folded
END

# A JIT compiler, of a kind, that writes its map at its end: a loop of some 400 million turns
check 'a program that writes its map when it ends has names in the profile of a live pipe' <<'END'
	test "$(uname -m)" = x86_64 || skip "its code is of x86-64"
	cat >t.c <<-END
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	/* mov $0x17359400, %ecx; 1: dec %ecx; jne 1b; ret */
	static const unsigned char code[] = { 0xb9, 0, 0x94, 0x35, 0x17,
					      0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	int main(void)
	{
		char name[64];
		void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(at, code, sizeof(code));
		for (int i = 0; i < 3; i++)
			((void (*)(void))at)();
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(name, "w");
		fprintf(map, "%lx %zx late_loop\n", (long)at, sizeof(code));
		fclose(map);
		fprintf(stderr, "%s\n", name);
		return 0;
	}
	END
	once late-loop gcc -O1 t.c -o t
	pmu-sample -q --all-user -e cpu-clock -F 500 -- ./t 2>map | pmu-symbolize |
		pmu-topprof --to folded >folded
	rm "$(tail -n 1 map)"
	cat folded
	grep late_loop folded
	none grep "anon" folded
END

check 'a map that was there before the process started is not its own' <<'END'
	any_user
	test -e "$ONCE/late-loop" || skip "its code is of x86-64"
	cp "$ONCE/late-loop" t
	cat >run <<-"EOF"
		echo "1000 7fffffff0000 stale" >/tmp/perf-$$.map
		touch -d "1 hour ago" /tmp/perf-$$.map
		exec ./t
	EOF
	pmu-sample -q --all-user -e cpu-clock -F 500 -- sh run 2>map | pmu-symbolize |
		pmu-topprof --to folded >folded
	rm "$(tail -n 1 map)"
	cat folded
	grep late_loop folded
	none grep "stale" folded
END

check 'a map in a container, whose /tmp is gone with its last process' <<'END'
	needs_root
	needs_sampling
	test -e "$ONCE/late-loop" || skip "its code is of x86-64"
	cp "$ONCE/late-loop" t
	pmu-sample -q --children --all-user -e cpu-clock -F 500 -- unshare -m -p --fork \
		sh -c "mount -t tmpfs none /tmp && exec ./t" 2>map |
		pmu-symbolize | pmu-topprof --to folded >folded
	cat map folded
	test ! -e "$(tail -n 1 map)"
	grep late_loop folded
	none grep "anon" folded
END

done_testing
