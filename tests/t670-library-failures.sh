#!/bin/sh
# libpmukit while memory and descriptors run out: each malloc(), open(), mmap() and so on, of the
# library and of those that it calls, fails once.  FAILURES=all: really each.
# kinds: release
. tests/lib.sh
. tests/sampling.sh

lib=${BIN%/bin}/lib
data=$TOP/tests/data/releases/0.1

built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/failures" ||
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-nonnull -fno-builtin -O1 -g \
			-rdynamic -I"$TOP/include" -o "$scratch/failures" \
			"$TOP/tests/library/failures.c" "$TOP/tests/library/takes.c" -L"$lib" \
			-lpmukit -lpthread
}
failures() { LD_LIBRARY_PATH=$lib "$scratch/failures" "$@"; }

# each FIRST MORE SCENARIO FILE...: without FAILURES=all, the first takes and some more
each() {
	first=$1 more=$2
	shift 2
	case $FAILURES in all) first=0 more=0 ;; esac
	failures each $first $more "$@" >out || { cat out; return 1; }
	tee -a said <out
	failures fresh 20 "$@"
}

# failed: how many takes failed
failed() { sed -n 's/.*, failed \([0-9]*\):.*/\1/p' said | awk '{ n += $1 } END { print n }'; }

check 'events: each take that fails is an error, and nothing is left' <<'END'
	built
	each 150 150 events
	at_least "$(failed)" 200
END

check 'profiles: read, added up and written' <<'END'
	built
	printf "main;f 3\nmain;f;g 4\n" >text
	zstd -qc text >text.zst
	each 200 40 profiles "$data/labels.pb.gz" text text.zst
	at_least "$(failed)" 200
END

check 'streams: records' <<'END'
	built
	each 100 50 records "$data/records.data" "$data/file.data" "$data/compressed.data"
	at_least "$(failed)" 100
END

check 'streams: samples and their frames' <<'END'
	built
	each 200 40 frames "$data/file.data" "$data/compressed.data" "$data/records.resolved"
	each 100 40 frames "$data/program.data"
	at_least "$(failed)" 250
END

check 'streams: profiles' <<'END'
	built
	each 200 50 stream-profile "$data/records.data"
	each 100 50 stream-profile "$data/compressed.data"
	at_least "$(failed)" 300
END

check 'binaries: functions and lines' <<'END'
	built
	each 100 100 binaries "$scratch/failures"
	at_least "$(failed)" 100
END

check 'labels of threads' <<'END'
	built
	each 0 0 labels
	at_least "$(failed)" 1
END

check 'a program that profiles itself' <<'END'
	built
	needs_sampling
	each 60 20 record-myself
	each 60 40 profile-myself
	at_least "$(failed)" 100
END

check 'all of it runs on a stack of 256 KiB' <<'END'
	built
	failures stack events >said
	failures stack profiles "$data/labels.pb.gz" "$data/program.pb.gz" >>said
	failures stack records "$data/records.data" >>said
	failures stack frames "$data/program.data" "$data/compressed.data" >>said
	failures stack stream-profile "$data/program.data" >>said
	failures stack binaries "$scratch/failures" "$BIN/pmu-sample" >>said
	failures stack labels >>said
	test -n "$unsampled" || failures stack profile-myself >>said
	at_least "$(grep -c ": used [0-9]*$" said)" 7
END

done_testing
