/*
 * A program of many templates, for the oracle tests.
 *
 * Compiled with -DUNIT=I for I in 1..UNITS, and once without: that has main.
 * Each unit instantiates everything for PER_UNIT numbers N of its own, so that
 * nothing is shared between units but the library.
 */
#ifdef UNIT
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#ifdef __clang__
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE __attribute__((noipa))	/* nor cloned */
#endif

/* expressions that are types */
template <class E> struct Expression {
	const E &self() const { return static_cast<const E &>(*this); }
};
template <int N> struct Field : Expression<Field<N>> {
	std::array<long, N % 7 + 3> data{};
	long operator[](size_t i) const { return data[i % data.size()]; }
	template <class E> Field &operator=(const Expression<E> &e)
	{
		for (size_t i = 0; i < data.size(); i++)
			data[i] = e.self()[i];
		return *this;
	}
};
template <class L, class R, class Op> struct Binary : Expression<Binary<L, R, Op>> {
	const L &l;
	const R &r;
	Binary(const L &left, const R &right) : l(left), r(right) {}
	long operator[](size_t i) const { return Op{}(l[i], r[i]); }
};
template <class L, class R>
Binary<L, R, std::plus<long>> operator+(const Expression<L> &l, const Expression<R> &r)
{
	return { l.self(), r.self() };
}
template <class L, class R>
Binary<L, R, std::multiplies<long>> operator*(const Expression<L> &l, const Expression<R> &r)
{
	return { l.self(), r.self() };
}

template <int N> struct Key {
	std::string name;
	int rank;
	bool operator<(const Key &o) const
	{
		return std::tie(rank, name) < std::tie(o.rank, o.name);
	}
	bool operator==(const Key &o) const { return rank == o.rank && name == o.name; }
};
template <int N> struct Hash {
	size_t operator()(const Key<N> &k) const
	{
		return std::accumulate(k.name.begin(), k.name.end(), size_t(k.rank),
				       [](size_t h, char c) { return h * (2 * N + 1) + c; });
	}
};

template <int N> struct Shape {
	virtual ~Shape() = default;
	virtual long area() const = 0;
};
template <int N, int M> struct Box : Shape<N> {
	std::vector<Key<N>> labels;
	explicit Box(int n) { labels.resize(n % 5 + M); }
	long area() const override
	{
		long sum = 0;
		for (auto &l : labels)
			sum += l.rank * M + l.name.size();
		return sum;
	}
};

template <int N> using Value = std::variant<long, std::string, std::vector<Key<N>>, Field<N>>;

template <int N> long weigh(const Value<N> &v)
{
	return std::visit([](const auto &x) -> long {
		using T = std::decay_t<decltype(x)>;
		if constexpr (std::is_same_v<T, long>)
			return x + N;
		else if constexpr (std::is_same_v<T, Field<N>>)
			return x[0];
		else
			return x.size();
	}, v);
}

namespace {
template <int N>
__attribute__((noinline)) long fold(const std::vector<long> &v, long start, int mode)
{
	if (v.size() > 1000)
		throw std::length_error("too many: " + std::to_string(v.size()));
	switch (mode % 4) {
	case 0:	return std::accumulate(v.begin(), v.end(), start);
	case 1: return std::accumulate(v.begin(), v.end(), start,
				       [](long a, long b) { return a ^ (b << N % 9); });
	case 2: return *std::max_element(v.begin(), v.end()) + start;
	}
	return std::inner_product(v.begin(), v.end(), v.rbegin(), start);
}
}

template <int N> struct Store {
	std::map<Key<N>, Value<N>> values;
	std::unordered_map<Key<N>, std::deque<long>, Hash<N>> history;
	std::vector<std::function<long(long)>> steps;

	void put(const std::string &name, int rank, Value<N> v)
	{
		auto [at, fresh] = values.insert_or_assign(Key<N>{ name, rank }, std::move(v));
		if (!fresh)
			history[at->first].push_back(weigh<N>(at->second));
		steps.push_back([this, rank](long x) {
			auto deeper = [&](long y) {
				return y * rank + std::count_if(values.begin(), values.end(),
					[y](auto &e) { return e.first.rank > y; });
			};
			return deeper(x) + deeper(x + N);
		});
	}
	std::optional<long> best() const
	{
		struct Order {
			/* out of line: its code is described here, inside of best() */
			OUT_OF_LINE bool operator()(
				const std::pair<long, Key<N>> &a,
				const std::pair<long, Key<N>> &b) const
			{
				return a.first != b.first ? a.first < b.first : b.second < a.second;
			}
		};
		std::set<std::pair<long, Key<N>>, Order> order;
		for (auto &[k, v] : values)
			order.emplace(weigh<N>(v), k);
		if (order.empty())
			return {};
		return order.rbegin()->first;
	}
	long run() try {
		long x = N;
		for (auto &s : steps)
			x = s(x);
		std::vector<long> all;
		for (auto &[k, h] : history)
			all.insert(all.end(), h.begin(), h.end());
		std::sort(all.begin(), all.end(), [](long a, long b) { return a % (N + 2) < b % (N + 2); });
		all.erase(std::unique(all.begin(), all.end()), all.end());
		return fold<N>(all, x, int(x));
	} catch (const std::length_error &e) {
		return std::string(e.what()).size();
	}
};

