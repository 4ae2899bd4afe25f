#!/bin/sh
# pmu-top's error bars: the specification's cases with known answers, losses, marks, merged runs.
# kinds: release asan
. tests/lib.sh

# recorded OPTIONS: a stream into s.data, by Python on stdin that sets "blocks", a list of
# (samples of f, samples of others, samples lost) for each 10 ms
recorded() {
	{
		cat
		cat <<-'END'
			t = IP | TID | TIME | PERIOD
			at = 10**12
			start = struct.pack("<IIQ", 7, 7, at)
			out = [record(64, attr(1, 0, 1000, t) + struct.pack("<Q", 1), 0),
			    record(1, mmap(7, 0x10000, 0x1000, b"/bin/f") + start),
			    record(1, mmap(7, 0x20000, 0x1000, b"/bin/rest") + start)]
			for block, (f, rest, lost) in enumerate(blocks):
			    times = range(at + block * 10**7, at + (block + 1) * 10**7,
			                  10**7 // max(1, f + rest) + 1)
			    for i, time in zip(range(f + rest), times):
			        address = 0x10000 if i < f else 0x20000
			        out.append(record(9, struct.pack("<QIIQQ", address, 7, 7, time, 1000)))
			    if lost:
			        trailer = struct.pack("<IIQ", 7, 7, at + block * 10**7 + 5 * 10**6)
			        out.append(record(2, struct.pack("<QQ", 0, lost) + trailer))
			out = pipe(*out)
		END
	} >program
	compose s.data <program
}

# bar PROFILE KEY...: these figures of the row "f"
bar() {
	pmu-top -j --by object "$1" | python3 -c '
import json, sys
row = [r for r in json.load(sys.stdin)["rows"] if r["name"] == "f"][0]
print(*(row["flat_bar"][key] for key in sys.argv[1:]))' $(shift; echo "$@")
}

check 'shares in blocks of time have the bars that the formulas give' <<'END'
	# numpy: low and high of the program and of this run, share of the variance, mark
	while read -r mark low high low_run high_run values; do
		echo "blocks = [(f, 50 - f, 0) for f in [$values]]" | recorded
		pmu-topprof --slices 10 -o p.pb.gz s.data
		set -- $(bar p.pb.gz mark low high low_run high_run)
		test $1 = $mark
		near $2 $low 0.000001
		near $3 $high 0.000001
		near $4 $low_run 0.000001
		near $5 $high_run 0.000001
		pmu-top --by object p.pb.gz >table
		test $mark = $(grep -q "%~ .* f$" table && echo True || echo False)
		test $mark = $(grep -q "^~ this share rose or fell" table && echo True || echo False)
		grep -q "^1,000 samples; a share is within +/- in 95 of 100 recordings$" table
		# the interval is not symmetric: the column is half of it
		half=$(awk '/ f$/ { print $3 }' table)
		# in CSV, both ends: those of this run if marked
		pmu-top --by object --to csv p.pb.gz | tr -d '\r' >csv
		head -n 1 csv | grep -q ",cum_share,flat_low,flat_high,flat_mark,cum_low,cum_high,cum_mark,"
		grep ",f$" csv | tr , ' ' >row
		test $mark = True && set -- $1 $4 $5
		near $(cut -d ' ' -f 5 row) $2 0.000001
		near $(cut -d ' ' -f 6 row) $3 0.000001
		test $mark = $(grep -q ",~,.*,f$" csv && echo True || echo False)
		for how in program run; do
			pmu-top --bars $how --by object p.pb.gz | none grep '~'
		done
		test $mark = True && want=$high_run && from=$low_run || { want=$high; from=$low; }
		# rounded up: a table has no narrower bar than JSON
		at_least "${half#\~}" "$(echo "$want $from" | awk '{ print 50 * ($1 - $2) - 1e-4 }')"
		near "${half#\~}" "$(echo "$want $from" | awk '{ print 50 * ($1 - $2) }')" 0.0101
	done <<-CASES
		False 0.0994516 0.139472 0.0994516 0.139472 5,7,6,4,8,5,6,7,5,6,4,6,7,5,8,6,5,7,6,5
		False 0.0993967 0.381718 0.183033 0.23321 20,21,1,0,19,22,0,2,20,18,1,0,21,20,0,1,19,20,2,0
		True 0.018296 0.305354 0.067455 0.101736 0,0,0,0,0,0,25,30,28,0,0,0,0,0,0,0,0,0,0,0
		True 0.131321 0.302878 0.180179 0.230086 1,2,2,4,5,5,7,8,8,10,11,11,13,14,14,16,17,17,19,20
	CASES
END

check 'without slices the bar covers this recording only; too few slices are reported' <<'END'
	echo "blocks = [(20 * (i % 4 < 2), 50 - 20 * (i % 4 < 2), 0) for i in range(20)]" | recorded
	pmu-topprof --slices 0 -o p.pb.gz s.data
	within="a share is within +/- in 95 of 100 recordings"
	pmu-top --by object p.pb.gz | sed -n 2p |
		grep -qx "1,000 samples; $within, if it does not change over time (pmu-topprof --slices 20)"
	test "$(bar p.pb.gz low high)" = "$(bar p.pb.gz low_run high_run)"
	test "$(bar s.data low)" != "$(bar s.data low_run)"
	echo "blocks = [(2, 8, 0)] * 4" | recorded
	pmu-top --by object s.data | sed -n 2p |
		grep -qx "40 samples; $within, if it does not change over time (too short to tell)"
END

check 'losses raise the weight of the other samples of a slice; a line has the worst case' <<'END'
	echo "blocks = [(9, 81, 10), (30, 20, 50), (10, 90, 0)]" | recorded
	pmu-topprof --slices 20 -o p.pb.gz s.data
	for input in p.pb.gz s.data; do
		near "$(bar $input share)" 0.266667 0.000001
		pmu-top --by object $input >table
		none grep '\[lost\]' table
		grep -q "^20 % of samples were lost; were they all .* up to 20 points higher.$" table
		grep -q "^240 samples; +/-: if all lost samples were of one row$" table
	done
	pmu-top -j --by object p.pb.gz | grep -q '"lost": 60, "lost_share": 0.200000,'
	pmu-top --bars none --by object p.pb.gz | grep -q '\[lost\]'
	go tool pprof -raw p.pb.gz 2>err | grep -q '\[lost\]'
	# no slices: the plain share, and the worst case of Wilson's interval
	pmu-topprof --slices 0 -o p.pb.gz s.data
	near "$(bar p.pb.gz share)" 0.204167 0.000001
	set -- $(bar p.pb.gz low high low_worst high_worst)
	near $3 "$(echo $1 | awk '{ print $1 * .8 }')" 0.000002
	near $4 "$(echo $2 | awk '{ print $1 * .8 + .2 }')" 0.000002
	# the profile says how many were lost, even if it does not show them
	pmu-topprof --frames no-lost -o p.pb.gz s.data
	pmu-top --by object p.pb.gz | grep -q "^20 % of samples were lost"
END

check 'an event that is recorded each time is exact' <<'END'
	echo "blocks = [(10, 40, 0)] * 20" | recorded
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1, t)/; s/time, 1000)/time, 1)/" program >exact
	compose s.data <exact
	pmu-top --by object s.data >table
	grep -qE " 20.00%  exact .* f$" table
	test "$(bar s.data low high)" = "0.2 0.2"
