#!/bin/sh
# What pmu-symbolize keeps for the next run: the same answers, without debug information.
# kinds: release asan
. tests/lib.sh

# program FUNCTIONS: a program of so many
program() {
	cat <<-'END'
	static inline __attribute__((always_inline)) long twice(long x) { return x * 31 ^ x >> 3; }
	END
	seq "$1" | sed 's/.*/__attribute__((noinline)) long f&(long x)\
		{\
			for (long i = 0; i < x; i++)\
				x += twice(i) ^ &;\
			return x;\
		}/'
	echo 'int main(int argc, char **argv) { (void)argv; return (int)(0'
	seq "$1" | sed 's/.*/+ f&(argc)/'
	echo '); }'
}

# Compiled once for all checks, which link it as they want
functions=60
test -z "$ALL" || functions=200
program $functions >"$scratch/many.c"
for form in 5 4; do
	once cached-$form.o gcc -O1 -w -gdwarf-$form -c "$scratch/many.c" \
		-o "$scratch/dwarf-$form.o"
done
objcopy --strip-debug "$scratch/dwarf-5.o" "$scratch/bare.o"

# build OBJECT [FLAGS]: root/many
build() {
	mkdir -p root
	gcc "$scratch/$1.o" ${2:--Wl,--build-id} -o root/many
}

# rename FROM TO: dwarf-5.o with another function's name, of the same length, is $3.o
rename() { sed "s/\\b$1\\b/$2/g" "$scratch/dwarf-5.o" >"$scratch/$3.o"; }

