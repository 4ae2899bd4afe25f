#!/bin/sh
# Functions, inlined calls, files and lines by addr2frames, held against llvm-symbolizer.
# kinds: release asan
. tests/lib.sh

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
	std::cout << Tower<12>::up(v) + words(out.str()) << '\n';
}
EOF

for version in 4 5; do
	for compiler in g++ clang++; do
		export version compiler
		check "C++ by $compiler, DWARF $version" <<-'END'
			command -v $compiler || { echo "no $compiler"; exit 77; }
			$compiler -std=c++17 -O2 -gdwarf-$version "$scratch/t.cc" -o t
			"$TOP/tests/same-frames" t
		END
		check "split DWARF $version by $compiler, and packed into one" <<-'END'
			command -v $compiler || { echo "no $compiler"; exit 77; }
			$compiler -std=c++17 -O2 -gdwarf-$version -gsplit-dwarf -c "$scratch/t.cc"
			$compiler t.o -o t
			test -e t.dwo
			"$TOP/tests/same-frames" t
			llvm-dwp -e t -o t.dwp || exit 0	# of one version only
			rm t.dwo
			"$TOP/tests/same-frames" t "" "" t.dwp
		END
	done
done

check 'split DWARF 5, each type in a section of its own; those compressed; packed into one' <<'END'
	command -v g++ || { echo "no g++"; exit 77; }
	g++ -std=c++17 -O2 -gdwarf-5 -gsplit-dwarf -fdebug-types-section -c "$scratch/t.cc"
	g++ t.o -o t
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo ")" -gt 100
	"$TOP/tests/same-frames" t
	cp t.dwo whole.dwo
	objcopy --compress-debug-sections=zlib t.dwo
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo .* CE* ")" -gt 10
	"$TOP/tests/same-frames" t
	mv whole.dwo t.dwo
	timeout 60 llvm-dwp -e t -o t.dwp
	rm t.dwo
	"$TOP/tests/same-frames" t "" "" t.dwp
END

for compiler in gcc clang; do
	export compiler
	check "C by $compiler: our own library" <<-'END'
		command -v $compiler || { echo "no $compiler"; exit 77; }
		$compiler -std=gnu11 -O2 -g -shared -fPIC -I"$TOP" -I"$TOP/lib" -include base/banned.h \
			-DPMU_VERSION='"0"' "$TOP"/lib/base/*.c "$TOP"/lib/symbol/*.c -o t.so
		"$TOP/tests/same-frames" t.so
	END
done

check 'units merged by LTO' <<'END'
	command -v g++ || { echo "no g++"; exit 77; }
	g++ -std=c++17 -O2 -g -flto -c "$scratch/t.cc" -o a.o
	echo "int twice(int x); int twice(int x) { return 2 * x; }" >b.cc
	g++ -O2 -g -flto -c b.cc
	g++ -O2 -g -flto a.o b.o -o t
	"$TOP/tests/same-frames" t
END

check 'sections compressed: zlib, zstd, and the old way' <<'END'
	command -v g++ || { echo "no g++"; exit 77; }
	g++ -std=c++17 -O2 -g "$scratch/t.cc" -o t
	objcopy --compress-debug-sections=zlib t t.zlib
	objcopy --compress-debug-sections=zlib-gnu t t.gnu
	"$TOP/tests/same-frames" t.zlib
	"$TOP/tests/same-frames" t.gnu
	objcopy --compress-debug-sections=zstd t t.zstd || exit 0
	! cmp -s t t.zstd || exit 0
	nm t | cut -c1-16 | head -n 200 >addresses
	addr2frames t <addresses >want
	addr2frames t.zstd <addresses >got
	same want got
END

check 'a separate debug file, and what dwz shares between two of them' <<'END'
	command -v g++ || { echo "no g++"; exit 77; }
	command -v dwz || { echo "no dwz"; exit 77; }
	g++ -std=c++17 -O2 -g "$scratch/t.cc" -o t
	nm t | grep -i " t " | cut -c1-16 >addresses
	addr2frames t <addresses >want
	objcopy --only-keep-debug t t.debug
	strip -g t -o stripped
	addr2frames stripped t.debug <addresses >got
	same want got
	cp t.debug other.debug
	dwz -m shared.debug t.debug other.debug
	addr2frames stripped t.debug shared.debug <addresses >got
	same want got
	dwz t -o t.dwz
	addr2frames t.dwz <addresses >got
	same want got
END

# Debian's own, whichever else is in front of it: its names are mangled like those of C++
rustc=$(PATH=/usr/bin:$PATH command -v rustc)
export rustc
needs_rust() {
	test -n "$rustc" || { echo "no rustc"; exit 77; }
	cp "$TOP/tests/shapes.rs" .
}

check 'Rust' <<'END'
	needs_rust
	$rustc --edition 2021 -O -g -o t shapes.rs
	"$TOP/tests/same-frames" t
END

check 'Rust, its names mangled in its own way' <<'END'
	needs_rust
	$rustc --edition 2021 -O -g -C symbol-mangling-version=v0 -o t shapes.rs
	nm t | grep -q " _RNv.*6shapes"
	"$TOP/tests/same-frames" t
END

check 'Rust in eight units, hardly optimized, with other panics' <<'END'
	needs_rust
	$rustc --edition 2021 -g -C opt-level=1 -C codegen-units=8 -C panic=abort -o t shapes.rs
	"$TOP/tests/same-frames" t
END

done_testing
