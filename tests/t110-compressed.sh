#!/bin/sh
# Compressed streams: whole ones in zstd, and COMPRESSED records inside.
# kinds: release asan
. tests/lib.sh

# recorded: s.data is a recording with callchains, which several checks use
recorded() {
	test -e "$scratch/s.data" ||
		pmu-sample -g -e cpu-clock -F 2000 -o "$scratch/s.data" -- ten serial 0.2
	cp "$scratch/s.data" .
}

check 'a stream wrapped in zstd reads as the stream itself' <<'END'
	recorded
	zstd -q s.data -o s.zst
	stream-stats s.data >plain
	stream-stats s.zst >wrapped
	same plain wrapped
	cat s.zst | stream-stats - >piped
	same plain piped
END

check 'what pmu-sample compresses goes through the pipe' <<'END'
	pmu-sample -z5 -e cpu-clock -F 1000 -- ten serial 0.2 | pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz >top
	grep -q " J$" top
END

check 'a seekable file wrapped in zstd is read, too' <<'END'
	perf_record -e cpu-clock -o p.data -- ten serial 0.1
	zstd -q p.data -o p.zst
	pmu-topprof -q p.data >a.pb.gz
	pmu-topprof -q p.zst >b.pb.gz
	go tool pprof -raw a.pb.gz | sed -n "/^Samples/,/^Mappings/p" >a
	go tool pprof -raw b.pb.gz | sed -n "/^Samples/,/^Mappings/p" >b
	same a b
END

check 'perf record -z gives what perf reads of it' <<'END'
	needs_command perf
	perf_record -z -g -F 5000 -e cpu-clock -o p.data -- ten threads 0.2 || skip "perf has no -z"
	perf report -i p.data --stats | awk '/SAMPLE events:/ { print $3; exit }' >perfs
	stream-stats p.data | sed -n "s/^SAMPLE=//p" | head -n 1 >ours
	same perfs ours
	test "$(cat ours)" -gt 200
END

check 'recordings that perf 6.1 cannot read: compressed and not, the same samples' <<'END'
	needs "$SHARED/fibo.compressed2.pipe.data"
	for file in sleep.compressed.data sleep.compressed.pipe.data; do
		stream-stats "$SHARED/$file" | grep -x SAMPLE=8
		stream-stats "$SHARED/$file" | grep -x COMM=2
	done
	stream-stats "$SHARED/fibo.compressed2.pipe.data" | grep -x SAMPLE=547
	pmu-topprof "$SHARED/fibo.compressed2.pipe.data" >p.pb.gz
	go tool pprof -top p.pb.gz >top
END

check 'cut or damaged compression is reported, and what was whole is used' <<'END'
	recorded
	zstd -q s.data -o s.zst
	size=$(wc -c <s.zst)
	head -c $((size / 2)) s.zst >cut
	exits 1 stream-stats cut >out 2>err
	grep -q "ends inside" err
	head -c 5 s.zst >cut
	exits 1 stream-stats cut >out 2>err
	{ head -c $((size / 2)) s.zst; head -c 3000 /dev/zero; } >bad
	exits 1 stream-stats bad >out 2>err
	test -s err
END

check 'memory that does not suffice to compress is reported' <<'END'
	case $BIN in *asan*) skip "sanitizers need more memory than that" ;; esac
	make-stream 10000 100 4 >s.data
	(ulimit -v 60000; exits 1 pmu-stream -z19 -o s.zst s.data 2>err)
	grep -q "cannot write to s.zst: Cannot allocate memory" err
	exits 2 pmu-stream -z20 -o s.zst s.data 2>err
END

done_testing
