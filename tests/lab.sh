# What the tests with guests (tests/lab) share.  They source this after tests/lib.sh.

cd "$TOP" || exit 1
lab=$scratch/lab
mkdir "$lab"
programs=$TOP/$("$TOP/tests/lab/built")/tests/bin
prepare_lab

# guest NAME OPTION...: run the job on stdin, what comes back is in $lab/NAME
guest() {
	name=$1
	shift
	cat >"$lab/$name.stdin"
	(cd "$TOP" && tests/lab/guest "$@" -o "$lab/$name" "$lab/$name.stdin")
}

# start NAME OPTION...: the same; what it prints and its exit status are kept for the checks
start() {
	result=0
	guest "$@" >"$lab/$1.log" 2>&1 || result=$?
	echo $result >"$lab/$1.ended"
}

# ended_well NAME: that guest has done its job
ended_well() {
	cat "$lab/$1.log"
	echo "the guest $1: exit $(cat "$lab/$1.ended")"
	test "$(cat "$lab/$1.ended")" = 0
}

# ended NAME: skip this check where that guest has not brought back anything
ended() {
	in_lab
	test "$(cat "$lab/$1.ended")" != 125 || skip "the guest $1 did not end"
}

count() { samples "$1" ip | grep -c .; }

# functions: "LOW NAME" of A..J in the order of addresses, with bits 4 to 11 of each
functions() {
	aarch64-linux-gnu-nm "$programs/spin" | sort |
		awk '$3 ~ /^[A-J]$/ { print substr($1, 14, 2), $3 }'
}

# counted TURNS: make the program counted-TURNS in $scratch, of 2 * TURNS + 6 instructions
counted() {
	aarch64-linux-gnu-gcc -nostdlib -static -DTURNS="$1" -o "$scratch/counted-$1" \
		"$TOP/tests/lab/counted.S"
}
