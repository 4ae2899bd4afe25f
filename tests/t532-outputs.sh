#!/bin/sh
# What comes out besides: folded stacks, other packings, sums and differences; and what pprof
# makes of profiles by itself.
# kinds: release
. tests/lib.sh

raw() { go tool pprof -raw "$1" 2>/dev/null; }
record() {
	pmu-sample -g -e cpu-clock -F 2000 -o s.data -- ten "$@" && pmu-symbolize -q s.data >r.data
}

check 'folded stacks are those of perf script, folded' <<'END'
	record threads 0.3
	pmu-topprof --to folded r.data >ours
	# perf has no inlines here, for these functions have none
	perf script -i s.data --no-inline -F comm,ip,sym 2>/dev/null | awk '
		NF == 0 {
			line = comm
			for (i = n; i > 0; i--)
				line = line ";" f[i]
			if (n)
				count[line]++
			n = 0; comm = ""; next
		}
		comm == "" { comm = $1; next }
		{ f[++n] = $2 }
		END { for (l in count) print l, count[l] * 500000 }' |
		sed "s/+0x[0-9a-f]*//g" | sort >perfs
	grep -c "^t3;.*;work;D " ours | grep -qx 1
	# of the functions whose names both know: the rest differs by what perf reads
	for f in A B C D E F G H I J; do
		grep ";work;$f " ours | sed "s/.*;\(work;.*\)/\1/" >o
		grep ";work;$f " perfs | sed "s/.*;\(work;.*\)/\1/" >p
		same p o
	done
	LC_ALL=C sort -c ours
	total=$(awk '{ s += $NF } END { printf "%.0f", s }' ours)
	test $total = "$(pmu-stream --json s.data | sed "s/.*\"sum\": \([0-9]*\).*/\1/")"
	pmu-topprof --to folded --event cpu-clock r.data | same ours -
	# without symbols: objects
	pmu-topprof --to folded s.data | grep -q ";\[ten\];\[ten\] "
	pmu-topprof --to folded r.data | pmu-topprof --to folded r.data >/dev/null
END

check 'packed by zstd, or not at all: the same bytes inside' <<'END'
	record serial 0.2
	pmu-topprof r.data | gzip -dc >a
	pmu-topprof -Z none r.data >b
	pmu-topprof -Z zstd r.data | zstd -q -dc >c
	cmp a b
	cmp a c
	go tool pprof -top b 2>err | grep -q " J$"
	exits 2 pmu-topprof -Z lzma r.data 2>err
END

check 'a profile subtracted from another, as pprof -base does; from itself 0 is left' <<'END'
	record serial 0.1
	pmu-topprof r.data >base.pb.gz
	record serial 0.2
	pmu-topprof r.data >new.pb.gz
	pmu-topprof --diff base.pb.gz new.pb.gz >ours.pb.gz
	go tool pprof -top -base base.pb.gz new.pb.gz 2>err | sed -n '/flat%/,$p' >want
	go tool pprof -top ours.pb.gz 2>err | sed -n '/flat%/,$p' >got
	cut -c 1-10 want >w
	cut -c 1-10 got | same w -
	pmu-topprof --diff new.pb.gz new.pb.gz >none.pb.gz
	raw none.pb.gz | sed '1,/^samples/d; /^Locations/,$d' >left	# the base's are negative
	awk '/^ *-?[0-9]+ / { n++; sum += $1 } END { exit !(n > 10 && sum == 0) }' left
	pmu-top --to csv ours.pb.gz | grep -q ',J.\?$'
	pmu-sample -e page-faults -c 1 -- ten serial 0.1 | pmu-topprof >other.pb.gz
	exits 1 pmu-topprof --diff other.pb.gz new.pb.gz 2>err >out
	grep -q "other.pb.gz. has other sample types" err
	exits 1 pmu-topprof new.pb.gz s.data 2>err >out
	grep -q "s.data. is not a pprof profile" err
	exits 2 pmu-topprof --diff base.pb.gz 2>err >out
END

# A program whose time is spent in known functions, some of a library, linked in some way.
build() {
	cat >lib.c <<-END
		__attribute__((noinline)) long in_library(long n)
		{
			volatile long s = 0;

			while (n--)
				s += n;
			return s;
		}
	END
	cat >main.c <<-END
		#include <stdlib.h>
		long in_library(long);
		__attribute__((noinline)) long in_program(long n)
		{
			volatile long s = 0;

			while (n--)
				s += n;
			return s;
		}
		int main(void)
		{
			long s = 0;

			for (int i = 0; i < 15; i++)
				s += in_library(1000000) + in_program(2000000);
			return s == 1;
		}
	END
	gcc -g -O1 -fno-omit-frame-pointer -shared -fPIC -o libwork.so lib.c
	gcc -g -O1 -fno-omit-frame-pointer "$@" -o prog main.c -L. -lwork -Wl,-rpath,"$PWD"
}

