#!/bin/sh
# Functions and lines of ELF files by libpmukit: compared with llvm-symbolizer; and hostile files.
# kinds: release asan
. tests/lib.sh

lib=${BIN%/bin}/lib

# binary ARGUMENT...: the program that calls the library
binary() { LD_LIBRARY_PATH=$lib "$scratch/binary" "$@"; }
oracle() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/library/binary.py" "$@"; }

# built: the program that calls the library, and one that is looked at: ./program
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/binary" || make_all
	cp "$scratch/program" .
}
make_all() {
	sanitizers=
	sanitized && sanitizers=-fsanitize=address,undefined
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g $sanitizers -I"$TOP/include" -o "$scratch/binary" \
		"$TOP/tests/library/binary.c" -L"$lib" -lpmukit
	cat >"$scratch/program.cc" <<-"EOF"
	#include <algorithm>
	#include <cstdio>
	#include <map>
	#include <string>
	#include <vector>
	namespace work {
	template <typename T> struct Box {
		std::vector<T> all;
		__attribute__((noinline)) T sum(T start) const {
			T s = start;
			for (const T &t : all)
				s += t;
			return s;
		}
	};
	static inline int twice(int n) { return n * 2 + (n & 3); }
	static inline int again(int n)
	{
		int s = 0;
		for (int i = 0; i < n; i++)
			s ^= twice(i * n);
		return s;
	}
	__attribute__((noinline)) int outer(int n) { return again(n) + again(n + 1); }
	}
	extern "C" __attribute__((noinline)) int plain(int n) { return work::twice(n) - 1; }
	int main(int count, char **words)
	{
		work::Box<int> box;
		work::Box<std::string> texts;
		std::map<std::string, int> known;
		for (int i = 0; i < count * 100; i++) {
			box.all.push_back(work::outer(i));
			texts.all.push_back(words[0]);
			known[words[0] + std::to_string(i)] += plain(i);
		}
		std::sort(box.all.begin(), box.all.end(), [](int a, int b) { return a > b; });
		printf("%d %zu %zu\n", box.sum(1), texts.sum("x").size(), known.size());
	}
	EOF
	g++ -g -O2 -Wl,--build-id -o "$scratch/program" "$scratch/program.cc"
}

# compared FILE OBJECT OPTION...: the frames of OBJECT are those that llvm-symbolizer finds in FILE
compared() {
	file=$1 object=$2
	shift 2
	oracle addresses "$file" 400 >addresses
	binary frames "$object" 4 "$@" <addresses >got
	none grep "a wrong member" got
	oracle compare "$file" got <addresses >differ
	cat differ
	at_most $(($(wc -l <differ) - 1)) 2
}
# has WHAT LEAST: so many of that were compared and the same
has() { at_least "$(sed -n "s/.* \([0-9]*\) $1\b.*/\1/p" differ | tail -1)" "$2"; }

check 'functions, inlined calls, files, lines, columns: those of llvm-symbolizer' <<'END'
	built
	needs_command llvm-symbolizer-19
	compared program program
	has inlined 50
	has lines 400
	has columns 400
	has starts 300
	readelf -n program | sed -n "s/.*Build ID: /build ID /p" >want
	head -1 got | same want -
	binary fd program <addresses >fd
	binary frames program <addresses | same - fd
END

check 'of C, of Rust, and by clang' <<'END'
	built
	needs_command llvm-symbolizer-19
	gcc -g -O2 -D_GNU_SOURCE -I"$TOP/include" -o c "$TOP/tests/library/binary.c" \
		-Wl,--unresolved-symbols=ignore-all	# it is not run
	compared c c
	has inlined 10
	has lines 300
	if command -v clang >/dev/null; then
		clang++ -g -O2 -o by-clang "$scratch/program.cc"
		compared by-clang by-clang
		has inlined 50
	fi
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || :
	if test -n "$rustc"; then
		printf "%s\n" "fn main() { let mut v: Vec<String> = std::env::args().collect();" \
			"v.sort(); let n: usize = v.iter().map(|s| s.len()).sum();" \
			"println!(\"{:?} {}\", v, n); }" >r.rs
		$rustc --edition 2021 -g -O -o r r.rs
		compared r r
		has inlined 50
	fi
END

