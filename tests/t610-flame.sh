#!/bin/sh
# pmu-flame: what is in the page and in the picture.  t620-browser.sh opens them.
# kinds: quick release asan
. tests/lib.sh

page() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame.py" "$@"; }
made() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame-profiles.py" "$@"; }

# top PROFILE TYPE: "flat cum name" as go tool pprof has them, sorted
top() {
	go tool pprof -top -nodecount=1000000 -nodefraction=0 -unit=ns -sample_index="$2" \
		"$1" 2>/dev/null |
		sed -E '1,/^ *flat +flat%/d; s/ \((inline|partial-inline)\)$//; s/([0-9])ns/\1/g' |
		awk '{ f = $1; c = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ */, ""); print f, c, $0 }' | sort
}

check 'each function has the sums that go tool pprof has, of each type' <<'END'
	made two >p.pb
	pmu-flame p.pb -o p.html
	for type in samples cpu cycles; do
		top p.pb $type >want
		test "$(wc -l <want)" = 4
		page sums p.html $type | sort | same want -
	done
	pmu-flame <p.pb >q.html
	sed "s/>p.pb</>profile</; s/\"file\":\"p.pb\"/\"file\":\"\"/; s/\"p.pb\"/\"profile\"/" p.html |
		cmp - q.html
END

# lines_of PAGE: the source lines that it holds, each after the name of its function
lines_of() {
	PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import sys
from flame import *
d = data_of(sys.argv[1])
names = column(d["funcs"]["name"])
for item in d.get("source", []):
    name = d["strings"][names[item["f"]]]
    for n, t in zip(item["n"], item["t"]):
        print(name, n, t)
    if "why" in item:
        print(name, item["why"])' "$1"
}

check 'with --source a page has the lines of hot functions, as pmu-annotate shows them' <<'END'
	unsanitized
	lossless s.data pmu-sample -g -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	pmu-flame -o plain.html p.pb.gz
	lines_of plain.html | same /dev/null -
	pmu-flame --source -o p.html p.pb.gz
	lines_of p.html >got
	pmu-annotate -q --bars none '^J$' p.pb.gz >annotated
	# each line with samples, and three around it
	sed -n 's/.*> *\([0-9]*\): /\1 /p' annotated >hot
	at_least "$(wc -l <hot)" 1
	while read -r number text; do
		grep -qFx "J $number $(sed -n "s/.*> *$number: //p" annotated)" got
		grep -q "^J $((number - 3)) " got
		none grep -q "^J $((number + 300)) " got
	done <hot
	# moved sources, and names of files that do not exist
	none grep "^[A-J] no source text" got
	pmu-flame --source-path nowhere -o q.html p.pb.gz
	cmp p.html q.html
	exits 2 pmu-flame --source --to svg -o p.svg p.pb.gz
END

check 'even for root a page has no line that the user of the program may not read' <<'END'
	needs_root
	needs_sampling
	needs_command setpriv mkfifo
	unsanitized
	mkdir shut
	for name in shut/open closed public; do printf 'l1\nl2\nsecret\nl4\n' >$name.c; done
	sed -i 's/secret/known/' public.c
	chmod 600 closed.c
	chmod 700 shut
	ln -s "$PWD/closed.c" link.c
	ln -s "$PWD/shut/open.c" far.c
	ln -s /dev/zero zero.c
	mkfifo fifo.c
	for name in shut/open closed public link far zero fifo; do
		printf '#line 3 "%s"\n__attribute__((noinline)) void %s(void) %s\n' "$PWD/$name.c" \
			"f_${name#*/}" '{ for (volatile int i = 0; i < 30000000; i++); }'
		calls="$calls f_${name#*/}();"
	done >p.c
	echo "int main(void) { $calls }" >>p.c
	cc -g -O1 -o p p.c
	pmu-sample -q -e cpu-clock -F 1000 -o s.data -- \
		setpriv --reuid 65534 --regid 65534 --clear-groups ./p
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	timeout 60 pmu-flame --source -o p.html p.pb.gz
	lines_of p.html >got
	none grep -i secret p.html got
	grep -q '^f_public 3 known$' got
	for name in open closed link far; do
		grep -q "^f_$name no source text of .*: not all users may read it" got
	done
	for name in zero fifo; do grep -q "^f_$name no source text of .*regular file" got; done
	none grep secret <<-EOF
		$(pmu-annotate -q f_ p.pb.gz)
	EOF
	# what is below a directory that root names is root's own choice
	pmu-flame --source-path "$PWD" -o own.html p.pb.gz
	lines_of own.html | grep -q '^f_closed 3 secret$'
