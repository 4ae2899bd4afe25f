#!/bin/sh
# How long it takes to start a profile by libpmukit, when nothing else runs.
# kinds: alone
. tests/lib.sh

lib=${BIN%/bin}/lib

check 'a profile starts within 5 ms beside ten threads' <<'END'
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	needs_sampling
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o profile \
		"$TOP/tests/library/profile.c" -L"$lib" -lpmukit -lpthread
	LD_LIBRARY_PATH=$lib ./profile -e task-clock -r -o s.data time >said
	at_most "$(sed -n "s/^us //p" said)" 5000
END

done_testing
