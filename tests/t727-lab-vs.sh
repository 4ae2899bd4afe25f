#!/bin/sh
# pmu-stat --vs on an emulated PMU: half a per cent more instructions are found each time, where
# counts are exact and where they vary.
#
# LAB=all (make lab): it takes a guest of its own.
# kinds: release
. tests/lib.sh
. tests/lab.sh

test "$LAB" = all || why='only with LAB=all (make lab)'

test -n "$why" || {
	counted 1999997
	counted 2009997
	# a shell works first: more of it in half of the runs
	for turns in 1999997 2009997; do
		cat >"$scratch/varied-$turns" <<-END
			#!/bin/sh
			read -r random </proc/sys/kernel/random/uuid
			case \$random in [0-7]*) i=0 ;; *) i=1 ;; esac
			while test \$i -gt 0; do i=\$((i - 1)); done
			exec counted-$turns
		END
		chmod +x "$scratch/varied-$turns"
	done
	start vs -p "$scratch/counted-1999997" -p "$scratch/counted-2009997" \
		-p "$scratch/varied-1999997" -p "$scratch/varied-2009997" <<'END'
vs() { pmu-stat -e instructions:u --fail-if instructions:u:+0.2% --vs "$@"; echo "exit $?"; }
for i in 1 2 3 4 5 6 7 8 9 10; do
	vs counted-1999997 counted-2009997 >exact.$i
	vs varied-1999997 varied-2009997 >varied.$i
	vs varied-2009997 varied-2009997 >equal.$i
done
:
END
}

check 'the guest ends' <<'END'
	in_lab
	ended_well vs
END

check 'exact counts: +0.5000 %, exactly, ten times of ten' <<'END'
	ended vs
	cat "$lab/vs/exact.1"
	grep -h "instructions:u$" "$lab"/vs/exact.* | tr -s " " | sort | uniq -c | tee found
	grep -qx " *10 *4,000,000 4,020,000 +0.5000 % exactly yes instructions:u" found
	test "$(cat "$lab"/vs/exact.* | grep -c "^exit 3$")" = 10
END

check 'counts that vary: found ten times of ten, with the truth in the interval' <<'END'
	ended vs
	cat "$lab"/vs/varied.* | grep "instructions:u$" | tee found
	test "$(grep -c "\]  yes  *instructions:u$" found)" = 10
	test "$(cat "$lab"/vs/varied.* | grep -c "^exit 3$")" = 10
	# the shell has instructions of its own
	sed "s/,//g; s/^ *\([0-9]*\) .*\[+\([0-9.]*\) +\([0-9.]*\)\].*/\1 \2 \3/" found |
		awk '{ truth = 100 * 20000 / $1; in_it += $2 <= truth && truth <= $3 }
			END { print in_it; exit in_it < 7 }'
END

check 'equal commands exceed no limit' <<'END'
	ended vs
	cat "$lab"/vs/equal.* | grep "instructions:u$"
	test "$(cat "$lab"/vs/equal.* | grep -c "^exit 0$")" = 10
END

done_testing
