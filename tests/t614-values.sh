#!/bin/sh
# Values for people: one rule, in C for tables and pictures, and in JavaScript for pages.
# kinds: quick release
. tests/lib.sh

check 'a page spells each value as pmu-top does' <<'END'
	any_user
	needs_command node python3
	python3 - >list <<-'EOF'
		values = [0, 12345678, 114e6, 17250, 0.5, 0.25, 0.0625, 0.5625, 2.5, 3.5, 1e-9, 1234.56]
		for exponent in range(-6, 20):
		    ten = 10 ** exponent
		    values += [ten * f for f in (1, 1.5, 2.25, 4.125, 9.9949, 9.995, 9.9951, 9.99999)]
		    values += [ten + k for k in (-2, -1, 1, 2)]
		    # equally near to two numbers: the even one
		    values += [ten * odd / 8 for odd in range(1, 200, 2)]
		values += [limit * f for limit in (1e2, 1e5, 1e9, 1e14, 3.6e16, 1e7)
		           for f in (0.9999, 0.99999999, 1, 1.0001)]
		for value in values:
		    for sign in (1, -1):
		        for unit in "count", "nanoseconds", "bytes":
		            print(repr(float(sign * value)), unit, sep="\t")
	EOF
	at_least "$(wc -l <list)" 10000
	values <list >c
	node "$TOP/tests/values.mjs" <list >js
	paste list c >with_values
	paste list js | same with_values -
END

check 'one number has one spelling in tables, pictures and comparisons' <<'END'
	any_user
	printf 'f 12345678\n' >p
	pmu-top p >table
	grep -q "^ *12.35M 100.00% *12.35M 100.00%  f$" table
	pmu-flame --to svg p >p.svg
	grep -q "samples 12.35M" p.svg
	pmu-diff --per run -b p -b p p p >table 2>err
	grep -q "^total 12.35M -> 12.35M " table
END

done_testing
