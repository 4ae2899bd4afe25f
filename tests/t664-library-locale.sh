#!/bin/sh
# A program that set a locale with a decimal comma, and other small and capital letters, gets the
# same from libpmukit as one without.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib

built() {
	any_user
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/pprof" || make_all
	LD_LIBRARY_PATH=$lib
	LOCPATH=$scratch/locales
	PATH=$scratch:$PATH
	export LD_LIBRARY_PATH LOCPATH
}
make_all() {
	mkdir "$scratch/locales"
	localedef -i de_DE -f UTF-8 "$scratch/locales/de_DE.UTF-8" &&
		localedef -i tr_TR -f ISO-8859-9 "$scratch/locales/tr_TR" ||
		skip "localedef cannot make locales: install the package locales"
	for program in pprof events; do
		gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/$program" \
			"$TOP/tests/library/$program.c" -L"$lib" -lpmukit -lpthread
	done
}

# everywhere COMMAND...: its output is the same in each locale
everywhere() {
	"$@" >want 2>&1 || :
	test -s want
	for locale in de_DE.UTF-8 tr_TR; do
		LC_ALL=$locale "$@" >got 2>&1 || :
		same want got || { echo "in $locale: $*"; return 1; }
	done
}

check 'the program has its own locale before and after a call, and in its own functions' <<'END'
	built
	printf "main;f 3\nno number\n" >half
	for locale in de_DE.UTF-8 tr_TR; do
		LC_ALL=$locale pprof locale half >got
		printf "1,5\n1,5\n1,5\n" | same - got
	done
END

check 'profiles and events are the same in each locale' <<'END'
	built
	cp "$TOP"/tests/data/releases/0.1/labels.pb.gz .
	printf "main;\303\204I.5 3\nno number\n" >half
	for p in labels.pb.gz half; do everywhere pprof print "$p"; done
	everywhere pprof made made.pb.gz
	everywhere pprof wrong
	everywhere events list
	everywhere events list cache-MISS
	printf "INSTRUCTIONS\nL1-ICACHE-loads\ncycle\nicx::inst_retired\n" >names
	everywhere sh -c "events encode <names"
END

check 'a profile is written with the same bytes in each locale' <<'END'
	built
	cp "$TOP"/tests/data/releases/0.1/labels.pb.gz .
	LC_ALL=C pprof copy file labels.pb.gz want.out
	for locale in de_DE.UTF-8 tr_TR; do
		LC_ALL=$locale pprof copy file labels.pb.gz got.out
		cmp want.out got.out
	done
END

done_testing
