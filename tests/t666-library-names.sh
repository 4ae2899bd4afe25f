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
			for (int i = 0; i < 30000; i++)
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

# piped FILE PROFILE: the profile that the tools make, raw streams unwound and resolved
piped() {
	case $(pmu-stream -D "$1" 2>/dev/null | head -n 3) in
	*TOOL*) pmu-topprof -q -o "$2" "$1" 2>err || : ;;
	*) pmu-unwind -q "$1" 2>err | pmu-symbolize -q 2>err |
		pmu-topprof -q -o "$2" 2>err || : ;;
	esac
}

check 'the profile of each recording is that of the tools, by stack and by label' <<'END'
	built
	for file in "$data"/*.data "$TOP"/tests/data/releases/0.1/*.data \
		"$TOP"/tests/data/releases/0.1/program.resolved "$TOP"/tests/data/resolved/*.resolved; do
		rm -f want.pb.gz got.pb.gz
		piped "$file" want.pb.gz
		stream profile "$file" got.pb.gz >said 2>err || :
		test -e want.pb.gz || { test ! -e got.pb.gz; continue; }
		reader pprof read want.pb.gz >want
		reader pprof read got.pb.gz >got
		same want got
	done
END

check 'copies of stacks are unwound, and labels chosen, as the tools do' <<'END'
	recorded
	piped busy.data want.pb.gz
	stream profile busy.data got.pb.gz
	reader pprof read want.pb.gz >want
	reader pprof read got.pb.gz >got
	same want got
	at_least "$(grep -c "leaf<double>" got)" 10
	for labels in none tid,cpu comm; do
		pmu-unwind -q busy.data | pmu-symbolize -q | pmu-topprof -q -l $labels -o want.pb.gz
		stream profile busy.data got.pb.gz $labels
		reader pprof read want.pb.gz >want
		reader pprof read got.pb.gz >got
		same want got
	done
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

check 'a stream that is cut gives a profile of what was whole, and says that it is damaged' <<'END'
	built
	file=$TOP/tests/data/releases/0.1/records.data
	head -c 9000 "$file" >cut
	stream profile cut got.pb.gz >said 2>err
	grep -q "^profile: -4: cut: offset 0x" said
	piped cut want.pb.gz
	reader pprof read want.pb.gz >want
	reader pprof read got.pb.gz >got
	same want got
	at_least "$(wc -l <got)" 2
END

done_testing
