#!/bin/sh
# pmu-prof --host: another machine, which is here a real sshd on loopback, a shell in its place, or
# a program that says what no honest host says.
# kinds: release asan
. tests/lib.sh

# Where root runs this, the host is a mount namespace that has an ordinary user "guest" in a private
# /etc/passwd, with homes of several kinds in /run, and a /tmp of its own: nothing stays behind.
# Where an ordinary user runs it, the host is this machine, with this user and a private home.
homes=$scratch/host
mkdir -p "$homes/etc" "$homes/guest" "$homes/sshd" "$scratch/ssh" "$scratch/fake" "$scratch/odd"
for kind in ssh fake odd; do ln -s "$HELP/ten" "$scratch/$kind/ten"; done
no_host= no_sshd='' sshd=$(command -v sshd)
test -n "$sshd" && command -v ssh >/dev/null && command -v ssh-keygen >/dev/null ||
	no_sshd='no sshd, ssh and ssh-keygen' sshd=

cat >"$scratch/become-host" <<'END'
set -e
cd "$1"
mount -t tmpfs -o mode=755 none /run
cp -r etc sshd guest /run
mkdir -p /run/closed /run/noexec /run/full
mount -t tmpfs -o mode=777,noexec none /run/noexec
mount -t tmpfs -o mode=777,size=256k none /run/full
cat /etc/passwd etc/guest >/run/etc/passwd
echo guest:x:61234: | cat /etc/group - >/run/etc/group
chown -R 61234:61234 /run/guest
chown 0:0 /run /run/sshd /run/closed
mount --bind /run/etc/passwd /etc/passwd
mount --bind /run/etc/group /etc/group
cp "$2" /run/ten
mount -t tmpfs -o mode=1777,size=16m none /tmp
cd /run
touch ready
test -z "$3" || exec "$3" -D -e -f /run/etc/sshd_config
exec sleep 3600
END

