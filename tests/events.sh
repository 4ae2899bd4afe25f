# What the tests of pmu-events share.

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
