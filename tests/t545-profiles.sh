#!/bin/sh
# Profiles as input: what can be selected from them, differences, and tables of them.
# kinds: release asan
. tests/lib.sh

pmu-sample -q --sample-cpu -g -e cpu-clock -F 1000 -- sh -c 'ten serial 0.2; ten threads 0.1' |
	pmu-symbolize -q >"$scratch/1.data" 2>/dev/null
pmu-sample -q --sample-cpu -g -e cpu-clock -F 1000 -- sh -c 'ten serial 0.4; ten threads 0.1' |
	pmu-symbolize -q >"$scratch/2.data" 2>/dev/null
for n in 1 2; do
	pmu-topprof --label pid,tid,cpu,thread_comm -o "$scratch/$n.pb.gz" "$scratch/$n.data"
done

total() { pmu-top -t samples -n 0 "$1" | sed -n 's/^samples (count): *\([0-9]*\) .*/\1/p'; }

check 'folded text of a profile is that of its stream, from a file and from a pipe' <<'END'
	pmu-topprof --to folded --label thread_comm "$scratch/1.data" >want
	test "$(wc -l <want)" -gt 20
	pmu-topprof --to folded "$scratch/1.pb.gz" | same want -
	pmu-topprof --to folded <"$scratch/1.pb.gz" | same want -
	cat "$scratch/1.pb.gz" | pmu-topprof --to folded | same want -
END

check 'of two events the one that is asked for is folded; a sample type may be selected' <<'END'
	pmu-sample -q -e cpu-clock,page-faults -F 1000 -o s.data -- ten serial 0.2
	pmu-topprof --label none s.data -o p.pb.gz
	for event in cpu-clock page-faults; do
		pmu-topprof --to folded -e $event --label none s.data >want
		test -s want
		pmu-topprof --to folded -e $event p.pb.gz | same want -
	done
	pmu-topprof -e page-faults p.pb.gz -o faults.pb.gz
	go tool pprof -raw faults.pb.gz | grep -qx 'page-faults_samples/count page-faults/count\[dflt\]'
	exits 1 pmu-topprof -e cycles p.pb.gz >out 2>err
	grep -q "'p.pb.gz' has no sample type 'cycles'; it has .*cpu.*page-faults" err
	exits 1 pmu-topprof -q -e cycles p.pb.gz >>out 2>err
	none grep . out err
END

check 'processes, threads, CPUs and names are selected as from the stream' <<'END'
	pid=$(samples "$scratch/1.data" pid | head -n 1)
	for select in '--comm t3' '--comm ten' '--cpu 0' '--cpu 1'; do
		pmu-topprof --label thread_comm --to folded $select "$scratch/1.data" >want
		pmu-topprof --to folded $select "$scratch/1.pb.gz" | same want -
	done
	test "$(pmu-topprof --comm t3 "$scratch/1.pb.gz" | total -)" -gt 0
	pid=$(go tool pprof -tags "$scratch/1.pb.gz" 2>/dev/null |
		sed -n '/^ *pid:/,/^$/p' | sed -n 's/.*: *\([0-9]*\)$/\1/p' | head -n 1)
	test -n "$pid"
	pmu-topprof --pid "$pid" "$scratch/1.data" | total - >want
	test "$(cat want)" -gt 0
	pmu-topprof --pid "$pid" "$scratch/1.pb.gz" | total - | same want -
	pmu-topprof --label thread_comm "$scratch/1.pb.gz" -o names.pb.gz
	none grep -q pid: <<-EOF
		$(go tool pprof -raw names.pb.gz)
	EOF
	exits 1 pmu-topprof --pid "$pid" names.pb.gz >out 2>err
	grep -q "no sample has the label 'pid'" err
END