END

check 'of a complete recording no share has a bar or a mark, whatever it does over time' <<'END'
	echo "blocks = [(20, 30, 0)] * 10 + [(2, 48, 0)] * 10" | recorded
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1, t)/; s/time, 1000)/time, 1)/" program >exact
	compose s.data <exact
	headline="all events were recorded: shares are exact for this recording, and say nothing about"
	for how in auto program run; do
		pmu-top --by object --bars $how s.data >table
		grep -qx "1,000 samples; $headline another" table
		none grep -E "~|in 95 of 100" table
		test "$(grep -c "%  exact " table)" = "$(pmu-top -q -j --by object s.data |
			grep -c '"name"')"
	done
	pmu-top -q -j --by object s.data >json
	none grep -E '"exact": false|"mark": true' json
	grep -q "\"note\": \"$headline" json
	# as sampled, it has both
	compose s.data <program
	pmu-top --by object s.data | grep -q "[0-9]%~ .* f$"
	# without some samples it is not complete: of which row they were is unknown
	echo "blocks = [(20, 30, 0)] * 10 + [(2, 45, 3)] * 10" | recorded
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1, t)/; s/time, 1000)/time, 1)/" program >exact
	compose s.data <exact
	pmu-top --by object s.data >table
	grep -qx "970 samples; +/-: if all lost samples were of one row" table
	none grep -E "exact|~" table
END

