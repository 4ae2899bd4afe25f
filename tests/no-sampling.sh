# Where the kernel lets this user sample nothing, as in most containers: tests/lib.sh sources this,
# and $unsampled is why.
#
# A check that starts a program which samples ends there, and is skipped; nobody waits for samples
# that never come.  So does a check that fails because an earlier one in the file, or the file
# itself, could not record what it reads.  Whatever the kernel need not be asked for is checked.

# In front of the programs that sample: run it; if the kernel refused, end the check.  By then the
# check's process may belong to another user: then it fails in its own time, and is skipped, too.
cat >"$scratch/refused-or-not" <<-'EOF'
	said=$(mktemp -p "$refusals" .XXXXXX) status=0
	"$@" 2>"$said" || status=$?
	cat "$said" >&2
	if test $status != 2 && { grep -q "$refusal" "$said" ||
			test $status = 1 -a ! -s "$said"; }; then
		rm -f "$said"
		: >"$refusals/$$"
		test -z "$CHECK" || kill -KILL "$CHECK"
	fi
	rm -f "$said"
	exit $status
EOF
unset CHECK	# that of a test which runs this one
refusals=$scratch/refusals
refusal='perf_event_open\|perf_event_paranoid\|No permission to'
refusal="$refusal\\|not permitted: run as root\\|<not supp"
mkdir -m 1777 "$refusals"
sampled=$BIN/pmu-sample
cat >"$scratch/bin/pmu-sample" <<-EOF
	#!/bin/sh
	exec sh "$scratch/refused-or-not" $WRAP "$sampled" "\$@"
EOF
sampled=$(command -v perf) && cat >"$scratch/bin/perf" <<-EOF
	#!/bin/sh
	case \$1 in
	record | stat | trace) exec sh "$scratch/refused-or-not" "$sampled" "\$@" ;;
	*) exec "$sampled" "\$@" ;;
	esac
EOF
chmod +x "$scratch/bin/pmu-sample"
test ! -e "$scratch/bin/perf" || chmod +x "$scratch/bin/perf"
PMU_PATH=$scratch/bin	# for pmu-prof and pmu-serve
export refusal refusals PMU_PATH

# begin_unsampled: in the process of a check, before its commands
begin_unsampled() {
	read -r CHECK rest </proc/self/stat
	export CHECK
}

# was_refused: whether a program of this file wanted to sample
was_refused() { test -n "$(ls "$refusals")"; }
