#!/bin/sh
# Names that are too long for their place: one rule, for terminals in C and for pages in JavaScript.
# kinds: release asan
. tests/lib.sh
table=$TOP/tests/short-names	# columns, name, short name

check 'the function is known by its short name, in C, for each case of the table' <<'END'
	any_user
	at_least "$(cut -f 2 "$table" | sort -u | wc -l)" 60
	cut -f 1,2 "$table" | shorten >got
	cut -f 3 "$table" | same got -
END

check 'the page has the same short names' <<'END'
	any_user
	unsanitized
	needs_command node
	cut -f 1,2 "$table" | node "$TOP/tests/shorten.mjs" >got
	cut -f 3 "$table" | same got -
END

check 'a copied name shows that function alone; a short name finds its function' <<'END'
	any_user
	cut -f 2 "$table" | sort -u | grep -v ";" >names	# folded text has it between frames
	at_least "$(wc -l <names)" 60
	awk '{ print $0, 1 }' names >p.folded
	while IFS= read -r name; do
		pmu-annotate --bars none "$name" p.folded
	done <names >out
	test "$(grep -c "; 1 of 1 functions that match" out)" = "$(wc -l <names)"
	sed -n "s/^ *1 *[0-9.]*% *1 *[0-9.]*%  //p" out | grep -v "^>" | same - names
	cut -f 2,3 "$table" | grep -v ";" | grep "…." | sort -u | while IFS="	" read -r name short; do
		pmu-annotate -n 100 "$short" p.folded >out
		grep -qF "$name" out
	done
END

check 'the search of a page finds them in the same way' <<'END'
	any_user
	unsanitized
	needs_command node
	awk -F "\t" '{ print $2 "\t" $2; print $3 "\t" $2; print $2 "nowhere\t" $2 }' "$table" >texts
	node "$TOP/tests/find-names.mjs" <texts >missed
	awk -F "\t" '{ print $2 "nowhere" }' "$table" | same missed -
END

check 'a short name fits, and both are the same, for names from libraries and damaged ones' <<'END'
	any_user
	needs_command node python3
	# cut, mixed and put into brackets, always by the same numbers
	cut -f 2 "$table" | python3 "$TOP/tests/damaged-names.py" >names
	at_least "$(wc -l <names)" 5000
	shorten <names >c
	node "$TOP/tests/shorten.mjs" <names >js
	paste names c | python3 -c '
import sys
for line in sys.stdin:
    columns, name, short = line.rstrip("\n").split("\t")
    assert len(short) <= int(columns), line
    assert short or not name.strip() or columns == "0", line
    assert short.strip("…") or int(columns) < 3 or not name.strip(), line
'
	same c js
END

check 'a name of any length or depth takes little time' <<'END'
	any_user
	python3 - >long <<-'PY'
		texts = ["<" * 4000, "operator<" * 400, "a<" * 2000 + ">" * 2000, "::" * 2000,
		         "{" * 2000 + "}" * 2000, "std::vector<" * 300 + ">" * 300, "x" * 100000]
		for text in texts:
		    print(30, text, sep="\t")
	PY
	shorten <long >got
	test "$(wc -l <got)" = 7
	at_most "$(wc -m <got)" $((7 * 31))
	if command -v node >/dev/null; then
		node "$TOP/tests/shorten.mjs" <long | same got -
	fi
END

done_testing
