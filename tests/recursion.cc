// recursion CPU_SECONDS DEPTH - parses and evaluates random expressions by recursive functions.
// Few functions call each other from few places, so frames of one stack are often at the same
// addresses as those of another one that has other callers.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#define apart __attribute__((noinline))

static unsigned long state = 12345;

static unsigned random_number()
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return state >> 33;
}

static void write(std::string &text, int depth)
{
	if (depth <= 0 || random_number() % 8 == 0) {
		text += std::to_string(random_number() % 1000);
		return;
	}
	unsigned kind = random_number() % 4;
	text += kind == 2 ? '-' : '(';
	write(text, depth - 1);
	if (kind < 2) {
		text += "+*"[kind];
		write(text, depth - 1);
	}
	if (kind != 2)
		text += ')';
}

struct node {
	char kind;
	long value;
	std::unique_ptr<node> a, b;
};

struct parser {
	const char *at;
	std::unique_ptr<node> sum(), product(), factor();
};

apart static std::unique_ptr<node> join(char kind, std::unique_ptr<node> a,
					std::unique_ptr<node> b)
{
	auto n = std::make_unique<node>();
	n->kind = kind;
	n->a = std::move(a);
	n->b = std::move(b);
	return n;
}

apart std::unique_ptr<node> parser::sum()
{
	auto n = product();
	while (*at == '+') {
		++at;
		auto next = product();
		n = join('+', std::move(n), std::move(next));
	}
	return n;
}

apart std::unique_ptr<node> parser::product()
{
	auto n = factor();
	while (*at == '*') {
		++at;
		auto next = factor();
		n = join('*', std::move(n), std::move(next));
	}
	return n;
}

apart std::unique_ptr<node> parser::factor()
{
	if (*at == '(') {
		++at;
		auto n = sum();
		++at;
		return n;
	}
	if (*at == '-') {
		++at;
		auto n = factor();
		return join('-', std::move(n), nullptr);
	}
	auto n = join('n', nullptr, nullptr);
	char *end;
	n->value = strtol(at, &end, 10);
	at = end;
	return n;
}

apart static long evaluate(const node *n, std::vector<long> &products)
{
	if (n->kind == 'n') {
		for (int i = 0; i < 300; i++)
			state ^= i;
		return n->value;
	}
	long a = evaluate(n->a.get(), products);
	if (n->kind == '-')
		return -a;
	long b = evaluate(n->b.get(), products);
	if (n->kind == '+')
		return a + b;
	products.push_back(a);
	return a * b;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int depth = argc > 2 ? atoi(argv[2]) : 40;
	long sum = 0;

	while (clock() < seconds * CLOCKS_PER_SEC) {
		std::string text;
		write(text, depth);
		if (text.size() > 200000)
			continue;
		parser p{text.c_str()};
		auto tree = p.sum();
		std::vector<long> products;
		for (int i = 0; i < 20; i++)
			sum += evaluate(tree.get(), products);
	}
	printf("%ld\n", sum);
}
