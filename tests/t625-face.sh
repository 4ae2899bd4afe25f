#!/bin/sh
# Pages of pmu-flame at four sizes: a screen, the same at 200 % zoom, a phone, paper.  The cases are
# in tests/face.py; pictures are left in build/show.
# FACE=all (make check-all PARTS=face): in Chromium and in Firefox.
# kinds: release
. tests/lib.sh

# faces BROWSER PAGE...: PAGE.html in each size
faces() {
	browser=$1
	shift
	for page; do
		WITH=$browser PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$TOP/tests/face.py" \
			$page.html $browser-$page "$TOP/build/show/face"
	done
}

# pages: a profile with a heat map, and a comparison whose graph needs several papers
pages() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame-profiles.py" times >times.pb
	pmu-flame -t cpu -o plain.html times.pb
	compose deep.data <<-PY
		# callchains of up to 120 addresses, which are functions of their own in /bin/deep
		t = IP | TID | TIME | 32
		out = [record(64, attr(1, 0, 1000000, t) + struct.pack("<Q", 1), 0)]
		for i in range(1500):
		    chain = [0x10000 * (1 + k) for k in range(i % 120 + 1)][::-1]
		    out.append(record(9, struct.pack("<QIIQQ", chain[0], 7, 7, 10**12 + i * 2 * 10**6,
		        len(chain)) + struct.pack("<%dQ" % len(chain), *chain)))
		out = pipe(*out)
	PY
	pmu-topprof --slices 20 -o deep.pb.gz deep.data
	pmu-flame --diff deep.pb.gz -o change.html deep.pb.gz
}

for browser in chromium firefox; do
	check "the graph has half of the screen, and comes first on paper: $browser" <<-END
		test "$FACE" = all || skip 'FACE=all (make check-all PARTS=face) does it'
		needs_command pdfimages pdftoppm \$(test $browser = firefox && echo firefox-esr ||
			echo chromium chromedriver)
		/usr/bin/python3 -c 'import selenium' 2>/dev/null || skip 'no selenium for python3'
		pages
		faces $browser plain change
	END
done

done_testing
