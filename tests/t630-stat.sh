#!/bin/sh
# pmu-stat: what it counts is what the kernel says otherwise, and what it does with runs that fail.
# kinds: release user
. tests/lib.sh

# value NAME: the mean of the row NAME of the table in out
value() {
	awk -v name="$1" '$NF ~ "^" name "(:u)?$" { gsub(/[,~]/, "", $1); print $1; n++ }
		END { exit n != 1 }' out
}

check 'a command is counted from its exec to its exit, with its children' <<'END'
	pmu-stat -e page-faults -- /bin/true >out
	few=$(value page-faults)
	pmu-stat -e page-faults -- sh -c "/bin/true; /bin/true; /bin/true" >out
	at_least "$(value page-faults)" $((3 * few))
END

check 'a command that is not found, and an event that is refused: one line, exit 1' <<'END'
	exits 1 pmu-stat -e task-clock:u -- ./nosuch >out 2>err
	echo "pmu-stat: cannot run './nosuch': No such file or directory" | same - err
	test ! -s out
	exits 1 pmu-stat -e nosuch -- true >out 2>err
	test "$(wc -l <err)" = 1
	exits 2 pmu-stat 2>err
	exits 2 pmu-stat -n 0 true 2>err
END

check 'runs that fail are counted and reported' <<'END'
	exits 0 pmu-stat -e task-clock -n 3 -- sh -c "exit 3" >out 2>err
	grep -q "^pmu-stat: 3 of 3 runs failed$" err
END

done_testing
