#!/bin/sh
# Chains: the resolved stream has each sequence of frames once, and samples name it.
# kinds: release asan
. tests/lib.sh

kept=$TOP/tests/data/resolved

# unchained EVERY <RESOLVED: one of EVERY samples has its frames itself, as in streams of before
unchained() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/unchain.py" "$1"; }

plain() { python3 "$TOP/tests/stretch.py" plain; }

# count FILE TYPE: how many records of this type it has
count() {
	pmu-stream "$1" 2>/dev/null | awk -v type="$2" '$1 == type { n = $2 } END { print n + 0 }'
}

# profiles FILE OPTION...: what pmu-topprof makes of FILE.plain, in FILE.made
profiles() {
	resolved=$1
	shift
	rm -rf "$resolved.made"
	mkdir "$resolved.made"
	(cd "$resolved.made" &&
		pmu-topprof -q --compress none -o 'p-%s.pb' "$@" "../$resolved.plain")
}

# same_profiles WANT GOT...: the resolved streams GOT have the profiles of WANT, by any options
same_profiles() {
	for file; do plain <"$file" >"$file.plain"; done	# options of pmu-symbolize differ
	want=$1
	shift
	while read -r options; do
		profiles "$want" $options
		for got; do
			profiles "$got" $options
			diff -r "$want.made" "$got.made"
		done
	done <<-'END'

		--frames data
		--frames cut --label pid,tid,cpu,comm
		--split 1s --frames cut
		--split process
		--max-stacks 20
		--cpu 0
	END
}

check 'streams of before are read as ever: values, labels, raw fields, cut stacks, restarts' <<'END'
	for old in values restarts; do
		cp "$kept/$old.resolved" .
		test "$(count $old.resolved RESOLVED_SAMPLE)" = 160
	done
	test "$(count restarts.resolved RESTART)" -gt 5
	pmu-symbolize -q "$kept/values.data" >new
	test "$(count new RESOLVED_SAMPLE) $(count new CHAIN_SAMPLE)" = "0 160"
	same_profiles new values.resolved restarts.resolved
	pmu-stream --check new
	for old in values restarts; do pmu-stream --check $old.resolved; done
	pmu-data --by object new >want
	for old in values restarts; do pmu-data --by object $old.resolved | same want -; done
END

check 'a stream may have samples of both forms' <<'END'
	pmu-symbolize -q "$kept/values.data" >new
	pmu-symbolize -q --definitions 1 "$kept/values.data" >anew
	pmu-symbolize -q --definitions 1Ki "$kept/values.data" >chains
	at_least "$(count anew RESTART)" 5
	at_least "$(count chains CHAINS_RESTART)" 1
	for stream in new anew chains; do
		unchained 1 <$stream >$stream.old
		unchained 2 <$stream >$stream.both
		test "$(count $stream.old CHAIN_SAMPLE) $(count $stream.both CHAIN_SAMPLE)" = "0 80"
	done
	plain <"$kept/values.resolved" >want
	plain <new.old | cmp want -
	same_profiles new anew chains new.old new.both anew.old anew.both chains.both
END

check 'recordings of real hardware: both forms have the same profiles' <<'END'
	unsanitized
	needs "$SHARED"
	for file in with-callchain raw-3.4; do
		# with a clock, by which intervals have names
		pmu-stream -q --decompress "$SHARED/$file.perf.data" -o raw || continue
		python3 "$TOP/tests/stretch.py" 1 <raw | pmu-symbolize -q >new
		unchained 1 <new >old
		same_profiles new old
	done
END

check 'each sequence of frames is defined once; a sample of it takes 48 bytes' <<'END'
	unsanitized
	make-stream 20000 100 4 | pmu-symbolize -q >r.data
	test "$(count r.data CHAIN) $(count r.data CHAIN_SAMPLE)" = "100 20000"
	at_most "$(wc -c <r.data)" $((20000 * 48 + 40000))
	# processes that run the same program share it
	compose s.data <<-EOF
		def sample(pid, ip):
		    return record(9, struct.pack("<QIIQ", ip, pid, pid, 1))
		parts = [record(64, attr(1, 0, 1, IP | TID | PERIOD, flags=0))]
		for pid in range(5, 105):
		    parts += [record(1, mmap(pid, 0x400000, 0x10000, b"/x")),
		              sample(pid, 0x401000), sample(pid, 0x402000)]
		out = pipe(*parts)
	EOF
	pmu-symbolize -q s.data >r.data
	test "$(count r.data CHAIN) $(count r.data CHAIN_SAMPLE)" = "2 200"
END

