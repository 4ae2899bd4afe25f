#!/bin/sh
# Profiles and frames of streams by libpmukit: as the tools make them, and as llvm-symbolizer finds.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib
data=$TOP/../shared/data

stream() { LD_LIBRARY_PATH=$lib "$scratch/stream" "$@"; }
reader() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/library/$1.py" "$2" $3; }

# built: the program that calls the library
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/stream" ||
		gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/stream" \
			"$TOP/tests/library/stream.c" -L"$lib" -lpmukit -lpthread
}

# recorded: busy.data, with copies of stacks, of a program in C++ without frame pointers
recorded() {
	built
	needs_command g++
	if ! test -e "$scratch/busy.data"; then
		cat >"$scratch/busy.cc" <<-"EOF"
		#include <cmath>
		#include <ctime>
		namespace work {
		template <typename T> static inline __attribute__((always_inline)) T part(T x)
		{
			for (int i = 0; i < 1000; i++)
				x += std::sqrt(x) / (i + 1);
			return x;
		}
		template <typename T> __attribute__((noinline)) T leaf(T x, int depth)
		{
			return depth ? leaf(x, depth - 1) + T(1) : part(x) + part(x + 1);
		}
		}
		int main()
		{
			volatile double sum = 0;
			for (int i = 0; clock() < CLOCKS_PER_SEC / 2; i++)
				sum = sum + work::leaf<double>(i, i % 8);
			return sum < 0;
		}
		EOF
		g++ -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o "$scratch/busy" \
			"$scratch/busy.cc"
		pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf -o "$scratch/busy.data" -- \
			"$scratch/busy"
	fi
	ln -sf "$scratch/busy.data" "$scratch/busy" .
}

# piped FILE PROFILE [OPTION]...: the profile that the tools make, raw streams unwound and resolved;
# OPTIONs are those of pmu-topprof
piped() {
	recording=$1 made=$2
	shift 2
	case $(pmu-stream -D "$recording" 2>/dev/null | head -n 3) in
	*TOOL*) pmu-topprof -q "$@" -o "$made" "$recording" 2>err || : ;;
	*) pmu-unwind -q $where "$recording" 2>err | pmu-symbolize -q $where $how 2>err |
		pmu-topprof -q "$@" -o "$made" 2>err || : ;;
	esac
}
where= how=	# options of both filters, and of pmu-symbolize only

# alike WANT GOT: both profiles have the same types, and the same stacks, labels and values
alike() {
	reader pprof read "$1" >want
	reader pprof read "$2" >got
	same want got
}

