#!/bin/sh
# The whole pipe: against the truth of workloads, and as pprof reads it.
# kinds: quick release user
. tests/lib.sh

# flat PROFILE FUNCTION: its flat percentage, as pprof says
flat() {
	go tool pprof -top -nodecount=1000 -nodefraction=0 "$1" 2>/dev/null |
	awk -v name="$2" '$6 == name { sub("%", "", $2); print $2; found = 1 } END { if (!found) print -1 }'
}

# total PROFILE TYPE: the sum of a sample type's values
total() {
	go tool pprof -raw "$1" 2>/dev/null | awk -v type="$2" '
		/^Samples:/ { getline; n = split($0, t, " "); for (i = 1; i <= n; i++) if (index(t[i], type "/") == 1) column = i }
		/^Locations/ { exit }
		column && /^ +[0-9]+ .*: / { sub(":.*", ""); split($0, v, " "); sum += v[column] }
		END { printf "%.0f\n", sum }'
}

near() {
	awk -v a="$1" -v e="$2" -v t="$3" 'BEGIN { d = a - e; if (d < 0) d = -d; exit !(d <= t) }' ||
	{ echo "$1 is not within $3 of $2"; return 1; }
}

check 'ten functions of 1/55 .. 10/55 of the time come out within 2 points' <<'END'
	pmu-sample -e cpu-clock -F 1000 -- ten serial 3 | pmu-symbolize | pmu-topprof >p.pb.gz
	n=1
	for f in A B C D E F G H I J; do
		near "$(flat p.pb.gz $f)" "$(awk "BEGIN { print 100 * $n / 55 }")" 2
		n=$((n + 1))
	done
END

check 'ten equal threads come out at 10 % each, within 2 points' <<'END'
	pmu-sample -e cpu-clock -F 1000 -- ten threads 3 | pmu-symbolize | pmu-topprof >p.pb.gz
	for f in A B C D E F G H I J; do
		near "$(flat p.pb.gz $f)" 10 2
	done
END

check 'so do ten threads of a process that creates them while we are attached' <<'END'
	ten growing 5 &
	target=$!
	sleep 0.03
	pmu-sample -e cpu-clock -F 1000 -p $target | pmu-symbolize | pmu-topprof >p.pb.gz
	wait $target
	for f in A B C D E F G H I J; do
		near "$(flat p.pb.gz $f)" 10 2
	done
END

check 'pprof reads it every way, without a warning' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -- ten serial 1 | pmu-symbolize | pmu-topprof >p.pb.gz
	for mode in -top -raw -tree "-peek=^J$" -traces -comments; do
		go tool pprof $mode p.pb.gz >out 2>err
		test -s out
		test ! -s err
	done
	go tool pprof -raw p.pb.gz >raw
	grep -qx "PeriodType: cpu nanoseconds" raw
	grep -qx "Period: 1000000" raw
	grep -q "^samples/count cpu/nanoseconds\[dflt\]" raw
	grep -q "^Duration: [1-9]" raw
	grep -q "^Time: 20" raw
	awk "/^Mappings/ { getline; print; exit }" raw | grep -q "/ten "
	go tool pprof -comments p.pb.gz >comments
	grep -q "^command: pmu-sample -g -e cpu-clock -F 1000 -- ten serial 1" comments
	grep -q "^host: $(uname -n) $(uname -m) Linux $(uname -r)" comments
	grep -q "^filter: pmu-symbolize" comments
END

check 'of several programs that ran the one with most samples gives the profile its name' <<'END'
	pmu-sample -e cpu-clock -F 1000 -- sh -c "head -c 100000 /dev/zero | cksum; ten serial 0.5" | pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz | grep -qx "File: ten"
END

check 'pprof serves it by HTTP' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -- ten serial 0.3 | pmu-symbolize | pmu-topprof >p.pb.gz
	port=$((20000 + $$ % 20000))
	go tool pprof -http "localhost:$port" -no_browser p.pb.gz >log 2>&1 &
	server=$!
	for try in $(seq 50); do
		python3 -c "import urllib.request as u; print(u.urlopen(\"http://localhost:$port/ui/top\").read().decode())" >page 2>/dev/null && break
		sleep 0.1
	done
	pkill -P $server || :
	kill $server || :
	grep -q "main" page
END

check 'J has the caller that perf finds' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -o s.data -- ten serial 0.5
	pmu-symbolize --inlines no s.data | pmu-topprof >p.pb.gz
	go tool pprof -peek="^J$" p.pb.gz >peek
	caller=$(perf script --no-inline -i s.data -F ip,sym | awk 'BEGIN { RS = ""; FS = "\n" } $1 ~ / J$/ { print $2 }' | awk '{ print $2 }' | sort | uniq -c | sort -rn | awk '{ print $2; exit }')
	test -n "$caller"
	grep -q " $caller\$" peek
