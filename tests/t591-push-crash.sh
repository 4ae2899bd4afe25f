#!/bin/sh
# pmu-serve --push and all that may happen to it: it is killed, its disk is full, the clock is set
# back, files are damaged, its tools fail, its credentials change.  Nothing is lost but what is
# counted, and nothing is counted twice.
# PUSH=SECONDS (make check-all): ten servers for so long, which are killed, as are the receivers.
# kinds: release
. tests/lib.sh
. tests/serving.sh
. tests/pushing.sh

# any N: a random number below N; seed is in $dice, which the log shows
dice=$$
any() {
	dice=$(((dice * 1103515245 + 12345) % 2147483648))
	drawn=$((dice / 65536 % $1))
}

# storm SERVERS ROUNDS: servers and receivers fail and die in turn, while profiles are added; ends
# when all are well again, and everything must be there
storm() {
	mkdir -m 700 ring
	names=$(seq -f s%g "$1")
	start=$(($(date +%s) - 80000))
	idle
	receive $names
	for name in $names; do push $name "$(at $name)" --service $name; done
	for round in $(seq "$2"); do
		any 300
		sleep 0.$((1000 + drawn))
		any "$1"
		name=s$((drawn + 1))
		any 7
		echo "$round: $name $drawn"
		case $drawn in
		0 | 1 | 2)
			die $name
			push $name "$(at $name)" --service $name ;;
		3)	kill -KILL $receiver
			wait $receiver 2>/dev/null || :
			receive $names ;;
		4)	echo random >to/$name/fault ;;
		5)	echo refuse >to/$name/fault ;;
		6)	rm -f to/$name/fault ;;
		esac
		for name in $names; do
			pushes make run/$name/ring 1 length=10 start=$((start + 10 * round))
		done
		test -z "$PUSH" || test $(date +%s) -lt $((began + PUSH)) || break
	done
	rm -f to/*/fault
	for name in $names; do
		eventually nothing_pending $name
		slowly pushes compare to/$name run/$name/ring host=h1 service=$name >compared
	done
	nothing_wrong
}

check 'servers and receivers that are killed at any moment lose nothing' <<'END'
	any_user
	needs_command curl
	began=$(date +%s)
	if test -n "$PUSH"; then
		PATIENCE=1200 storm 10 100000
	else
		storm 2 12
	fi
END

check 'a signal ends it, also while a server is silent, and the next run sends the rest' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 3
	idle
	receive one=200,silent
	push one "$(at one)"
	asked() { test "$(wc -l <to/one/log)" = 2; }
	eventually asked
	kill "$(cat run/one/pid)"
	exits 0 wait "$(cat run/one/pid)"
	push one "$(at one)"
	eventually has 3 one
	eventually nothing_pending one
	test "$(wc -l <to/one/log)" = 4		# what was sent is not sent again
	pushes compare to/one run/one/ring host=h1
	nothing_wrong
END

check 'on a full disk profiles are still sent, and after a crash none is missing' <<'END'
	any_user
	needs_root
	needs_command curl
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	mkdir -p ring run/one/ring bin
	pushes make ring 4
	cat >bin/pmu-serve <<-EOF
		#!/bin/sh
		mount -t tmpfs -o mode=700,size=256k none "$PWD/run/one/ring" &&
		cp ring/* run/one/ring && { cat /dev/zero >run/one/ring/filler || :; } 2>/dev/null
		exec "$BIN/pmu-serve" "\$@"
	EOF
	chmod +x bin/pmu-serve
	printf '#!/bin/sh\nexec unshare -m "%s" "$@"\n' "$PWD/bin/pmu-serve" >bin/inside
	chmod +x bin/inside
	mkdir path
	ln -s ../bin/inside path/pmu-serve
	idle
	receive one
	PATH=$PWD/path:$PATH PMU_PATH=$PMU_PATH:$BIN push one "$(at one)"
	eventually has 4 one
	said() { grep "No space left on device" run/one/err; }
	eventually said
	full=/proc/$(cat run/one/pid)/root$PWD/run/one/ring
	test "$(cd $full && echo profile*)" = "$(cd ring && echo profile*)"
	rm $full/filler
	pushes make ring 1 length=30
	cp ring/profile*-30.pb.gz $full
	eventually has 5 one
	eventually nothing_pending one
	pushes compare to/one ring host=h1
	nothing_wrong
END

check 'a mark that is damaged or lost, a name that is used again, and another server' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 2
	idle
	receive one other
	# sends COUNT: a new run sends so many more
	sent=0
	sends() {
		sent=$((sent + $1))
		push one "$(at one)"
		eventually has $sent one
		eventually nothing_pending one
		die one
		test "$(ls to/one/stored | wc -l)" = $sent
	}
	sends 2
	sends 0
	mark=$(find run/one/ring -type f ! -name "profile-*")
	test "$(echo "$mark" | wc -l)" = 1
	cp "$mark" mark
	for size in 0 1 20; do		# it is cut
		head -c $size mark >"$mark"
		sends 2
		grep "$(basename "$mark")" run/one/err
	done
	rm "$mark"
	sends 2
	sed 's/ [0-9]* / 61 /' mark >"$mark"	# one digit is wrong
	sends 2
	# the clock is set back: a new profile has the name of one that was sent
	first=$(ls run/one/ring | head -n 1)
	start=$(echo $first | sed 's/profile-\([0-9]*\)-.*/\1/')
	pushes make run/one/ring 1 start=$start stacks=9
	sends 1
	push other "$(at other)"
	eventually has 2 other
	# all of one server belongs to it alone, and two servers share no directory
	exits 1 pmu-serve -l 127.0.0.1:0 -p $idle --keep 24h --push "$(at one)" run/other/ring 2>err
	nothing_wrong
