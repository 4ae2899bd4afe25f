#!/bin/sh
# pmu-data --by field: members of variables by DWARF, as gdb reads their types.
#
# ORACLE=all: more compilers, options and languages, and all variables of our own tools and of libc.
# kinds: release asan
. tests/lib.sh

cat >"$scratch/members.c" <<'EOF'
#include <complex.h>
#include <stdatomic.h>
#include <stdint.h>
enum colour { RED, GREEN };
struct point { int x, y; };
typedef struct point point_t;
union value { long number; double real; struct point point; char text[24]; };
struct inner {
	char tag;
	struct { short a, b; } pair;
	union { uint32_t word; uint8_t byte[4]; };
};
struct bits {
	unsigned a : 3, b : 7, c : 1;
	unsigned : 0;
	unsigned d : 20;
	uint64_t e : 40;
	signed char f;
};
struct big {
	struct inner first;
	const volatile point_t points[3][2];
	union value value;
	struct bits bits;
	struct big *next;
	int (*call)(int);
	enum colour colour;
	double complex z;
	_Atomic long counter;
	struct { union { struct { char deep[5]; int deeper; }; long side; }; int last; };
	char tail[7];
};
struct flexible { int count; struct point item[]; };
struct empty { };
struct zero { int before; int none[0]; struct empty e; int after; };
struct __attribute__((packed)) tight { char c; long l; short s; };
typedef float v4 __attribute__((vector_size(16)));
struct simd { v4 v; int n; };
struct big table[4] = { { .colour = GREEN } };
struct big one;
point_t grid[3][5];
struct flexible flexible = { 2, { { 1, 2 }, { 3, 4 } } };
struct zero zero;
struct tight tight[2];
struct simd simd;
union value value = { .number = 1 };
long scalar;
char buffer[100];
struct big *pointer = &table[1];
static struct inner hidden = { 1 };
struct { int anonymous; union { int u1; float u2; }; } nameless;
extern struct later later;
struct later { int l1; long l2; };
struct later later;
int in_function(int i)
{
	static struct point inside[4];
	return inside[i & 3].x++ + hidden.tag;
}
int main(int argc, char **argv)
{
	return in_function(argc) + buffer[argc] + (int)scalar + one.colour + (argv == 0);
}
EOF
cat >"$scratch/members.h" <<'EOF'
namespace app {
struct Base { int base_a; long base_b; };
struct Other { char other[3]; };
struct Empty { };
struct Derived : Base, Other, Empty {
	int own;
	struct Nested { int n1, n2; } nested[2];
	static int shared;
};
struct Virtual { virtual ~Virtual(); virtual int f(); int v1; };
struct Child : Virtual, Derived { int c1; int f() override; enum class Kind : char { A } kind; };
template <typename T, int N> struct Box { T item[N]; unsigned long used; Box *next; };
struct Made { int c1; long c2; Made(); };	/* clang describes it where Made() is */
struct Holder { [[no_unique_address]] Empty e; int value; int &ref; int Base::*member; };
struct Outer { struct Later; Later *p; int q; };
struct Outer::Later { int la; double lb; Made made; };
template <typename T> struct Static { static T value; };
}
EOF
cat >"$scratch/members.cc" <<'EOF'
#include "members.h"
namespace app {
int Derived::shared;
Derived derived[3];
Child child;
Box<Derived, 2> box;
Made made[2];
namespace { Derived::Nested secret; }
int target;
Holder holder = { {}, 1, target, &Base::base_a };
Outer::Later later[2];
inline Derived inline_variable;
template <typename T> T Static<T>::value;
template struct Static<Derived>;
}
int main() { return app::secret.n1 + app::inline_variable.own; }
EOF
cat >"$scratch/other.cc" <<'EOF'
#include "members.h"
app::Made::Made() : c1(1), c2(2) { }
app::Virtual::~Virtual() { }
int app::Virtual::f() { return 1; }
int app::Child::f() { return 2; }
EOF

# agree LEAST FILE [MOST]: at LEAST or more offsets in variables of FILE, members are those of gdb
agree() {
	needs_command gdb
	HOME="$PWD" MEMBERS_OUT=want MEMBERS_MOST="${3:-200}" gdb -nx -batch \
		-x "$TOP/tests/members.py" "$2" >said 2>&1 || { cat said; return 1; }
	at_least "$(wc -l <want)" "$1"
	cut -d " " -f 1,2 want >in
	addr2frames -m "$2" <in | paste -d " " in - | sed 's/ $//' >got
	sed 's/ ? .*/ ?/; s/ $//' want | same - got
}