check 'weights that differ widen the bar, and pmu-topprof notes how much' <<'END'
	echo "blocks = [(10, 40, 0)] * 20" | recorded
	sed "s/attr(1, 0, 1000, t)/attr(0, 0, 1000, t)/
		s/time, 1000)/time, 100 if i % 2 else 1900)/" program >unequal
	compose s.data <unequal
	pmu-topprof -l none -o p.pb.gz s.data
	# the variance of the weights is 0.81 of their mean's square
	near "$(facts p.pb.gz | sed -n 's/^figures: .*squares=\([^ ]*\).*/\1/p')" \
		1.81e9 1
	set -- $(bar p.pb.gz low high)
	near "$(echo $2 $1 | awk '{ print $1 - $2 }')" 0.0666 0.0005	# Wilson, n 1000 / 1.81
END

check 'functions with too few samples are one line of a table; JSON and CSV have all' <<'END'
	printf '%s\n' 'a 900' 'b 95' 'c 3' 'd 2' | python3 -c '
import sys
sys.path.insert(0, sys.argv[1] + "/tests")
from profiles import *
names = [line.split() for line in sys.stdin]
sys.stdout.buffer.write(profile([p for i, (name, n) in enumerate(names, 1)
    for p in (function(i, FIRST + i - 1), location(i, [i]), sample([i], [int(n)]))],
    [name.encode() for name, n in names]))' "$TOP" >p.pb
	pmu-top p.pb >table
	none grep -E ' [cd]$' table
	grep -qE ' 9.50%   1.8[0-9] .* b$' table
	grep -qx '2 more functions, too rare to measure (each under 0.88 %), take 0.5 % together.' table
	test "$(pmu-top -j p.pb | grep -c '"name"')" = 4
	pmu-top --bars none p.pb | grep -q ' d$'
END

check 'a table says where the order of its rows is chance; JSON has both bars of a row' <<'END'
	simulate equal200 1 | pmu-topprof -q --slices 20 -o p.pb.gz
	pmu-top --by object p.pb.gz >table
	cat table
	grep -qx "the order of the last 20 objects is chance; +/- allows for this choice." table
	pmu-top -j --by object p.pb.gz >json
	python3 - <<-'PY' >got
		import json
		rows = json.load(open("json"))["rows"]
		bars = [r["flat_bar"] for r in rows if "low_selected" in r["flat_bar"]]
		lower = [b for b in bars if b["low_selected"] < b["low"]]
		print(len(bars), len(lower), sum(b["high_selected"] < b["low"] for b in bars))
	PY
	read -r bars lower wrong <got
	at_least $bars 20
	test $lower = $bars && test $wrong = 0
	simulate steady 1 | pmu-topprof -q --slices 20 | pmu-top --by object >table
	none grep "is chance" table
END

check 'the limit of functions that a table leaves out is the largest of their bars' <<'END'
	# few samples, all in one block: the bar of the program is wide
	echo 'blocks = [(3, 47, 0)] + [(0, 50, 0)] * 19' | recorded
	pmu-topprof --slices 20 -o p.pb.gz s.data
	pmu-top --by object p.pb.gz >table
	limit=$(sed -n 's/^1 more object, too rare to .* (under \([0-9.]*\) %), takes .*/\1/p' table)
	cat table
	pmu-top -j --by object p.pb.gz >json
	high=$(bar p.pb.gz high)
	at_least "$limit" "$(echo $high | awk '{ print 100 * $1 }')"
	at_least "$high" 0.012		# of 4 samples of 1,000 it would be 0.0102
	# nothing is below of what was recorded completely
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1, t)/; s/time, 1000)/time, 1)/" program >exact
	compose s.data <exact
	pmu-top --by object s.data >table
	none grep 'can tell' table
	grep -qE ' 0.30%.* f$' table
END