END

check 'a real profile, and its streams: the same; and the same bytes in each run' <<'END'
	unsanitized
	lossless s.data pmu-sample -g -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	pmu-symbolize s.data >s.named
	pmu-topprof --slices 20 -o p.pb.gz s.named
	pmu-flame -o p.html p.pb.gz
	# pprof has other names for addresses without a function
	top p.pb.gz cpu | grep -v "<unknown>\|\[.*\]$" >want
	at_least "$(wc -l <want)" 5
	page sums p.html cpu | grep -v "address.*\]$" | sort | same want -
	test "$(top p.pb.gz cpu | awk "{ n += \$1 } END { print n }")" = "$(page total p.html cpu)"
	pmu-flame -o q.html p.pb.gz
	cmp p.html q.html
	for stream in s.data s.named; do
		pmu-flame -o q.html $stream
		page sums q.html cpu | grep -v "address.*\]$" | sort | same want -
		grep -q '"slices":[0-9]' q.html
	done
END

check 'error bars are those of pmu-top, and none without a number of samples' <<'END'
	compose s.data <<-PY
		# in blocks of 10 ms: one function in all, one in the first, losses in the third
		t = IP | TID | TIME
		out = [record(64, attr(1, 0, 1000, t) + struct.pack("<Q", 1), 0)]
		start = struct.pack("<IIQ", 7, 7, 10**12)
		for i, name in enumerate((b"steady", b"once", b"rest"), 1):
		    out.append(record(1, mmap(7, i << 16, 0x1000, b"/bin/" + name) + start))
		for i in range(1000):
		    block, place = divmod(i, 50)
		    which = 1 if place % 4 == block % 4 else 2 if block == 0 else 3
		    time = 10**12 + i * 2 * 10**5
		    out.append(record(9, struct.pack("<QIIQ", which << 16, 7, 7, time)))
		    if i == 120:
		        out.append(record(2, struct.pack("<QQIIQ", 0, 12, 7, 7, time)))
		out = pipe(*out)
	PY
	pmu-topprof --slices 10 -o p.pb.gz s.data
	made two >two.pb
	cost=" +[0-9.]+[a-z]* +[0-9.]+%(~?) +([0-9.]+)"
	for file in two.pb p.pb.gz; do
		pmu-top -t cpu $file >table
		sed -nE "s/^$cost$cost (.*)/\1\2 \3\4 \5/p" table | sort >want
		pmu-flame -o p.html $file
		page bars p.html cpu | sort >got
		cat table want got
		comm -23 want got >missing	# a function in two objects is two rows of a page
		test ! -s missing
	done
	same want got
	test "$(grep -c "^~.*once" want) $(wc -l <want)" = "1 3"
	for line in "1,000 samples; a share is" "~ this share rose" "1.2 % of samples were lost"; do
		grep -q "^$line" table
		grep -q "\"note\":\".*$line" p.html
	done
	made counts 600 300 100 | pmu-flame -o counts.html
	made foreign | pmu-flame -o foreign.html
	echo "main;work 5" | pmu-flame -o folded.html
	python3 - <<-PY
		import sys
		sys.path.insert(0, "$TOP/tests")
		from flame import *
		n, z, got = 1000, 1.959964, bars_of(data_of("counts.html"), "cpu")
		assert len(got) == 3
		for (flat, cum, name), p in zip(got, (.6, .3, .1)):
		    half = 100 * z / (1 + z * z / n) * (p * (1 - p) / n + (z / 2 / n) ** 2) ** .5
		    assert flat == cum and -1e-6 < float(flat) - half < .0101, (name, flat, half)
		for page, why in (("foreign", "does not say how many"), ("folded", "may be anything")):
		    d = data_of(page + ".html")
		    assert bars_of(d, d["types"][0]["name"]) is None and why in d["bars"][0]["note"]
	PY
END

