#!/bin/sh
# With --cache, the kernel's symbols are kept for this boot: the same names, and never old ones.
# kinds: release
. tests/lib.sh

# Here /proc and /sys/module are directories of the check: proc has kallsyms, modules and boot_id.
within() {
	unshare -m sh -c 'mount --bind proc /proc && mount --bind module /sys/module && exec "$@"' \
		- "$@"
}

# A stream of this kernel, whose text is at 0xffffffff81000000: stream.py TOP DATUM ADDRESS...
cat >"$scratch/stream.py" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1] + "/tests")
from streams import ADDR, IP, TID, TIME, attr, pad, pipe, record
notes, at, build_id = open("/sys/kernel/notes", "rb").read(), 0, b""
while at + 12 <= len(notes):
    name, size, kind = struct.unpack_from("<III", notes, at)
    start = at + 12 + (name + 3) // 4 * 4
    if kind == 3 and notes[at + 12:at + 16] == b"GNU\0":
        build_id = notes[start:start + size]
    at = start + (size + 3) // 4 * 4
text = 0xffffffff81000000
def mapped(start, size, offset, path):
    return record(1, struct.pack("<iIQQQ", -1, 0, start, size, offset) + pad(path), 1)
out = pipe(
    record(64, attr(1, 0, 1, IP | TID | TIME | ADDR, flags=0)),
    record(67, struct.pack("<i20sBBBB", -1, build_id, len(build_id), 0, 0, 0)
           + pad(b"[kernel.kallsyms]"), 1 << 15 | 1),
    mapped(text, 0xfffffffffffff000 - text, text, b"[kernel.kallsyms]_text"),
    mapped(0xffffffffc0100000, 0x10000, 0, b"[first]"),
    mapped(0xffffffffc0200000, 0x10000, 0, b"[second]"),
    *[record(9, struct.pack("<QIIQQ", int(a, 16), 42, 42, 1000 + i, int(sys.argv[2], 16)), 1)
      for i, a in enumerate(sys.argv[3:])])
sys.stdout.buffer.write(out)
END

# lists: what the kernel shows, at first
lists() {
	needs_root
	unshare -m true || skip "unshare -m: not permitted"
	needs /sys/kernel/notes
	mkdir -p proc/sys/kernel/random module/first module/second
	echo 01234567-89ab-cdef-0123-456789abcdef >proc/sys/kernel/random/boot_id
	printf '%s\n' 'first 65536 0 - Live 0xffffffffc0100000' \
		'second 65536 1 first, Live 0xffffffffc0200000 (OE)' >proc/modules
	{
		echo 'ffffffff81000000 T _text'
		seq 1 900 | awk '{ printf "ffffffff81%06x T many_%d\n", 16 * $1, $1 }'
		printf '%s\n' 'ffffffff81010000 T one' 'ffffffff81010000 T one_too' \
			'ffffffff81011000 t two' 'ffffffff81012000 t three' \
			'ffffffff82000000 D datum' 'ffffffff82000100 d more'
		printf '%s\t%s\n' 'ffffffffc0100000 t in_first' '[first]' \
			'ffffffffc0100100 t in_first_too' '[first]' \
			'ffffffffc0200000 t in_second' '[second]' \
			'ffffffffc0200100 t last_in_second' '[second]' \
			'ffffffff81300000 t probe' '[__builtin__kprobes]' \
			'ffffffffc0150000 t bpf_prog_one' '[bpf]'
	} >proc/kallsyms
	addresses='ffffffff81000000 ffffffff81010008 ffffffff81011008 ffffffff81013000
		ffffffff81300008 ffffffffc0100008 ffffffffc0100108 ffffffffc0101108 ffffffffc0150008
		ffffffffc0200008 ffffffffc0200108 ffffffffc0202108 ffffffff90000000'
	python3 "$scratch/stream.py" "$TOP" 0 $addresses >s.data
}

# named OPTION...: how the samples are named
named() {
	within pmu-symbolize "$@" s.data 2>err >r.data
	pmu-topprof -q --to folded r.data
}

# renamed: a function has another name, though nothing says that the list is another
renamed() { sed -i 's/ two$/ new_two/' proc/kallsyms; }

# is_old, is_new: the name is that of the copy, or of the list; what was given is the command
is_old() { named --cache kept "$@" >names && cat err && grep two names && none grep new_two names; }
is_new() { named --cache kept "$@" >names && cat err && grep new_two names; }

check 'the same names by a copy, by one list after the other' <<'END'
	lists
	named >plain
	grep two plain
	grep in_first_too plain
	grep bpf_prog_one plain
	for run in 1 2 3; do named --cache kept | same plain -; done
	test "$(ls kept/*.kallsyms | wc -l)" = 1
	none cat err
	# each address alone, so that nothing else has read the whole list
	all=$addresses
	for address in $all; do
		echo $address
		python3 "$scratch/stream.py" "$TOP" 0 $address >s.data
		named >plain
		named --cache kept | same plain -
	done
	lists
	renamed
	is_old
END

check 'a program of BPF that came later is named, one that went is not' <<'END'
	lists
	named --cache kept >plain
	sed -i 's/^ffffffffc0150000.*/ffffffffc0150000 t bpf_prog_two\t[bpf]/' proc/kallsyms
	named >plain
	named --cache kept >names
	grep bpf_prog_two names
	none grep bpf_prog_one names
	same plain names
	# the copy stays in use
	renamed
	python3 "$scratch/stream.py" "$TOP" 0 ffffffff81011008 >s.data
	is_old
