#!/bin/sh
# pmu-flame's pages in a real browser: headless Chromium, driven by Selenium.  The cases are
# in tests/flame.py; a screenshot of a case that fails is left in its directory.
# BROWSER=all (make check-all): also the large pages, and their times.
# kinds: release
. tests/lib.sh

# browse CASE,PAGE...: what must be true of the pages.  A browser takes seconds to start, so
# one does all cases of a check.
browse() {
	needs_command chromium chromedriver
	/usr/bin/python3 -c "import selenium" 2>/dev/null || skip "no selenium for python3"
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TOP/tests/flame.py" browse "$@"
}
made() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$TOP/tests" python3 -c "
import sys
from profiles import *
$(cat)
sys.stdout.buffer.write(out)"; }

# A sample of both events: recursion, inlined calls, a kernel, a library, labels
cat >"$scratch/kinds.py" <<'END'
types = bytes_of(1, number(1, 5) + number(2, 6)) + bytes_of(1, number(1, 7) + number(2, 2))
names = [b"cpu", b"nanoseconds", b"cycles", b"/src/a.c", b"/lib/x.so", b"[kernel.kallsyms]", b"timestamp_ns",
         b"ns::parse<std::pair<int, int>>(char const*)", b"memcpy", b"do_sys_poll", b"rec", b"inner", b"a comment \xe2\x80\xae"]
first = 12      # parse
parts = [mapping(1, MAIN), mapping(2, 9), mapping(3, 10), number(13, 17)]
parts += [function(i, n, number(4, 8)) for i, n in ((1, MAIN), (2, 12), (3, 13), (4, 14), (5, 15), (6, 16))]
def line(f, n): return bytes_of(4, number(1, f) + number(2, n))
parts += [bytes_of(4, number(1, i) + number(2, m) + number(3, 16 * i) + lines) for i, m, lines in
          ((1, 1, line(1, 3)), (2, 1, line(6, 7) + line(2, 5)), (3, 2, line(3, 9)), (4, 3, line(4, 10)), (5, 1, line(5, 11)))]
def when(ms): return bytes_of(3, number(1, 11) + number(3, 10**15 + ms * 10**6))
stacks = [[2, 1], [3, 2, 1], [4, 3, 2, 1], [5, 5, 5, 1], [3, 5, 1], [1]]
for i in range(900):
    stack = stacks[i * i % 7 % 6] if i < 450 else stacks[i % 3]
    parts.append(sample(stack, [1, 10**6, 1000 + i % 7], label(COMM, MAIN if i % 2 else 13) + when(5 * i)))
parts.append(sample([1], [3, 3 * 10**6, 3000]))
out = profile([types, *parts], names)
END

check 'sums of another reader, search, zoom, views, types, spans of time, what is summed up' <<'END'
	made <"$scratch/kinds.py" >p.pb
	pmu-flame -t cpu -o p.html p.pb
	compose s.data <<-PY
		t = IP | TID | TIME
		out = pipe(record(64, attr(1, 0, 1000000, t) + struct.pack("<Q", 1), 0),
		    *[record(9, struct.pack("<QIIQ", 0x1000 + i % 3, 7, 7, i * 10**7 + 10**12)) for i in range(900)])
	PY
	pmu-topprof --slices 20 -l cpu s.data | pmu-flame -o slices.html
	make-tree 500 200 20 >tree.pb
	pmu-flame -o tree.html tree.pb
	pmu-flame --min 2% -o cut.html tree.pb
	PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 -c "
from flame import *
json.dump(sums(data_of('tree.html'), 'cpu'), open('want', 'w'))"
	browse sums,p.html use,p.html heat,p.html heat,slices.html cut,cut.html,want
END

check 'hostile names run nothing; nothing has changed against itself; more, less, gone; no samples' <<'END'
	made >hostile.pb <<-PY
		names = [b"</script><script>window.owned=1</script>", b"<img src=x onerror=window.owned=2>", b"\xff\xfe(",
		         b"a\0b\x1b[31m", "\u202eevil".encode(), b"A<" * 5000, b"__proto__", b"constructor", b"\"'&",
		         b"<!--<script>", "\u2028x".encode(), b"\\\\u003c", b"toString", b"", b"all", b"\n\t;", b"("]
		n = len(names)
		out = profile([mapping(1, FIRST)] + [function(i + 1, FIRST + i, number(4, FIRST + i)) + location(i + 1, [i + 1], 1)
		               for i in range(n)] + [sample(range(i + 1, 0, -1), [i + 1], label(FIRST, FIRST + i)) for i in range(n)] +
		              [number(13, FIRST + i) for i in range(n)], names)
	PY
	pmu-flame --title "</title><svg onload=alert(3)>" -o hostile.html hostile.pb
	made <"$scratch/kinds.py" >p.pb
	pmu-flame -t cpu --diff p.pb -o same.html p.pb
	pmu-flame --ratio cpu/cpu -o ratio.html p.pb
	counts() {
		made <<-PY
			types = bytes_of(1, number(1, FIRST) + number(2, FIRST + 1))
			out = profile([types] + [function(i, FIRST + i + 1) + location(i, [i]) for i in (1, 2, 3)] +
			    [sample([i], [n, n * 1000]) for i, n in enumerate([$1, $2, $3], 1) if n],
			    [b"cpu", b"nanoseconds", b"more", b"less", b"gone"])
		PY
	}
	counts 600 300 0 >after.pb
	counts 300 500 100 >before.pb
	pmu-flame --diff before.pb -o change.html after.pb
	echo "out = profile([])" | made >empty.pb
	pmu-flame -o empty.html empty.pb
	browse grey,same.html grey,ratio.html change,change.html,more,less,gone empty,empty.html \
		hostile,hostile.html
END

check '1.5 million call paths: made in 200 MB and 8 MB of page, and soon shown and zoomed' <<'END'
	test "$BROWSER" = all || skip "BROWSER=all (make check-all) does it"
	make-tree 100000 8000 45 >p.pb
	python3 - >used <<-PY
		import resource, subprocess
		subprocess.check_call(["pmu-flame", "-o", "p.html", "p.pb"])
		u = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(int(u.ru_maxrss / 1024), "MB,", u.ru_utime + u.ru_stime, "s of CPU time")
	PY
	at_most "$(cut -d " " -f 1 used)" 200
	at_most "$(wc -c <p.html)" 8000000
	browse large,p.html
END

done_testing