check 'addresses without a function are one box an object, and are those of the file' <<'END'
	unsanitized
	echo "int main(void) { for (volatile long n = 0; n < 200000000; n++); }" >mine.c
	gcc -O1 -Wl,-z,noseparate-code mine.c -o mine	# code at offset 0 of the file
	pmu-sample -q -e cpu-clock:u -F 1000 -o s.data -- ./mine
	pmu-topprof s.data -o p.pb.gz
	pmu-flame -o p.html p.pb.gz
	set -- $(nm -S mine | sed -n "s/^\([0-9a-f]*\) \([0-9a-f]*\) T main/0x\1 0x\2/p")
	name=$(pmu-top -t cpu --to csv p.pb.gz | grep -o "\[mine: [0-9,]* address[es]*\]")
	page sums p.html cpu | grep "^[0-9]* [0-9]* .mine" | sed "s/^[0-9]* [0-9]* //" >names
	echo "$name" | same names -
	page addresses p.html | sed -n "s/ .mine: .*//p" >addresses
	cat names addresses
	test -s addresses
	while read -r address; do
		test $((address)) -ge $(($1)) && test $((address)) -lt $(($1 + $2)) ||
			echo $address
	done <addresses >others
	# what is before and after main() is not sampled once in a thousand
	at_most "$(wc -l <others)" 1
END

check 'names are data: the page has one script and one style, allowed by their hashes' <<'END'
	made hostile >p.pb
	script="</script><script>window.owned=1</script>"
	pmu-flame --title "$script" --by "$script" -o p.html p.pb
	page strict p.html
	pmu-flame --to svg -o p.svg p.pb
	python3 -c "
import xml.dom.minidom as x
d = x.parse('p.svg')
used = {e.tagName for e in d.getElementsByTagName('*')}
assert used == {'svg', 'defs', 'pattern', 'path', 'rect', 'text', 'g', 'title'}
titles = [t.firstChild.data for t in d.getElementsByTagName('title')]
assert any('</script><script>window' in t for t in titles)"
	test "$(page total p.html samples)" = 171
END

check 'lighter call paths are summed up per caller: nothing is lost, and a message says so' <<'END'
	unsanitized
	make-tree 2000 300 20 >p.pb
	pmu-flame -o p.html p.pb
	pmu-flame --min 1% -o cut.html p.pb 2>err
	grep -q "call paths are below --min: those of each caller are summed up as \[too small\]" err
	test "$(page total p.html cpu)" = "$(page total cut.html cpu)"
	at_most "$(wc -c <cut.html)" 125000
	page sums p.html cpu >all
	python3 - >want <<-PY
		import sys
		sys.path.insert(0, "$TOP/tests")
		from flame import *
		d, cut = data_of("p.html"), data_of("cut.html")
		parents, frames = nodes_of(d)
		total, at = [0] * len(parents), 0
		for delta, v in zip(column(d["rows"]["node"], True), values_of(d["rows"], 1)):
		    at += delta
		    total[at] += v
		for i in range(len(parents) - 1, 0, -1):
		    total[parents[i]] += total[i]
		kept = sum(t >= total[0] / 100 for t in total) - 1
		gone = len(parents) - 1 - kept
		least = total[0] / 100
		rests = len({p for t, p in zip(total, parents) if t < least <= total[p]})
		assert cut["cut"]["nodes"] == gone, (cut["cut"]["nodes"], gone)
		assert cut["nodes"]["pop"]["n"] == kept + rests
		lines, funcs = column(cut["frames"]["line"], True), column(cut["frames"]["func"])
		rest = cut["cut"]["func"]
		assert sum(lines[f] for f in nodes_of(cut)[1] if funcs[f] == rest) == gone
		flat, cum = (column(cut["cut"][key][1], True) for key in ("flat", "cum"))
		for f, c, n in zip(flat, cum, column(cut["funcs"]["name"])):
		    if c and cut["strings"][n] != "all":
		        print("%d %d %s" % (f, c, cut["strings"][n]))
	PY
	sort want >sorted
	sort all | same - sorted
END