check 'equal frames of stacks that end in different ways are two chains' <<'END'
	compose s.data <<-EOF
		USER = -512 & 2**64 - 1
		def sample(marks):
		    chain = [USER, 0x401000, 0x402001] + [USER] * marks
		    return record(9, struct.pack("<QIIQQ", 0x401000, 5, 5, 1, len(chain)) +
		                  struct.pack("<%dQ" % len(chain), *chain))
		kind = attr(0, 0, 1, IP | TID | PERIOD | CHAIN, flags=0)
		out = pipe(record(64, kind), record(1, mmap(5, 0x400000, 0x10000, b"/x")),
		           *(sample(i % 3 + 1) for i in range(30)))
	EOF
	pmu-symbolize -q s.data >r.data
	test "$(count r.data CHAIN)" = 3
	pmu-topprof -q --frames cut --to folded r.data >got
	pmu-topprof -q --frames cut --to folded s.data | same - got
	test "$(wc -l <got)" = 3
END

check 'distinct deep stacks take no more memory the more they are, and no more bytes' <<'END'
	unsanitized
	for n in 40000 80000; do
		make-stream $n $n 57 >s.data
		cost sh -c "pmu-symbolize -q --definitions 512Ki s.data >r.$n" |
			cut -d " " -f 2 >memory.$n
		# its reader forgets them, too
		cost pmu-topprof -q --max-stacks 1000 -o p.pb.gz r.$n |
			cut -d " " -f 2 >memory.of-reader.$n
	done
	grep . memory*	# a chain is 250 bytes: 40,000 more would be 10 MB
	at_most "$(cat memory.80000)" $(($(cat memory.40000) + 2048))
	at_most "$(cat memory.of-reader.80000)" $(($(cat memory.of-reader.40000) + 2048))
	at_least "$(count r.80000 CHAINS_RESTART)" 3
	at_most "$(count r.80000 RESTART)" 3
	unchained 1 <r.80000 >old
	at_most "$(wc -c <r.80000)" $(($(wc -c <old) * 11 / 10))
END

check 'chains that are needed again soon are not forgotten again and again' <<'END'
	unsanitized
	cat >common <<-EOF
		def sample(n):
		    callers = [0x401000 + (n >> 4 * i & 15) * 16 for i in range(57)]
		    return record(9, struct.pack("<QIIQQ59Q", 0x401000, 5, 5, 1, 59, -512 & 2**64 - 1,
		                                 0x401000, *callers))
		def stream(*numbers):
		    kind = attr(0, 0, 1, IP | TID | PERIOD | CHAIN, flags=0)
		    return pipe(record(64, kind), record(1, mmap(5, 0x400000, 0x10000, b"/x")),
		                *(sample(n) for all in numbers for n in all))
	EOF
	# 750 KB of chains
	{ cat common; echo 'out = stream(*[range(3000)] * 6)'; } | compose often.data
	# and 15 MB after them, none of which comes again
	{ cat common; echo 'out = stream(*[range(3000)] * 4, range(3000, 60000))'; } | compose once.data
	for i in often once; do
		pmu-symbolize -q --definitions 512Ki $i.data >$i
		pmu-topprof -q --to folded $i.data | sort >want
		pmu-topprof -q --to folded $i | sort | same want -
	done
	test "$(count often CHAINS_RESTART)" = 1
	at_most "$(count often CHAIN)" 6000
	at_least "$(count once CHAINS_RESTART)" 20	# the limit has halved again
END

# harmed: r.data, with the Python on stdin done to its RECORDS, in h.data; CHAIN, SAMPLE and END are
# types, and first(TYPE) and last(TYPE) indices
harmed() {
	{
		cat <<-'PYTHON'
			import struct
			CHAIN, SAMPLE, END, RESTART = 0x504d000b, 0x504d000c, 0x504d0006, 0x504d000d
			data, at, records = open("r.data", "rb").read(), 16, []
			while at < len(data):
			    size = struct.unpack_from("<H", data, at + 6)[0]
			    records.append(bytearray(data[at:at + size]))
			    at += size
			def all_of(kind):
			    return [i for i, r in enumerate(records) if struct.unpack_from("<I", r)[0] == kind]
			def first(kind):
			    return all_of(kind)[0]
			def last(kind):
			    return all_of(kind)[-1]
			def chain(number, frames, *ids):
			    body = struct.pack("<IHH%dI" % len(ids), number, frames, 1, *ids)
			    body += bytes(-len(body) % 8)
			    return struct.pack("<IHH", CHAIN, 0, 8 + len(body)) + body
			def at_of(index):
			    return 16 + sum(len(r) for r in records[:index])
		PYTHON
		cat
		echo 'open("h.data", "wb").write(data[:16] + b"".join(records))'
	} >harm.py
	python3 harm.py
}