END

check 'a copy of another boot, of other modules, or with addresses now hidden is not used' <<'END'
	lists
	named --cache first >plain
	for change in 'echo 11111111-89ab-cdef-0123-456789abcdef >proc/sys/kernel/random/boot_id' \
	    'echo third 4096 0 - Live 0xffffffffc0300000 >>proc/modules' \
	    'sed -i /^second/d proc/modules' \
	    'sed -i s/0xffffffffc01/0xffffffffc04/ proc/modules' \
	    'sed -i s/Live/Unloading/ proc/modules' \
	    'mv module/first old; mkdir module/first' \
	    'sed -i "1s/_text/_new_text/" proc/kallsyms'
	do
		rm -rf kept old proc module
		lists
		cp -a first kept
		python3 "$scratch/stream.py" "$TOP" 0 ffffffff81011008 ffffffffc0100108 >s.data
		is_old
		renamed
		is_old
		echo "$change"
		eval "$change"
		is_new
		none grep rebuilt err
	done
	rm -rf kept proc module
	lists
	cp -a first kept
	sed -i 's/^[0-9a-f]*/0000000000000000/' proc/kallsyms
	named >plain
	named --cache kept >names
	same plain names
	none grep two names
	named --cache none >names
	none ls none/*.kallsyms
END

check 'while a module comes or goes, nothing is kept' <<'END'
	lists
	sed -i "s/Live/Loading/" proc/modules
	named --cache kept >names
	none find kept -name "*.kallsyms"
END

check 'a copy that is damaged, or that others can read or write, is rebuilt' <<'END'
	lists
	named --cache first >plain
	copy=kept/$(cd first && ls *.kallsyms)
	test "$(stat -c %a first/*.kallsyms)" = 600
	for damage in 'printf x | dd of=$copy bs=1 seek=5000 conv=notrunc status=none' \
	    'head -c 3000 $copy >half; cat half >$copy' ': >$copy' 'chmod 620 $copy' \
	    'chmod 604 $copy' 'chown 1234 $copy' 'echo >>$copy'
	do
		rm -rf kept proc
		lists
		cp -a first kept
		renamed
		is_old
		eval "$damage"
		echo "$damage"
		is_new
		grep "is not used.*rebuilt" err
		is_new
		none cat err
		test "$(stat -c %a-%u $copy)" = 600-0
	done
	mv $copy away
	ln -s ../away $copy
	sed -i 's/new_two/very_new_two/' proc/kallsyms
	named --cache kept >names
	grep very_new_two names
END

check 'an ordinary user has a copy of their own' <<'END'
	lists
	mkdir -m 1777 kept
	named --cache kept >plain
	cp "$(command -v pmu-symbolize)" .
	chmod 755 . pmu-symbolize
	chmod 644 s.data
	mkdir mine
	chown 1234 mine
	for run in 1 2; do
		within setpriv --reuid 1234 --clear-groups ./pmu-symbolize --cache mine s.data >r.data
	done
	test "$(stat -c %a-%u mine/*-1234.kallsyms)" = 600-1234
	pmu-topprof -q --to folded r.data | same plain -
END

check 'names of a file that --kallsyms names have no copy' <<'END'
	lists
	cp proc/kallsyms given
	named --kallsyms given --cache kept >names
	none find kept -name "*.kallsyms"
END

check 'copies count as files of the cache, and a full disk leaves none' <<'END'
	lists
	renamed
	named --cache kept --cache-size 1 >names
	none find kept -type f
	mkdir small
	unshare -m sh -c 'mount -t tmpfs -o size=4k none small && mount --bind proc /proc &&
		pmu-symbolize --cache small/kept s.data >r.data && ls -A small/kept' >left 2>err
	cat left err
	none cat left
	grep "cannot save names.*No space left" err
	pmu-topprof -q --to folded r.data | same names -
END

check 'many runs at a time' <<'END'
	lists
	named >plain
	for run in 1 2 3 4 5 6 7 8; do
		within pmu-symbolize --cache kept s.data >r$run.data 2>err$run &
	done
	wait
	for run in 1 2 3 4 5 6 7 8; do
		pmu-topprof -q --to folded r$run.data | same plain -
	done
	none cat err1 err2 err3 err4 err5 err6 err7 err8
	test "$(ls -A kept | wc -l)" = 1
	renamed
	is_old
END

check 'variables of the kernel have a copy, too' <<'END'
	lists
	python3 "$scratch/stream.py" "$TOP" ffffffff82000010 $addresses >s.data
	frames() {
		within pmu-symbolize "$@" s.data >r.data
		pmu-topprof -q --frames data --to folded r.data
	}
	frames >plain
	grep datum plain
	frames --cache kept | same plain -
	ls kept/*-variables.kallsyms
	sed -i 's/ datum/ other/' proc/kallsyms
	frames --cache kept | same plain -
END

check 'a recording of this kernel' <<'END'
	pmu-sample -q -g -e cpu-clock -F 2000 -o s.data -- \
		dd if=/dev/zero of=/dev/null bs=1k count=100000 2>/dev/null
	frames() { pmu-symbolize -q "$@" s.data | pmu-topprof -q --to folded; }
	frames >plain
	for run in 1 2; do frames --cache kept | same plain -; done
	grep -q "^[0-9a-f]*[1-9a-f][0-9a-f]* " /proc/kallsyms || skip "the kernel shows no addresses"
	ls kept/*.kallsyms
END

done_testing