check 'sums that no profile can hold stop at the largest value' <<'END'
	for i in 1 2 3 4 5 6 7 8 9 10; do echo "a;b$i 999999999999999999"; done >folded
	echo "a;c 1" >>folded
	pmu-flame --min 1% -o p.html folded
	python3 - >got <<-PY
		import sys
		sys.path.insert(0, "$TOP/tests")
		from flame import *
		d = data_of("p.html")
		cum = column(d["cut"]["cum"][0], True)
		for c, n in zip(cum, column(d["funcs"]["name"])):
		    print(d["strings"][n], c)
	PY
	grep -qx "a 9223372036854775807" got
	grep -qx "b3 999999999999999999" got
	grep -qx "c 1" got
END

check 'differences, ratios, labels and types are in the page; what is missing is reported' <<'END'
	made two >p.pb
	pmu-flame -t cycles -o p.html p.pb
	pmu-flame --diff p.pb -o d.html p.pb
	pmu-flame --ratio cycles/cpu -o r.html p.pb
	pmu-flame --by thread_comm -o b.html p.pb
	pmu-flame --by comm -o c.html p.pb
	cmp b.html c.html
	pmu-flame --invert -o i.html p.pb
	python3 - <<-PY
		import sys
		sys.path.insert(0, "$TOP/tests")
		from flame import *
		assert data_of("p.html")["default"] == 2
		d = data_of("d.html")
		assert d["base"]["val"] == d["rows"]["val"] and d["base"]["node"] == d["rows"]["node"]
		assert data_of("r.html")["ratio"] == [2, 1] and data_of("i.html")["view"] == "callers"
		assert sums(data_of("b.html"), "cpu")["thread_comm: main"] == (0, 900)
		p = data_of("p.html")
		assert [t["per"] for t in p["types"]] == [1, 10, 1.35], p["types"]
		assert column(p["frames"]["inl"]).count(1) == 1
		assert sorted(column(p["funcs"]["kind"])) == [0, 0, 0, 0, 0, 1]
	PY
	exits 1 pmu-flame -t nothing p.pb -o x.html 2>err
	echo "pmu-flame: the profile has no sample type 'nothing'; it has samples cpu cycles" |
		same - err
	exits 1 pmu-flame -q --ratio cpu/3 p.pb -o x.html >out 2>err
	none grep . out err
	exits 2 pmu-flame --by object p.pb -o x.html 2>err
	grep -q "^pmu-flame: --by takes a label" err
	exits 1 pmu-flame --by nothing p.pb -o x.html 2>err
	grep -q "no sample has the label .nothing." err
	test ! -e x.html
	for wrong in "--min 2" "--min x" "--min -1" "--ratio cycles" "--to pdf" "--ratio a/b -t a"; do
		exits 2 pmu-flame $wrong p.pb -o x.html 2>err
	done
END

check 'a picture: each box has its share as width, and its name in a tooltip' <<'END'
	made two >p.pb
	pmu-flame --to svg -t cpu --title "a & b" p.pb -o p.svg
	python3 - <<-PY
		import xml.dom.minidom as x
		d = x.parse("p.svg")
		width = {}
		for g in d.getElementsByTagName("g"):
		    name = g.getElementsByTagName("title")[0].firstChild.data.split("\n")
		    w = float(g.getElementsByTagName("rect")[0].getAttribute("width"))
		    width.setdefault(name[0], []).append((w, name[-1]))
		assert width["all"][0][0] == 1179.5 and width["all"][0][1] == "1.0us, 100.00 %"
		for name, share in ("main", 1), ("work<int>", .7), ("help", .7):
		    assert abs(width[name][0][0] - (1180 * share - .5)) < .06, (name, width[name])
		assert len(width["rec"]) == 3 and width["rec"][0][1].endswith("21.00 %")
		assert "a & b" in [t.firstChild.data for t in d.getElementsByTagName("text")]
	PY
	pmu-flame --to svg --invert p.pb -o i.svg
	pmu-flame --to svg -t cpu --diff p.pb p.pb -o d.svg
	grep -c "dcd9d3" d.svg | grep -qx 6	# all grey
	pmu-flame --to svg --ratio cycles/cpu p.pb | grep -q "colour: per cpu"
END

