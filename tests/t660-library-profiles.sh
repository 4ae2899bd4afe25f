#!/bin/sh
# Profiles read, made, added up and written by libpmukit: compared by a reader that shares no code.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib
data=$TOP/tests/data

# pprof ARGUMENT...: the program that calls the library
pprof() { LD_LIBRARY_PATH=$lib "$scratch/pprof" "$@"; }
reader() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/library/pprof.py" "$@"; }

# built: the program, and files of each kind
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/pprof" || make_all
	cp "$scratch"/in/* .
}
make_all() {
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/pprof" \
		"$TOP/tests/library/pprof.c" -L"$lib" -lpmukit
	mkdir -p "$scratch/in"
	(
		cd "$scratch/in"
		cp "$data"/profiles/*.pb.gz "$data"/releases/0.1/program.pb.gz \
			"$data"/releases/0.1/labels.pb.gz .
		gzip -dc labels.pb.gz >plain.pb
		zstd -qc plain.pb >labels.pb.zst
		# without names; and with the sample types of perf_to_profile
		pmu-topprof -q -o addresses.pb.gz "$data/releases/0.1/records.data"
		ln -s "$BIN/pmu-topprof" perf_to_profile
		./perf_to_profile -i "$data/releases/0.1/file.data" -o perf.pb.gz -f
		rm perf_to_profile
	)
}

# equal FILE FACTOR GOT: GOT has what FILE has, values times FACTOR
equal() {
	reader read "$1" "$2" >want
	reader read "$3" >got
	same want got
}

check 'all of a profile is read: plain, gzip, zstd, from a file and from memory' <<'END'
	built
	for p in *.pb.gz plain.pb; do
		reader read "$p" >want
		pprof print "$p" | reader sort >got
		same want got
		pprof print-memory "$p" | reader sort >got
		same want got
	done
	pprof print labels.pb.gz >want
	for p in plain.pb labels.pb.zst; do pprof print $p | same want -; done
END

check 'rows and folded stacks are read as profiles; a stream is not' <<'END'
	built
	printf "main;f 3\nmain;f;g 4\n" | tee text | gzip >text.gz
	for text in text text.gz; do
		pprof print $text | sed "s/^\t[^ ]* [^ ]* [^ ]* \([^ ]*\) .*/\t\1/" >got
		printf "samples/count\n3\n\tf\n\tmain\n4\n\tg\n\tf\n\tmain\n" | same - got
	done
	pmu-topprof -q --to rows --host h --service s labels.pb.gz >rows
	pmu-topprof -q -o back.pb.gz rows
	pprof print rows | reader sort >got
	reader read back.pb.gz | same - got
	printf "main;f 3\nno number\n" >half
	pprof print half >got 2>err
	grep -q "^damaged: -4: .half.: line 2 " got
	grep -q "^3$" got
	exits 1 pprof print "$data/releases/0.1/records.data" >got 2>err
	grep -q "^open: -2: .* is a stream, not a profile" got
END

check 'a profile is written as it was read: to a file, a descriptor and a function' <<'END'
	built
	for p in labels.pb.gz perf.pb.gz; do
		for how in file fd callback; do
			pprof copy $how "$p" copy.pb.gz
			equal "$p" 1 copy.pb.gz
		done
	done
	pprof copy file program.pb.gz copy.pb.gz
	go tool pprof -symbolize=none -top program.pb.gz >want 2>err
	go tool pprof -symbolize=none -top copy.pb.gz 2>err | same want -
	# each sample: its values, without the numbers of its locations
	for p in program copy; do
		go tool pprof -symbolize=none -raw $p.pb.gz 2>err |
			sed -n "/^Samples/,/^Locations/s/:[ 0-9]*$//p" | sort >$p.values
	done
	at_least "$(wc -l <copy.values)" 20
	same program.values copy.values
END

check 'an unchanged profile is written byte by byte, if all its names are safe to print' <<'END'
	built
	for p in *.pb.gz; do
		gzip -dc "$p" >want
		pprof copy file "$p" copy.pb.gz
		gzip -dc copy.pb.gz | cmp want -
	done
	# a long name, whose length has two bytes; names that are changed; a length of three bytes
	long=$(printf "%0200d" 0)
	python3 - "$long" <<-"EOF"
	import sys
	def profile(name, length=None):
	    texts = b"".join(b"\x32" + bytes([len(t)]) + t for t in [b"", b"samples", b"count"])
	    length = length or bytes([len(name)] if len(name) < 128 else
	                             [len(name) & 127 | 128, len(name) >> 7])
	    return (b"\x0a\x04\x08\x01\x10\x02" b"\x12\x06\x0a\x01\x01\x12\x01\x07"
	            b"\x22\x06\x08\x01\x22\x02\x08\x01" b"\x2a\x04\x08\x01\x10\x03"
	            + texts + b"\x32" + length + name)
	for file, bytes in [("long", profile(sys.argv[1].encode())), ("nul", profile(b"a\0b")),
	                    ("escape", profile(b"a\x1b[2J")), ("last", profile(b"")),
	                    ("length", profile(b"abc", b"\x83\x80\0"))]:
	    open(file, "wb").write(bytes)
	EOF
	for p in long last nul escape length; do
		pprof copy file $p $p.pb.gz
		gzip -dc $p.pb.gz >$p.pb
		pprof print $p >want
		pprof print $p.pb | same want -
	done
	cmp long long.pb
	cmp last last.pb
	grep -q "a?\[2J" escape.pb
	none grep -q b nul.pb
