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

# documented: the functions of the header, and the two names by which labels are found
documented() {
	{
		sed "/^typedef/d" "$TOP/include/pmukit.h" | grep -o "\bpmukit_[a-z_]*(" | tr -d "("
		echo custom_labels_abi_version
		echo custom_labels_current_set
	} | LC_ALL=C sort -u
}

check 'the library shows what is documented, and nothing else' <<'END'
	any_user
	documented >want
	at_least "$(wc -l <want)" 45
	nm -D --defined-only "$LIB/libpmukit.so.0" | awk "\$2 != \"A\" { print \$3 }" |
		sed "s/@.*//" | LC_ALL=C sort | same want -
	nm -g --defined-only "$LIB/libpmukit.a" | awk "NF == 3 { print \$3 }" |
		LC_ALL=C sort | same want -
	test "$(ar t "$LIB/libpmukit.a")" = pmukit.o
END

check 'the library runs nothing when it is loaded, and is smaller than 2 MB' <<'END'
	any_user
	readelf -SW "$LIB/libpmukit.so.0" | grep -w init_array | awk "{ print strtonum(\"0x\" \$7) }" \
		>size || :
	# frame_dummy() of the compiler
	test ! -s size || test "$(cat size)" -le 8
	strip -o stripped "$LIB/libpmukit.so.0"
	at_most "$(wc -c <stripped)" 2000000
END

check 'a program is built by what pkg-config says, shared and with the archive' <<'END'
	any_user
	needs_command pkg-config
	make -s -C "$TOP" -o all -o lib -o build/release/bin/pmukit install DESTDIR="$PWD/root" \
		PREFIX=/usr >log
	cat >program.c <<-"EOF"
	#include <pmukit.h>
	#include <stdio.h>
	int main(void)
	{
		struct pmukit_event_list *list = pmukit_event_list_open("page-faults");
		const struct pmukit_event_name *event;

		printf("%s %s %d\n", PMUKIT_VERSION, pmukit_version(),
		       list && pmukit_event_list_next(list, &event) == 1);
		pmukit_event_list_close(list);
		return 0;
	}
	EOF
	export PKG_CONFIG_PATH=$PWD/root/usr/lib/pkgconfig
	flags() { pkg-config --define-variable=prefix="$PWD/root/usr" "$@" pmukit; }
	for compiler in gcc g++ clang; do
		command -v $compiler >command || continue
		$compiler program.c $(flags --cflags --libs) -o shared
		LD_LIBRARY_PATH=root/usr/lib ./shared | grep " 1$"
	done
	gcc program.c $(flags --cflags) root/usr/lib/libpmukit.a -o archived
	./archived | grep " 1$"
	ldd ./archived >needed
	none grep libpmukit needed
	gcc -static program.c $(flags --cflags) root/usr/lib/libpmukit.a -o whole
	./whole | grep " 1$"
END

done_testing