END

check 'function shares are those of perf report, on the same recording' <<'END'
	perf_record -g -e cpu-clock -F 2000 -o p.data -- ten serial 1
	pmu-symbolize p.data | pmu-topprof >p.pb.gz
	perf report -i p.data --no-children --stdio -g none --percent-limit 0 2>/dev/null | awk '/%.*ten +\[\.\] / { sub("%", "", $1); print $1, $NF }' | head -n 10 >shares
	compress_shares=$(wc -l <shares)
	test "$compress_shares" -ge 10
	while read -r share name; do
		near "$(flat p.pb.gz "$name")" "$share" 0.1
	done <shares
END

check 'each function of a whole profile, libraries and kernel too, has its share by perf report' <<'END'
	cat >work <<-END
	python3 -c "
	import json, re
	for i in range(20000): re.sub(\"[0-9]\", \"x\", json.dumps({1: i, 2: [i] * 5}))"
	seq 100000 | sort -R | sort -n | tail -n 1
	find /usr/share -type f | head -n 5000 | xargs -n 1000 stat | gzip -1 | wc -c
	END
	perf_record -e cpu-clock -F 5000 -o p.data -- sh ./work
	pmu-symbolize --inlines no p.data | pmu-topprof >p.pb.gz
	perf report -i p.data --stdio --sort symbol --percent-limit 0 2>/dev/null |
		sed -nE "s/^ *([0-9.]+)% +\[.\] ([^ ]+).*/\1 \2/p" >theirs
	go tool pprof -top -nodecount=100000 -nodefraction=0 p.pb.gz 2>/dev/null |
		awk 'seen { sub("%", "", $2); print $2, $6 } /flat%/ { seen = 1 }' >ours
	# perf shows versions of symbols, addresses without one by themselves; and of the PLT it
	# names neither entries in .plt.got nor those of indirect functions
	awk '{ sub(/@+[A-Z].*/, "", $2) }
		$2 ~ /^0x/ || $2 ~ /^\[/ || $2 ~ /@plt$/ { next }
		{ name[$2]; share[FILENAME, $2] += $1; n[FILENAME]++ }
		END { for (f in name) { d = share["ours", f] - share["theirs", f]
				if (d > 0.1 || d < -0.1) { print f, share["theirs", f], share["ours", f]; bad++ } }
			print n["theirs"] " and " n["ours"] " functions"
			exit bad > 0 || n["theirs"] < 100 }' theirs ours
END

check 'a stream that was not symbolized makes a profile that pprof symbolizes itself' <<'END'
	pmu-sample -e cpu-clock -F 1000 -- ten serial 1 | pmu-topprof >raw.pb.gz
	go tool pprof -top -symbolize=local raw.pb.gz >top 2>err
	grep -q " J$" top
	cp "$(command -v ten)" moved
	pmu-sample -e cpu-clock -F 1000 -- ./moved serial 0.3 | pmu-topprof >moved.pb.gz
	go tool pprof -raw moved.pb.gz >raw
	id=$(file_build_id moved)
	test -n "$id"
	grep -q "/moved $id" raw
END

check 'a program that is not ours: xz, by name' <<'END'
	command -v xz >/dev/null || { echo "no xz"; exit 77; }
	head -c 30000000 /dev/urandom | xz -0 -T1 >/dev/null &
	pid=
	for try in $(seq 50); do
		pid=$(pgrep -n -x xz) && break
		sleep 0.02
	done
	pmu-sample -e cpu-clock -F 1000 -p "$pid" -d 1 | pmu-symbolize | pmu-topprof >p.pb.gz
	wait
	go tool pprof -top p.pb.gz >top
	grep -q "liblzma\|lzma" top
END

check 'python3, with its libraries, by name' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -- python3 -c "
import json
for i in range(3000): json.loads(json.dumps(list(range(300))))
" | pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top -cum p.pb.gz >top
	cat top
	grep -q "PyEval\|_PyObject\|PyLong\|Py_" top
END

check 'a pipe whose sampler is killed ends with what there was' <<'END'
	ten serial 60 &
	target=$!
	{ pmu-sample -e cpu-clock -F 1000 -p $target & echo $! >pid; wait; } 2>/dev/null | pmu-symbolize | pmu-topprof >p.pb.gz &
	sleep 1.5
	kill -9 "$(cat pid)"
	wait $! || :
	kill $target
	test "$(total p.pb.gz samples)" -gt 100
END

done_testing