# start_host: begin; $host is its pid, $on what ssh calls it, $there its root directory
start_host() {
	in=$homes me=$(id -un) user=guest port=$(python3 -c "
import socket
s = socket.socket()
s.bind(('127.0.0.1', 0))
print(s.getsockname()[1])")
	if test "$(id -u)" = 0; then
		in=/run
		unshare -m true 2>/dev/null || { no_host='no mount namespaces'; return; }
	else
		user=$me
		case $(getent passwd "$me" | cut -d : -f 7) in
		*/nologin | */false | '') no_sshd="$me cannot log in" sshd= ;;
		esac
	fi
	echo guest:x:61234:61234::/run/guest:/bin/sh >"$homes/etc/guest"
	on=$user@127.0.0.1
	if test -n "$sshd"; then
		ssh-keygen -q -t ed25519 -N '' -f "$homes/etc/host" &&
			ssh-keygen -q -t ed25519 -N '' -f "$scratch/ssh/key" || return
		cp "$scratch/ssh/key.pub" "$homes/etc/authorized"
	fi
	cat >"$homes/etc/sshd_config" <<-END
	Port $port
	ListenAddress 127.0.0.1
	HostKey $in/etc/host
	AuthorizedKeysFile $in/etc/authorized
	StrictModes no
	UsePAM no
	PidFile none
	PasswordAuthentication no
	LogLevel ERROR
	SetEnv HOME=$in/guest
	END
	cat >"$scratch/ssh/config" <<-END
	Host *
	Port $port
	IdentityFile $scratch/ssh/key
	IdentitiesOnly yes
	UserKnownHostsFile $scratch/ssh/known
	StrictHostKeyChecking accept-new
	LogLevel ERROR
	END
	printf '#!/bin/sh\nexec %s -F %s/ssh/config "$@"\n' "$(command -v ssh)" "$scratch" \
		>"$scratch/ssh/ssh"
	# in place of ssh: what comes after the name of the host, by a login shell
	cat >"$scratch/fake/ssh" <<-'END'
	#!/bin/sh
	while test "$1" != --; do shift; done
	shift 2
	test "$(id -u)" != 0 || as="nsenter -m -t $host setpriv --reuid=61234 --regid=61234
		--clear-groups --inh-caps=-all --bounding-set=-all"
	exec $as env ${path:+PATH="$path"} sh -c 'cd "$HOME" && exec "$@"' - ${login:-sh} -c "$*"
	END
	chmod +x "$scratch"/*/ssh
	if test "$(id -u)" = 0; then
		setsid unshare -m sh "$scratch/become-host" "$homes" "$HELP/ten" "$sshd" \
			>"$scratch/sshd.log" 2>&1 &
	else
		cp "$HELP/ten" "$homes/ten"
		${sshd:-sleep 3600} ${sshd:+-D -e -f "$homes/etc/sshd_config"} \
			>"$scratch/sshd.log" 2>&1 &
		touch "$homes/ready"
	fi
	host=$!
	there=/proc/$host/root$in
	test "$(id -u)" = 0 || there=$homes
	export host
	eventually test -e "$there/ready"
	strip -o "$scratch/pmukit" "$BIN/pmukit"
}

# by ssh|fake|odd [HOME]: from here on, this is ssh, and this the home of the user there
by() {
	test "$1" = odd || test -z "$no_host" || skip "$no_host"
	test "$1" != ssh || test -z "$no_sshd" || skip "$no_sshd"
	test "$1" != ssh || needs_loopback
	PATH=$scratch/$1:$PATH
	test "$1" = ssh || export HOME="$in/${2:-guest}"
}

# prof OPTION...: pmu-prof on that host
prof() {
	pmu-prof --host "$on" --host-binary "$scratch/pmukit" -e cpu-clock "$@"
}

# begin OPTION...: the same, and then ready, in the background; $pid is its process
begin() {
	rm -f out	# of the one before
	(exec pmu-prof --host "$on" --host-binary "$scratch/pmukit" -e cpu-clock "$@" >out 2>err) &
	pid=$!
	eventually grep -q ready out
}

# kept DIRECTORY: the files there, with mode and owner
kept() { find "$there/$1" ! -type d -printf '%P %m %U\n' | sort; }

sanitized || start_host

check 'by a real sshd: words, input, output, status and files as of a run here' <<'END'
	unsanitized
	by ssh
	cat >say <<-'EOF'
	printf '[%s]' "$@"
	cat
	echo to stderr >&2
	i=0
	while test $i -lt 60000; do i=$((i + 1)); done
	exit 7
	EOF
	new=$(printf 'new\nline\t\033!')
	for where in prof pmu-prof; do
		echo input | exits 7 $where -F 2000 -o $where -- sh -c "$(cat say)" - 'a  b' \
			"it's" '"q"' '$HOME `id` \ * ! ~' "$new" '' -p '!!' >out.$where 2>err.$where
		ls $where.pb.gz $where.html
		grep -qx 'to stderr' err.$where
		grep -qx "file://$(pwd -P)/$where.html" err.$where
		test "$(tail -n 1 err.$where)" = "go tool pprof -http : $where.pb.gz"
		grep -q "^[0-9]* samples[;,] " err.$where
		pmu-top -t samples $where.pb.gz | grep -q "dash\|strlen\|sh"
	done
	same out.pmu-prof out.prof
	# a name of the command, and the time; the second run has found the file of the first
	sum=$(sha256sum <"$scratch/pmukit" | cut -c 1-64)
	touch -d @1 "$there"/guest/.cache/pmukit-*/*
	prof -q -F 5000 -- "$in/ten" serial 0.05
	ls ten-[0-9]*-[0-9]*.pb.gz ten-[0-9]*-[0-9]*.html
	id=$(stat -c %u "$there/guest/.cache")
	test "$(kept guest)" = ".cache/pmukit-$id/pmukit-$sum 700 $id"
	test "$(stat -c %a "$there/guest/.cache/pmukit-$id")" = 700
	test "$(stat -c %Y "$there/guest/.cache/pmukit-$id/pmukit-$sum")" = 1
	none ls .pmukit-*
END

check 'rights and programs are those of the other machine; its messages come through' <<'END'
	unsanitized
	by ssh
	exits 1 prof -d 0.1 -p 1 2>err || { test "$(id -u)" != 0; cat err; }
	grep -q "^pmu-sample: .*\(ermi\|CAP_\|paranoid\)" err
	exits 1 prof -- no-such-program 2>err
	grep -qx "pmu-prof: cannot run 'no-such-program': No such file or directory" err
	test "$(wc -l <err)" = 1
	exits 1 prof -o /no/where -- true 2>err
	grep -q "cannot write '/no/where.pb.gz'" err
END

# small: make a small program, which does nothing, but has the mark of pmukit
small() {
	test -e "$scratch/small" || gcc -static -s -o "$scratch/small" -x c - <<-'EOF'
	volatile const char mark[] = "run one of the tools, which are all in this file";
	int main(void) { return !mark[0]; }
	EOF
}

# copy OPTION...: only copy a program there
copy() {
	small
	exits 1 pmu-prof --host "$on" --host-binary "$scratch/small" "$@" -- true
}

# places: where a program is there
places() { (cd "$there/.." && find run tmp -name 'pmukit-????????*' | sort); }

check 'the first of --host-dir, ~/.cache and /tmp that can be written and executed' <<'END'
	unsanitized
	needs_root
	by fake
	# use HOME WHERE [OPTION]...: from this home, with this option, the file is in WHERE
	use() {
		by fake "$1"
		where=$2
		shift 2
		rm -rf "$there"/*/.cache "$there"/guest/dir/* "$there/../tmp/pmukit-61234"
		copy -q "$@"
		places | grep -q "^$where/pmukit-61234/pmukit-[0-9a-f]*$" || { places; return 1; }
		test "$(places | wc -l)" = 1
		none find "$there" "$there/../tmp" -name "try.*"
	}
	mkdir "$there/guest/dir"
	chown 61234 "$there/guest/dir"
	use guest run/guest/.cache
	use guest run/guest/dir --host-dir /run/guest/dir
	use guest run/guest/dir --host-dir dir
	use guest run/guest/.cache --host-dir /run/none
	# a note says why not there; so it does for what looks like an option
	mkdir "$there/guest/-P"
	chown 61234 "$there/guest/-P"
	use guest run/guest/-P --host-dir -P
	copy --host-dir -P 2>err
	none grep "not used" err
	rm -r "$there/guest/-P"
	for unused in "/run/none: there is no such directory" "/run/closed: it cannot be written" \
			"/run/noexec: programs there cannot be run"; do
		copy --host-dir "${unused%%:*}" 2>err
		grep -qx "pmu-prof: on '$on': --host-dir is not used: $unused" err
		test "$(grep -c "not used" err)" = 1
	done
	copy --host-dir -x 2>err
	grep -qx "pmu-prof: on '$on': --host-dir is not used: ./-x: there is no such dir.*" err
	use closed tmp
	use noexec tmp
	use full tmp
	# the second run, with a full disk: the file is there
	dd if=/dev/zero of="$there/../tmp/fill" 2>/dev/null || :
	copy 2>err
	none grep "is of use" err
	rm "$there/../tmp/fill"
	# nowhere: a line that says why, and nothing stays
	rm -rf "$there/../tmp/pmukit-61234"
	chmod 755 "$there/../tmp"
	copy --host-dir /run/noexec 2>err
	test "$(wc -l <err)" = 1
	grep -q "^pmu-prof: no directory on '$on' is of use: /run/noexec: programs there" err
	grep -q "; /run/full/.cache: the program cannot be written; /tmp: it cannot be written$" err
	none places
	none find "$there/full" "$there/noexec" -name "*try.*"
	chmod 1777 "$there/../tmp"
END

check 'a directory that is not the own, or not private, is refused; so is a changed file' <<'END'
	unsanitized
	by fake
	id=$(id -u)
	test "$id" != 0 || id=61234
	dir=$there/guest/.cache/pmukit-$id other=$there/guest/pmukit-$id
	rm -rf "$dir"
	own() { test "$(id -u)" != 0 || chown -h "$id:$id" "$@"; }
	for planted in link open shared foreign file dangling; do
		rm -rf "$other" "$there/guest/private"
		mkdir "$there/guest/private"
		chmod 700 "$there/guest/private"
		case $planted in
		link)	ln -s private "$other" ;;
		open)	mkdir "$other"; chmod 755 "$other" ;;
		shared)	mkdir "$other"; chmod 770 "$other" ;;
		foreign) test "$(id -u)" = 0 || continue
			mkdir "$other"; chmod 700 "$other" ;;
		file)	touch "$other"; chmod 700 "$other" ;;
		dangling) ln -s nothing "$other" ;;
		esac
		own "$there/guest/private"
		test $planted = foreign || own "$other"
		copy --host-dir "$in/guest" 2>err
		grep -q "on '$on': '$in/guest/pmukit-$id' is not used: it is not a directory of" err
		test "$(grep -c "not used" err)" = 1
		none ls "$there/guest/private"
		test ! -d "$other" || none ls "$other"
		test -s "$dir"/pmukit-*
	done
	rm -rf "$other"
	# the file is not what its name says
	file=$(ls "$dir"/pmukit-*)
	printf x | dd of="$file" bs=1 seek=99999 conv=notrunc 2>/dev/null
	copy -q
	cmp "$file" "$scratch/small"
	: >"$file"
	copy -q
	cmp "$file" "$scratch/small"
	# without a program for SHA-256 it is copied each time
	mkdir "$there/guest/few"
	for program in sh cat head cut wc id uname ls mkdir chmod mv rm; do
		ln -s "$(command -v $program)" "$there/guest/few"
	done
	printf x | dd of="$file" bs=1 seek=99999 conv=notrunc 2>/dev/null
	path=$in/guest/few copy 2>err
	grep -q "there is no program for SHA-256, so pmukit is copied for each run" err
	cmp "$file" "$scratch/small"
END

check 'the file is static and for that machine: beside pmu-prof, in libexec/pmukit, in PATH' <<'END'
	unsanitized
	by fake
	copy -q
	refuses() {
		exits 1 pmu-prof --host "$on" --host-binary "$1" -- true 2>err
		test "$(wc -l <err)" = 1
		grep -q "$2" err
	}
	refuses "$TOP/README.md" "README.md' cannot be copied to '$on': it is not an ELF file;"
	refuses /usr/bin/env "it is not static; it takes a static pmukit for $(uname -m)$"
	sed 's/run one of the tools, which/run one of the tools: which/' "$scratch/small" >unmarked
	refuses unmarked "it is not pmukit; it takes a static pmukit for $(uname -m)$"
	refuses none "cannot read 'none': No such file"
	refuses . "cannot read '.'"
	for byte in '4 \001 it.does.not.have.64.bits' '18 \026 it.is.for.another.machine' \
			'5 \002 it.is.for.another.machine' '56 \0 it.is.not.static'; do
		set -- $byte
		cp "$scratch/small" changed
		printf "$2" | dd of=changed bs=1 seek="$1" conv=notrunc 2>/dev/null
		refuses changed "$3"
	done
	head -c $(($(wc -c <"$scratch/pmukit") / 2)) "$scratch/pmukit" >half
	refuses half 'it is not whole'
	refuses "$BIN/pmu-prof" 'it is not \(pmukit\|static\);'
	mkdir -p bin libexec/pmukit path
	cp "$BIN/pmu-prof" bin
	# found COPIED: the file that has its sum, or none
	found() {
		rm -rf "$there"/guest/.cache/pmukit-*
		PATH=$PWD/path:$scratch/fake:/usr/bin:/bin exits 1 bin/pmu-prof \
			--host "$on" -- true 2>err
		test -z "$1" || test -e "$there"/guest/.cache/pmukit-*/pmukit-$(sha256sum <"$1" |
			cut -c 1-64)
	}
	found ''
	test "$(wc -l <err)" = 1
	grep -q "no static pmukit for $(uname -m) is beside pmu-prof, in ../libexec/pmukit or" err
	n=0
	for place in path libexec/pmukit bin; do
		for name in pmukit "pmukit-$(uname -m)"; do
			n=$((n + 1))
			{ cat "$scratch/small"; echo $n; } >"$place/$name"
			found "$place/$name"
		done
	done
	# what cannot run there is passed over
	cp /usr/bin/env "bin/pmukit-$(uname -m)"
	found bin/pmukit
	# whatever the login shell is
	for login in csh tcsh fish zsh bash dash 'busybox sh'; do
		command -v ${login% *} >/dev/null || continue
		export login
		found bin/pmukit
	done
END

# on FILE COMMAND... <STEPS: run it on a terminal; FILE gets what the terminal received
on_terminal() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/on-terminal.py" "$@"; }

# still: what still runs there of what the checks start
still() { ls -d $(grep -l "$in/guest/mark" /proc/[0-9]*/cmdline 2>/dev/null); }

# a command that says which signals it gets, and has a child
cat >"$homes/guest/mark" <<'END'
trap 'echo INT >>$1' INT
trap 'echo TERM >>$1; exit 5' TERM
echo ready
while :; do sleep 0.1; done
END
test -z "$host" || cp "$homes/guest/mark" "$there/guest/mark" 2>/dev/null

check 'Ctrl-C and signals reach the command as they do here; nothing is left there' <<'END'
	unsanitized
	by ssh
	marked="-o p -F 5000 -- sh $in/guest/mark $in/guest/log"
	# a terminal: each interrupt is for the command, two end it
	printf '%s\n' 'wait ready' 'type \x03' 'pause 0.3' 'type \x03' 'wait go tool pprof' >steps
	on_terminal screen pmu-prof --host "$on" --host-binary "$scratch/pmukit" -e cpu-clock \
		$marked <steps || test $? = 5
	test "$(tr '\n' ' ' <"$there/guest/log")" = 'INT INT TERM ' ||
		test "$(tr '\n' ' ' <"$there/guest/log")" = 'INT TERM '
	eventually none still
	# SIGTERM to pmu-prof alone
	rm "$there/guest/log" p.pb.gz
	begin $marked
	kill $pid
	exits 5 wait $pid
	test "$(cat "$there/guest/log")" = TERM
	ls p.pb.gz
	eventually none still
	# without a command, an interrupt ends the recording; the name is the other process's
	HOME=$in/guest "$scratch/fake/ssh" -- "$on" "exec $in/ten serial 600" &
	cat >sampled <<-EOF
	ran() { cut -d ' ' -f 1 /proc/$!/schedstat; }
	until ls -l /proc/\$(pgrep -o -f "^pmu-sample .*--pid=$! *\$")/fd | grep -q perf_event
	do sleep 0.1; done
	before=\$(ran)
	until test \$((\$(ran) - before)) -gt 50000000; do sleep 0.1; done
	EOF
	printf '%s\n' 'wait Ctrl-C ends' 'run sh sampled' 'type \x03' 'wait go tool pprof' >steps
	on_terminal screen pmu-prof --host "$on" --host-binary "$scratch/pmukit" -e cpu-clock \
		-F 2000 -p $! <steps
	kill $!
	ls ten-[0-9]*.pb.gz
	grep -q " [A-J][[:cntrl:]]*$" screen
END

check 'if the connection breaks or pmu-prof dies, the command gets SIGTERM; nothing is left' <<'END'
	unsanitized
	by ssh
	marked="-o p -F 5000 -- sh $in/guest/mark $in/guest/log"
	for killed in ssh sshd pmu-prof; do
		rm -f "$there/guest/log"
		begin $marked
		case $killed in
		ssh)	kill -KILL $(pgrep -P $pid -x ssh) ;;
		sshd)	kill -KILL $(pgrep -P "$(pgrep -n -P "$host")") ;;	# that of the session
		pmu-prof) kill -KILL $pid ;;
		esac
		case $killed in
		pmu-prof) exits 137 wait $pid ;;
		*)	exits 1 wait $pid
			grep -q "^pmu-prof: the connection to '$on' was lost: ssh ended with" err ;;
		esac
		eventually none still
		test "$(cat "$there/guest/log")" = TERM
		none ls p.pb.gz .pmukit-*
	done
	# our disk is full
	rm -f "$there/guest/log"
	exits 1 prof $marked >/dev/full 2>err
	grep -qx "pmu-prof: cannot write the command's output: No space left on device" err
	test "$(cat "$there/guest/log")" = TERM
	eventually none still