# at VARIABLE OFFSET: the member there
at() {
	address=$(nm program | sed -n "s/^0*\([0-9a-f]*\) . $1$/\1/p")
	echo "$address $2" | addr2frames -m program
}

check 'members of structures in C are those that gdb reads, by two compilers, DWARF 2 to 5' <<'END'
	gcc -g "$scratch/members.c" -o program
	agree 1200 program 2000
	clang -O2 -gdwarf-4 "$scratch/members.c" -o program
	agree 1200 program 2000
	unsanitized
	gcc -gdwarf-2 -gstrict-dwarf "$scratch/members.c" -o program	# other bit-fields
	agree 1200 program 2000
END

check 'members in C++: bases, scopes, type units, split DWARF, classes of other units' <<'END'
	g++ -std=c++20 -gdwarf-4 -fdebug-types-section "$scratch/members.cc" "$scratch/other.cc" \
		-o program
	agree 400 program
	clang++ -std=c++20 -g -gsplit-dwarf "$scratch/members.cc" "$scratch/other.cc" -o program
	agree 400 program
	readelf --debug-dump=info *members.dwo 2>/dev/null | grep -q DW_AT_declaration
END

check 'the names: arrays, unions, bit-fields, bases, padding, and what has no members' <<'END'
	gcc -g "$scratch/members.c" -o program
	while read -r variable offset want; do
		test "$(at $variable $offset)" = "$want" ||
			{ echo "$variable+0x$offset: $(at $variable $offset)"; exit 1; }
	done <<-EOF
		grid 4 [][].y
		table 0 [].first.tag
		table 1 [].first.[padding]
		table 4 [].first.pair.b
		table 8 [].first.word|byte
		table 10 [].points[][].y
		one 40 .value.number|real|point|...
		one 50 .value.text[]
		one 58 .bits.a|b
		one 59 .bits.b|c
		hidden 8 .word|byte
		tight 1 [].l
		flexible 8 .item[].y
		scalar 4
		pointer 0
		inside.0 4 [].y
		in_function 0 ?
	EOF
	cat >small.cc <<-EOF
		struct A { int a; }; struct B { int b; }; struct C : A, B { int c; } object;
		int main() { return object.c; }
	EOF
	g++ -g small.cc -o program
	test "$(at object 4) $(at object 8)" = ".b .c"
END

cat >"$scratch/live.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
struct lock { long owner, waiters; };
static struct { char name[16]; volatile struct lock lock; volatile long hits; } table[4];
int main(int argc, char **argv)
{
	volatile long *heap = malloc(sizeof(*heap));
	for (int i = 0; i < 1000; i++) {
		table[2].hits++;
		if (i % 4 == 0)
			table[2].lock.waiters = i;
		*heap = i;
	}
	return 0;
}
EOF

# record: writes to two members, as s.data; the program is static, at addresses that are known
record() {
	gcc "$@" -O1 -static -no-pie "$scratch/live.c" -o live
	at=$(nm live | sed -n 's/^0*\([0-9a-f]*\) b table$/0x\1/p')
	lossless s.data pmu-sample -q -c 1 -e "mem:$(printf 0x%x $((at + 2 * 40 + 32)))/8:w:u" \
		-e "mem:$(printf 0x%x $((at + 2 * 40 + 24)))/8:w:u" --record data -o s.data \
		-- ./live
}

check 'writes to two members of an array are counted exactly, also without the program' <<'END'
	record -g
	fields() { pmu-data --by field --to csv "$1" | tr -d "\r" | cut -d, -f 5,7,10-; }
	fields s.data >got
	printf "%s\n" samples,stores,file,name "1000,1000,live,table[].hits" \
		"250,250,live,table[].lock.waiters" | same - got
	pmu-symbolize -q s.data >r.data
	rm live
	fields r.data | same got -
	pmu-data --by field -j r.data | grep -q "\"name\": \"table\[\].hits\""
	pmu-data --by field r.data | grep -q "1000  *80.00%.* table\[\].hits (live)$"
END

check 'without debug information, and of what is not a variable, a row says so' <<'END'
	unsanitized
	record
	pmu-data --by field --to csv s.data | tr -d "\r" | sed 1d | cut -d, -f 5,10- >got
	echo "1250,live,table.[unknown]" | same - got
	pmu-sample -q -c 1 -e page-faults:u --record data -o s.data -- ten serial 0.01
	pmu-data --by field --to csv s.data >got
	grep -q "\[heap.*\]: not a variable" got
	grep -q ",ten: not a variable" got
END

