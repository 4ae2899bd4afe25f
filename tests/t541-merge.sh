#!/bin/sh
# Profiles put together and taken apart: as pprof does it, on the same files.
# kinds: release asan
. tests/lib.sh

# raw PROFILE: all that is in it, as pprof reads it; a warning fails
raw() {
	go tool pprof -symbolize=none -raw "$1" 2>raw-err
	none cat raw-err
}

# pprof_proto PROFILE OPTION...: what pprof makes of them
pprof_proto() {
	out=$1
	shift
	go tool pprof -symbolize=none -proto -output "$out" "$@" 2>/dev/null
}

# Two profiles of a program that is at other addresses in each, and of several processes:
# recorded once for all checks
for n in 1 2; do
	pmu-sample -g -e page-faults/period=1/,cpu-clock/freq=1000/ \
		-- sh -c "ten serial 0.2; ten threads 0.1" | pmu-symbolize -q >"$scratch/$n.data"
	pmu-topprof --label pid,tid,thread_comm -o "$scratch/$n.pb.gz" "$scratch/$n.data"
done
two_profiles() { cp "$scratch"/[12].data "$scratch"/[12].pb.gz .; }

check 'two profiles are added up as pprof adds them up' <<'END'
	two_profiles
	pmu-topprof -o got.pb.gz 1.pb.gz 2.pb.gz
	pprof_proto want.pb.gz 1.pb.gz 2.pb.gz
	raw want.pb.gz >want
	raw got.pb.gz >got
	test "$(wc -l <want)" -gt 50
	grep -q "thread_comm:\[t3\]" want
	same want got
END

# about PROFILE: the fields that say something about all of it, as protoc reads them, with the texts
# of those that are strings
about() {
	gzip -dcf "$1" | protoc --decode=perftools.profiles.Profile -I"$TOP/proto" profile.proto |
	awk '/^string_table: / { sub(/[^ ]* /, ""); text[n++] = $0 }
		/^(doc_url|default_sample_type|drop_frames|keep_frames): / { at[$1] = $2 }
		END { for (f in at) print f, text[at[f]] }' | sort
}

# written_by TEXT OPTION...: "p.pb.gz" was made by the options and is about TEXT
written_by() {
	text=$1
	shift
	"$@" || return
	about p.pb.gz >got
	grep -qxF "$text" got || { cat got; echo "no '$text': $*"; return 1; }
}

check 'the URL of the documentation and the default type are of the first that has one' <<'END'
	needs_command protoc
	python3 - <<-EOF
	import sys
	sys.path.insert(0, "$TOP/tests")
	sys.dont_write_bytecode = True
	from profiles import number, bytes_of, sample, location, function, mapping
	texts = ["", "samples", "count", "main", "cpu", "nanoseconds", "https://doc/1", "doc 2"]
	def write(name, weight, *fields):
	    types = [bytes_of(1, number(1, a) + number(2, b)) for a, b in ((1, 2), (4, 5))]
	    open(name, "wb").write(b"".join([
	        *types, sample([1], [weight, weight * 1000]), mapping(1),
	        location(1, [1], 1, 4097), function(1, 3),
	        *(bytes_of(6, t.encode()) for t in texts), number(12, 1000), *fields]))
	write("none", 2)
	write("first", 5, number(15, 6), number(14, 1))
	write("second", 7, number(15, 7), number(14, 4))
	write("third", 4, number(15, 6))
	write("bad", 1, number(15, 8))
	EOF
	url1='doc_url: "https://doc/1"' url2='doc_url: "doc 2"' type1='default_sample_type: "samples"'
	for way in "$url1" "$type1"; do
		written_by "$way" pmu-topprof -o p.pb.gz first
		written_by "$way" pmu-topprof -o p.pb.gz none first second
		written_by "$way" pmu-topprof -o p.pb.gz --skip-damaged bad first second
		written_by "$way" pmu-topprof -o p.pb.gz --diff none first
	done
	written_by "$url2" pmu-topprof -o p.pb.gz second first
	written_by "$url1" pmu-topprof -o p.pb.gz --types one first
	written_by "$url1" pmu-diff -o p.pb.gz none third
	pmu-topprof -o p.pb.gz none
	about p.pb.gz >got
	none grep doc_url got
	exits 1 pmu-topprof bad -o p.pb.gz 2>err
	exits 1 pmu-topprof none bad -o p.pb.gz 2>err
	# pprof of today has the field, too; an older one drops it
	pprof_proto want.pb.gz none first second && about want.pb.gz >want
	! grep -q doc_url want || grep -xF "$url1" want
	grep -xF "$type1" want
END

check 'every field of profile.proto is kept, in sums, a difference and parts; pprof agrees' <<'END'
	field() { python3 "$TOP/tests/every-field.py" "$@"; }
	field write a.pb.gz b.pb.gz
	a=a.pb.gz b=b.pb.gz
	for files in $a "$a $a" "$a $b" "$b $a" "$b $a $b"; do
		pmu-topprof -o got.pb.gz $files
		field sum got.pb.gz $files
		pprof_proto want.pb.gz $files
		field pprof got.pb.gz want.pb.gz $a >lost
		none grep -v "^pprof does not keep\( Line.column\| Profile.doc_url\| Profile.fact\)*$" lost
	done
	pmu-topprof --diff $a -o got.pb.gz $b
	field difference got.pb.gz $a $b
	pmu-topprof --types one -o got.pb.gz $b
	field one-type got.pb.gz $b
	key=$(go tool pprof -symbolize=none -raw $a 2>raw-err | grep -om1 "Label.key [^:]*")
	pmu-topprof --label "$key" -o got.pb.gz $a
	field label "$key" got.pb.gz $a
