#!/bin/sh
# Labels that the profiled program sets (pmu-sample --labels): from streams whose truth is known.
# kinds: release asan
. tests/lib.sh

export PYTHONDONTWRITEBYTECODE=1

# make KIND N: KIND.data with about N samples, and in truth what is right
made() {
	python3 "$TOP/tests/labels.py" make "$1" "$2" truth >"$1.data"
}

# says PROFILE: what the profile says, like the truth
says() { python3 "$TOP/tests/labels.py" judge <"$1"; }

# profiled OPTION... FILE: the profile of FILE, raw and resolved, says the truth
profiled() {
	pmu-topprof --slices 0 -q --frames no-lost -Z none "$@" >raw.pb
	says raw.pb | same truth -
	for file; do :; done
	pmu-symbolize -q "$file" >resolved.data
	set -- "$@" --
	while test "$2" != --; do
		set -- "$@" "$1"
		shift
	done
	shift 2
	pmu-topprof --slices 0 -q --frames no-lost -Z none "$@" resolved.data >resolved.pb
	says resolved.pb | same truth -
}

check 'each sample has its labels: four CPUs, two events, labels that change each time' <<'END'
	made plain 2000
	profiled plain.data
	pmu-topprof --slices 0 -v plain.data 2>err >p.pb.gz
	grep -q "labels: 2000 samples with (100.00 %), 0 without" err
END

check 'lost records and interrupts in interrupts: no label is wrong, the rest is not known' <<'END'
	made lossy 4000
	profiled lossy.data
	none grep wrong truth
	known=$(grep -c "user=" truth)
	test "$known" -gt 50
	awk "/not known/ { unknown += \$1 } { all += \$1 }
		END { print all, all - unknown, unknown }" truth >counts
	read all known unknown <counts
	pmu-topprof --slices 0 -v lossy.data 2>err >p.pb.gz
	pmu-symbolize -v lossy.data 2>>err >resolved.data
	pmu-topprof --slices 0 -v resolved.data 2>>err >p2.pb.gz
	test "$(grep -c "labels: $known samples with .*, 0 without .*, $unknown not known" err)" = 3
	go tool pprof -comments p2.pb.gz >comments 2>&1
	grep -q "^labels: $known samples with ([0-9.]* %), 0 without (0.00 %), $unknown not known" comments
END

check 'every status, form and flag; empty keys and values; names that are ours already' <<'END'
	made states 70
	profiled states.data
	says raw.pb >said
	grep -q "\[unreadable\]" said
END

check 'the keys of labels come in the order of their names, whatever came first' <<'END'
	made forth 20
	profiled -l "label:*" forth.data
	mv raw.pb forth.pb
	made back 20
	profiled -l "label:*" back.data
	cmp forth.pb raw.pb
	made states 70
	pmu-topprof --slices 0 -q -Z none states.data >one.pb
	go tool pprof -raw one.pb 2>/dev/null >raw
	grep -q "label:cpu:\[z\] label:label:pid:\[y\] label:labels:\[x\] label:pid:\[mine\]" raw
END

check 'labels of the sample that ends an interval, when the tables are emptied' <<'END'
	made later 2500
	for filter in "cat" "pmu-symbolize -q"; do
		rm -f p-*
		$filter <later.data | pmu-topprof --slices 0 -q --split 1s -o "p-%s.pb.gz"
		test "$(ls p-* | wc -l)" = 2
		pmu-topprof -q -Z none p-* >all.pb
		says all.pb | same truth -
	done
END

check 'only the labels that were asked for; none of them with -l none' <<'END'
	unsanitized
	made many 100
	pmu-topprof -Z none -l label:user many.data >p.pb
	test "$(says p.pb | awk "{ print \$3 }" | sort -u)" = user=alice
	pmu-topprof -Z none -l pid,label:request,label:user many.data >p.pb
	says p.pb | same truth -
	pmu-topprof -Z none -l none many.data >p.pb
	test -z "$(says p.pb | awk "{ print \$3 }" | sort -u)"
	pmu-topprof -Z none -l pid many.data >p.pb
	test -z "$(says p.pb | awk "{ print \$3 }" | sort -u)"
END