check 'a large change of a function that varies as much within a recording is unsteady' <<'END'
	# recorded WORDS-OF-SIMULATE OPTIONS
	recorded() { simulate $1 | pmu-topprof -q $2 -Z none; }
	coloured() { pmu-flame --to svg --diff base.pb after.pb | grep -c "<rect.*hsl(\(18\|214\),"; }
	recorded "phases 52 2000" "--slices 0" >base.pb
	recorded "phases 53 2000" "--slices 0" >after.pb
	at_least "$(coloured)" 1	# nobody knows that this program has phases
	recorded "phases 52 2000" "--slices 20" >base.pb
	recorded "phases 53 2000" "--slices 20" >after.pb
	test "$(coloured)" = 0
	pmu-flame --to svg --diff base.pb after.pb >p.svg
	grep -c 'fill="hsl(52,.*fill="url(#dots)"' p.svg | grep -qx 1
	pmu-topprof --diff base.pb after.pb | pmu-flame --to svg >of_difference.svg
	grep "<rect" p.svg >a
	grep "<rect" of_difference.svg | same a -
	recorded "steady 41 20000" "--slices 20" >base.pb
	recorded "steady 42 20000 9 0.2" "--slices 20" >after.pb
	pmu-diff -j base.pb after.pb | grep -c '"sure"' >sure
	at_least "$(cat sure)" 1
	coloured | same sure -
END

check 'no samples are a note; bad input leaves the file as it is; full disks are errors' <<'END'
	made empty >p.pb
	pmu-flame p.pb -o p.html 2>err
	grep -q "has no samples" err
	echo before >x.html
	echo text >bad
	exits 1 pmu-flame bad -o x.html 2>err
	exits 1 pmu-flame nosuch -o x.html 2>err
	test "$(cat x.html)" = before
	exits 1 pmu-flame p.pb >/dev/full 2>err
	grep -q "No space left" err
	exits 2 pmu-flame p.pb -o p.pb 2>err
	exits 2 pmu-flame --diff - - <p.pb 2>err
	ls -A | none grep "^\.pmukit"
END

check 'every kind of crafted profile becomes a page, or is refused' <<'END'
	n=$(sanitized && test -z "$ALL" && echo 300 || echo 1000)
	for kind in dense spread absent name label mapping function location inlines deep names strings \
		types comments lines labels equal zero; do
		python3 "$TOP/tests/profiles.py" $kind $n >$kind.pb
		pmu-flame $kind.pb -o $kind.html 2>err || test $? = 1
	done
	at_least "$(ls *.html | wc -l)" 15
	page strict *.html
END

check 'text on every colour has a contrast of 4.5 at least, light and dark' <<'END'
	needs_command node
	cat "$TOP/lib/flame/flame-text.js" "$TOP/lib/flame/flame-colour.js" - >contrast.mjs <<-JS
		const state = { g: "function" }, LOST = 4, KIND = Array(6);
		const bright = rgb => rgb.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
			.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
		const fromHex = c => (c.length === 4 ? [1, 2, 3].map(i => c[i] + c[i])
			: [1, 3, 5].map(i => c.slice(i, i + 2))).map(h => parseInt(h, 16) / 255);
		const fromHsl = c => {
			const [h, s, l] = c.match(/[\d.]+/g).map(Number), a = s / 100 * min(l / 100, 1 - l / 100);
			return [0, 8, 4].map(n => (n + h / 30) % 12)
				.map(k => l / 100 - a * max(-1, min(k - 3, 9 - k, 1)));
		};
		let tried = 0;
		const check = colour => {
			const [x, y] = [ink(), colour].map(c => bright(c[0] === "#" ? fromHex(c) : fromHsl(c)));
			const contrast = (max(x, y) + 0.05) / (min(x, y) + 0.05);
			tried++;
			if (contrast < 4.5)
				throw new Error(colour + (dark ? " dark: " : " light: ") + contrast.toFixed(2));
		};
		for (dark of [false, true]) {
			for (const kind of KIND.keys())
				for (let seed = 0; seed < SEEDS; seed++)
					[0, 1].forEach(inlined => check(kindColour(kind, inlined, seed)));
			for (let by = -1; by <= 1; by += 0.125)
				[true, false].forEach(ofRatio => check(changeColour(by, ofRatio)));
			[grey(), hitColour(), unsteadyColour()].forEach(check);
		}
		if (tried !== 218)
			throw new Error(tried + " colours");
	JS
	node contrast.mjs
END

done_testing
