# What the tests of pmu-events share.  They source this before tests/lib.sh.

# Tracepoints need tracefs.  Where root finds none mounted, this test has one of its
# own, which nobody else sees.
tracing=/sys/kernel/tracing
if test "$(id -u)" = 0 && ! test -r $tracing/available_events && test -z "$OWN_TRACEFS" &&
	unshare -m mount -t tracefs none $tracing 2>/dev/null
then
	OWN_TRACEFS=1
	export OWN_TRACEFS
	exec unshare -m sh -c "mount -t tracefs none $tracing && exec sh \"\$0\"" "$0"
fi

needs_tracepoints() { test -r $tracing/available_events || skip "cannot read $tracing"; }

# fields KEY... <JSON: the members of each event that pmu-events --json lists, in a line;
# a Python for each would cost more than all that is tested.
fields() {
	awk -v keys="$*" '
	BEGIN { n = split(keys, key, " ") }
	/^  \{/ {
		for (i = 1; i <= n; i++) {
			at = index($0, "\"" key[i] "\": ")
			value = at ? substr($0, at + length(key[i]) + 4) : "-"
			if (!sub(/^"/, "", value))
				sub(/[,}].*/, "", value)
			else
				sub(/".*/, "", value)
			printf "%s%s", value, i < n ? " " : "\n"
		}
	}'
}