check 'what only a stream can answer is refused' <<'END'
	for option in --time=0,1 --split=process --split=thread --max-stacks=9 \
		--frames=data --add=wall --no-scale --max-label-values=9; do
		exits 2 pmu-topprof $option -o d "$scratch/1.pb.gz" >out 2>err
		grep -q -- "^pmu-topprof: ${option%%=*} works on a stream, but the input is a profile" err
		test ! -s out
	done
	exits 2 pmu-topprof --types perf "$scratch/1.pb.gz" 2>err
	grep -q "types perf works on a stream, but the input is a profile" err
	exits 2 pmu-topprof --to folded --diff "$scratch/1.pb.gz" "$scratch/2.pb.gz" 2>err
	test ! -e d
END

check 'a difference is shown as go tool pprof -diff_base shows it' <<'END'
	pmu-topprof --diff "$scratch/1.pb.gz" "$scratch/2.pb.gz" -o d.pb.gz
	go tool pprof -proto -diff_base "$scratch/1.pb.gz" -output want.pb.gz "$scratch/2.pb.gz" 2>err
	for p in d want; do go tool pprof -symbolize=none -raw $p.pb.gz >$p.raw; done
	grep -q 'pprof::base:\[true\]' d.raw
	same want.raw d.raw
	# flat, its share of the base, which pprof shows without a sign, and the function
	go tool pprof -top -sample_index=samples -nodefraction=0 -nodecount=2000 \
		-diff_base "$scratch/1.pb.gz" "$scratch/2.pb.gz" 2>err |
		awk 'seen && $1 != 0 && $6 !~ /^\[|,/ { print $1, $2 + 0, $6 }
			$1 == "flat" { seen = 1 }' >want
	pmu-top -t samples --to csv d.pb.gz >table 2>err
	awk -F, 'NR > 1 && $1 != 0 && $5 !~ /^["\[]/ {	# names with a comma are in quotes
		sub("-", "", $2)
		sub(" .*|\r", "", $5)
		print $1, sprintf("%.2f", 100 * $2) + 0, $5
	}' table >got
	test "$(wc -l <want)" -gt 10
	sort -k 1,1n -k 3 want >a
	sort -k 1,1n -k 3 got >b
	cut -d " " -f 1,3- b >flat
	cut -d " " -f 1,3- a | same flat -
	# the CSV has the share in five digits, so that its last one may differ when rounded once more
	paste -d " " a b | awk '{ d = $2 - $5 } d * d > 0.0102 ^ 2 { print; n++ } END { exit n > 0 }'
	awk '{ size = $1 < 0 ? -$1 : $1 } NR > 1 && size > last { exit 1 } { last = size }' got
	pmu-top --tree d.pb.gz 2>err | head -n 1 | grep -q '% of the base'
	# a profile and itself: no difference, and shares of 0
	pmu-topprof --diff "$scratch/1.pb.gz" "$scratch/1.pb.gz" -o none.pb.gz
	pmu-top --tree none.pb.gz 2>err | head -n 1 | grep -q '+0.00% of the base'
	pmu-top none.pb.gz 2>err | none grep "^sure\|^large"
END

check 'facts are kept by merging, dropped by pprof, and read in comments of older profiles' <<'END'
	any_user
	old=$TOP/tests/data/profiles/facts-in-comments.pb.gz
	facts "$old" | none grep .
	pmu-top "$old" >of_old 2>err
	grep -q "^2,000 samples" of_old
	simulate steady 41 2000 | pmu-topprof -q --slices 20 -o new.pb.gz
	pmu-top new.pb.gz 2>err | same of_old -
	facts new.pb.gz >of_new
	grep -q "^figures: samples=2000 .* count=samples value=cpu$" of_new
	grep -qx "slices: [0-9]*ms each" of_new
	go tool pprof -symbolize=none -comments new.pb.gz 2>err | none grep "figures\|slices"
	simulate steady 42 1000 | pmu-topprof -q --slices 20 -o more.pb.gz
	pmu-topprof -o sum.pb.gz new.pb.gz more.pb.gz
	facts sum.pb.gz >both
	grep -c "^figures: " both | grep -qx 2
	# of a difference, each fact says whose it is
	pmu-topprof --diff more.pb.gz -o difference.pb.gz new.pb.gz
	facts difference.pb.gz >sides
	for line in "figures: samples=2000" "base figures: samples=1000" "sides: base_time="; do
		grep -q "^$line" sides
	done
	# without the facts, the numbers of samples are enough for bars
	go tool pprof -symbolize=none -proto -output=bare.pb.gz new.pb.gz 2>err
	facts bare.pb.gz | none grep .
	pmu-top bare.pb.gz >table 2>err
	grep -q "^2,000 samples" table
