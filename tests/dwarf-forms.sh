# What the tests of DWARF share: a C++ program whose debug information has most of what
# compilers write, which forms each kind of run checks, and the comparison.  Compilers take
# most of the CPU time of these tests, so only -DWHOLE makes the program large.

tower=1 count=4000 kind=release whole=
case $BIN in *asan*) kind=asan ;; esac
test -z "$ORACLE" || tower=12 count=10000 kind=all whole=-DWHOLE

cat >"$scratch/t.cc" <<'EOF'
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>
#ifdef WHOLE
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <unordered_map>
#endif

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
	#ifdef WHOLE
		std::function<long(long)> f = twice;
	#else
		auto f = twice;
	#endif
		return f(N) + Tower<N - 1>::up(v);
	}
};

template <> struct Tower<0> {
	static long up(std::vector<long> &) { return 0; }
};

#ifdef WHOLE
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
#endif

int main(int argc, char **)
{
	std::vector<long> v;
	std::vector<std::unique_ptr<Node>> nodes;
	for (int i = 0; i < argc * 10; i++) {
		v.push_back(i * 7 % 13);
		nodes.push_back(std::make_unique<Node>());
		nodes.back()->values[i].push_back(i);
	}
#ifdef WHOLE
	std::ostringstream out;
	for (auto &n : nodes)
		for (auto &[k, d] : n->values)
			out << "k" << "=" << k << ' ';
	std::cout << Tower<TOWER>::up(v) + words(out.str()) << '\n';
#else
	return static_cast<int>(Tower<TOWER>::up(v));
#endif
}
EOF

cxx="-std=c++17 -O2 -DTOWER=$tower $whole"

# wanted FORM: does this kind check it?
wanted() {
	case $kind-$1 in
	all-* | release-g++-5 | release-clang++-4 | release-gcc | release-clang | release-lto | \
	release-types | release-split-g++-4 | release-split-clang++-5 | release-rust-v0 | \
	asan-g++-5 | asan-clang++-4 | asan-types | asan-split-clang++-5) ;;
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
