#!/bin/sh
# The library: what it shows, what it calls, how it is linked.
# kinds: release
. tests/lib.sh

LIB=$TOP/build/release/lib

# undefined FILE: the functions that FILE takes from elsewhere
undefined() { nm -Du "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | LC_ALL=C sort -u; }

check 'the library calls nothing that ends the program or changes its signals' <<'END'
	any_user
	undefined "$LIB/libpmukit.so.0" >used
	test -s used
	none grep -xE "_?_?_?exit|_Exit|quick_exit|abort|__assert_fail|(bsd_)?signal|sigaction|raise" used
END

done_testing