check 'a sample of a chain that was never defined is damage; the rest is read' <<'END'
	make-stream 100 10 4 | pmu-symbolize -q >r.data
	harmed >want <<-'PYTHON'
		i = all_of(SAMPLE)[40]
		struct.pack_into("<I", records[i], 12, 10)
		print("offset 0x%x: sample of an undefined chain" % at_of(i))
	PYTHON
	while read -r reader; do
		exits 1 $reader h.data >out 2>err
		cat err
		grep -qFf want err
	done <<-'END2'
		pmu-topprof --to folded
		pmu-top
		pmu-data
		pmu-flame --to svg -o f.svg
	END2
	exits 1 pmu-topprof -q --to folded h.data >got
	test "$(awk '{ n += $NF } END { print n }' got)" = \
		"$(pmu-topprof -q --to folded r.data | awk '{ n += $NF } END { print n * 99 / 100 }')"
	exits 1 pmu-stream --check h.data 2>err
	grep -qFf want err
	pmu-stream --check r.data
END

check 'pmu-stream --check misses no END, and no record of a raw stream' <<'END'
	make-stream 100 10 4 >raw
	pmu-symbolize -q <raw >r.data
	echo "del records[last(END)]" | harmed
	exits 1 pmu-stream --check h.data 2>err
	grep "the resolved stream has no END record" err
	{ cat r.data; tail -c +17 raw; } >mixed
	exits 1 pmu-stream --check mixed 2>err
	grep "raw SAMPLE record in a resolved stream" err
	round='\104\0\0\0\0\0\010\0'
	{ cat raw; printf "$round$round"; tail -c +17 r.data; } >mixed
	exits 1 pmu-stream --check mixed 2>err
	grep "record of a resolved stream in a raw one" err
END

while read -r what; do
	read -r said
	read -r code
	check "a hostile CHAIN is damage, and the rest is read: $what" <<-END
		make-stream 100 10 4 | pmu-symbolize -q >r.data
		echo '$code' | harmed
		exits 1 pmu-topprof --to folded h.data >got 2>err
		cat err
		grep -q "$said" err
		exits 1 pmu-stream --check h.data 2>err
		grep -q "$said" err
		test -s got
		exits 1 pmu-data h.data >out 2>&1
	END
done <<'END'
no frames
CHAIN record with impossible fields
records.insert(last(CHAIN) + 1, chain(10, 0))
more frames than fit into it
CHAIN record with impossible fields
records.insert(last(CHAIN) + 1, chain(10, 9, 0, 1))
more frames than any stack has
CHAIN record with impossible fields
records.insert(last(CHAIN) + 1, chain(10, 16001, *[0] * 16001))
a frame that is not defined
CHAIN record with an undefined frame
records.insert(last(CHAIN) + 1, chain(10, 2, 0, 0x7fffffff))
a number that is defined already
definition whose id is not the next one
records.insert(last(CHAIN) + 1, chain(9, 1, 0))
a number that is not the next
definition whose id is not the next one
records.insert(last(CHAIN) + 1, chain(11, 1, 0))
no room for its fields
CHAIN record with impossible fields
records.insert(last(CHAIN) + 1, struct.pack("<IHH", CHAIN, 0, 8))
a chain of before a CHAINS_RESTART
sample of an undefined chain
records.insert(all_of(SAMPLE)[50], struct.pack("<IHH", RESTART, 0, 8))
a chain that is missing at the end
END record has other counts
records.insert(last(END), chain(10, 1, 0))
a sample that is cut
sample is shorter than its fields
i = last(SAMPLE); records[i] = records[i][:40]; struct.pack_into("<H", records[i], 6, 40)
values that do not fit
sample is shorter than its values
struct.pack_into("<H", records[last(SAMPLE)], 10, 0xff)
raw fields that do not fit
sample is shorter than its raw fields
struct.pack_into("<H", records[last(SAMPLE)], 10, 1 << 9)
labels that are not there
sample is shorter than its labels
struct.pack_into("<H", records[last(SAMPLE)], 10, 1 << 10)
data that are not defined
sample of undefined data
struct.pack_into("<H", records[last(SAMPLE)], 10, 1 << 11)
an event that is not defined
sample of an undefined event or name
struct.pack_into("<H", records[last(SAMPLE)], 8, 5000)
END

check 'after damage inside a resolved stream the rest is read' <<'END'
	make-stream 1000 10 4 | pmu-symbolize -q >r.data
	harmed <<-'PYTHON'
		i = all_of(SAMPLE)[500]
		records[i][6:8] = b"\0\0"
	PYTHON
	exits 1 pmu-topprof --to folded h.data >got 2>err
	cat err
	grep -q "; resumed at" err || grep -q "resumed" err
	pmu-topprof -q --to folded r.data | awk '{ n += $NF } END { print n }' >want
	awk -v want="$(cat want)" '{ n += $NF } END { exit n < want * 0.99 || n >= want }' got
END

done_testing
