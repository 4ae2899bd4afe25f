#!/bin/sh
# pmu-serve --keep notices when its profiles stop: hanging tools, a full disk, a clock that is set.
# kinds: release asan user
. tests/lib.sh
. tests/serving.sh

# keep DIR OPTION...: a server that works in DIR, with a ring there
keep() {
	mkdir -p "$1"
	cd "$1"
	shift
	serve "$@" --keep 1h --interval 1s ring
	cd ..
}

# in_scene DIR COMMAND...: run it with the server of DIR
in_scene() (
	cd "$1"
	shift
	url=$(grep -m 1 ^http addresses)
	"$@"
)

starts() { test "$(metric keep_starts_total)" -ge "$1"; }

# kept_after TIME: there is a profile that was kept later
kept_after() { test "$(metric keep_last_profile_timestamp_seconds)" -gt "$1"; }

# tool NAME: the one of $server
tool() { pgrep -P "$server" -x "$1"; }

check 'tools of --keep that hang are named and started again; what is idle only once' <<'END'
	needs_command curl
	workload
	tools="pmu-sample pmu-symbolize pmu-topprof"
	for scene in $tools idle; do
		test $scene != idle || workload
		keep $scene -p $target --call-graph fp
		echo $server >$scene/server
	done
	for scene in $tools idle; do
		eventually in_scene $scene kept_after 0
	done
	for scene in $tools; do
		server=$(cat $scene/server)
		kill -STOP $(tool $scene)
	done
	kill -STOP $target
	for scene in $tools idle; do
		eventually in_scene $scene starts 2
	done
	kill -CONT $target
	restarted=$(date +%s)
	for scene in $tools idle; do
		eventually in_scene $scene kept_after $((restarted + 1))
		in_scene $scene metric keep_starts_total >>started
		in_scene $scene metric keep_failed_writes_total >>failed
		grep "no profile\|does not work" $scene/err | sed "s/[0-9][0-9]* s/N s/" >>said
		kill $(cat $scene/server)
		exits 0 wait $(cat $scene/server)
	done
	printf 'pmu-serve: --keep: %s: the tools are started again\n' "pmu-sample does not work" \
		"pmu-symbolize does not work" "pmu-topprof does not work" \
		"no profile was written for N s, though the tools run" | same - said
	printf '2\n2\n2\n2\n' | same - started
	printf '0\n0\n0\n0\n' | same - failed
END

check 'each profile that cannot be written is counted, but the same reason reported once' <<'END'
	any_user
	needs_command curl
	workload
	serve -p $target --call-graph fp --keep 1h --interval 1s ring
	eventually kept_after 0
	# pmu-topprof writes no more into a directory that others may change
	chmod 777 ring
	failed() { test "$(metric keep_failed_writes_total)" -ge $1; }
	eventually failed 6
	last=$(metric keep_last_profile_timestamp_seconds)
	eventually failed 8
	test "$(metric keep_last_profile_timestamp_seconds)" = $last
	test "$(grep -c "pmu-topprof: cannot write into .*ring" err)" = 1
	test "$(metric keep_starts_total)" = 1
	chmod 700 ring
	eventually kept_after $last
	kill $server
	exits 0 wait $server
	# the next server knows it
	eventually grep -q . ring/*
	last=$(stat -c %Y ring/* | sort -n | tail -n 1)
	workload
	serve -p $target --keep 1h --interval 1h ring
	test "$(metric keep_last_profile_timestamp_seconds)" = $last
END

check 'the tools start again when the clock is set, and after their directory is gone' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	mkdir path
	ln -s "$HELP/serve-clock" path/pmu-serve
	echo 0 >ahead
	PATH=$PWD/path:$PATH PMU_PATH=$BIN serve -p $target --call-graph fp \
		--keep 1h --interval 1s ring
	eventually kept_after 0
	for ahead in 3600 -3600; do
		starts=$(metric keep_starts_total)
		echo $ahead >next && mv next ahead
		eventually starts $((starts + 1))
		last=$(metric keep_last_profile_timestamp_seconds)
		eventually kept_after $last
	done
	rm -r ring
	eventually test -d ring
	last=$(metric keep_last_profile_timestamp_seconds)
	eventually kept_after $last
	none grep -v "'ring' is another directory now\|cannot write into\|own code is not" err
END

done_testing
