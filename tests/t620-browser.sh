#!/bin/sh
# Pages of pmu-flame and pmu-serve in a real browser: headless Chromium, driven by Selenium.
# The cases are in tests/flame.py; a screenshot of a case that fails is left in its directory.
# BROWSER=all (make check-all): also in Firefox; the large pages, and their times.
# kinds: release
. tests/lib.sh

# browse CASE,PAGE...: what must be true of the pages.  A browser takes two seconds to start, so
# one does all cases; the log of a failure has their names.
browse() {
	needs_command chromium chromedriver
	/usr/bin/python3 -c "import selenium" 2>/dev/null || skip "no selenium for python3"
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TOP/tests/flame.py" browse "$@"
}
made() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame-profiles.py" "$@"; }

# serving: start pmu-serve on a program; $served is the case for its page, where we may sample
serving() {
	pmu-sample -e cpu-clock -o /dev/null true 2>why || return 0
	ten lazy 6000 >/dev/null &
	pmu-serve -l 127.0.0.1:0 --max-cost 100% -p $! --call-graph fp >address &
	eventually grep -q ^http address
	served=served,$(cat address)
}

# with_source: a page with source lines; $source is the case for it, where we may sample
with_source() {
	pmu-sample -q -g -e cpu-clock -F 1000 -o ten.data -- ten serial 0.2 2>why || return 0
	pmu-symbolize -q ten.data | pmu-topprof -o ten.pb.gz
	pmu-flame --source -o ten.html ten.pb.gz
	source="source,ten.html,ten.pb.gz,J,FUNCTION(J)"
}

check 'views, sums of another reader, comparisons, hostile names, the form of pmu-serve' <<'END'
	made times >p.pb
	pmu-flame -t cpu -o p.html p.pb
	compose s.data <<-PY
		t = IP | TID | TIME
		out = pipe(record(64, attr(1, 0, 1000000, t) + struct.pack("<Q", 1), 0),
		    *[record(9, struct.pack("<QIIQ", 0x1000 + i % 3, 7, 7, i * 10**7 + 10**12))
		      for i in range(900)])
	PY
	pmu-topprof --slices 100 -l cpu s.data | pmu-flame -o slices.html
	make-tree 500 200 20 >tree.pb
	pmu-flame --min 2% -o cut.html tree.pb
	pmu-flame -o tree.html tree.pb
	PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 -c "
from flame import *
json.dump(sums(data_of('tree.html'), 'cpu'), open('want', 'w'))"

	made hostile >hostile.pb
	pmu-flame --title "</title><svg onload=alert(3)>" -o hostile.html hostile.pb
	pmu-flame -t cpu --diff p.pb -o same.html p.pb
	pmu-flame --ratio cpu/cpu -o ratio.html p.pb
	made counts 600 300 0 >after.pb
	made counts 300 500 100 >before.pb
	pmu-flame --diff before.pb -o change.html after.pb
	made empty >empty.pb
	pmu-flame -o empty.html empty.pb
	made waits >waits.pb
	pmu-flame -o waits.html waits.pb
	simulate phases 52 2000 | pmu-topprof --slices 20 -o base.pb.gz
	simulate phases 53 2000 | pmu-topprof --slices 20 -o after.pb.gz
	pmu-flame --diff base.pb.gz -o phases.html after.pb.gz
	unsteady=$(pmu-diff -j base.pb.gz after.pb.gz |
		sed -n 's/.*"name": "\([^"]*\)".*"unsteady".*/\1/p')
	# some functions are sure, some unsteady, and one is neither
	simulate phases 41 2000 | pmu-topprof --slices 20 -o base.pb.gz
	simulate phases 42 2000 | pmu-topprof --slices 20 -o after.pb.gz
	pmu-topprof --diff base.pb.gz after.pb.gz | pmu-flame -o all.html
	pmu-diff -j base.pb.gz after.pb.gz >all.json

	serving
	with_source
	browse sums,p.html use,p.html heat,p.html heat,slices.html cut,cut.html,want \
		grey,same.html grey,ratio.html unsteady,phases.html,"$unsteady" \
		verdicts,all.html,all.json change,change.html,more,less,gone \
		waits,waits.html empty,empty.html hostile,hostile.html $source $served
END

check 'Firefox shows the same' <<'END'
	test "$BROWSER" = all || skip "BROWSER=all (make check-all) does it"
	needs_command firefox-esr
	made times >p.pb
	pmu-flame -t cpu -o p.html p.pb
	pmu-flame -t cpu --diff p.pb -o same.html p.pb
	made counts 600 300 0 >after.pb
	made counts 300 500 100 >before.pb
	pmu-flame --diff before.pb -o change.html after.pb
	made empty >empty.pb
	pmu-flame -o empty.html empty.pb
	made hostile >hostile.pb
	pmu-flame --title "</title><svg onload=alert(3)>" -o hostile.html hostile.pb
	WITH=firefox PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame.py" browse \
		sums,p.html use,p.html grey,same.html change,change.html,more,less,gone \
		empty,empty.html hostile,hostile.html
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
