#!/bin/sh
# The whole pipe: against the truth of workloads, and as pprof reads it.
# kinds: quick release user
. tests/lib.sh

# top PROFILE: each function with its flat percentage, as pprof says
top() {
	go tool pprof -top -nodecount=100000 -nodefraction=0 "$1" 2>/dev/null |
		awk 'seen { sub("%", "", $2); print $6, $2 } /flat%/ { seen = 1 }'
}

# ten_shares TOP: of "ten"'s functions, each as a percentage of all ten
ten_shares() {
	awk '/^[A-J] / { share[$1] = $2; sum += $2 }
		END { for (f in share) printf "%s %.2f\n", f, 100 * share[f] / sum }' "$1" | sort
}

# points: the tolerance of a share, of 600 ms in which the host took $taken
points() { awk "BEGIN { print 2 + 100 * $taken / 600 }"; }

# are_equal SHARES: ten functions at 10 % each, within 2 points
are_equal() {
	cat "$1"
	test "$(wc -l <"$1")" = 10 || return
	while read -r name share; do near "$share" 10 "$(points)" || return; done <"$1"
}

# have_55ths SHARES: ten functions with 1/55 .. 10/55, within 2 points
have_55ths() {
	test "$(wc -l <"$1")" = 10 || return
	n=1
	while read -r name share; do
		near "$share" "$(awk "BEGIN { print 100 * $n / 55 }")" "$(points)" || return
		n=$((n + 1))
	done <"$1"
}

# of_three COMMAND...: some hosts stop a CPU for many ms and do not report it as stolen, and the
# samples of that time are missing: of three recordings one must be right
of_three() { "$@" || "$@" || "$@"; }

# samples_of PROFILE: how many samples pprof finds
samples_of() {
	go tool pprof -raw "$1" 2>/dev/null | awk '
		/^Locations/ { exit }
		/^ +[0-9]+ +[0-9]+: / { sum += $1 }
		END { print sum + 0 }'
}

is_as_large() { test "$(stat -c %s "$1")" -ge "$2"; }

# One recording for many checks
(
	cd "$scratch" || exit 1
	record() {
		pmu-sample -g -e cpu-clock -F 1000 -- ten serial 0.6 | tee ten.data |
			pmu-symbolize | pmu-topprof >ten.pb.gz
	}
	right() {
		undisturbed record
		top ten.pb.gz >top
		ten_shares top >shares
		have_55ths shares
	}
	of_three right >tries || :
	echo "$taken" >taken
)

check 'ten functions of 1/55 .. 10/55 of the time come out within 2 points' <<'END'
	top "$scratch/ten.pb.gz" >top
	cat top
	# the kernel has a share, too, the larger the more other programs run
	at_least "$(awk '/^[A-J] / { sum += $2 } END { print sum }' top)" 80
	ten_shares top >shares
	read -r taken <"$scratch/taken"
	have_55ths shares
END

check 'ten equal threads come out at 10 % each, within 2 points' <<'END'
	any_user
	record() {
		pmu-sample -e cpu-clock -F 1000 -- ten threads 0.6 |
			pmu-symbolize | pmu-topprof >p.pb.gz
	}
	right() {
		undisturbed record
		top p.pb.gz | grep '^[A-J] ' >shares
		are_equal shares
	}
	of_three right
END

check 'ten threads that a process creates while we are attached come out at 10 %, too' <<'END'
	record() {
		rm -f s.data go
		sh -c 'until test -e go; do :; done; exec ten growing 0.6' &
		pmu-sample -e cpu-clock -F 1000 -o s.data -p $! &
		sampler=$!
		eventually samples_or_ended
		touch go
		wait
	}
	samples_or_ended() { is_as_large s.data 4096 || gone $sampler; }
	right() {
		undisturbed record
		pmu-symbolize s.data | pmu-topprof >p.pb.gz
		top p.pb.gz >top
		ten_shares top >shares
		are_equal shares
	}
	of_three right
END

check 'pprof reads it every way, without a warning' <<'END'
	any_user
	p=$scratch/ten.pb.gz
	for mode in -top -raw -tree '-peek=^J$' -traces -comments; do
		go tool pprof $mode "$p" >"out$mode" 2>err
		test -s "out$mode"
		test ! -s err
	done
	grep -qx 'PeriodType: cpu nanoseconds' out-raw
	grep -qx 'Period: 1000000' out-raw
	grep -q '^samples/count cpu/nanoseconds\[dflt\]' out-raw
	grep -q '^Duration: [1-9]' out-raw
	grep -q '^Time: 20' out-raw
	awk '/^Mappings/ { getline; print; exit }' out-raw | grep -q '/ten '
	grep -q '^command: pmu-sample -g -e cpu-clock -F 1000 -- ten serial 0.6' out-comments
	grep -q "^host: $(uname -n) $(uname -m) Linux $(uname -r)" out-comments
	grep -q '^command: .* | pmu-symbolize' out-comments
	# the reader's first lines are not for programs: two comments, and what is not well
	awk '/^Type: / { exit } !/^(File|Build ID): /' out-top >before
	none grep -v '^command: \|^host: \|^lost: \|^cut stacks ' before
	test "$(grep -c '^command: \|^host: ' before)" = 2
	facts "$p" | grep -q '^figures: samples='
END

check 'of several programs that ran the one with most samples gives the profile its name' <<'END'
	pmu-sample -e cpu-clock -F 1000 -- \
		sh -c 'head -c 100000 /dev/zero | cksum; ten serial 0.2' |
		pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz | grep -qx 'File: ten'
END