check 'names and lines of a separate debug file: by build ID, and by name' <<'END'
	built
	needs_command llvm-symbolizer-19
	objcopy --only-keep-debug program program.debug
	strip -o stripped program
	id=$(readelf -n program | sed -n "s/.*Build ID: //p")
	mkdir -p "debug/.build-id/${id%"${id#??}"}"
	cp program.debug "debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
	compared program stripped debug/
	has inlined 50
	rm -r debug
	binary frames stripped 4 <addresses >without
	none grep "program.cc" without
	strip -o linked program
	objcopy --add-gnu-debuglink=program.debug linked
	compared program linked
	has inlined 50
END

check 'functions alone without debug information; compressed files; what options leave out' <<'END'
	built
	strip -g -o symbols program
	oracle addresses program 100 >addresses
	binary frames symbols 4 <addresses >got
	grep -q "^_ZN4work5outerEi	_ZN4work5outerEi	-:0:0	0$" got
	none grep -v "	-:0:0	0$\|^$\|^build ID" got
	xz -k symbols
	binary frames symbols.xz 4 <addresses >packed
	same got packed
	binary frames program 0 <addresses >all
	grep -q "^work::outer	_ZN4work5outerEi	.*/program.cc:" all
	binary frames program 1 <addresses >no-inlines
	none grep inlined no-inlines
	binary frames program 2 <addresses >no-lines
	grep -q inlined no-lines
	none grep "program.cc" no-lines
	echo 1 | binary frames program | sed 1d >nothing
	printf "%s\t%s\t-:0:0\t0\n\n" - - | same - nothing
END

check 'of an object file, the addresses of its first section of code' <<'END'
	built
	printf "int f(int n)\n{\n\treturn n * 3;\n}\nint g(int n)\n{\n\treturn f(n) + 1;\n}\n" >o.c
	gcc -g -O0 -c o.c
	nm o.o | sed -n "s/ T .*//p" | binary frames o.o | grep . >got
	sed 1d got | cut -f 2,3 | sed "s|[^	]*/||" >places
	printf "f\to.c:2:1\ng\to.c:6:1\n" | same - places
END

check 'wrong calls are errors with a sentence, and leave the binary as it is' <<'END'
	built
	binary wrong program >got
	test "$(wc -l <got)" -eq 13
	none grep -v "^.*: \(1 -[2345]\|-2 -2\): [a-z]" got
	grep -q "^no file: 1 -5: cannot open .no/such/file.: No such file" got
	grep -q "^another file: 1 -4: cannot read ./etc/passwd.: it is not an ELF file" got
	grep -q "^a directory: 1 -4: " got
END

check 'a file that shrinks while it is open: its names are missing, and no signal comes' <<'END'
	built
	oracle addresses program 200 >addresses
	size=$(wc -c <program)
	for share in 0 10 30 50 70 90 99; do
		cp program cut
		binary cut cut $((size * share / 100)) <addresses >got
		test "$(grep -c "^$" got)" -eq 200
		test $share -gt 50 || none grep "program.cc" got
	done
END

check 'hostile files do no harm: random bytes where names and lines are' <<'END'
	built
	objcopy --compress-debug-sections program packed
	python3 - "${SEEDS:-40}" <<-"EOF"
	import random, struct, sys
	for seed in range(int(sys.argv[1])):
	    random.seed(seed)
	    data = bytearray(open(random.choice(("program", "packed")), "rb").read())
	    at, = struct.unpack_from("<Q", data, 40)
	    count, = struct.unpack_from("<H", data, 60)
	    rows = [struct.unpack_from("<IIQQQQII", data, at + i * 64) for i in range(count)]
	    places = [(r[4], r[5]) for r in rows if r[1] in (1, 2, 3, 7, 11) and r[5] and not r[2] & 6]
	    places += [(0, 64), (at, 64 * count)] * 3
	    for _ in range(random.choice((1, 3, 30, 1000))):
	        start, size = random.choice(places)
	        where = start + random.randrange(size)
	        if random.random() < 0.3:
	            word = random.choice((0, 1, 1 << 63, (1 << 64) - 1, (1 << 32) - 1, len(data)))
	            data[where:where + 8] = struct.pack("<Q", word)[:len(data) - where]
	        else:
	            data[where] = random.randrange(256)
	    if seed % 4 == 0:
	        del data[random.randrange(len(data)):]
	    open("hostile.%d" % seed, "wb").write(data)
	EOF
	seeds=$(seq 20)
	python3 "$TOP/tests/hostile-elf.py" $seeds program damaged >ways
	(
		ulimit -t 60
		binary open hostile.* damaged.* >got
	)
	test "$(wc -l <got)" -eq $((${SEEDS:-40} + 20))
	none grep -v ": 0$\|: -4$" got
	at_least "$(grep -c ": 0$" got)" 20
END

done_testing
