#!/bin/sh
# Streams read by libpmukit: compared with perf script, with what perf counts, and with the tools.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib
data=$TOP/../shared/data

stream() { LD_LIBRARY_PATH=$lib "$scratch/stream" "$@"; }
reader() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/library/streams.py" "$@"; }

# built: the program that calls the library
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/stream" ||
		gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/stream" \
			"$TOP/tests/library/stream.c" -L"$lib" -lpmukit -lpthread
}
recordings() { ls "$data"/*.data "$TOP"/tests/data/releases/0.1/*.data; }

check 'each record is as pmu-stream -D shows it, and damage is told in the same words' <<'END'
	built
	for file in $(recordings); do
		pmu-stream -D "$file" 2>err >dump || :
		sed "s/ \([A-Z_0-9]*\|0x[0-9a-f]*\) size=\([0-9]*\).*/ \2/; s/ *$//" dump |
			cut -d" " -f1,2 >want
		stream records "$file" 2>said | tee out | grep -v "^end" | cut -d" " -f1,3 |
			same want -
		if grep -q "^pmu-stream: .*offset" err; then
			grep -q "^end: -4: .*: offset 0x" out
			grep "^problem" said | sed "s/^problem: //" | sort >got
			sed -n "s/^pmu-stream: //p" err | grep offset | sort | same got -
		else
			none grep "^end" out
		fi
	done
	at_least "$(recordings | wc -l)" 20
END

check 'the samples are those of perf script, with their callchains' <<'END'
	built
	needs_command perf
	compared=0
	for file in $(recordings); do
		perf script -i "$file" --ns -F pid,tid,time,event,period,ip --no-inline \
			2>err >script || continue
		reader perf <script >want
		stream samples "$file" 2>err | reader library | same want -
		compared=$((compared + $(wc -l <want)))
	done
	at_least "$compared" 100000
END

check 'each event has as many samples as perf counts, and their periods add up' <<'END'
	built
	python3 - "$data/expected.tsv" >expected <<-"EOF"
	import re, sys
	for line in list(open(sys.argv[1]))[1:]:
	    file, _, totals = line.rstrip("\n").split("\t")
	    pairs = dict(re.findall(r"(\S+)=(\d+)", totals))
	    for name in pairs:
	        event = name.removesuffix("_sample/count")
	        if event != name and pairs[name] != "0":
	            print(file, event, pairs[name], pairs[event + "_event/count"])
	EOF
	at_least "$(wc -l <expected)" 20
	for file in $(cut -d" " -f1 expected | sort -u); do
		grep "^$file " expected | cut -d" " -f3- | sort >want	# it has other names
		stream samples "$data/$file" 2>err | reader totals | sed "s/.* \(.* .*\)/\1/" |
			sort | same want -
	done
END

check 'it does not matter how the bytes come: file, pipe, callback; compressed or not' <<'END'
	built
	file=$TOP/tests/data/releases/0.1/records.data
	stream samples "$file" >want
	at_least "$(wc -l <want)" 200
	stream -i fd samples "$file" | same want -
	stream samples - <"$file" | same want -
	cat "$file" | stream samples - | same want -
	cat "$file" | stream -i fd samples - | same want -
	for size in 1 7 4096; do stream -i $size samples "$file" | same want -; done
	gzip -c "$file" >z.gz
	zstd -qc "$file" >z.zst
	for z in z.gz z.zst; do
		stream samples $z | same want -
		cat $z | stream -i 1000 samples - | same want -
	done
	# a perf.data file through a pipe
	stream samples "$data/i686-3.4.perf.data" >want
	cat "$data/i686-3.4.perf.data" | stream samples - | same want -
	cat "$data/i686-3.4.perf.data" | stream -i 1000 samples - | same want -
END

check 'samples are selected as by the options of pmu-stream' <<'END'
	built
	file=$data/multi-event-single-process.perf.data
	stream samples "$file" 2>err >all
	event=$(cut -d" " -f1 all | sort | uniq -c | sort -n | sed -n "s/ *[0-9]* //;1p")
	tid=$(cut -d" " -f4 all | sort | uniq -c | sort -n | sed -n "s/.*\///;\$p")
	time=$(cut -d" " -f3 all | sort -n | sed -n "10000p")
	comm=$(sed "s/^\([^ ]* \)\{7\}//; s/ :.*//" all | sort | uniq -c | sort -n |
		sed -n "s/ *[0-9]* //;\$p")
	seconds=$(echo "$time" | sed "s/\(.*\)\(.........\)/\1.\2/")
	select() {
		stream -s "$1" samples "$file" 2>err >got
		shift
		pmu-stream "$@" -o selected "$file"
		stream samples selected 2>err >want
		same want got
		at_least "$(wc -l <got)" 1
		less "$(wc -l <got)" "$(wc -l <all)"
	}
	less() { test "$1" -lt "$2"; }
	select "event=$event" --event "$event"
	select "to=$seconds" --time ",$seconds"
	select "from=$seconds,event=$event" --time "$seconds," --event "$event"
	file=$data/callgraph-3.8.perf.data
	stream samples "$file" 2>err >all
	tid=$(cut -d" " -f4 all | sort | uniq -c | sort -n | sed -n "s/.*\///;\$p")
	select "tid=$tid" --tid "$tid"
	select "cpu=0" --cpu 0
	comm=$(stream frames "$file" 2>err | cut -f2 | sort | uniq -c | sort -n |
		sed -n "s/ *[0-9]* //;\$p")
	select "comm=$comm" --comm "$comm"
END

check 'the labels of a program come with its samples, also after pmu-symbolize' <<'END'
	built
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/labels.py" make plain 2000 truth >labels.data
	pmu-symbolize -q -o resolved.data labels.data
	at_least "$(sort -u truth | wc -l)" 10
	sort truth >want
	# the program is at 0x400000; a record of labels is not a sample of the program
	for file in labels.data resolved.data; do
		stream samples $file >all
		none grep "^labels " all
		sed -n "s/.* \([0-9a-f]*\) 0  *[a-z]* *{\(.*\) } :.*/\1 \2/p" all |
			sed "s/^400*//; s/^ /0 /" | sort | uniq -c | sed "s/^ *//" >got
		test $file = resolved.data || sort got | same want -
		cut -d" " -f1,3- got | sort >$file.labels
	done
	cut -d" " -f1,3- want | sort >labels
	for file in labels.data resolved.data; do same labels $file.labels; done

	# more sets than are kept of a raw stream: samples refer to the first ones
	stream samples resolved.data >want
	reader sets <resolved.data >many.data
	pmu-stream -q --check many.data
	stream samples many.data | same want -
END

check 'events and the origin are what the stream says' <<'END'
	built
	stream events "$data/sleep.data" >got 2>err
	grep -qx "cycles:Pu 0 4000 1[0-9]*" got
	grep -q "^arthur-des|5.15.193-1-MANJARO|x86_64|.*|16$" got
	none grep moved got
	cat "$data/piped.hw_and_sw-3.4.perf.data" | stream events - >got 2>err
	at_least "$(wc -l <got)" 3
	none grep moved got
END

check 'wrong calls are errors with a sentence' <<'END'
	built
	stream mistakes "$data/sleep.data" >got 2>err
	test "$(wc -l <got)" -eq 30
	none grep ": $" got
	grep -qx "no such file: 1 -5: cannot open .no/such/file.: No such file or directory" got
	grep -q "^a directory: 1 -3: " got
	grep -q "^a negative descriptor: 1 -3: .*Bad file descriptor" got
	grep -q "^no stream: 1 -4: /proc/self/exe: offset 0x0: not a stream" got
	grep -q "^a callback that fails: 1 -3: .*Input/output error" got
	grep -q "^a profile after a record: 1 -2: " got
	grep -q "^an event that the stream lacks: -5 -5: the stream has no event" got
END

check 'another thread, or a signal handler, ends a stream that waits' <<'END'
	built
	stream stops "$data/piped.hw_and_sw-3.4.perf.data" >got 2>err
	printf "0 1\n0 1\n" | same got -
END

check 'a stream that is cut anywhere gives what was whole, and an error' <<'END'
	built
	file=$TOP/tests/data/releases/0.1/records.data
	stream records "$file" >whole
	size=$(wc -c <"$file")
	for i in $(seq 40); do
		head -c $((size * i / 41 + i)) "$file" >cut
		exits 1 stream records cut >got 2>err
		tail -n 1 got | grep -q "^\(end\|open\): -4: .*cut: offset 0x"
		grep -v "^\(end\|open\)" got >records || :
		head -n "$(wc -l <records)" whole | same records -
	done
END

check 'what is wrong with the header of a file is told at the end of its samples' <<'END'
	built
	file=$data/sleep.data	# as its recorder would leave it if it was killed
	end=$(($(od -An -td8 -j40 -N16 "$file" | sed "s/\([0-9]\)  *\([0-9]\)/\1 + \2/")))
	{ head -c 48 "$file"; head -c 8 /dev/zero; head -c "$end" "$file" | tail -c +57; } >killed
	exits 1 stream samples killed >got 2>err
	at_least "$(wc -l <got)" 2
	grep -q "^end: -4: killed: offset 0x30: the header claims no data" got
	stream profile killed out.pb.gz 2>err | grep -q "^profile: -4: killed: offset 0x30: "
END

check 'damaged streams are read as the tools read them' <<'END'
	built
	for file in "$TOP"/tests/fuzz/corpus/stream/* "$TOP"/tests/fuzz/corpus/pipe/*; do
		LD_LIBRARY_PATH=$lib timeout 20 "$scratch/stream" -f 2 frames "$file" \
			>got 2>err ||
			grep -aq "^\(end\|open\): -[34]: " got
	done
END

check 'a hundred streams leave no descriptor' <<'END'
	built
	stream leaks "$TOP/tests/data/releases/0.1/records.data" 2>err | grep -qx 0
END

done_testing
