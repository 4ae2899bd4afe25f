#!/bin/sh
# Functions, inlined calls, files and lines by addr2frames, held against llvm-symbolizer.
#
# ORACLE=all: every compiler, version and form, a larger program, more addresses.
# Sanitizers see what the forms have in them; what is in it is compared once, without them.
# kinds: release asan
. tests/lib.sh

tower=2 count=4000 kind=release
case $BIN in *asan*) kind=asan ;; esac
test -z "$ORACLE" || tower=12 count=10000 kind=all

cat >"$scratch/t.cc" <<'EOF'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {
struct Node {
	std::string key;
	std::map<int, std::vector<double>> values;
};
}

template <int N> struct Tower {
	static long up(std::vector<long> &v)
	{
		auto twice = [&v](long x) {
			v.push_back(x);
			return std::accumulate(v.begin(), v.end(), 0L) + x;
		};
		std::sort(v.begin(), v.end(), [](long a, long b) {
			return a % (N + 2) < b % (N + 2);
		});
		std::function<long(long)> f = twice;
		return f(N) + Tower<N - 1>::up(v);
	}
};

template <> struct Tower<0> {
	static long up(std::vector<long> &) { return 0; }
};

static long words(const std::string &text)
{
	std::unordered_map<std::string, long> sum;
	std::istringstream in(text);
	for (std::string word; in >> word; )
		sum[word.substr(0, word.find('='))] += std::stol(word.substr(word.find('=') + 1));
	std::set<std::pair<long, std::string>> order;
	for (auto &[k, v] : sum)
		order.emplace(v, k);
	return order.empty() ? 0 : order.rbegin()->first;
}

int main(int argc, char **)
{
	std::vector<long> v;
	std::vector<std::unique_ptr<Node>> nodes;
	for (int i = 0; i < argc * 10; i++) {
		v.push_back(i * 7 % 13);
		nodes.push_back(std::make_unique<Node>());
		nodes.back()->values[i].push_back(i);
	}
	std::ostringstream out;
	for (auto &n : nodes)
		for (auto &[k, d] : n->values)
			out << "k" << "=" << k << ' ';
	std::cout << Tower<TOWER>::up(v) + words(out.str()) << '\n';
}
EOF

cxx="-std=c++17 -O2 -DTOWER=$tower"

# wanted FORM: does this kind check it?
wanted() {
	case $kind-$1 in
	all-* | release-g++-* | release-clang++-* | release-gcc | release-clang | release-lto | \
	release-types | release-split-g++-4 | release-split-clang++-5 | release-rust-v0 | \
	asan-g++-5 | asan-clang++-5 | asan-types | asan-split-clang++-4) ;;
	*) return 1 ;;
	esac
}

# agree OBJECT [OPERAND...]: with llvm-symbolizer; sanitizers only see it read
agree() {
	if test $kind = asan; then
		"$TOP/tests/same-frames" -a -n $count "$1" >addresses
		addr2frames "$@" <addresses >frames
		test "$(grep -c '^$' frames)" = $count
	else
		"$TOP/tests/same-frames" -n $count "$@"
	fi
}

# packs: llvm-dwp makes t.dwp, of units of one version only
packs() { (ulimit -t 60 && llvm-dwp -e t -o t.dwp); }

for version in 4 5; do
	for compiler in g++ clang++; do
		wanted $compiler-$version && check "C++ by $compiler, DWARF $version" <<-'END'
			needs_command $compiler
			$compiler $cxx -gdwarf-$version "$scratch/t.cc" -o t
			agree t
			test $compiler-$version != g++-5 || cp t "$scratch/plain"
		END
		wanted split-$compiler-$version &&
		check "split DWARF $version by $compiler, and packed into one" <<-'END'
			needs_command $compiler
			$compiler $cxx -gdwarf-$version -gsplit-dwarf -c "$scratch/t.cc"
			$compiler t.o -o t
			test -e t.dwo
			agree t
			packs || exit 0
			rm t.dwo
			agree t "" "" t.dwp
		END
	done
