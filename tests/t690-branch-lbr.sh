#!/bin/sh
# pmu-branch on a recording of another maker: the figures that three other programs found in it.
# kinds: release
. tests/lib.sh

data=$TOP/../shared/data/lbr
needs_files() { needs "$data/test.lbr"; needs "$data/test.binary"; }

# figure NAME: its value in the list of what others found
figure() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$data/expected.tsv"; }

check 'bolt: the counts of branches, mispredictions and ranges that others found' <<'END'
	needs_files
	pmu-branch --to bolt --binary "$data/test.binary" -o out "$data/test.lbr" 2>err
	grep -q "143,667 of 147,712 branch entries in test.binary (97.3 %), 134,019 ranges, 0 broken" err
	awk '{ lines[$1]++; sum[$1] += $4; wrong += $5 }
		END { for (k in lines) print "bolt", k, "lines\t" lines[k]
			print "bolt branches\t" sum["B"]; print "bolt mispredicted\t" wrong
			print "bolt F sum\t" sum["F"]; print "bolt f sum\t" sum["f"] }' out |
		LC_ALL=C sort >found
	grep "^bolt" "$data/expected.tsv" | grep -v bytes | LC_ALL=C sort | same found -
	test "$(wc -c <out)" = 12327
END

check 'autofdo: the numbers of ranges, addresses and branches, and sums, that others found' <<'END'
	needs_files
	pmu-branch -q --to autofdo --binary "$data/test.binary" -o out "$data/test.lbr"
	test "$(wc -c <out)" = "$(figure "autofdo text, bytes")"
	test "$(sed -n 1p out)" = "$(figure ranges)"
	sed -n "2,358s/\(.*\)-\(.*\):/0x\1 0x\2 /p" out | while read -r start end count; do
		echo $count $((count * (end - start + 1)))
	done | awk "{ s += \$1; l += \$2 } END { print s, l }" >sums
	echo "$(figure "sum over ranges") $(figure "sum of count x length")" | same sums -
	grep -qx "4e80-4e8e:$(figure "range 4e80-4e8e")" out
	grep -qx "fe0:$(figure "address fe0")" out
	test "$(sed -n 359p out)" = "$(figure "sampled addresses")"
	test "$(grep -c -e "->" out)" = "$(figure branches)"
END

done_testing