END

check 'what goes on there after the command: a hint for that machine; none after a signal' <<'END'
	unsanitized
	by fake
	prof -F 5000 -o p -- sh -c "env >&2; '$in/ten' serial 0.1
		'$in/ten' serial 600 & echo \$!" >out 2>err
	kill "$(cat out)"
	grep -q "; pmu-prof --host HOST -p $(cat out) --children profiles" err
	none grep PMUKIT err
	begin -F 5000 -o p -- sh -c "trap 'exit 5' TERM
		setsid '$in/ten' serial 600 & echo \$! ready; wait"
	kill $pid
	exits 5 wait $pid
	kill "$(cut -d ' ' -f 1 out)"
	none grep "go on" err
END

check 'standard descriptors that are closed: no input, an error for output, no messages' <<'END'
	unsanitized
	by fake
	# with STATUS REDIRECTION SCRIPT: run that there; a run that does not end is killed
	with() {
		rm -f p.pb.gz
		eval "exits $1 timeout -s KILL 300 pmu-prof --host '$on' \
			--host-binary '$scratch/pmukit' -e cpu-clock -F 5000 -o p \
			-- sh -c '$3' $2"
	}
	run='i=0; while test $i -lt 60000; do i=$((i + 1)); done; cat; exit 7'
	with 7 '<&- >out 2>err' "$run"
	none cat out
	with 7 '>&- 2>err' "$run </dev/null"
	with 7 '2>&- >out' "echo output; $run </dev/null"
	test "$(cat out)" = output
	with 7 '<&- >&- 2>&-' "$run"
	with 1 '<&- >&- 2>err' "echo output; $run"
	grep -qx "pmu-prof: cannot write the command's output: Bad file descriptor" err
	# a run here gives the command what there is
	exits 1 timeout -s KILL 300 pmu-prof -q -o p -- cat <&- 2>err