done

wanted types &&
check 'split DWARF 5, each type in a section of its own; those compressed; packed into one' <<'END'
	needs_command g++
	g++ $cxx -gdwarf-5 -gsplit-dwarf -fdebug-types-section -c "$scratch/t.cc"
	g++ t.o -o t
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo ")" -gt 100
	agree t
	cp t.dwo whole.dwo
	objcopy --compress-debug-sections=zlib t.dwo
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo .* CE* ")" -gt 10
	agree t
	mv whole.dwo t.dwo
	packs
	rm t.dwo
	agree t "" "" t.dwp
END

for compiler in gcc clang; do
	wanted $compiler && check "C by $compiler: our own library" <<-'END'
		needs_command $compiler
		set -- "$TOP"/lib/symbol/dwarf*.c
		test $kind != all || set -- "$TOP"/lib/base/*.c "$TOP"/lib/symbol/*.c
		$compiler -std=gnu11 -O2 -g -shared -fPIC -I"$TOP" -I"$TOP/lib" \
			-include base/banned.h -DPMU_VERSION='"0"' "$@" -o t.so
		agree t.so
	END
done

wanted lto && check 'units merged by LTO' <<'END'
	needs_command g++
	g++ $cxx -g -flto -c "$scratch/t.cc" -o a.o
	echo "int twice(int x); int twice(int x) { return 2 * x; }" >b.cc
	g++ -O2 -g -flto -c b.cc
	g++ -O2 -g -flto a.o b.o -o t
	agree t
END

# same_frames OBJECT [OPERAND...]: as the program itself has them, which was compared above
same_frames() {
	addr2frames "$@" <addresses >got
	same want got
}

# plain: the program as g++ builds it, its frames at its functions in "want"
plain() {
	needs "$scratch/plain"
	cp "$scratch/plain" t
	"$TOP/tests/same-frames" -a -n 1000 t >addresses
	addr2frames t <addresses >want
	test "$(grep -c "t\.cc:" want)" -gt 500
}

check 'sections compressed: zlib, zstd, and the old way' <<'END'
	plain
	for way in zlib zlib-gnu zstd; do
		objcopy --compress-debug-sections=$way t t.$way 2>why || continue
		! cmp -s t t.$way || continue
		same_frames t.$way
	done
	readelf -SW t.zlib | grep "\.debug_info.* C "
	readelf -SW t.zlib-gnu | grep "\.zdebug_info"
END

check 'a separate debug file, and what dwz shares between two of them' <<'END'
	needs_command dwz
	plain
	objcopy --only-keep-debug t t.debug
	strip -g t -o stripped
	same_frames stripped t.debug
	cp t.debug other.debug
	dwz -m shared.debug t.debug other.debug
	same_frames stripped t.debug shared.debug
	dwz t -o t.dwz
	same_frames t.dwz
END

# Debian's own, whichever else is in front of it: its names are mangled like those of C++
rustc=$(PATH=/usr/bin:$PATH command -v rustc)
needs_rust() {
	test -n "$rustc" || skip "no rustc"
	cp "$TOP/tests/shapes.rs" .
}

wanted rust && check 'Rust' <<'END'
	needs_rust
	$rustc --edition 2021 -O -g -o t shapes.rs
	agree t
END

wanted rust-v0 && check 'Rust, its names mangled in its own way' <<'END'
	needs_rust
	$rustc --edition 2021 -O -g -C symbol-mangling-version=v0 -o t shapes.rs
	nm t | grep -q " _RNv.*6shapes"
	agree t
END

wanted rust-units && check 'Rust in eight units, hardly optimized, with other panics' <<'END'
	needs_rust
	$rustc --edition 2021 -g -C opt-level=1 -C codegen-units=8 -C panic=abort -o t shapes.rs
	agree t
END

done_testing