/* types, most of whose debug information are declarations, as in real programs */
template <int N> struct Tag {
	int value;
	bool operator<(const Tag &o) const { return value < o.value; }
};
template <int N> struct Wide {
	std::map<Tag<N>, std::vector<Tag<N + 1>>> a;
	std::set<std::pair<Tag<N>, short>> b;
	std::deque<std::tuple<Tag<N>, Tag<N + 2>, char>> c;
	std::list<std::array<Tag<N>, 3>> d;
	std::multimap<int, std::optional<Tag<N>>> e;
	std::vector<std::function<Tag<N>(const Tag<N> &)>> f;
	std::unordered_map<long, std::shared_ptr<Tag<N>>> g;
	std::unordered_set<Tag<N> *> h;
	std::variant<Tag<N>, Tag<N + 1>, std::string, std::unique_ptr<Wide>> i;
	std::multiset<std::basic_string<char16_t>, std::greater<>> j;
};
template <int N> __attribute__((noinline)) size_t wide(const Wide<N> &w)
{
	return w.a.size() + w.b.size() * w.c.size() + w.d.size() + w.e.size() + w.f.size() +
	       w.g.size() + w.h.size() + w.i.index() + w.j.size();
}

template <class... T> long total(const T &...x) { return (long(x) + ... + 0L); }

template <int N> long one(long seed)
{
	Store<N> store;
	Field<N> a, b, c;
	for (size_t i = 0; i < a.data.size(); i++)
		a.data[i] = b.data[i] = seed + long(i);
	c = a * b + a + b * c;
	store.put("field" + std::to_string(seed), 1, c);
	store.put("long", 2, seed);
	store.put("text", 3, std::string(size_t(seed % 40), 'x'));
	store.put("keys", 4, std::vector<Key<N>>(3, Key<N>{ "k", int(seed) }));
	std::list<std::unique_ptr<Shape<N>>> shapes;
	shapes.push_back(std::make_unique<Box<N, 1>>(int(seed)));
	shapes.push_back(std::make_unique<Box<N, 2>>(int(seed)));
	shapes.sort([](auto &x, auto &y) { return x->area() < y->area(); });
	if (seed < 0) {
		static std::tuple<Wide<5 * N>, Wide<5 * N + 1>, Wide<5 * N + 2>,
				  Wide<5 * N + 3>, Wide<5 * N + 4>> *none;
		seed += std::apply([](auto &...w) { return (wide(w) + ...); }, *none);
	}
	auto t = std::make_tuple(store.run(), store.best().value_or(0), shapes.front()->area());
	return std::apply([](auto... x) { return total(x...); }, t);
}

template <int FIRST, int COUNT> long range(long seed)
{
	if constexpr (COUNT == 1)
		return one<FIRST>(seed);
	else
		return range<FIRST, COUNT / 2>(seed) +
			range<FIRST + COUNT / 2, COUNT - COUNT / 2>(seed * 3);
}

/* Explicitly, as main names no template. */
template <int U> long unit(long seed);
template <> long unit<UNIT>(long seed)
{
	return range<UNIT * PER_UNIT, PER_UNIT>(seed);
}

#else
#include <cstdlib>

template <int U> long unit(long seed);

template <int U> long all(long seed)
{
	if constexpr (U == 0)
		return seed;
	else
		return unit<U>(seed) + all<U - 1>(seed + 1);
}

int main(int argc, char **argv)
{
	return all<UNITS>(argc > 1 ? atol(argv[1]) : 5) == 42;
}
#endif