END

# recorded_by FILE WORD...: FILE is a stream of samples at a fixed period, recorded by this command
recorded_by() {
	simulate steady 41 2000 >plain.data
	compose "$1" <<-END
		words = "$(shift; echo "$*")".encode().split(b" ")
		texts = [pad(w) for w in words]
		body = struct.pack("<QI", 11, len(texts))	# HEADER_CMDLINE
		body += b"".join(struct.pack("<I", len(t)) + t for t in texts)
		body += bytes(-len(body) % 8)
		plain = open("plain.data", "rb").read()
		out = plain[:16] + record(80, body, 0) + plain[16:]
	END
}

check 'only --jitter of the recorder says that a loop in step with the period would be seen' <<'END'
	any_user
	for options in "--jitter -a" "-c 1000000 --jitter -- spin" "-a"  "-a -- spin --jitter"; do
		recorded_by s.data pmu-sample $options
		pmu-topprof -q --slices 20 --comment "recorded without --jitter" -o p.pb.gz s.data
		go tool pprof -symbolize=none -comments p.pb.gz 2>err |
			grep -qx -e "command: pmu-sample $options"
		pmu-top -v p.pb.gz 2>&1 >table | grep -c "a loop in step with the period" >>got || :
	done
	echo 0 0 1 1 | tr " " "\n" | same - got
END

check 'tools read only their own comments, not those of the user that look the same' <<'END'
	any_user
	recorded_by s.data pmu-sample -- spin
	pmu-topprof -q --slices 20 -o plain.pb.gz s.data
	fact=$(facts plain.pb.gz | grep "^figures: " | sed "s/samples=2000/samples=20/")
	# seen PROFILE: what tools make of it
	seen() {
		pmu-top -v "$1" 2>&1
		pmu-diff --json plain.pb.gz "$1" 2>&1
		pmu-flame -o page.html "$1" 2>&1
		sed "s/\"comments\":\[[^]]*\]//" page.html
	}
	cp plain.pb.gz p.pb.gz
	seen p.pb.gz >plain
	for text in "command: x" "command: pmu-sample --jitter -- x" "command: pmu-sample -d 1" \
		"slices: 3" "slices: 3ms each" "scaled: all" "lost: 3 records" "lost: 3 other records" \
		"sides: base_time=1 base_duration=1 after_time=1 after_duration=1" "$fact"
	do
		pmu-topprof -q --slices 20 --comment "$text" -o p.pb.gz s.data
		seen p.pb.gz | same plain -
		go tool pprof -symbolize=none -comments p.pb.gz 2>err | grep -qx "comment: $text"
	done
	pmu-topprof -q --slices 20 --comment "the lost: command" -o p.pb.gz s.data
	go tool pprof -symbolize=none -comments p.pb.gz 2>err | grep -qx "the lost: command"
END

check 'a share in the middle is rounded as by go tool pprof: 34 of 320 is 10.62 %' <<'END'
	printf '%s\n' 'a 34' 'b 286' >folded
	pmu-top folded >table 2>err
	test "$(awk '$5 == "a" { print $2 }' table)" = 10.62%
END