check 'a label with thousands of values is cut, counted, and reported' <<'END'
	unsanitized
	made many 2500
	profiled many.data
	pmu-topprof --slices 0 -o p.pb.gz many.data 2>err
	grep -q "label .request. has more than 1000 values: 1500 samples are at \[other\]" err
	go tool pprof -comments p.pb.gz 2>/dev/null |
		grep -x "labels: request has more than 1000 values; 1500 samples have others"
	pmu-topprof --slices 0 -Z none --max-label-values 3000 many.data >all.pb 2>err
	none cat err
	test "$(says all.pb | grep -c request=r)" = 2500
	pmu-topprof -q -Z none --max-label-values 1 -l label:user,label:request many.data >p.pb
	test "$(says p.pb | awk "/user=alice/ && /other/ { n += \$1 } END { print n }")" = 2499
END

check 'more sets of labels than are kept: the definitions restart once, no label is wrong' <<'END'
	unsanitized
	made many 70000
	pmu-symbolize -q many.data | head -c 20000000 >resolved.data
	pmu-stream -D resolved.data | cut -d " " -f 1-3 >types
	test "$(grep -cw RESTART types)" = 1
	pmu-topprof --slices 0 -q -Z none resolved.data >resolved.pb
	says resolved.pb | same truth -
END

check 'a profile has at most 32 labels, and the rest is reported' <<'END'
	made keys 40
	profiled -l "label:*" keys.data
	pmu-topprof -l "label:*" keys.data 2>err >p.pb.gz
	grep -q "no profile can have more than 32 labels: choose some" err
	test "$(go tool pprof -tags p.pb.gz 2>/dev/null | grep -c "^ *k")" = 32
END

check 'damaged labels are reported, and their samples are not known to have none' <<'END'
	made damaged 1
	exits 1 pmu-topprof --slices 0 -Z none damaged.data >p.pb 2>err
	says p.pb | same truth -
	exits 1 pmu-topprof --slices 0 -o p2.pb.gz damaged.data 2>>err
	grep -q "damaged.data: offset 0x330: labels record is shorter than its fields; skipped" err
	exits 1 pmu-stream --check damaged.data 2>err
	test "$(grep -c "offset 0x.*: labels record" err)" = 3
	grep -q "20 more like this" err
	exits 1 pmu-symbolize damaged.data >/dev/null 2>>err
END

check 'a stream without labels: nothing new in the profile; asking for one is an error' <<'END'
	made none 50
	profiled none.data
	pmu-topprof --slices 0 -o p.pb.gz none.data 2>err
	none cat err
	go tool pprof -comments p.pb.gz 2>/dev/null >comments
	none grep "^labels" comments
	exits 1 pmu-topprof -l label:user none.data 2>err >p.pb.gz
	grep -q "has no labels of the program: record them with pmu-sample --labels" err
	made plain 50
	pmu-topprof -l label:nobody plain.data 2>err >p.pb.gz
	grep -q "no sample has the label .nobody. of the program" err
END

check 'pprof selects, groups and lists by them' <<'END'
	unsanitized
	made plain 1000
	pmu-topprof --slices 0 -o p.pb.gz plain.data
	go tool pprof -tags p.pb.gz >tags 2>&1
	test "$(grep -c "v[0-9]*$" tags)" = 50
	want=$(awk "\$3 == \"user=v7\" { n += \$1 } END { print n }" truth)
	for type in cpu_samples page-faults_samples; do
		go tool pprof -sample_index=$type -tagfocus "user=^v7\$" -top p.pb.gz 2>err
	done | awk "/Showing nodes/ { n += \$5 } END { print n }" >focused
	test "$(cat focused)" = "$want"
	go tool pprof -tagroot user -traces p.pb.gz >traces 2>&1
	grep -q "^ *v7" traces
END

check 'the other byte order: labels are the same' <<'END'
	made states 70
	python3 "$TOP/tests/other-order.py" states.data other.data
	exits 1 cmp -s states.data other.data
	profiled other.data
	pmu-stream --decompress other.data >ours.data
	cmp states.data ours.data
END

check 'samples that are selected keep their labels: by thread, CPU, time and event' <<'END'
	unsanitized
	made plain 1000
	pmu-topprof --slices 0 -Z none -q plain.data >all.pb
	for how in "--tid 45" "--cpu 2" "--time 0.0002,0.0006" "--event page-faults" "--head 300"
	do
		pmu-stream $how plain.data >some.data
		pmu-stream some.data >stats
		grep -q "^labels: [0-9]* samples with (100.00 %), 0 without" stats
		pmu-topprof --slices 0 -q -Z none some.data >one.pb
		case $how in
		--head*) test "$(says one.pb | awk "{ n += \$1 } END { print n }")" = 300 ;;
		*)	pmu-topprof --slices 0 -q -Z none $how plain.data >two.pb
			says one.pb >one
			says two.pb >two
			test -s one
			same one two ;;
		esac
	done
