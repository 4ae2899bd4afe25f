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

# tree NAME: unpack it into ./NAME; its lines are "PMU/FILE CONTENT"
tree() {
	dir=$1/bus/event_source/devices
	cut -d" " -f1 "$TOP/tests/data/sysfs/$1" | sed "s|/[^/]*$||;s|^|$dir/|" | sort -u |
		xargs mkdir -p
	awk -v dir="$dir" '{ file = dir "/" $1; sub(/^[^ ]* /, ""); print >file; close(file) }' \
		"$TOP/tests/data/sysfs/$1"
}

# words TREE EVENT...: name, type, config, config1, config2 of each event
words() {
	tree=$1
	shift
	pmu-events --encode --json --sysfs "$tree" "$@" >out.json
	fields name type config config1 config2 <out.json
}

# member KEY: that of every event of the last words
member() { fields "$1" <out.json; }
