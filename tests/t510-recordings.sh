#!/bin/sh
# Recordings of others, from real hardware: their counts and totals.
# kinds: release asan
. tests/lib.sh

expected=$SHARED/expected.tsv

# sums: of each sample type, in order, one a line, of what pprof -raw prints
sums() {
	awk '
		/^Locations/ { exit }
		/^ +[0-9]+( +[0-9]+)*: / {
			sub(":.*", "")
			n = split($0, v, " ")
			for (i = 1; i <= n; i++) sum[i] += v[i]
			columns = n
		}
		END { for (i = 1; i <= columns; i++) printf "%.0f\n", sum[i] }'
}
raw() { go tool pprof -raw -symbolize=none "$1" 2>/dev/null; }

# The totals in the third column of a line of expected.tsv, in order; ours has none for dummies.
expected_totals() {
	printf '%s\n' "$1" | cut -f 3 | tr ' ' '\n' | grep -v '^dummy' |
		sed -n 's/.*=\([0-9]*\)$/\1/p'
}

if test -e "$expected"; then
	sed 1d "$expected" | cut -f 1 >"$scratch/files"
else
	: >"$scratch/files"
	check 'recordings from real hardware' <<-'END'
		needs "$expected"
	END
fi

# The record counts in the second column.  perf repeats the counts of
# some types for each event: only those of samples are compared.
expected_records() {
	printf '%s\n' "$1" | cut -f 2 | tr ' ' '\n' | grep '=' |
	awk -F = '{ if ($1 == "SAMPLE" && n++) print; else if (!seen[$1]++) print }' | sort
}

while read -r file; do
	line=$(grep "^$file	" "$expected")
	check "$file: record counts are those of perf report --stats" <<-'END'
		expected_records "$line" >want
		test -s want || { echo "perf cannot read it"; exit 77; }
		stream-stats "$SHARED/$file" | sort >got
		same want got
		cat "$SHARED/$file" | stream-stats - | sort >got
		same want got
	END
	check "$file: profile totals are those of perf_to_profile" <<-'END'
		unsanitized
		rm -f "$scratch/raw"
		expected_totals "$line" >want
		test -s want || { echo "perf_to_profile cannot read it"; exit 77; }
		pmu-topprof --frames no-lost --label none "$SHARED/$file" >p.pb.gz
		raw p.pb.gz >"$scratch/raw"
		sums <"$scratch/raw" >got
		same want got
		# what was lost is there besides, under a name of its own
		pmu-topprof "$SHARED/$file" >p.pb.gz
		lost=$(pmu-stream --json "$SHARED/$file" 2>err | sed 's/.*"lost": \([0-9]*\).*/\1/')
		raw p.pb.gz >raw
		sums <raw >with
		awk 'NR % 2 { n += $1 } END { print n }' got >n
		awk 'NR % 2 { n += $1 } END { print n }' with >all
		test "$(cat all)" = $(($(cat n) + lost))
		test $lost = 0 || grep -q "\[lost\]" raw
	END
	check "$file: each place has as many samples as a reader of its own finds there" <<-'END'
		unsanitized
		expected_totals "$line" >want
		test -s want || { echo "perf_to_profile cannot read it"; exit 77; }
		pmu-stream --dump --json "$SHARED/$file" >dump 2>err
		python3 "$TOP/tests/flats.py" dump "$scratch/raw" >differ
		none cat differ
	END
	check "$file: from a pipe, and symbolized, the totals are the same" <<-'END'
		expected_totals "$line" >want
		test -s want || { echo "perf_to_profile cannot read it"; exit 77; }
		cat "$SHARED/$file" | pmu-symbolize -q | pmu-topprof --frames no-lost >p.pb.gz
		raw p.pb.gz | sums >got
		same want got
	END
done <"$scratch/files"

done_testing
