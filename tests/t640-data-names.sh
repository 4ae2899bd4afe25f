#!/bin/sh
# What data addresses are in: variables, stacks, the heap, files.
# kinds: release asan user
. tests/lib.sh

# named STREAM: a line for each sample: kind, address, name, offset, object, thread
named() {
	pmu-symbolize -q "$1" >"$1.resolved"
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/resolved-data.py" "$1.resolved"
}

cat >"$scratch/arrays.c" <<'EOF'
/* Touches each page of two arrays once.  They have no huge pages. */
#include <sys/mman.h>
#include <sys/prctl.h>
static char small[10 << 20];
char large[40 << 20];
static void touch(volatile char *at, long size)
{
	for (long i = 0; i < size; i += 4096)
		at[i] = 1;
}
int main(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	touch(small, sizeof(small));
	touch(large, sizeof(large));
	return 0;
}
EOF

check 'page faults in arrays of 10 and 40 MB are 20 and 80 percent, by name' <<'END'
	unsanitized
	gcc -O1 "$scratch/arrays.c" -o arrays
	pmu-sample -q -e page-faults:u -c 1 --record data -o s.data -- ./arrays
	pmu-symbolize -q s.data | pmu-topprof -q --frames data -o p.pb.gz
	pmu-top -n 1000 --to csv p.pb.gz >top
	tr -d '\r' <top | awk -F, '{ count[$NF] += $1; all += $1 } END {
		print count["small"], count["large"], all - count["small"] - count["large"] }' >got
	read -r small large others <got
	near "$small" 2560 2
	near "$large" 10240 2
	at_most "$others" 300
END

check 'each write to a variable has its name and offset, exactly, in PIE and other files' <<'END'
	cat >watched.c <<-EOF
		static struct { long first[8]; long hits[4]; } counters[2];
		int main(void)
		{
			for (int i = 0; i < 500; i++)
				*(volatile long *)&counters[1].hits[2] = i;
		}
	EOF
	for how in -no-pie -static -pie; do
		gcc -O1 $how watched.c -o watched
		address=$(nm watched | sed -n "s/^0*\([0-9a-f]*\) b counters$/0x\1/p")
		base=0
		test $how != -pie || base=0x555555554000	# where the kernel puts it if not at random
		address=$(printf "0x%x" $((base + address + 96 + 64 + 16)))
		pmu-events --check "mem:$address/8:w:u" >out || skip "$(cat out)"
		setarch -R true || skip "addresses cannot be the same each time"
		setarch -R pmu-sample -q -e "mem:$address/8:w:u" -c 1 --record data -o s.data -- ./watched
		named s.data | cut -f 1-4 | sort | uniq -c >got
		echo "    500 variable	$address	counters	0xb0" | same - got
	done
END
done_testing