check 'the profile of each recording is that of the tools, by stack and by label' <<'END'
	built
	for file in "$data"/*.data "$data"/simpleperf/*.data "$TOP"/tests/data/releases/0.1/*.data \
		"$TOP"/tests/data/releases/0.1/program.resolved "$TOP"/tests/data/resolved/*.resolved; do
		rm -f want.pb.gz got.pb.gz
		piped "$file" want.pb.gz
		stream profile "$file" got.pb.gz >said 2>err || :
		test -e want.pb.gz || { test ! -e got.pb.gz; continue; }
		alike want.pb.gz got.pb.gz
	done
END

check 'copies of stacks are unwound, and labels chosen, as the tools do' <<'END'
	recorded
	facts() { go tool pprof -symbolize=none -raw $1 2>err | grep -E "^(Period|Time|Duration)"; }
	piped busy.data want.pb.gz
	stream profile busy.data got.pb.gz
	alike want.pb.gz got.pb.gz
	at_least "$(grep -c "leaf<double>" got)" 10
	facts want.pb.gz >want
	facts got.pb.gz | same want -
	for labels in none tid,cpu comm; do
		piped busy.data want.pb.gz -l $labels
		stream profile busy.data got.pb.gz $labels
		alike want.pb.gz got.pb.gz
	done
END

check 'samples are selected as pmu-topprof selects them' <<'END'
	built
	file=$data/multi-event-single-process.perf.data
	test -e "$file" || skip "there is no $file"
	piped "$file" all.pb.gz
	stream samples "$file" | head -n 1 >first
	read -r event period time task cpu rest <first
	from=$((time / 1000000000)).$(printf %09d $((time % 1000000000)))
	until=$((time / 1000000000 + 1))
	for one in event=$event,tid=${task#*/} pid=${task%/*},cpu=$cpu comm=nothing \
		from=$from,to=$until; do
		case $one in
		from*) option=--time=$from,$until ;;
		*) option=$(echo "--$one" | sed "s/,/ --/") ;;
		esac
		rm -f want.pb.gz got.pb.gz
		piped "$file" want.pb.gz $option
		stream -s $one profile "$file" got.pb.gz >said 2>err || :
		cat said
		alike want.pb.gz got.pb.gz
		test $one = comm=nothing ||
			at_least "$(wc -l <got)" 10
	done
END

check 'options find names as those of pmu-symbolize and pmu-unwind do' <<'END'
	recorded
	compared() {
		how=$2 where=$3
		piped busy.data want.pb.gz
		stream -o "$1" profile busy.data got.pb.gz
		alike want.pb.gz got.pb.gz
	}
	compared flags=1 "--inlines no"
	compared flags=2 "--lines no"
	compared flags=4 "--demangle none"
	grep -q " _ZN4work" got
	compared root=/nowhere "" "--sysroot /nowhere"
	none grep leaf got
	# names in a file of debug information only, and in a cache
	id=$(file_build_id busy)
	mkdir -p debug/.build-id/$(echo "$id" | cut -c -2)
	objcopy --only-keep-debug busy debug/.build-id/$(echo "$id" | sed "s/../&\//").debug
	cp -L busy kept
	strip "$scratch/busy"
	compared debug_dirs=debug "" "--debug-dir debug"
	grep -q "leaf<double>" got
	for run in first second; do
		stream -o debug_dirs=debug -o cache=cache profile busy.data got.pb.gz
		alike want.pb.gz got.pb.gz
		at_least "$(ls cache | wc -l)" 1
	done
	how= where=
	cp kept "$scratch/busy"
	pmu-symbolize -q busy.data | pmu-topprof -q -o want.pb.gz
	stream -o flags=8 profile busy.data got.pb.gz
	alike want.pb.gz got.pb.gz
END

check 'the frames of each sample are those in the folded stacks of the tools' <<'END'
	recorded
	for file in busy.data "$TOP/tests/data/releases/0.1/program.data"; do
		pmu-unwind -q "$file" | pmu-symbolize -q | pmu-topprof -q --to folded 2>err | sort >want
		stream frames "$file" 2>err | reader streams folded | sort | same want -
		pmu-unwind -q "$file" | pmu-symbolize -q | stream frames - 2>err |
			reader streams folded | sort | same want -
	done
	at_least "$(wc -l <want)" 3
END

check 'functions, files, lines and calls that were inlined are those of llvm-symbolizer' <<'END'
	recorded
	symbolizer=$(command -v llvm-symbolizer-19 llvm-symbolizer | head -n 1)
	test -n "$symbolizer" || skip "there is no llvm-symbolizer"
	stream addresses busy.data /busy 2>err | sort -u >got
	at_least "$(wc -l <got)" 10
	cut -f1 got | "$symbolizer" --no-demangle --obj="$(readlink -f busy)" \
		--output-style=JSON >found
	python3 - <<-"EOF" >want
	import json
	for line in open("found"):
	    for place in json.loads(line) if line[0] == "[" else [json.loads(line)]:
	        frames = ["%s|%s|%d|%d|%d" % (s["FunctionName"], s["FileName"].split("/")[-1], s["Line"],
	                                      s["Column"], s["StartLine"]) for s in place["Symbol"]]
	        print(place["Address"] + "\t" + "\t".join(frames))
	EOF
	sort want | same - got
END

check 'addresses in programs and libraries have the names that perf finds' <<'END'
	built
	needs_command perf
	cat >sorts.c <<-"EOF"
	#include <stdlib.h>
	#include <time.h>
	static int compare(const void *a, const void *b)
	{
		const char *x = a, *y = b;
		int i = 0;

		while (i < 7 && x[i] == y[i])
			i++;
		return x[i] - y[i];
	}
	int main(void)
	{
		static char words[20000][8];
		while (clock() < CLOCKS_PER_SEC / 3) {
			for (int i = 0; i < 20000; i++)
				for (int k = 0; k < 7; k++)
					words[i][k] = 'a' + rand() % 26;
			qsort(words, 20000, 8, compare);
		}
		return 0;
	}
	EOF
	gcc -O1 -g -fno-omit-frame-pointer -o sorts sorts.c
	perf_record -e cpu-clock:u -F 500 -g -o perf.data ./sorts
	perf script -f -i perf.data -F ip,sym --no-inline 2>err |
		awk '$2 ~ /^[A-Za-z]/ && !/@/ { print $1, $2 }' | sort -u >want
	stream symbols perf.data 2>err | sort -u >got
	at_least "$(wc -l <want)" 10
	grep -q " compare$" want
	# of several names at one address, each chooses one
	join want got | awk '$2 != $3 { print $2, $3 }' | sort -u >others
	cat others
	at_most "$(wc -l <others)" 2
	test "$(join want got | wc -l)" -eq "$(wc -l <want)"
	pmu-symbolize -q perf.data | pmu-topprof -q -o want.pb.gz
	stream profile perf.data got.pb.gz
	alike want.pb.gz got.pb.gz
END

check 'Go, the kernel, and code that a compiler made at run time' <<'END'
	built
	cat >loop.js <<-"EOF"
	console.log("map /tmp/perf-" + process.pid + ".map");
	for (let i = 0, s = 0; i < 6e7; i++)
		s += i % 7;
	EOF
	while read -r name command; do
		needs_command "${command%% *}"
		pmu-sample -q -e cpu-clock -F 250 -o $name.data -- sh -c "$command" >said 2>err
		pmu-symbolize -q $name.data | pmu-topprof -q -o want.pb.gz
		pmu-symbolize -q $name.data | pmu-topprof -q --to folded 2>err | sort >folded
		stream profile $name.data got.pb.gz
		stream frames $name.data 2>err | reader streams folded | sort >frames
		rm -f $(sed -n "s/^map //p" said)
		alike want.pb.gz got.pb.gz
		same folded frames
		at_least "$(wc -l <folded)" 5
	done <<-"EOF"
	go go list std
	node node --perf-basic-prof loop.js
	kernel dd if=/dev/zero of=/dev/null bs=4k count=200000
	EOF
END

check 'code that is replaced has the name of its time, by stacks that were seen before, too' <<'END'
	built
	PYTHONPATH="$TOP/tests" compose s.data <<-"EOF"
	from jitdumps import *
	dump = Dump()
	dump.load(1000, 0x20000, 64, "first", 1)
	dump.load(2000, 0x20000, 64, "second", 2)
	dump.move(3000, 0x20000, 0x30000, 64, 2)
	dump.load(4000, 0x30000, 128, "third", 3)
	open("jit-1.dump", "wb").write(dump.out)
	places = [(1500, 0x20010), (2000, 0x20010), (2500, 0x20010), (3100, 0x30010), (4001, 0x30010)]
	out = jit_file([(t, a, "") for t, a in places for _ in range(5)], "jit-1.dump")
	EOF
	piped s.data want.pb.gz -l none
	stream profile s.data got.pb.gz none
	alike want.pb.gz got.pb.gz
	pmu-topprof -q --to folded got.pb.gz | sed "s/.*;//" | sort >got
	printf "first 5000\nsecond 15000\nthird 5000\n" | same - got
	stream frames s.data 2>err | reader streams folded | sed "s/.*;//" | sort | same - got
END

check 'code that gets its name after its samples' <<'END'
	built
	for end in exit no; do
		PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 - <<-"EOF"
		from jitdumps import *
		dump = Dump()
		open("jit-1.dump", "wb").write(dump.out)
		before = len(dump.out)
		dump.load(1000, 0x20000, 64, "first", 1)
		dump.load(1000, 0x30000, 64, "second", 2)
		open("grow", "wb").write(dump.out[before:])
		uname = os.uname()
		attrs = bytearray(attr(1, 0, 1000, IP | TID | TIME | IDENT, 1 << 18 | 1 << 25))
		struct.pack_into("<i", attrs, 92, 1)
		features = [record(80, struct.pack("<Q", n) + text(value), 0)
		            for n, value in ((3, uname.nodename), (4, uname.release))]
		open("start.data", "wb").write(
		    pipe(record(64, bytes(attrs) + struct.pack("<Q", 7), 0), *features,
		         *process(PID, "jit-1.dump"), sample(PID, PID + 1, 1500, 0x20010),
		         sample(PID, PID + 2, 1600, 0x30000), round_end(), round_end()))
		open("exit", "wb").write(task(4, PID, 1, PID, 1, 2000) + round_end() + round_end())
		open("no", "wb").write(round_end())
		EOF
		THEN="cat grow >>jit-1.dump; cat $end" stream -i 65536 profile start.data got.pb.gz none
		pmu-topprof -q --to folded got.pb.gz | sed "s/ [0-9]*$//; s/.*;//" | sort >got
		printf "first\nsecond\n" | same - got
	done
END

check 'a hundred profiles leave no descriptor and no memory' <<'END'
	recorded
	for file in "$TOP/tests/data/releases/0.1/program.data" \
		"$TOP/tests/data/releases/0.1/program.resolved"; do
		GLIBC_TUNABLES=glibc.malloc.tcache_count=0 stream profiles "$file" >got 2>err
		cat got
		read -r descriptors bytes <got
		test "$descriptors" -eq 0
		test "$bytes" -eq 0
	done
END

check 'a stream that is cut gives a profile of what was whole, and says that it is damaged' <<'END'
	built
	for file in "$TOP/tests/data/releases/0.1/records.data" \
		"$TOP/tests/data/releases/0.1/program.resolved"; do
		for size in 3000 9001 $(($(stat -c %s "$file") - 5)); do
			head -c $size "$file" >cut
			rm -f want.pb.gz got.pb.gz
			stream profile cut got.pb.gz >said 2>err || :
			cat said
			piped cut want.pb.gz
			test -e want.pb.gz || { test ! -e got.pb.gz; continue; }
			grep -q "^profile: -4: " said
			alike want.pb.gz got.pb.gz
		done
		at_least "$(wc -l <got)" 2
	done
END

done_testing