END

# says STATUS LINES... -- OPTION...: a host that does what these lines of Python say
says() {
	want=$1
	shift
	: >program
	while test "$1" != --; do
		printf '%s\n' "$1" >>program
		shift
	done
	shift
	small
	SAYS=$PWD/program exits "$want" pmu-prof --host odd --host-binary "$scratch/small" "$@" \
		2>err >out
}
printf '#!/bin/sh\nexec python3 %s/tests/host-says.py "$@"\n' "$TOP" >"$scratch/odd/ssh"
chmod +x "$scratch/odd/ssh"

check 'what a host says is not trusted: names, messages, output, sizes' <<'END'
	any_user
	by odd /
	pmu-sample -q -e cpu-clock -F 2000 -- ten serial 0.05 | pmu-symbolize -q |
		pmu-topprof -q -o made.pb.gz
	made='say("p", open("made.pb.gz", "rb").read())'
	# all is well
	says 3 'result("target", "x")' "$made" 'end(3, "made")' -- -o p -- true
	cmp p.pb.gz made.pb.gz
	grep -q "<html" p.html
	# so it is if the other side has ended, and does not read the input that is sent
	yes | says 3 'result("target", "x")' 'os.close(0)' "$made" 'result("made")' \
		'result("status", 3)' 'import time' 'time.sleep(1)' 'say("x", b"\3")' \
		-- -o p -- true
	cmp p.pb.gz made.pb.gz
	# all that was given is passed on
	says 3 'result("target", "x")' 'words = b"".join(c for t, c in heard if t == "w")' \
		'open("words", "wb").write(words)' "$made" 'end(3, "made")' -- -v -o p \
		--view none --off-cpu -a -d 2 -F 99 -e cycles:u -e cpu-clock \
		--host-dir d --call-graph=dwarf -- a "b  'c'" ''
	printf '%s\0' pmu-prof --verbose --off-cpu --all --duration=2 --frequency=99 \
		--event=cycles:u --event=cpu-clock --call-graph=dwarf -- a "b  'c'" '' >want
	cmp want words
	# a name is the name of a file here, whatever it is
	for name in ../../up '-o' '.hid' 'a b\033[1m;rm' ''; do
		says 0 "result('target', '$name')" "$made" 'end(0, "made")' -- -q -p 1
	done
	ls _._.._up-*.pb.gz __.._up-*.pb.gz 2>/dev/null || ls *up-*.pb.gz
	ls _o-*.pb.gz _hid-*.pb.gz a_b*_1m_rm-*.pb.gz
	none ls ../*.pb.gz
	# control characters do nothing to a terminal; without a command there is never another way
	says 1 'result("target", "x")' \
		'say("e", b"a\x1b]0;title\x07b\xc2\x9b\xc3\xa4\r\nc\xff\td\x00")' \
		'end(1, "failed")' -- -p 1
	printf 'a^[]0;title^Gb?\303\244\nc?\td^@' >want
	grep -v '^pmu-prof: sampling' err >said || :
	head -c "$(wc -c <want)" said >first
	same want first
	says 1 'result("target", "x")' 'result("note", "bad\x1b[2J")' "$made" 'end(0, "made")' \
		-- -o /dev/null/p -p 1
	says 0 'result("target", "x")' 'result("note", "bad\x1b[2J")' "$made" 'end(0, "made")' \
		-- -o p -p 1
	grep -qx "pmu-prof: bad?\[2J" err
	# half a profile, no profile, not a profile, more than it can be
	rm -f p.*
	says 1 'result("target", "x")' 'say("p", open("made.pb.gz", "rb").read()[:99])' \
		-- -o p -p 1
	grep -q "^pmu-prof: the connection to 'odd' was lost: ssh ended with status 0$" err
	says 1 'result("target", "x")' "$made" 'end(0)' -- -o p -p 1
	says 1 'result("target", "x")' 'end(0, "made")' -- -o p -p 1
	says 1 'result("target", "x")' 'say("p", b"not a profile")' 'end(0, "made")' -- -o p -p 1
	says 1 "$made" 'end(0, "made")' -- -o p -p 1
	none ls p.pb.gz p.html .pmukit-*
	# what is not a packet, and packets that make no sense
	for bytes in 'b"\x6f\xff\xff\xff\x7f"' 'b"o\1\200\0\0" + bytes(40000)'; do
		says 1 'result("target", "x")' "raw($bytes)" 'here.read()' -- -o p -- true
		grep -q "^pmu-prof: 'odd' sent something that is not a packet: the connection" err
	done
	says 1 'result("target", "x")' 'say("o", b"x")' 'here.read()' -- -o p -p 1
	grep -q "^pmu-prof: 'odd' sent output, but there is no command: the connection is" err
	says 1 'result("target", "x")' 'for kind in "akdcgiswzf":' '    say(kind)' \
		'    say(kind, b"\xff" * 4)' 'end(0)' -- -o p -- true
	says 1 'result("target", "x")' 'say("x")' 'here.read()' -- -o p -- true
	says 1 'say("f", b"x" * 30000)' 'end(0)' -- -o p -- true
	says 1 'say("f", b"\n \n target\ntarget")' 'end(0)' -- -o p -- true
	says 1 'sys.exit(0)' -- -o p -- true
END

check 'a host that does not do what it should, and an ssh that fails' <<'END'
	any_user
	by odd /
	says 1 '# raw' 'raw(b"This account is not available.\x1b[1m\n")' 'sys.exit(1)' -- -p 1
	grep -qx "pmu-prof: cannot work on 'odd': exit status 1, and it said: This .*?\[1m" err
	says 1 '# raw' 'raw(b"x" * 100000)' 'sys.exit(1)' -- -p 1
	says 1 '# raw' 'raw(b"x\n" * 100000)' 'here.read()' -- -p 1
	says 1 '# raw' 'raw(b"pmukit-host 1 ../x\n")' 'here.read()' -- -p 1
	grep -qx "pmu-prof: there is no pmukit for '../x', which is the machine of 'odd'" err
	says 1 '# raw' 'raw(b"pmukit-host 1 x86_64\nwhat\n")' 'here.read()' -- -p 1
	says 1 '# raw' 'raw(b"pmukit-host 1 x86_64\nrun\n")' 'say("v", b"9")' 'here.read()' -- -p 1
	grep -qx "pmu-prof: the pmukit on 'odd' is of another version than this pmu-prof" err
	says 1 '# raw' 'sys.stderr.write("ssh: no route\x1b\r\n")' 'sys.exit(255)' -- -p 1
	printf '%s\n' 'ssh: no route^[' "pmu-prof: cannot work on 'odd': ssh failed" >want
	same want err
	says 1 '# raw' 'sys.stderr.write("ssh: no route\n")' 'sys.exit(255)' -- -q -p 1
	none cat err
	for host in -oProxyCommand=x -p '' 'stdio:/ x' "$(printf 'a\033')"; do
		exits 2 pmu-prof --host "$host" -p 1 2>err
		grep -q "^pmu-prof: --host: '" err
	done
	exits 2 pmu-prof --host x --host-dir "$(printf 'a\nb')" -p 1 2>err
	exits 2 pmu-prof --host-dir x -p 1 2>err
	exits 2 pmu-prof --host x --dry-run -p 1 2>err
	mkdir none
	PATH=$PWD/none exits 1 "$BIN/pmu-prof" --host x -p 1 2>err
	grep -qx "pmu-prof: cannot find 'ssh', which --host needs: install OpenSSH's client" err
END
done_testing