check 'addresses without names are one row for each object, with what helps' <<'END'
	pmu-sample -q -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	pmu-topprof --label none s.data -o p.pb.gz
	pmu-top p.pb.gz >table 2>err
	n=$(pmu-stream --dump s.data | grep -c SAMPLE)
	grep -q '\[ten: [0-9]* addresses\]$' table
	test "$(grep -c '\[ten' table)" = 1
	grep -q '^pmu-top: the profile has addresses only: put pmu-symbolize before pmu-topprof$' err
	want=$(go tool pprof -symbolize=none -raw p.pb.gz | awk '/^Locations/ { on = 1; next }
		/^Mappings/ { exit } on && / M=1 *$/ { n++ } END { print n }')
	grep -q "\[ten: $want addresses\]" table
	strip -o bare "$HELP/ten"
	pmu-sample -q -e cpu-clock -F 1000 -- ./bare serial 0.2 | pmu-symbolize -q |
		pmu-topprof | pmu-top >table 2>err
	grep -q '\[bare: [0-9,]* addresses\]$' table
	test "$(wc -l <err)" -le 1
END

check 'a sample at locations that its profile does not define is merged without these' <<'END'
	python3 - "$TOP" >p.pb <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		sys.stdout.buffer.write(profile([function(1, MAIN), location(1, [1]),
			sample([1], [5]), sample([9, 1, 8], [7]), sample([9], [3])]))
	PY
	exits 1 go tool pprof -raw p.pb 2>err
	grep -q "nil location" err
	pmu-topprof -o merged.pb.gz p.pb p.pb
	go tool pprof -raw merged.pb.gz >raw
	cat raw
	test "$(grep -c '^ *24: 1 *$' raw)" = 1
	pmu-topprof --to folded p.pb >folded
	cat folded
	grep -qx '.unknown. 3' folded
	none grep -v '^[^ ].* [0-9]*$' folded
END

check 'a profile without samples has a sentence, not an empty table alone' <<'END'
	exits 1 pmu-topprof -e nosuch "$scratch/1.data" -o p.pb.gz 2>err
	grep -q "the stream has no event 'nosuch'; it has 'cpu-clock'" err
	pmu-topprof --pid 4194303 "$scratch/1.data" -o p.pb.gz 2>err
	grep -q 'no sample of the stream is selected by' err
	pmu-top p.pb.gz >table 2>err
	grep -q '^pmu-top: the profile has no samples: ' err
END

check 'on a terminal long names lose their middle' <<'END'
	needs_command script
	name=a_function_with_a_name_that_is_much_longer_than_a_terminal_is_wide_and_ends_in_this
	cat >long.c <<-EOF
		#include <time.h>
		__attribute__((noinline)) long $name(long n)
		{
			for (int i = 0; i < 1000000; i++)
				n = n * 31 + i;
			return n;
		}
		int main(int argc, char **argv)
		{
			long n = argc;
			while (clock() < CLOCKS_PER_SEC / 5)
				n = $name(n);
			return argv[0][0] + (int)n == 12345;
		}
	EOF
	gcc -O1 -g long.c -o long
	pmu-sample -q -g -e cpu-clock -F 1000 -- ./long | pmu-symbolize -q | pmu-topprof -o p.pb.gz
	script -qec 'stty cols 80; pmu-top p.pb.gz' /dev/null </dev/null | tr -d '\r' >wide
	grep -q 'a_function_.*….*s_in_this$' wide
	sed 's/…/./' wide >columns
	none awk '$2 ~ /%/ && length($0) > 80' columns
	pmu-top p.pb.gz | grep -q 'longer_than_a_terminal'
END

check 'addresses as labels are those that perf shows, of the kernel, too' <<'END'
	needs "$SHARED/weight_struct.perf.data"
	perf script -G -F addr -i "$SHARED/weight_struct.perf.data" 2>/dev/null | tr -d ' ' |
		sort -u >want
	grep -q '^ffff' want
	pmu-topprof --label addr "$SHARED/weight_struct.perf.data" -o p.pb.gz
	go tool pprof -symbolize=none -raw p.pb.gz | sed -n 's/.*addr:\[0x\([0-9a-f]*\)\].*/\1/p' |
		sort -u | same want -
END

done_testing
