#!/bin/sh
# Kernels 5.10, 6.1, 6.12 and the newest: what each lacks is a sentence, never a failure.
#
# A guest (tests/lab) with each kernel examines the machine, samples by the emulated PMU and by
# software events, waits, labels and whole stacks.  All that was said is printed, to be read.  A
# kernel that cannot be had is skipped by its name.  KERNELS='trixie sid': only of these suites.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
LAB=all
export LAB
said=$(tests/lab/prepare) || {
	status=$?
	printf '%s\n' "$said" | tail -n 1
	exit $status
}

cat >"$work/job" <<'JOB'
uname -r >kernel
# attempt NAME COMMAND...
attempt() {
	name=$1 status=0
	shift
	"$@" >$name.out 2>$name.err || status=$?
	echo "$name $status" >>attempts
}
attempt doctor pmu-events --doctor
attempt cycles pmu-sample -v -e cycles -c 98269 -o cycles.data -- spin serial 3
events=cpu-clock,page-faults,context-switches
attempt software pmu-sample -v -e $events -o software.data -- spin serial 3
attempt waits pmu-sample -v --off-cpu -o waits.data -- spin children 3
attempt labels pmu-sample -v --labels -e cpu-clock -o labels.data -- spin serial 3
attempt unwind pmu-sample -v --unwind -e cpu-clock -o unwind.data -- spin serial 3
for data in *.data; do
	attempt check-${data%.data} pmu-stream --check $data
	attempt profile-${data%.data} sh -c "pmu-symbolize $data | pmu-topprof -o /tmp/profile"
done
JOB

result=0 ran=0
for suite in ${KERNELS:-bullseye bookworm trixie sid}; do
	tests/lab/kernel $suite >"$work/fetched" 2>&1 || {
		echo "$suite: skipped: $(tail -n 1 "$work/fetched")"
		continue
	}
	out=$work/$suite
	tests/lab/guest -k $suite -o "$out" "$work/job" || {
		echo "$suite: the guest did not end well"
		result=1
		continue
	}
	ran=$((ran + 1))
	echo "== $suite: Linux $(cat "$out/kernel")"
	sed -n 's/^/doctor: /p' "$out/doctor.out"
	for err in "$out"/*.err; do
		name=$(basename "$err" .err)
		sed "s/^/$name: /" "$err"
		# sentences of the tools, not of a shell or a library
		! grep -v '^pmu-[a-z]*: ' "$err" >/dev/null || { echo "$name: that is no message"; result=1; }
	done
	# The doctor's exit status says whether the machine can profile.
	grep -v ' 0$' "$out/attempts" && result=1
	test "$(grep -c . "$out/attempts")" = 16 || { echo "$suite: attempts are missing"; result=1; }
done
echo "kernels that ran: $ran"
test $ran -gt 0 || exit 77
exit $result
