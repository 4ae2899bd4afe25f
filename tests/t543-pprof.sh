#!/bin/sh
# With pprof: perf.data through it, and profiles without symbols, which it symbolizes.
# kinds: release
. tests/lib.sh

# calls: a program that spends 1/3 of its time in its own function, 2/3 in its library's
calls() {
	cat >lib.c <<-END
		volatile unsigned long in_library;
		void far(unsigned long n) { while (n--) in_library++; }
	END
	cat >main.c <<-END
		volatile unsigned long in_main;
		void far(unsigned long n);
		__attribute__((noinline)) static void near(unsigned long n)
		{
			while (n--)
				in_main++;
		}
		int main(void)
		{
			for (int i = 0; i < 20; i++) {
				near(2000000);
				far(4000000);
			}
		}
	END
}

# top PROFILE OPTION...: flat value and function, as pprof says
top() {
	p=$1
	shift
	go tool pprof "$@" -top -nodecount=1000 -nodefraction=0 "$p" 2>top-err |
		awk '/flat%/ { body = 1; next } body && $1 != "0" { print $1, $6 }' | sort
}

# ways OPTION...: built with these, pprof finds the functions that we do
ways() {
	gcc -g -O1 -fno-omit-frame-pointer -shared -fPIC "$@" -o libfar.so lib.c
	gcc -g -O1 -fno-omit-frame-pointer -o calls main.c -L. -lfar -Wl,-rpath,"$PWD" "$@" $PIE
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- ./calls
	pmu-topprof -o raw.pb.gz s.data
	pmu-symbolize -q --inlines no s.data | pmu-topprof -o named.pb.gz
	top named.pb.gz -symbolize=none >want
	top raw.pb.gz -symbolize=local >got
	grep -q " near$" want
	grep -q " far$" want
	grep -E " (near|far|main)$" want >functions
	grep -E " (near|far|main)$" got | same functions -
}

check 'pprof symbolizes by itself: PIE and not, text apart and at offset 0, high and low' <<'END'
	calls
	for PIE in "-pie -fPIE" -no-pie; do
		ways -Wl,-z,separate-code
		ways -Wl,-z,noseparate-code
		ways -Wl,-z,max-page-size=0x200000
	done
END

check 'go tool pprof perf.data: with names, by our perf_to_profile' <<'END'
	mkdir bin
	ln -s "$BIN/pmu-topprof" bin/perf_to_profile
	perf_record -e cpu-clock -F 1000 -o perf.data ten serial 0.5
	PATH=$PWD/bin:$PATH go tool pprof -top perf.data >top 2>err
	for f in A B C D E F G H I J; do
		grep -q " $f$" top
	done
	none grep -v "^Converting perf.data" err
	pmu-symbolize -q perf.data | pmu-topprof -o p.pb.gz
	bin/perf_to_profile -i perf.data -o q.pb.gz -f -j
	top p.pb.gz >want
	top q.pb.gz | same want -
END

check 'it overwrites a file only if asked to, and needs both names' <<'END'
	mkdir bin
	ln -s "$BIN/pmu-topprof" bin/perf_to_profile
	pmu-sample -e cpu-clock -F 500 -o s.data -- ten serial 0.1
	echo mine >p.pb.gz
	exits 1 bin/perf_to_profile -i s.data -o p.pb.gz 2>err
	grep -q ": .p.pb.gz. exists" err
	test "$(cat p.pb.gz)" = mine
	bin/perf_to_profile -i s.data -o p.pb.gz -f
	go tool pprof -raw p.pb.gz >raw 2>err
	test ! -s err
	exits 2 bin/perf_to_profile -i s.data 2>err
	exits 2 bin/perf_to_profile -o p.pb.gz 2>err
	exits 1 bin/perf_to_profile -i absent -o q.pb.gz 2>err
END

check 'every view of every readable recording, without a warning' <<'END'
	needs "$SHARED/expected.tsv"
	count=0
	for file in "$SHARED"/*data; do
		pmu-topprof -q -l pid,tid "$file" >p.pb.gz || continue
		for view in -top -tree -raw -tags "-top -sample_index=0" \
			"-top -diff_base=p.pb.gz"; do
			go tool pprof -symbolize=none $view p.pb.gz >out 2>err
			none cat err
			test -s out
		done
		count=$((count + 1))
	done
	test $count -ge 15
END

check 'a profile in an old format is named, with the command that makes a new one of it' <<'END'
	python3 - <<-"PYTHON"
	import struct
	for name, order in ("little", "<"), ("big", ">"):
	    for size, letter in (4, "I"), (8, "Q"):
	        words = [0, 3, 0, 10000, 0, 1, 1, 0x400000, 0, 1, 0]
	        with open("cpu-%s-%d" % (name, size), "wb") as file:
	            file.write(struct.pack("%s%d%s" % (order, len(words), letter), *words))
	PYTHON
	echo "heap profile:      1:      2 [     3:      4] @ heapprofile" >heap
	echo "--- contentionz 1 ---" >contention
	echo "threadcreate profile: total 7" >threads
	for file in cpu-* heap contention threads; do
		for tool in pmu-topprof pmu-top pmu-flame; do
			exits 1 $tool -o out $file >out 2>err || exits 1 $tool $file >out 2>err
			grep -q "an old format.*go tool pprof -proto FILE >FILE.pb.gz" err
		done
	done
	go tool pprof -proto cpu-little-8 >new.pb.gz 2>err || { cat err; exit 1; }
	pmu-top new.pb.gz | grep -q "^ *10.*ms"
	# folded text may have such a frame
	echo "main;heap profile: 5 3" | pmu-top --rows 5 - | grep -q "heap profile: 5"
END

done_testing