# Debian's pprof is that of Go but for its version: make check-all builds it
test -z "$ALL" || GO111MODULE=off GOPATH=/usr/share/gocode \
	go build -o "$scratch/pprof" github.com/google/pprof 2>"$scratch/why"

for how in '-pie -fPIE' '-no-pie' '-no-pie -Wl,-Ttext-segment=0x20000000' \
	'-pie -fPIE -Wl,-z,noseparate-code' '-no-pie -Wl,-z,noseparate-code' \
	'-pie -fPIE -Wl,-z,max-page-size=0x200000'; do
	check "pprof symbolizes by itself what was built with $how, as we do" <<-'END'
		build $how
		pmu-sample -e cpu-clock -F 1000 -o s.data -- ./prog
		pmu-topprof s.data >raw.pb.gz
		pmu-symbolize -q s.data | pmu-topprof >ours.pb.gz
		flat() { awk '$NF ~ /^in_(program|library)$/ { print $1, $NF }' | sort; }
		go tool pprof -top ours.pb.gz 2>err | flat >want
		test "$(wc -l <want)" = 2
		go tool pprof -symbolize=local -top raw.pb.gz 2>err | flat | same want -
		test -n "$ALL" || exit 0
		test -e "$scratch/pprof" || skip "no standalone pprof"
		"$scratch/pprof" -symbolize=local -top raw.pb.gz 2>err | flat | same want -
	END
done

check 'pprof has nothing to warn of, whatever it is asked' <<'END'
	record threads 0.3
	pmu-topprof --label thread_comm,pid,tid r.data >p.pb.gz
	for mode in -top -tree -raw -tags -traces -comments "-top -sample_index=0" \
		"-top -sample_index=cpu" "-top -diff_base=p.pb.gz" "-top -symbolize=none" \
		"-top -symbolize=local" "-top -tagfocus=t3" "-dot -output=x"; do
		go tool pprof $mode p.pb.gz >out 2>err
		none grep -vx "Generating report in x" err
		test -s out || test -s x
	done
END

check 'all runs over one stream write the same bytes: no output depends on hashes' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -o ten.data -- ten threads 0.2
	make-churn 300 150 >churn.data
	runs=4
	test -z "$ALL" || runs=8
	for run in $(seq $runs); do
		for data in ten.data churn.data; do
			pmu-symbolize -q $data >resolved
			pmu-symbolize -q --definitions 1Ki $data >restarted
			pmu-topprof -o p.pb.gz resolved
			pmu-topprof --label comm,tid --max-stacks 50 -o some.pb.gz restarted
			pmu-topprof --to folded resolved >folded
			pmu-top -q resolved >top
			pmu-top -q --tree p.pb.gz >tree
			sha256sum resolved restarted p.pb.gz some.pb.gz folded top tree |
				sed "s/$/ of $data/"
		done
	done | sort | uniq -c >got
	cat got
	test "$(wc -l <got)" = 14
	test "$(awk '{ print $1 }' got | sort -u)" = $runs
END

check '--print-files names each file of several, and those that cannot be written' <<'END'
	record serial 0.3
	tab=$(printf '\t')
	mkdir d
	pmu-topprof --split 100ms -o d/%s%%.pb.gz r.data >all 2>err || :
	none cat all
	rm d/*
	! pmu-topprof --split 100ms -o d/%s%%.pb.gz --print-files r.data >all
	# the files of one second would have one name, so only the first one is written
	grep "^written$tab" all | sed "s/^written$tab//" >written
	ls d/* | same written -
	grep -q "^failed${tab}d/" all
	chmod 777 d
	rm d/*
	exits 1 pmu-topprof --split 10s -o d/%s --print-files r.data >all 2>err
	grep -qx "failed${tab}d/[0-9]*" all
	none ls d
	chmod 755 d
	pmu-topprof --split thread -o e --print-files r.data >all
	ls e/* | sed "s/^/written$tab/" | same all -
	exits 2 pmu-topprof --print-files r.data 2>err
	grep -q -- "--print-files needs --split" err
	pmu-topprof -o p.pb.gz r.data
	exits 2 pmu-topprof --print-files --split 1s -o %s p.pb.gz p.pb.gz
END

done_testing
