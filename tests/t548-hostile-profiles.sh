#!/bin/sh
# Profiles that were made to do harm: they cost what their size allows, no more.
# kinds: release
. tests/lib.sh

made() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/profiles.py" "$@"; }

# ways FILE: the tools that read it, each a command line
ways() {
	echo "pmu-top $1"
	echo "pmu-topprof -o out.pb.gz $1"
	echo "pmu-topprof --diff $1 -o out.pb.gz $1"
	# what is written grows with the number of stacks and the length of names both
	case $2 in name | names) ;; *) echo "pmu-topprof --to folded -o /dev/null $1" ;; esac
	echo "pmu-topprof --label thread_comm -o out.pb.gz $1"
}

# grows KIND: four times as much of it costs less than eight times as much CPU time, however
# it is read, and its memory is that of the man page
grows() {
	made "$1" $N 1.pb $((N * 4)) 4.pb
	for times in 1 4; do
		ways $times.pb "$1" | while read -r way; do cost $way; done >$times
	done
	size=$(wc -c <4.pb)
	paste 1 4 | awk -v kind="$1" -v size="$size" -v limit="$limit" '
		$3 > 8 * $1 + 0.3 || (limit && $4 > 65536 + 20 * size / 1024) {
			print kind, "by way", NR, "of", size, "bytes:", $0
			bad = 1
		}
		END { exit bad || NR < 4 }'
}

N=6000 limit=1
! sanitized || { N=2000 limit=; }

check 'ids are found in linear time, whatever they are' <<'END'
	for kind in dense falling spread high absent; do grows $kind; done
END

check 'a thing that many refer to is read once' <<'END'
	for kind in name label mapping function location inlines; do grows $kind; done
END

check 'long stacks and long names, nearly equal, are compared and folded in linear time' <<'END'
	for kind in deep begin names; do grows $kind; done
END

check 'many small things take memory in proportion' <<'END'
	for kind in strings types comments lines labels; do grows $kind; done
END

check 'equal ids and the id 0 are errors with their place, as in go tool pprof, at once' <<'END'
	for n in 2 500000; do
		sanitized && test $n -gt 2 && continue
		made equal $n | gzip >equal.pb.gz
		made zero $n | gzip >zero.pb.gz
		for kind in equal zero; do
			exits 1 pmu-top $kind.pb.gz >out 2>$kind
			exits 1 pmu-topprof $kind.pb.gz $kind.pb.gz >out 2>err
			test ! -s out
			at_most "$(cost pmu-top $kind.pb.gz | cut -d" " -f 1)" 3
		done
		where="is damaged: byte [0-9]* of it, uncompressed"
		grep -qx "pmu-top: 'equal.pb.gz' $where: a function has the same id as another, 7" equal
		grep -qx "pmu-top: 'zero.pb.gz' $where: a function has the reserved id 0" zero
	done
	made equal 2 >p
	at=$(sed 's/.*byte \([0-9]*\) of.*/\1/' equal)
	test "$(od -An -tu1 -j "$at" -N 4 p | tr -d '\n')" = "   8   7  16   3"
	go tool pprof -raw equal.pb.gz 2>&1 | grep -q 'multiple functions with same id'
	go tool pprof -raw zero.pb.gz 2>&1 | grep -q 'reserved ID=0'
END

check 'what unfolds to much more than its size is refused, or cut with a message' <<'END'
	made bomb 1 | gzip >bomb.pb.gz
	exits 1 pmu-top bomb.pb.gz 2>err
	grep -q 'more than 16 MiB plus 100 times the size of its file' err
	made bomb 1 >bomb.pb
	exits 0 pmu-top -q bomb.pb >out
	made too-many-frames 1 >frames.pb
	exits 1 pmu-top frames.pb 2>err
	grep -q 'its samples have 1024000000 frames, and a profile may have 1000000000' err
	made too-many-labels 1 >labels.pb
	exits 1 pmu-top labels.pb 2>err
	grep -q 'is not a pprof profile, .* or is damaged' err
	made inlines 1000 >inlines.pb
	exits 1 pmu-top --cum -n 1000 inlines.pb >table 2>err
	grep -q "^pmu-top: 'inlines.pb' has 1 locations with more than 256 lines" err
	grep -q ' f0$' table
	grep -q ' f255$' table
	none grep ' f256$' table
	exits 1 pmu-topprof --to folded inlines.pb >lines 2>err
	grep -q '^f255;f254;.*;f1;f0 1000$' lines
	made strings 10 | gzip | head -c -9 >cut.pb.gz
	exits 1 pmu-top cut.pb.gz 2>err
	grep -q "cannot read 'cut.pb.gz': its gzip data are cut short" err
