#!/bin/sh
# libpmukit in a C++ program with many threads.  THREADS=all: 1,000 profiles, and all of it by the
# builds of the library with sanitizers and under valgrind.
# kinds: release
. tests/lib.sh
. tests/sampling.sh

lib=${BIN%/bin}/lib
data=$TOP/tests/data/releases/0.1

# built BUILD FLAG...: the program, in $scratch/BUILD, with this build of the library
built() {
	build=$1 libs=$TOP/build/$1/lib
	test "$build" != release || libs=$lib
	shift
	test -e "$libs/libpmukit.so.0" || skip "there is no $libs/libpmukit.so.0: make lib"
	test -e "$scratch/$build" ||
		${CXX:-g++} -std=c++17 -Wall -Wextra -Werror -O1 -g "$@" -I"$TOP/include" \
			-o "$scratch/$build" "$TOP/tests/library/threads.cc" -L"$libs" -lpmukit \
			-lpthread
	test -z "$unsampled" || export NO_SAMPLING=1
}
# threads BUILD ARGUMENT...: the program
threads() {
	build=$1 libs=$TOP/build/$1/lib
	test "$build" != release || libs=$lib
	shift
	LD_LIBRARY_PATH=$libs $under "$scratch/$build" "$@"
}
all_builds() { test "$THREADS" = all || skip "THREADS=all"; }
apart() { threads "$1" apart "$2" "$data/program.data" "$data/labels.pb.gz" "$scratch/$1"; }

check '200 threads start and end in each profile, which has every page that they touch' <<'END'
	built release
	needs_sampling
	rounds=20
	test "$THREADS" != all || rounds=${ROUNDS:-1000}
	threads release rounds $rounds 200 | tee said
	grep -qx "rounds $rounds, threads 200" said
END

check 'so it is while pmu-sample profiles the same program' <<'END'
	built release
	needs_sampling
	under="pmu-sample -e page-faults:u -c 1 -o out.data --"
	threads release rounds 5 200 | tee said
	grep -qx "rounds 5, threads 200" said
	at_least "$(perf_samples out.data)" 5000
END

check 'threads use handles of every kind at the same time, each as if it were alone' <<'END'
	built release
	apart release 5 | grep -q "^bytes "
END

check 'no races: thread sanitizer' <<'END'
	all_builds
	built tsan -fsanitize=thread
	export TSAN_OPTIONS=exitcode=99:halt_on_error=1
	threads tsan rounds 20 100
	apart tsan 5
END

check 'nothing is left, or used afterwards: address sanitizer' <<'END'
	all_builds
	needs_command clang++
	CXX=clang++
	export ASAN_OPTIONS=$ASAN_OPTIONS:handle_sigill=1
	built asan -fsanitize=address,undefined -shared-libsan
	runtime=$(clang++ -print-file-name=libclang_rt.asan-x86_64.so)
	under="env LD_LIBRARY_PATH=$TOP/build/asan/lib:${runtime%/*}"
	threads asan rounds 20 100
	apart asan 5
END

check 'nothing is left, or read before it is set: valgrind' <<'END'
	all_builds
	needs_command valgrind
	built release
	under="valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible"
	apart release 1
	test -n "$unsampled" || threads release rounds 3 40
END

done_testing