END

check 'stacks that are added make the same profile; added to itself, twice of it' <<'END'
	built
	for p in labels.pb.gz perf.pb.gz; do
		pprof again "$p" again.pb.gz
		equal "$p" 1 again.pb.gz
		pprof itself "$p" twice.pb.gz
		equal "$p" 2 twice.pb.gz
		pprof print "$p" | grep -c "^[^	]*[0-9]$" >count
		pprof print twice.pb.gz | grep -c "^[^	]*[0-9]$" | same count -
		for how in merge added; do
			pprof $how sum.pb.gz "$p" "$p" "$p"
			equal "$p" 3 sum.pb.gz
		done
	done
END

check 'a profile that is made has all that was put into it, as pprof reads it' <<'END'
	built
	pprof made made.pb.gz >said
	grep -qx "	label empty=\"\"" said
	reader sort <said >want
	reader read made.pb.gz >got
	same want got
	go tool pprof -symbolize=none -raw made.pb.gz >raw 2>err
	grep -q "1: 0x1234 M=1 inner(int) /src/inner.h:7 s=5(_Z5inneri)" raw
	grep -q "thread:\[worker\]" raw
	grep -q "^ *2 *1234: 1 2 3" raw
	test "$(grep -c "^ .*0x0/0x0/0x0\|^[12]: 0x0/0x0/0x0" raw)" -eq 2
END

check 'wrong calls are errors with a sentence, and leave the profile as it is' <<'END'
	built
	pprof wrong >got 2>err
	test "$(wc -l <got)" -eq 31
	grep -q "^large options: 1 -2: pmukit_options.size is " got
	grep -q "^a member of the future: 1 -2: pmukit_options has a member that" got
	grep -q "^an unset member of the future: 1 -5: " got
	none grep -E ": $|the profile is as before" got
	grep -qx "a sum that does not fit: -2 -2: sums do not fit into 64 bits: they are cut" got
	grep -q "^a full disk: -3 -3: cannot write to /dev/full: No space left" got
	grep -q "^no directory: -5 -5: cannot open .no/such/directory. for writing" got
	test ! -e no
END

check 'a file appears whole, or stays as it was' <<'END'
	built
	mkdir d
	cp labels.pb.gz d/p
	(
		ulimit -f 1
		! pprof copy file program.pb.gz d/p >got
	)
	grep -q "^write: -3: cannot write to d/p: File too large" got
	cmp labels.pb.gz d/p
	test "$(ls -A d)" = p
END

check 'a reader that goes away is an error, and no signal' <<'END'
	built
	mkfifo pipe
	head -c 1 pipe >/dev/null &
	pprof copy fd program.pb.gz pipe >got || :
	wait
	none grep -v "^write_fd: -3: cannot write to the descriptor: Broken pipe" got
END

check 'profiles in old formats, and those that would fill the memory, are refused' <<'END'
	built
	printf "heap profile: 1: 8 [1: 8] @ heapprofile\n" >old
	exits 1 pprof print-memory old >got 2>err
	grep -q "^open_memory: -4: .* is a profile in an old format of gperftools" got
	head -c 200000000 /dev/zero | gzip >zeroes
	exits 1 pprof print zeroes >got 2>err
	grep -q "^open: -4: .* is too large for a sampled profile" got
	head -c 1000 program.pb.gz >short
	exits 1 pprof print short >got 2>err
	grep -q "^open: -4: .*its gzip data are cut short" got
END

check 'damaged profiles are refused as the tools refuse them' <<'END'
	built
	for p in "$TOP"/tests/fuzz/corpus/merge/* "$TOP"/tests/fuzz/corpus/rows/* \
		"$TOP"/tests/fuzz/corpus/open/*; do
		pprof print-memory "$p" >got 2>err || grep -q "^open_memory: -4: " got
	done
	python3 - <<-"EOF"
	import random
	whole = open("plain.pb", "rb").read()
	random.seed(1)
	for i in range(30):
	    b = bytearray(whole[:random.randrange(len(whole))] if i % 2 else whole)
	    for _ in range(5):
	        b[random.randrange(len(b))] = random.randrange(256)
	    open("bad%d" % i, "wb").write(b)
	EOF
	refused=0
	for p in bad*; do
		what=$(pmu-topprof -q -o tool.pb.gz "$p" 2>/dev/null && echo read || echo refused)
		if pprof print-memory "$p" >got 2>err; then
			test $what = read
			pprof print "$p" 2>err | same got -
		else
			test $what = refused
			grep -q "^open_memory: -[24]: " got
			refused=$((refused + 1))
		fi
	done
	at_least $refused 9
END

check 'the time to add stacks grows with their number, also if each is read at once' <<'END'
	built
	pprof grow 5000 | sed "s/ ms//" >few
	pprof grow 60000 | sed "s/ ms//" >many
	at_most "$(cat many)" $((48 * ($(cat few) + 20)))
END

done_testing