check 'pprof serves it by HTTP' <<'END'
	any_user
	needs_loopback
	needs_command python3
	cat >fetch.py <<-'EOF'
	import sys, urllib.request
	open("page", "wb").write(urllib.request.urlopen(sys.argv[1]).read())
	EOF
	go tool pprof -http localhost: -no_browser "$scratch/ten.pb.gz" >log 2>&1 &
	eventually grep -q http://localhost:[0-9] log
	url=$(sed -n 's|.*\(http://localhost:[0-9]*\).*|\1|p' log)
	eventually python3 fetch.py "$url/ui/top"
	grep -q 'main' page
END

check 'J has the caller that perf finds' <<'END'
	any_user
	needs_command perf
	pmu-symbolize --inlines no "$scratch/ten.data" | pmu-topprof >p.pb.gz
	go tool pprof -peek='^J$' p.pb.gz >peek
	perf script --no-inline -i "$scratch/ten.data" -F ip,sym >script
	caller=$(awk 'BEGIN { RS = ""; FS = "\n" } $1 ~ / J$/ { split($2, f, " "); print f[2] }' \
		script | sort | uniq -c | sort -rn | awk '{ print $2; exit }')
	test -n "$caller"
	grep -q " $caller\$" peek
END

check 'function shares are those of perf report, on the same recording' <<'END'
	any_user
	needs_command perf
	top "$scratch/ten.pb.gz" >ours
	perf report -i "$scratch/ten.data" --no-children --stdio -g none --percent-limit 0 2>/dev/null |
		awk '/%.*ten +\[\.\] / { sub("%", "", $1); print $1, $NF }' | head -n 10 >shares
	test "$(wc -l <shares)" -ge 10
	while read -r share name; do
		near "$(awk -v name="$name" '$1 == name { print $2 }' ours)" "$share" 0.1
	done <shares
END

# It takes long, and reads files only: one kind will do.
if test "${KIND:-release}" = release; then
check 'each function of a whole profile, libraries and kernel too, has its share by perf' <<'END'
	needs_command perf
	cat >work.py <<-'EOF'
	import json, re
	for i in range(6000):
	    re.sub("[0-9]", "x", json.dumps({1: i, 2: [i] * 5}))
	EOF
	cat >work <<-'EOF'
	python3 work.py
	seq 30000 | sort -R | sort -n | tail -n 1
	find /usr/share -type f | head -n 2000 | xargs -n 1000 stat | gzip -1 | wc -c
	EOF
	perf_record -e cpu-clock -F 10000 -o p.data -- sh ./work
	pmu-symbolize --inlines no p.data | pmu-topprof >p.pb.gz
	perf report -i p.data --stdio --sort symbol --percent-limit 0 2>/dev/null |
		sed -nE 's/^ *([0-9.]+)% +\[.\] ([^ ]+).*/\2 \1/p' >theirs
	top p.pb.gz >ours
	# perf shows versions of symbols, addresses without one by themselves; and of the PLT it
	# names neither entries in .plt.got nor those of indirect functions.  pprof has one row for
	# code of the kernel in no module, such as BPF programs.
	cat >compare.awk <<-'EOF'
	{ sub(/@+[A-Z].*/, "", $1) }
	$1 ~ /^0x/ || $1 ~ /^\[/ || $1 ~ /@plt$/ || $1 == "<unknown>" { next }
	{ name[$1]; share[FILENAME, $1] += $2; n[FILENAME]++ }
	END {
		for (f in name) {
			d = share["ours", f] - share["theirs", f]
			if (d > 0.1 || d < -0.1) {
				print f, share["theirs", f], share["ours", f]
				bad++
			}
		}
		print n["theirs"] " and " n["ours"] " functions"
		exit bad > 0 || n["theirs"] < 100
	}
	EOF
	awk -f compare.awk theirs ours
END
fi

check 'a stream that was not symbolized makes a profile that pprof symbolizes itself' <<'END'
	any_user
	pmu-topprof "$scratch/ten.data" >raw.pb.gz
	go tool pprof -top -symbolize=local raw.pb.gz >top 2>err
	grep -q ' J$' top
	cp "$(command -v ten)" moved
	pmu-sample -e cpu-clock -F 1000 -- ./moved serial 0.1 | pmu-topprof >moved.pb.gz
	go tool pprof -raw moved.pb.gz >raw
	id=$(file_build_id moved)
	test -n "$id"
	grep -q "/moved $id" raw
END

check 'a program that is not ours: xz, by name' <<'END'
	any_user
	needs_command xz
	xz -0 -T1 </dev/urandom >/dev/null &
	pmu-sample -e cpu-clock -F 1000 --max-size=16K -p $! |
		pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz >top
	cat top
	grep -q 'liblzma\|lzma' top
END

check 'python3, with its libraries, by name' <<'END'
	needs_command python3
	cat >work.py <<-'EOF'
	import json
	for i in range(1000):
	    json.loads(json.dumps(list(range(300))))
	EOF
	pmu-sample -g -e cpu-clock -F 1000 -- python3 work.py |
		pmu-symbolize | pmu-topprof >p.pb.gz
	go tool pprof -top -cum p.pb.gz >top
	cat top
	grep -q 'PyEval\|_PyObject\|PyLong\|Py_' top
END

check 'a pipe whose sampler is killed ends with what there was' <<'END'
	ten serial 1000000 &
	target=$!
	mkfifo pipe
	pmu-sample -e cpu-clock -F 1000 -p $target >pipe &
	sampler=$!
	tee stream <pipe | pmu-symbolize | pmu-topprof >p.pb.gz &
	rest=$!
	eventually is_as_large stream 16384	# some 300 samples
	kill -9 $sampler
	wait $rest || :
	kill $target
	at_least "$(samples_of p.pb.gz)" 200
END

done_testing