END

check 'a file may unfold to 16 MiB and 100 times its size, and the message says so' <<'END'
	head -c 60000 /dev/urandom >noise	# which stays as long
	for mib in 19 60; do
		{ cat noise; head -c ${mib}M /dev/zero; } | gzip -1 >$mib.pb.gz
		exits 1 pmu-top $mib.pb.gz 2>$mib.err
		cat $mib.err
	done
	none grep "too large" 19.err
	grep -q "is too large for a sampled profile: it has more than 16 MiB plus 100 times" 60.err
END

check 'folded stacks of many more frames than addresses are left out, and reported' <<'END'
	made unfold 1000000 | gzip >unfold.pb.gz
	made unfold 1000000 | wc -c >size
	cost sh -c 'pmu-topprof --to folded -o "$1" unfold.pb.gz 2>said' - lines >costs
	cat costs said
	at_most "$(wc -c <lines)" 100	# it may be a GB, not to be shown
	same - lines <<-"EOF"
	main 7
	EOF
	grep -q "^pmu-topprof: 2 stacks are left out: .* repeat inlined calls too often" said
	sanitized || at_most "$(sed "s/.* //" costs)" $((65536 + 20 * $(cat size) / 1024))
	made unfold 1000 >short.pb
	pmu-topprof --to folded short.pb >lines
	test "$(wc -l <lines)" = 3
END

check 'SIGTERM and SIGINT end a tool that reads a profile at once' <<'END'
	made name 40000 >name.pb
	mkfifo input
	for signal in TERM INT HUP; do
		for tool in 'pmu-topprof -o out name.pb input' 'pmu-topprof --to folded name.pb input' \
			'pmu-top input'; do
			$tool >out 2>err &
			pid=$!
			exec 3>input		# it has opened it
			kill -$signal $pid
			status=0
			wait $pid || status=$?
			exec 3>&-
			case $signal in TERM) want=143 ;; INT) want=130 ;; HUP) want=129 ;; esac
			test $status = $want || { echo "$tool: $signal: $status"; exit 1; }
		done
	done
END

# frames of 2 million samples: it takes a while
check 'SIGTERM and SIGINT end it while it works on what it has read, too' <<'END'
	made inlines 400000 >long.pb
	for signal in TERM INT; do
		ended=
		while test -z "$ended"; do	# it may be done before
			pmu-top long.pb >out 2>err &
			pid=$!
			while kill -0 $pid 2>/dev/null && ! has_run $pid 100 2>/dev/null; do :; done
			kill -$signal $pid 2>/dev/null || :
			status=0
			wait $pid || status=$?
			test $status -le 1 || ended=$status
		done
		case $signal in TERM) test "$ended" = 143 ;; INT) test "$ended" = 130 ;; esac
	done
END

check 'the first SIGINT is for the whole pipe: what its writer still has to say is shown' <<'END'
	made dense 10 >dense.pb
	mkfifo input
	pmu-top <input >out 2>err &
	pid=$!
	exec 3>input
	head -c 9 dense.pb >&3
	eventually awk '$1 == "SigCgt:" && substr($2, length($2)) ~ /[2367abef]/ { found = 1 }
		END { exit !found }' /proc/$pid/status
	kill -INT $pid
	tail -c +10 dense.pb >&3
	exec 3>&-
	wait $pid
	grep -q ' main$' out
END

check 'a signal that is ignored when a tool starts stays ignored, as for nohup' <<'END'
	mkfifo input
	(trap '' HUP; exec pmu-top - <input) >out 2>err &
	tool=$!
	exec 3>input
	ignores() {	# the bit of a signal, 1 for SIGHUP, 2 for SIGINT
		signals=$(awk -v set="$2:" '$1 == set { print $2 }' /proc/$tool/status)
		test $((0x$signals & $1)) != 0
	}
	eventually ignores 2 SigCgt	# the tool has set what it does at signals
	ignores 1 SigIgn
	exec 3>&-
	wait $tool || :
END

done_testing