END

check 'what is deleted before it was sent, or cannot be read, is counted and reported' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 4
	# damaged: cut, empty, not a profile; no files of ours: links, other names
	cd ring
	names=$(ls)
	set -- $names
	now=$(date +%s)
	head -c 700 $1 >profile-$((now - 100))-9.pb.gz
	: >profile-$((now - 200))-9.pb.gz
	seq 9999 >profile-$((now - 300))-9.pb.gz
	ln -s $1 profile-$((now - 400))-9.pb.gz
	ln -s $1 profile-x-9.pb.gz
	mkdir profile-$((now - 500))-9.pb.gz
	cd ..
	idle
	receive one away
	push one "$(at one)"
	eventually has 4 one
	# what cannot be read is tried again after others: it may be the tool that fails
	for more in 11 12 13; do
		pushes make run/one/ring 1 length=$more start=$((now + 100 * more - 5000))
		cp run/one/ring/*-$more.pb.gz ring
		eventually has $((more - 6)) one
	done
	eventually nothing_pending one
	test "$(metric_of one push_profiles_total)" = 7
	test "$(metric_of one "push_dropped_total{reason=\"damaged\"}")" = 3
	for back in 100 200 300; do grep "profile-$((now - back))-9" run/one/err; done
	rm -rf ring/*-9.pb.gz
	pushes compare to/one ring host=h1
	nothing_wrong
	rm ring/*-1[123].pb.gz
	# too many bytes: what is deleted is lost, and said
	echo refuse >to/away/fault
	push away "$(at away)" --keep 24h,$(($(cat ring/* | wc -c) + 100))
	tried() { test "$(metric_of away push_pending)" = 4; }
	eventually tried
	test "$(metric_of away "push_dropped_total{reason=\"deleted\"}")" = 0
	later=$(($(date +%s) - 50))
	pushes make run/away/ring 2 length=20 start=$later
	pushes make ring 2 length=20 start=$later
	dropped() { test "$(metric_of away "push_dropped_total{reason=\"deleted\"}")" = $1; }
	eventually dropped 2
	grep "deleted" run/away/err
	rm to/away/fault
	eventually has 4 away
	eventually nothing_pending away
	pushes compare to/away ring host=h1 only=4
	# what was sent is not lost when it is deleted
	pushes make run/away/ring 1 length=25
	eventually has 5 away
	dropped 2
END

check 'tools that fail or write half a row are tried again, and half a row is not sent' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 3
	idle
	fake pmu-topprof <<-EOF
		case "\$*" in *--split*) exec sleep 600 ;; esac
		echo x >>"$PWD/calls"
		case \$(wc -l <"$PWD/calls") in
		1)	kill -KILL \$\$ ;;
		2)	"$BIN/pmu-topprof" "\$@" | head -c 1000; exit 3 ;;
		*)	exec "$BIN/pmu-topprof" "\$@" ;;
		esac
	EOF
	receive one
	push one "$(at one)"
	eventually has 3 one
	eventually nothing_pending one
	pushes compare to/one ring host=h1
	nothing_wrong
	grep "signal 9" run/one/err
	at_least "$(metric_of one "push_failures_total{reason=\"profile\"}")" 2
END

check 'credentials come from a file that others cannot read, and a new file is used at once' <<'END'
	any_user
	needs_command curl
	umask 077
	mkdir ring
	pushes make ring 2
	idle
	receive basic bearer
	refuses() {
		exits 1 pmu-serve -l 127.0.0.1:0 -p $idle --keep 24h --push "$(at basic)" \
			--push-credentials credentials ring 2>err
		cat err
		grep "credentials" err
	}
	refuses
	echo user:password >credentials
	for mode in 604 620 644; do
		chmod $mode credentials
		refuses
		grep "'chmod 600" err
	done
	chmod 600 credentials
	: >credentials
	refuses
	printf 'user:pass\001word\n' >credentials
	refuses
	echo "Basic $(printf user:password | base64)" >to/basic/authorization
	echo "Bearer 0123456789abcdef" >to/bearer/authorization
	echo user:password >credentials
	echo user:wrong >later
	push basic "$(at basic)" --push-credentials credentials
	push bearer "$(at bearer)" --push-credentials later
	eventually has 2 basic
	tried() { test "$(wc -l <to/bearer/log)" -ge 3; }
	eventually tried
	test "$(grep -c 401 run/bearer/err)" = 1	# in an hour
	echo "Bearer 0123456789abcdef" >new
	mv new later
	eventually has 2 bearer
	eventually nothing_pending bearer
	pushes compare to/basic to/bearer ring host=h1
	nothing_wrong
	none grep -r "password\|0123456789abcdef" run/*/err run/*/ring \
		"/proc/$(cat run/basic/pid)/cmdline"
END

done_testing