END

check 'damaged profiles among others are left out if asked for, and it is said' <<'END'
	two_profiles
	head -c 200 1.pb.gz >cut.pb.gz
	pmu-topprof -o want.pb.gz 1.pb.gz 2.pb.gz
	pmu-topprof --types one -o other.pb.gz 1.pb.gz
	exits 1 pmu-topprof -o got.pb.gz 1.pb.gz cut.pb.gz 2.pb.gz 2>err
	test ! -e got.pb.gz
	pmu-topprof --skip-damaged -o got.pb.gz cut.pb.gz 1.pb.gz other.pb.gz 2.pb.gz 2>err
	grep -q "'cut.pb.gz'" err
	grep -q "'other.pb.gz' has other sample types" err
	raw want.pb.gz >want
	raw got.pb.gz | sed "/left out: 2 of 4 profiles, which could not be read or/d" >got
	same want got
	go tool pprof -comments got.pb.gz | grep -q "left out: 2 of 4 profiles"
	exits 1 pmu-topprof --skip-damaged -o none.pb.gz cut.pb.gz cut.pb.gz 2>err
	grep -q "leaves out all 2 profiles" err
	test ! -e none.pb.gz
	pmu-topprof --skip-damaged 1.pb.gz 2.pb.gz 2>err | cmp - want.pb.gz
	exits 2 pmu-topprof --skip-damaged 1.data 2>err
	exits 2 pmu-topprof --skip-damaged --to folded 1.pb.gz 2.pb.gz 2>err
END

check 'with one sample type it is the default one, of a stream and of a profile' <<'END'
	two_profiles
	pmu-topprof --types all -o all.pb.gz 1.data
	pmu-topprof --label pid,tid,thread_comm 1.data | pmu-topprof --types one -o stream.pb.gz
	pmu-topprof --types one -o profile.pb.gz 1.pb.gz
	top() { go tool pprof -symbolize=none -sample_index=page-faults -nodefraction=0 -top $1; }
	top all.pb.gz 2>err | sed 1,/Type/d >want
	test "$(wc -l <want)" -gt 5
	for file in stream profile; do
		raw $file.pb.gz >got
		test "$(sed -n "/^Samples:/{n;p}" got)" = "page-faults/count[dflt]"
		grep -q "thread_comm:\[sh\]" got
		top $file.pb.gz 2>err | sed 1,/Type/d | same want -
	done
	exits 2 pmu-topprof --types one 1.data 2>err
	for file in 1.pb.gz all.pb.gz; do
		pmu-topprof --types one -e cpu-clock -o clock.pb.gz $file
		raw clock.pb.gz | grep -q "^cpu/nanoseconds.dflt.$"
	done
	pmu-top profile.pb.gz >top-one
END

check 'a profile is subtracted as by pprof -diff_base: the base keeps samples of its own' <<'END'
	two_profiles
	pmu-topprof --diff 1.pb.gz -o got.pb.gz 2.pb.gz
	pprof_proto want.pb.gz -diff_base 1.pb.gz 2.pb.gz
	raw want.pb.gz >want
	raw got.pb.gz >got
	grep -q "^ *[0-9-]* *-[0-9]" want
	grep -q 'pprof::base:\[true\]' got
	same want got
	exits 2 pmu-topprof --diff 1.pb.gz 2>err
END

check 'profiles of recordings from real hardware go through pprof and back unchanged' <<'END'
	needs "$SHARED/expected.tsv"
	count=0
	for file in "$SHARED"/*data; do
		pmu-topprof -q "$file" >p.pb.gz || continue
		pmu-topprof -o r.pb.gz p.pb.gz
		count=$((count + 1))
		! sanitized || continue		# without, they are compared
		pprof_proto q.pb.gz p.pb.gz
		raw p.pb.gz >before
		raw q.pb.gz >after
		same after before
		raw r.pb.gz >ours
		same after ours
	done
	test $count -ge 15
END

check 'profiles are known by their bytes, gzip or not; a stream among them is reported' <<'END'
	two_profiles
	gzip -dc 1.pb.gz >plain
	pmu-topprof -o want.pb.gz 1.pb.gz
	pmu-topprof -o got.pb.gz plain
	cmp want.pb.gz got.pb.gz
	pmu-topprof -o want.pb.gz 1.pb.gz 2.pb.gz
	pmu-topprof plain - <2.pb.gz >got.pb.gz
	cmp want.pb.gz got.pb.gz
	exits 1 pmu-topprof -o p.pb.gz 1.pb.gz 2.data 2>err
	grep -q "2.data. is not a pprof profile" err
	pmu-sample -e cpu-clock -F 500 -- ten serial 0.1 | pmu-topprof -o other.pb.gz
	exits 1 pmu-topprof -o p.pb.gz 1.pb.gz other.pb.gz 2>err
	grep -q "other.pb.gz. has other sample types" err
END

check 'damaged profiles are refused or merged, never worse' <<'END'
	two_profiles
	gzip -dc 1.pb.gz >plain
	size=$(wc -c <plain) step=$(sanitized && test -z "$ALL" && echo 4 || echo 1)
	for n in $(seq 1 $step 60); do
		head -c $((size * n / 61)) plain >cut
		pmu-topprof --diff 2.pb.gz cut >out 2>err && continue || status=$?
		test $status = 1
		grep -q "is not a pprof profile, or damaged\|sample types" err
	done
	for n in $(seq 1 $step 60); do
		cp plain bad
		printf "\377" | dd of=bad bs=1 seek=$((size * n / 61)) conv=notrunc 2>log
		pmu-topprof 2.pb.gz bad >out 2>err || test $? = 1
	done
END

done_testing