check 'damaged types give fewer names, and nothing worse' <<'END'
	gcc -g "$scratch/members.c" -o program
	nm program | sed -n 's/^0*\([0-9a-f]*\) [bBdD] .*/\1/p' >variables
	for offset in 0 4 8 13 1c 30 58; do sed "s/$/ $offset/" variables; done >in
	addr2frames -m program <in >whole
	python3 - <<-EOF
		import random, re, subprocess
		said = subprocess.run(["readelf", "-SW", "program"], stdout=-1, text=True).stdout
		whole, rng = open("program", "rb").read(), random.Random(1)
		for i in range(40):
		    bytes_ = bytearray(whole)
		    for name in ("info", "abbrev"):
		        section = r"debug_%s +PROGBITS +\w+ (\w+) (\w+)" % name
		        at, size = re.search(section, said).groups()
		        for _ in range(1 + i // 4):
		            bytes_[int(at, 16) + rng.randrange(int(size, 16))] = rng.randrange(256)
		    open("damaged%d" % i, "wb").write(bytes_)
	EOF
	differ=0
	for file in damaged*; do
		addr2frames -m $file <in >got
		test "$(wc -l <got)" = "$(wc -l <whole)"
		cmp -s got whole || differ=$((differ + 1))
	done
	at_least $differ 10
END

test "$ORACLE" != all || check 'members in Rust and Go' <<'END'
	needs_command go
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	cat >t.rs <<-EOF
		use std::sync::atomic::{AtomicU64, Ordering};
		pub enum Kind { A, B(u32) }
		pub struct Stats { pub hits: AtomicU64, pub pair: (u8, u32), pub kind: Kind }
		#[no_mangle]
		pub static STATS: [Stats; 2] = [
		    Stats { hits: AtomicU64::new(0), pair: (1, 2), kind: Kind::A },
		    Stats { hits: AtomicU64::new(0), pair: (3, 4), kind: Kind::B(5) }];
		fn main() { STATS[1].hits.fetch_add(STATS[0].pair.1 as u64, Ordering::SeqCst); }
	EOF
	$rustc -g t.rs -o program
	for offset in 0 4 8 c 10 18; do at STATS $offset; done | sort -u >got
	printf "%s\n" "[].hits.v.value" "[].kind.A|B" "[].pair.__0" "[].pair.__1" | same - got
	cat >t.go <<-EOF
		package main
		type Stats struct { Hits int64; Name string; Inner struct { A, B int32 } }
		var stats [4]Stats
		func main() { stats[1].Hits++; println(stats[1].Hits) }
	EOF
	go build -o program t.go
	for offset in 0 8 10 18 1c 20; do at main.stats $offset; done >got
	printf "[].%s\n" Hits Name.str Name.len Inner.A Inner.B Hits | same - got
END

test "$ORACLE" != all || check 'variables of our tools, libc, C++ and dwz' <<'END'
	cat >stl.cc <<-EOF
		#include <map>
		#include <memory>
		#include <mutex>
		#include <string>
		#include <unordered_map>
		#include <vector>
		#include "members.h"
		std::string text;
		std::vector<int> numbers;
		std::map<int, long> tree;
		std::mutex lock;
		std::unordered_map<std::string, int> words;
		std::shared_ptr<app::Child> shared;
		struct { std::string key; app::Derived value; } pairs[4];
		int main() { return (int)text.size(); }
	EOF
	for how in "g++" "g++ -gdwarf-4" "g++ -fdebug-types-section" "g++ -gsplit-dwarf" \
			"clang++" "clang++ -gdwarf-4 -O2" "clang++ -gsplit-dwarf"; do
		$how -std=c++20 -g -I "$scratch" stl.cc "$scratch/other.cc" -o program
		agree 400 program
	done
	if command -v dwz >/dev/null; then
		g++ -std=c++20 -g -I "$scratch" stl.cc "$scratch/other.cc" -o first
		cp first second
		dwz -m shared.debug first second
		cp first program
		readelf -S program | grep -q gnu_debugaltlink
		HOME="$PWD" MEMBERS_OUT=want gdb -nx -batch -x "$TOP/tests/members.py" program
		cut -d " " -f 1,2 want >in
		addr2frames -m program "" shared.debug <in | paste -d " " in - | sed "s/ $//" >got
		sed "s/ ? .*/ ?/; s/ $//" want | same - got
	fi
	for tool in pmu-topprof pmu-sample pmu-symbolize pmu-stream; do
		agree 1000 "$BIN/$tool"
	done
	for debug in $(find /usr/lib/debug -name "*.debug" -size +4M); do
		agree 1000 "$debug" 64
	done
END

done_testing
