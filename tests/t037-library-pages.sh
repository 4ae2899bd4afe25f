#!/bin/sh
# The pages of section 3 and include/pmukit.h: they say the same, and the examples compile.
# kinds: quick release
. tests/lib.sh

pages() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/library-pages.py" "$@"; }

check 'each function, structure and constant of pmukit.h is on one page, with its prototype' <<'END'
	any_user
	none pages compare "$TOP/include/pmukit.h" "$TOP"/man/*.3
	for broken in 's/int pmukit_label_set/long &/' 's/uint64_t frequency;/int frequency;/' \
			's/PMUKIT_UNWIND/PMUKIT_UNROLL/' '/^void pmukit_label_clear/d'; do
		sed "$broken" "$TOP/include/pmukit.h" >broken.h
		pages compare broken.h "$TOP"/man/*.3 | grep .
	done
END

check 'man finds the page of each function by its name' <<'END'
	any_user
	needs_command mandoc
	make -s -C "$TOP" -o all -o build/release/bin/pmukit install LIBRARY= \
		DESTDIR="$PWD/root" PREFIX=/usr >log
	sed "/^typedef/d" "$TOP/include/pmukit.h" | grep -o "\bpmukit_[a-z_]*(" | tr -d "(" |
		sort -u >names
	at_least "$(wc -l <names)" 40
	cd root/usr/share/man
	while read -r name; do
		page=man3/$name.3
		read -r word target <"$page"
		case $word in .so) page=$target ;; esac
		mandoc -T ascii "$page" | col -b | sed -n '/^SYNOPSIS/,/^[DE]/p' | grep -w "$name"
	done <../../../../names
END

check 'the examples of the pages compile without warnings' <<'END'
	any_user
	needs_command gcc
	mkdir c
	pages examples c "$TOP"/man/*.3
	at_least "$(ls c | wc -l)" 10
	for file in c/*.c; do
		gcc -std=gnu11 -Wall -Wextra -Werror -I"$TOP/include" -fsyntax-only "$file"
	done
END

done_testing
