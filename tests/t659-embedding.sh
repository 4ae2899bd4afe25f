#!/bin/sh
# doc/embedding.md: its code compiles, and its program profiles itself.  Its commands run in
# t036-documents.sh.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib

check 'the code on the page embedding compiles without warnings' <<'END'
	any_user
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/documents.py" blocks blocks \
		"$TOP/doc/embedding.md"
	whole=0 parts=0
	for block in blocks/embedding/*.c; do
		if grep -q "^#include" "$block"; then
			cp "$block" file.c
			whole=$((whole + 1))
		else
			{
				printf "#include <pmukit.h>\n#include <stdio.h>\n"
				echo "void part(int fd);"
				echo "void part(int fd) {"
				cat "$block"
				echo "}"
			} >file.c
			parts=$((parts + 1))
		fi
		gcc -std=gnu11 -Wall -Wextra -Werror -Wno-unused -I"$TOP/include" -fsyntax-only file.c
	done
	test $whole -eq 1
	at_least $parts 4
END

check 'the program on the page embedding writes a profile of itself' <<'END'
	any_user
	needs "$lib/libpmukit.so.0"
	needs_command go
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/documents.py" blocks blocks \
		"$TOP/doc/embedding.md"
	gcc -g -I"$TOP/include" -o program "$(grep -l "int main" blocks/embedding/*.c)" -L"$lib" -lpmukit
	LD_LIBRARY_PATH=$lib ./program 2>err
	none cat err
	go tool pprof -symbolize=none -top profile.pb.gz 2>log | grep " main$" >main
	at_least "$(awk '{ print $2 + 0 }' main)" 80
END

done_testing