check 'samples at a frequency are scaled to the count of the recorder, in profiles too' <<'END'
	echo "blocks = [(10, 40, 0)] * 20" | recorded
	# page faults; the last sample has a period that did not elapse; READ: 50,000 counted
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1000, t, 1 << 18 | 1 << 10, 112, 7)/
		s/time, 1000)/time, 50 if block * 50 + i < 999 else 10**7)/
		s/out = pipe(\*out)/out.append(record(8, READ + start))\n&/
		s/^at = .*/&\nREAD = struct.pack('<iiQQQQ', -1, -1, COUNTED, 9, 9, 1)/
		" program >late
	sed s/COUNTED/50000/ late | compose s.data
	pmu-topprof -o p.pb.gz s.data
	for input in s.data p.pb.gz; do
		pmu-top --by object $input >table 2>err
		head -n 1 table | grep -qE ' +(499[89][0-9]|5000[0-9]) in 2 objects$'
		grep -q "was counted 50000 times, but its samples stand for 201 times as many" err
		# one sample of 1,000 has nearly all of the weight
		grep -q "no error bars: a few samples hold most of the weight" err
		none grep -e '+/-' table
	done
	go tool pprof -comments p.pb.gz 2>err | grep -q '^scaled: .* counted 50000 times, but'
	pmu-flame -o page.html s.data 2>err
	grep -q "counted 50000 times" err
	# each part of the samples is scaled by the factor of all
	pmu-topprof --time 0,1000.1 -o part.pb.gz s.data
	pmu-top --by object part.pb.gz 2>err | head -n 1 >line
	at_most "$(sed 's/.*: *\([0-9]*\) in .*/\1/' line)" 130
	pmu-topprof --no-scale s.data | pmu-top --by object 2>err | grep -q ' 10.05M in '
	# a tenth more is chance; a fixed period is right
	sed s/COUNTED/9300000/ late | compose s.data
	pmu-topprof s.data | pmu-top --by object 2>err | grep -q ' 10.05M in '
	none grep counted err
	sed 's/ | 1 << 10, 112/, 112/; s/COUNTED/50000/' late | compose s.data
	pmu-topprof s.data | pmu-top --by object 2>err | grep -q ' 10.05M in '
END

check 'where few samples hold the weight, all samples limit the effective number' <<'END'
	echo "blocks = [(10, 40, 0)] * 20" | recorded
	# ten samples of the others, each as large as 100 of the rest
	sed "s/attr(1, 0, 1000, t)/attr(1, 2, 1000, t)/
		s/time, 1000)/time, 100 if (block * 50 + i) % 100 != 99 else 10**4)/" program >few
	compose s.data <few
	pmu-topprof -l none -o p.pb.gz s.data
	pmu-top --by object p.pb.gz >table
	# (990 + 1000)^2 / (990 + 10 * 100^2)
	grep -q "^1,000 samples, worth 39 of equal weight; a share" table
	set -- $(bar p.pb.gz share low high)
	# Wilson with 39.2 samples, which is wider than by the squares of f's own samples
	near $1 0.1005 0.0001
	near $2 0.0396 0.0002
	near $3 0.2328 0.0002
END

check 'a function that ran once, but long, is in the table, however wide its bar is' <<'END'
	echo 'blocks = [(0, 50, 0)] * 18 + [(50, 0, 0)] * 2' | recorded
	pmu-topprof --slices 20 -o p.pb.gz s.data
	pmu-top --by object --bars program p.pb.gz >table
	cat table
	grep -qE '10.00%~? +[0-9.]+ .* f$' table
	none grep "too rare" table
END

check 'three or more merged runs are compared as wholes; a line says that two are not' <<'END'
	for n in 1 2 3; do
		echo "blocks = [(10 * $n, 50, 0)] * 20" | recorded
		sed "s/10\*\*12/10**12 + $n * 10**11/" program >later
		compose s.data <later
		pmu-topprof --slices 10 -o $n.pb.gz s.data
	done
	pmu-topprof 1.pb.gz 2.pb.gz -o two.pb.gz
	pmu-topprof 1.pb.gz 2.pb.gz 3.pb.gz -o three.pb.gz
	pmu-top --by object two.pb.gz >table
	grep -q " samples in 2 runs; a share" table
	grep -q "^+/- does not include differences between runs: this needs three runs " table
	pmu-top --by object three.pb.gz >table
	none grep "differences between" table
	set -- $(bar three.pb.gz low high)
	at_most $1 0.15		# the runs have 0.167, 0.286 and 0.375
	at_least $2 0.45
END

check 'a profile without counts of samples has no bars but a reason; a difference has none' <<'END'
	python3 - "$TOP" >p.pb <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		whole = profile([function(1, MAIN), location(1, [1]), sample([1], [5])])
		sys.stdout.buffer.write(whole.replace(b"samples", b"mallocs"))
	PY
	pmu-top p.pb >table 2>err
	none grep -e '+/-' table
	grep -q "^pmu-top: no error bars: the profile does not say how many samples" err
	pmu-top -j p.pb | grep -q '"no_bars": "the profile does not say'
	echo "blocks = [(10, 40, 0)] * 20" | recorded
	pmu-topprof -o p.pb.gz s.data
	echo "blocks = [(20, 40, 0)] * 20" | recorded
	pmu-topprof -o q.pb.gz s.data
	pmu-topprof --diff p.pb.gz q.pb.gz | pmu-top >table
	none grep -e '+/-' table
	exits 2 pmu-top --bars other p.pb.gz 2>err
END

done_testing