# stream NAME FIRST STEP [LIMIT]: NAME.data samples addresses of its .text, from FIRST on
stream() {
	compose "$1.data" <<-END
	import re, subprocess
	text = subprocess.run(["readelf", "-lnSW", "root/$1"], capture_output=True, text=True).stdout
	build_id = bytes.fromhex((re.findall(r"Build ID: *(\w+)", text) or [""])[0])
	offset, address, size = [int(n, 16) for n in re.search(
	    r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", text).groups()]
	start, length = [int(n, 16) for n in re.search(
	    r" \.text +PROGBITS +(\w+) \w+ (\w+)", text).groups()]
	base = 0x555555554000
	fields = struct.pack("<IIQQQ", 5, 5, base + address, (size + 4095) & ~4095, offset)
	fields += struct.pack("<I20s", len(build_id), build_id) + struct.pack("<II", 5, 2)
	samples = [record(9, struct.pack("<QIIQQ", base + start + at, 5, 5, 1000 + at, 1))
	           for at in range($2, min(length, ${4:-1000000000}), $3)]
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           record(10, fields + pad(b"/$1"), 2 | (1 << 14 if build_id else 0)), *samples)
	END
}

# resolved OPTION...: \$subject.data with these, as lines; messages are in "err"
resolved() {
	pmu-symbolize --sysroot root -v "$@" "$subject.data" 2>err >r.data
	pmu-topprof r.data >p.pb.gz
	go tool pprof -raw p.pb.gz 2>/dev/null | sed '/^Comment/d; /^Time/d; /: pmu-/d'
}
export subject=many

# known N: so many percent, or more, of the addresses were in the cache
known() {
	awk -v want="$1" '/were in the cache/ { share = 100 * $3 / $5 }
		END { print share + 0 " % known"; exit !(share >= want) }' err
}

for form in dwarf-5 dwarf-4 bare 'dwarf-5 -gz'; do
	# what is kept does not tell the forms apart: sanitizers see it once
	! sanitized || test "$form" = dwarf-5 || continue
	export form
	check "the same frames from what is kept ($form), also by other choices" <<-'END'
		compressed=
		test "${form% -gz}" = "$form" || compressed=-gz
		build "${form% -gz}" "-Wl,--build-id $compressed"
		stream many 0 3
		resolved >plain
		test "$(grep -c . plain)" -gt 500
		test "$form" = bare || grep -q twice plain
		for run in 1 2 3; do
			resolved --cache kept >cached
			same plain cached
		done
		known 100
		for option in "--inlines no" "--lines no" "--demangle none"; do
			resolved $option >plain
			resolved --cache kept $option >cached
			same plain cached
			known 100
		done
	END
done

check 'other addresses of the same functions are known, too' <<'END'
	unsanitized
	build dwarf-5
	stream many 0 32
	resolved --cache kept >cached
	exits 1 known 1
	stream many 7 32
	resolved >plain
	resolved --cache kept >cached
	same plain cached
	known 97
END

check 'what one run learns another adds to' <<'END'
	build dwarf-5
	stream many 0 5 3000
	resolved --cache kept >cached
	stream many 3000 5
	resolved >plain
	resolved --cache kept >cached
	same plain cached
	exits 1 known 50
	stream many 0 5
	resolved >plain
	resolved --cache kept >cached
	same plain cached
	known 100
END

check 'C++ names: the same in each style' <<'END'
	unsanitized
	needs_command g++
	mkdir root
	cat >t.cc <<-END
	#ifdef ALL
	#include <algorithm>
	#include <string>
	#include <vector>
	#else	// the names of these, without seconds of compiling
	namespace std {
		template <class> struct char_traits {};
		template <class> struct allocator {};
		inline namespace __cxx11 {
			template <class C, class T = char_traits<C>, class A = allocator<C>>
			struct basic_string {
				const C *text;
				basic_string(const C *t) : text(t) {}
				__attribute__((noinline)) long size() const { return text[0]; }
			};
		}
		typedef basic_string<char> string;
		template <class T, class A = allocator<T>> struct vector {
			T values[128];
			vector(int n) { for (T &v : values) v = n--; }
			T *begin() { return values; }
			T *end() { return values + 128; }
			__attribute__((noinline)) T &operator[](long i) { return values[i]; }
		};
		template <class I, class C>
		__attribute__((noinline)) void sort(I from, I to, C less) {
			for (I a = from; a < to; a++)
				for (I b = a; b > from && less(*b, b[-1]); b--) {
					auto x = *b;
					*b = b[-1];
					b[-1] = x;
				}
		}
	}
	#endif
	template <int N> struct Tower {
		static long up(std::vector<long> &v, const std::string &s) {
			std::sort(v.begin(), v.end(), [](long a, long b) { return a % N < b % N; });
			return v[s.size()] + Tower<N - 1>::up(v, s);
		}
	};
	template <> struct Tower<1> {
		static long up(std::vector<long> &, const std::string &) { return 0; }
	};
	int main(int argc, char **argv) {
		std::vector<long> v(argc);
		return (int)Tower<5>::up(v, argv[0]);
	}
	END
	g++ -std=c++17 ${ALL:+-DALL} -O1 -g -Wl,--build-id t.cc -o root/many
	stream many 0 2
	for style in none simple templates full; do
		resolved --demangle $style >plain
		grep -q Tower plain
		test $style = none || grep -q std::sort plain
		resolved --cache kept --demangle $style >cached
		same plain cached
	done
	known 100
END

check 'a debug file that comes later, or changes, is used' <<'END'
	build dwarf-5
	objcopy --only-keep-debug root/many debug
	strip -g root/many
	stream many 0 9
	resolved --cache kept >stripped
	none grep "many\.c" stripped
	id=$(file_build_id root/many)
	debug=root/usr/lib/debug/.build-id/${id%${id#??}}/${id#??}.debug
	mkdir -p "${debug%/*}"
	cp debug "$debug"
	resolved --cache kept >cached
	grep -q many.c cached
	resolved >plain
	same plain cached
	resolved --cache kept >cached
	same plain cached
	known 100
	touch -d 2001-01-01 "$debug"
	resolved --cache kept >cached
	same plain cached
	exits 1 known 1
END

check 'a stripped program with MiniDebugInfo, without and with debug information' <<'END'
	for form in bare $(sanitized || echo dwarf-5); do
		build $form
		nm root/many | sed -n "s/.* T //p" | grep "^f.*5" >keep
		objcopy -S --strip-all --keep-symbols=keep root/many mini
		xz -f mini
		if test $form = bare; then strip root/many; else strip --strip-unneeded root/many; fi
		objcopy --add-section .gnu_debugdata=mini.xz root/many
		stream many 0 3
		resolved >plain
		grep -q f55 plain
		rm -rf kept
		resolved --cache kept >cached
		same plain cached
		resolved --cache kept >cached
		same plain cached
		known 100
		stream many 1 3
		resolved >plain
		resolved --cache kept >cached
		same plain cached
	done
END

check 'another program of the same build ID' <<'END'
	unsanitized
	build dwarf-5 -Wl,--build-id=0x0102030405060708
	stream many 0 3
	resolved --cache kept >one
	grep -q f42 one
	rename f42 g42 other
	build other -Wl,--build-id=0x0102030405060708
	stream many 0 3
	resolved --cache kept >two
	resolved >plain
	same plain two
	grep -q g42 two
	none grep f42 two
END

check 'another user cannot forge a program, and so name the functions of one' <<'END'
	unsanitized
	needs_root
	build dwarf-5 -Wl,--build-id=0x0102030405060708
	stream many 0 3
	touch -d @1000000000 root/many
	chown nobody root/many
	resolved --cache kept >one
	grep -q f42 one
	size=$(wc -c <root/many)
	rename f42 g42 other
	build other -Wl,--build-id=0x0102030405060708
	touch -d @1000000000 root/many
	test "$(wc -c <root/many)" = $size
	resolved --cache kept >two
	resolved >plain
	same plain two
	none grep f42 two
END

check 'a damaged file is reported, not used, and rebuilt' <<'END'
	build dwarf-5
	stream many 0 3
	resolved --cache kept >plain
	printf "\001\002\003" | dd of="$(echo kept/*.index)" bs=1 seek=300 conv=notrunc status=none
	resolved --cache kept >cached
	same plain cached
	grep "checksum is wrong; it is rebuilt" err
	head -c 1000 kept/*.index >half
	cp half kept/*.index
	resolved --cache kept >cached
	same plain cached
	grep "is not used" err
	cp /dev/null "$(echo kept/*.index)"
	resolved --cache kept >cached
	same plain cached
	resolved --cache kept >cached
	same plain cached
	known 100
	none grep "not used" err
END

check 'no more is kept than --cache-size says; what was used last stays' <<'END'
	unsanitized
	for subject in one two three; do
		rename f42 "$(echo $subject | cut -c1)42" $subject
		build $subject
		mv root/many root/$subject
		stream $subject 0 3
	done
	subject=one
	resolved --cache kept >cached
	one=$(echo kept/*.index)
	touch -d 2001-01-01 "$one"
	room=$(($(stat -c %s "$one") * 5 / 2))
	subject=two
	resolved --cache kept --cache-size $room >cached
	find kept -name '*.index' -newer "$one" -exec touch -d 2001-01-02 {} +
	subject=one
	resolved --cache kept --cache-size $room >cached
	known 100
	subject=three
	resolved --cache kept --cache-size $room >cached
	test "$(ls kept | wc -l)" = 2
	subject=one
	resolved --cache kept --cache-size $room >cached
	known 100
	subject=three
	resolved --cache kept --cache-size $room >cached
	known 100
	subject=two
	resolved --cache kept --cache-size 1 >cached
	exits 1 known 1
	test -z "$(ls kept)"
END

check 'a directory that cannot be written to: a note, and all else as without' <<'END'
	build dwarf-5
	stream many 0 3
	resolved >plain
	: >file
	resolved --cache file/kept >cached
	grep "cannot save names in the cache .file/kept.: Not a directory" err
	same plain cached
	pmu-symbolize --sysroot root --cache file/kept many.data >r.data
	exits 2 pmu-symbolize --cache-size 1M many.data
	exits 2 pmu-symbolize --cache kept --cache-size much many.data
END

check 'a directory with those above it is made; what is a link there is left alone' <<'END'
	unsanitized
	build dwarf-5
	stream many 0 3
	resolved --cache a/b/c >plain
	resolved --cache a/b/c >cached
	same plain cached
	known 100
	mv a/b/c/*.index elsewhere
	touch -d 2001-01-01 elsewhere
	pmu-symbolize --sysroot root --cache names many.data >/dev/null
	ln -s "$PWD/elsewhere" "a/b/c/$(ls names)"
	resolved --cache a/b/c >cached
	same plain cached
	exits 1 known 1
	test "$(stat -c %y elsewhere | cut -c1-4)" = 2001
	resolved --cache a/b/c >cached
	known 100
	test ! -L a/b/c/*.index
END

check 'who may read what is kept is for the umask to say' <<'END'
	unsanitized
	build dwarf-5
	stream many 0 3
	for umask in 077:600 022:644 027:640 002:664; do
		(umask ${umask%:*} && resolved --cache kept$umask >plain)
		test "$(stat -c %a kept$umask/*.index)" = ${umask#*:}
		test "$(ls -A kept$umask | wc -l)" = 1
	done
END

check 'many runs at a time' <<'END'
	unsanitized
	needs_root	# for each its own PID namespace, so that all have the same PID
	build dwarf-5
	stream many 0 3
	resolved >plain
	for run in 1 2 3 4 5 6 7 8; do
		unshare --pid --fork pmu-symbolize --sysroot root --cache kept many.data >r$run.data 2>err$run &
	done
	wait
	for run in 1 2 3 4 5 6 7 8; do cmp r1.data r$run.data; done
	none cat err1 err2 err3 err4 err5 err6 err7 err8
	resolved --cache kept >cached
	same plain cached
	known 100
	test "$(ls -A kept | wc -l)" = 1
END

check 'without a build ID, and with .dwo files, nothing is kept' <<'END'
	build dwarf-5 -Wl,--build-id=none
	stream many 0 3
	resolved --cache kept >cached
	test ! -e kept
	program 5 | gcc -O1 -w -g -gsplit-dwarf -Wl,--build-id -x c - -o root/many
	stream many 0 3
	resolved --cache kept >cached
	grep -q twice cached
	test ! -e kept
END

check 'a Go program with C in it: the same frames, with DWARF of both, or of the C code' <<'END'
	unsanitized
	needs_command go
	cat >t.go <<-END
	package main

	// int twice(int x) { return x * 31 ^ x >> 3; }
	import "C"

	func main() { println(C.twice(21)) }
	END
	mkdir root
	for flags in -w ""; do
		GO111MODULE=off go build -o root/many \
			-ldflags "$flags -linkmode external -extldflags -Wl,--build-id" t.go
		# the last functions of Go, and all of C after them
		set -- $(nm root/many | sed -n "s/\(.*\) [tT] \(main.main\|_start\)$/0x\1/p" | sort)
		stream many $(($2 - $1 - 16384)) 13
		resolved >plain
		grep -q "main.main .*t\.go:" plain
		for run in 1 2; do
			resolved --cache kept >cached
			same plain cached
		done
		cat err
		known 100	# of what the Go table does not tell
	done
	grep "/many.: .* of [0-9]\{4\} addresses were in the cache" err
END

check 'the living target' <<'END'
	unsanitized
	for run in 1 2; do
		pmu-sample -e cpu-clock -F 1000 -g -- ten serial 0.2 |
			pmu-symbolize -v --cache kept 2>err | pmu-topprof >p.pb.gz
		go tool pprof -top p.pb.gz 2>/dev/null >top
		grep -q " J$" top || { cat top err; exit 1; }
	done
	subject=ten
	grep "/ten.: .* addresses were in the cache" err
	sed -n "/\/ten.: .* in the cache/p" err >line
	mv line err
	known 50	# of few addresses
END

done_testing