END

check 'streams that are joined keep their labels, also if their events are others' <<'END'
	made plain 500
	mv truth truth1
	mv plain.data one.data
	# as if page-faults had been the first event
	compose two.data <<-"PYTHON"
		import sys
		sys.path.insert(0, sys.path[0])
		import labels
		r = labels.Recording()
		r.records[0:2], r.records[2:4] = r.records[2:4], r.records[0:2]
		r.time += 500
		for x in labels.random(500, 7):
		    i = x % 50
		    ip = 0x400000 + 64 * i
		    r.labels(1, ip, [("user", "w%d" % i)])
		    r.sample(0, ip, {"user": "w%d" % i})
		out = r.bytes()
		with open("truth2", "w") as f:
		    labels.show(r.truth, f)
	PYTHON
	pmu-stream --cat one.data two.data >both.data
	sort truth1 truth2 >want
	pmu-topprof --slices 0 -q -Z none both.data >p.pb
	says p.pb | sort | same want -
	pmu-stream both.data | grep "^labels: 1000 samples with (100.00 %)"
END

check 'pmu-stream prints labels, safe for a terminal; perf script reads the stream' <<'END'
	made states 70
	pmu-stream -D states.data >lines
	grep -q "status=\"labels\" .* labels={\"user\": \"alice\"}" lines
	grep -q "status=\"bad goroutine\"" lines
	none grep -P "[\x00-\x08\x0b-\x1f\x7f]" lines
	pmu-stream -D -j states.data >json
	python3 -c "import json; [print(json.loads(l)) for l in open(\"json\")]" >parsed
	grep -q "SAMPLE.*.labels.: {.user.: .alice.}" parsed
	pmu-stream -j states.data | python3 -m json.tool --compact >json
	sed "s/[:,]/& /g" json >spaced
	grep -q "{.with.: 22, .without.: 40, .no_record.: 0, .unreadable.: 20, .cut.: [0-9]*}" spaced
	pmu-symbolize -q states.data | pmu-stream -D >lines
	grep -q "LABELS .* labels={\"user\": \"alice\"}" lines
	needs_command perf
	made plain 200
	perf script -i plain.data -F event,ip,time >script 2>err
	test "$(grep -c "cpu-clock\|page-faults" script)" = 200
	test "$(grep -c "labels:" script)" = 200
END

check 'pmu-top, pmu-flame and pmu-diff by a label of the program, of streams and profiles' <<'END'
	unsanitized
	made lossy 1500
	pmu-topprof --slices 0 -q -o p.pb.gz lossy.data
	lost=$(pmu-stream -j lossy.data | sed "s/.*\"lost\": \([0-9]*\).*/\1/")
	awk -v lost="$lost" "BEGIN { n[\"[user not known]\"] = lost }
		{ sub(/.*user=/, \"\", \$3); sub(/.*not.*/, \"[user not known]\", \$3) }
		\$3 !~ /n\$/ { n[\$3] += \$1 }
		END { for (v in n) if (n[v]) print v, n[v] }" truth | sort >want
	for file in lossy.data p.pb.gz; do
		pmu-top -q --bars none --by label:user -t cpu_samples --to csv $file >csv
		none grep "\[no user\]" csv
		tr -d "\r" <csv | awk -F, "NR > 1 && \$1 { print \$5, \$1 }" | sort >got
		same want got
	done
	pmu-flame --by label:user -q lossy.data >page.html
	grep -q "user: v7" page.html
	grep -q "user: not known" page.html
	pmu-flame --by label:user -q p.pb.gz | grep -q "user: not known"
	made plain 2000
	pmu-topprof -q -l label:user plain.data -o a.pb.gz
	exits 1 pmu-top --by label:nobody plain.data 2>err
	grep -q "no sample has the label .nobody.: pmu-sample --labels records" err
	exits 1 pmu-diff --by nothing a.pb.gz a.pb.gz 2>err
	exits 1 pmu-diff --by label:nobody a.pb.gz a.pb.gz 2>err
	grep -q "a.pb.gz. has no sample with the label .nobody." err
	exits 2 pmu-diff --by label:user --cum plain.data plain.data 2>err
	pmu-diff -q --by label:user -j plain.data plain.data >json
	grep -q "\"v7\"" json
END

check 'pmu-unwind, compression and a pipe of all filters leave labels as they are' <<'END'
	made plain 500
	pmu-unwind -q plain.data | pmu-stream -z | pmu-topprof --slices 0 -q -Z none >p.pb
	says p.pb | same truth -
END

done_testing
