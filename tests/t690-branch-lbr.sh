#!/bin/sh
# pmu-branch beside other programs: on a recording of another maker, the texts and the figures that
# three programs have of it; and the addresses that each text wants, for three kinds of programs.
# kinds: release
. tests/lib.sh

data=$TOP/../shared/data/lbr
kept=$TOP/tests/data/branch	# made of test.lbr by sample_merger 0.19 and llvm-profgen 19
needs_recording() { needs "$data/test.lbr" "$data/test.binary"; }

# figure NAME: its value in the list of what others found
figure() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$data/expected.tsv"; }

check 'bolt: the counts of branches, mispredictions and ranges that others found' <<'END'
	needs_recording
	pmu-branch --to bolt --binary "$data/test.binary" -o out "$data/test.lbr" 2>err
	found="143,667 of 147,712 branch entries in test.binary (97.3 %)"
	grep -qF "$found, 134,019 ranges, 0 broken, 1 process" err
	awk '{ lines[$1]++; sum[$1] += $4; wrong += $5 }
		END { for (k in lines) print "bolt", k, "lines\t" lines[k]
			print "bolt branches\t" sum["B"]; print "bolt mispredicted\t" wrong
			print "bolt F sum\t" sum["F"]; print "bolt f sum\t" sum["f"] }' out |
		LC_ALL=C sort >figures
	grep "^bolt" "$data/expected.tsv" | grep -v bytes | LC_ALL=C sort | same figures -
	test "$(wc -c <out)" = 12327
END

check 'autofdo: the text is that of sample_merger, and has the figures that others found' <<'END'
	needs_recording
	pmu-branch -q --to autofdo --binary "$data/test.binary" -o out "$data/test.lbr"
	cmp out "$kept/test.lbr.autofdo"
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

check 'llvm, perfscript: llvm-profgen makes of each what it makes of the recording' <<'END'
	needs_recording
	needs_command llvm-profgen-19
	profile() {
		llvm-profgen-19 "$@" --binary="$data/test.binary" --format=text -o profile \
			>log 2>&1
		cmp profile "$kept/test.lbr.profile"
	}
	pmu-branch -q --to llvm --binary "$data/test.binary" -o raw "$data/test.lbr"
	at_most "$(wc -c <raw)" 9000
	profile --unsymbolized-profile=raw
	pmu-branch -q --to perfscript --binary "$data/test.binary" -o script "$data/test.lbr"
	profile --perfscript=script
	profile --perfdata="$data/test.lbr"
	# equal input gives equal bytes, also through a pipe
	pmu-stream -q -z0 "$data/test.lbr" |
		pmu-branch -q --to llvm --binary "$data/test.binary" >again
	cmp raw again
END

cat >"$scratch/program.c" <<'EOF'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) int odd(int n) { return n & 1 ? n * 3 : n; }
int main(void)
{
	volatile int sum = 0;
	kill(getpid(), SIGURG);
	for (int i = 0; i < 300; i++)
		sum += odd(i) % 7;
	kill(getpid(), SIGURG);
	return 0;
}
EOF

check 'file offsets or addresses, as each text wants: PIE, not PIE, a PIE of lld' <<'END'
	test "$(uname -m)" = x86_64 || skip "branch-step steps x86-64 only"
	needs_command gcc ld.lld perf readelf
	for kind in "pie -pie -fPIE" "fixed -no-pie" "lld -pie -fPIE -fuse-ld=lld"; do
		name=${kind%% *}
		gcc -O1 ${kind#* } -o $name "$scratch/program.c"
		branch-step -f -m -o $name.data -n counts ./$name
		perf script --kallsyms /dev/null --show-mmap-events -F ip,brstack -i $name.data \
			>script 2>err
		for form in bolt llvm autofdo; do
			PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/branch-bases.py" script \
				$name $form >want
			at_least "$(wc -l <want)" 3
			at_least "$(awk "{ n += \$3 } END { print n }" want)" 800
			pmu-branch -q --to $form --binary $name -o out $name.data
			case $form in
			bolt) awk "\$1 == \"B\" && \$2 != 0 && \$3 != 0 {
				print \$2, \$3, \$4 }" out ;;
			*) sed -n "s/^\(.\{1,8\}\)->\(.*\):/\1 \2 /p" out ;;
			esac | LC_ALL=C sort >found
			LC_ALL=C sort want | same - found || { echo "$kind: $form"; exit 1; }
		done
	done
	# in lld's, the offset and the address of the code differ
	readelf -lW lld | awk "\$1 == \"LOAD\" && \$7 \$8 ~ /E/ && \$2 != \$3" | grep -q .
END

done_testing
