#!/bin/sh
# pmukit, all tools in one file: by each of its names it is that tool, and needs no other file.
# kinds: release user
. tests/lib.sh

kit=$BIN/pmukit
tools=$(cd "$BIN" && echo pmu-*)
names=$(($(echo $tools | wc -w) + 1))	# with perf_to_profile

# kit_alone: a directory "alone" that has nothing but pmukit, and $PATH, where no tool is
kit_alone() {
	mkdir alone
	cp "$kit" alone/pmukit
	PATH=/usr/bin:/bin:/usr/sbin:/sbin
}

check 'the help and the version of each tool are as of the tool that is a file of its own' <<'END'
	any_user
	needs_single_tools
	for tool in $tools; do
		"$BIN/$tool" --help >want
		"$BIN/$tool" --version >>want
		"$BIN/$tool" --nonsense 2>>want || :
		ln -s "$kit" "$tool"
		for run in "$kit $tool" "$kit ${tool#pmu-}" "./$tool"; do
			$run --help >got
			$run --version >>got
			exits 2 $run --nonsense 2>>got
			same want got
		done
	done
	exits 2 pmu-topprof --nonsense 2>want	# perf_to_profile is this tool, by another name
	ln -s "$BIN/pmu-topprof" perf_to_profile
	./perf_to_profile --help >want
	"$kit" perf_to_profile --help | same want -
	ln -sf "$kit" perf_to_profile
	./perf_to_profile --help | same want -
END

check 'a pipe through pmukit writes the same bytes' <<'END'
	any_user
	needs_single_tools
	make-stream 500 20 4 "$(command -v ten)" >s.data
	for by in "" "$kit "; do
		${by}pmu-symbolize s.data >r.data
		${by}pmu-topprof <r.data >p.pb.gz
		${by}pmu-top p.pb.gz >top
		${by}pmu-stream --dump s.data >dump
		cat r.data p.pb.gz top dump | cksum >>sums
	done
	at_least "$(wc -l <dump)" 500
	test "$(sort -u sums | wc -l)" = 1
END

check 'pmukit lists its tools; without one, or with one that it does not have, it exits 2' <<'END'
	any_user
	"$kit" --help >help
	for tool in $tools perf_to_profile; do
		"$kit" $tool --help | sed -n "s/^$tool: //p" >purpose
		test -s purpose
		sed -n "s/^  $tool  *//p" help | same purpose -
		grep "^  $tool " help >>list
	done
	exits 2 "$kit" nonsense 2>err
	grep -x "pmukit: there is no tool 'nonsense'" err
	grep "^  " err | same list -
	for words in "" "--quiet" "-q top" "topprofs" "pmu-" "pmu"; do
		exits 2 "$kit" $words 2>err
		grep "^  " err | same list -
	done
	ln -s "$kit" another-name
	./another-name top --version | grep "^pmu-top "
	"$kit" --version >version
	"$kit" pmu-top --version | sed "s/^pmu-top /pmukit /" | same version -
END

check 'pmukit needs no other file: it starts itself for the tools that another tool needs' <<'END'
	any_user
	kit_alone
	"$HELP/make-stream" 500 20 4 "$HELP/ten" >s.data
	alone/pmukit top s.data >want
	at_least "$(grep -c "[0-9]ms .*% [0-9. ]* [a-zA-Z_][a-zA-Z0-9_]*$" want)" 10
	(cd alone && ./pmukit top ../s.data) | same want -
	(PATH=$PWD/alone:$PATH && pmukit top s.data) | same want -
	ln -s alone/pmukit pmu-top
	./pmu-top s.data | same want -
	alone/pmukit prof --dry-run -o p -- true >line
	for tool in sample symbolize topprof flame; do
		grep "$PWD/alone/pmukit pmu-$tool " line
	done
	printf '#!/bin/sh\n' >alone/go
	chmod +x alone/go
	PATH=$PWD/alone alone/pmukit prof --dry-run -- go test . >line 2>err
	grep -e "-exec '$PWD/alone/pmukit pmu-prof --' " err
END

check 'it starts the file of a tool from $PMU_PATH, or beside pmukit, but not from $PATH' <<'END'
	any_user
	kit_alone
	"$HELP/make-stream" 500 20 4 "$HELP/ten" >s.data
	for where in path alone chosen; do
		mkdir -p $where
		printf '#!/bin/sh\necho "from %s" >&2\nexit 1\n' $where >$where/pmu-symbolize
		chmod +x $where/pmu-symbolize
	done
	PATH=$PWD/path:$PATH
	exits 1 alone/pmukit top s.data 2>err
	grep -x "from alone" err
	exits 1 env PMU_PATH="$PWD/chosen" alone/pmukit top s.data 2>err
	grep -x "from chosen" err
	rm alone/pmu-symbolize
	alone/pmukit top s.data 2>err
	none grep "^from" err
END

check 'other programs see the name of the tool, not pmukit' <<'END'
	any_user
	kit_alone
	mkfifo pipe
	alone/pmukit top pipe &
	top=$!
	exec 3>pipe
	eventually grep -x pmu-top /proc/$top/comm
	rm alone/pmukit		# it starts the file that it is, whatever has that name now
	"$HELP/make-stream" 500 20 4 "$HELP/ten" >&3
	eventually pgrep -x -P $top pmu-symbolize
END

check '--link makes the names of all tools, which stay right if all moves together' <<'END'
	any_user
	kit_alone
	mkdir -p dir/bin dir/lib "$PWD/dir/a b"
	mv alone/pmukit dir/lib
	for at in dir/bin dir/lib "dir/a b" dir .; do
		dir/lib/pmukit --link "$at" 2>err
		none cat err
		for tool in $tools perf_to_profile; do
			ls "$at/$tool"
			"$at/$tool" --help >help
			grep "^usage: $tool " help
		done
		test "$(find "$at" -maxdepth 1 -type l | wc -l)" = $names
	done
	test "$(readlink dir/lib/pmu-top)" = pmukit
	ln -s dir/bin elsewhere
	dir/lib/pmukit --link elsewhere/
	mv dir moved
	for at in moved/bin moved/lib "moved/a b" moved; do
		"$at/pmu-top" --version | grep "^pmu-top "
	done
	exits 1 moved/lib/pmukit --link nothing 2>err
	grep -x "pmukit: cannot make links in 'nothing': No such file or directory" err
	exits 1 moved/lib/pmukit --link err 2>said
	grep -x "pmukit: cannot make links in 'err': Not a directory" said
	exits 2 moved/lib/pmukit --link . top 2>err
	test ! -e moved/bin/pmukit
END

check '--link replaces links of its own, and leaves what is not' <<'END'
	any_user
	kit_alone
	mkdir bin old
	cp alone/pmukit old/pmukit
	for kind in file directory link dangling pmukit; do
		case $kind in
		file) echo theirs >bin/pmu-top ;;
		directory) mkdir bin/pmu-top ;;
		link) ln -s /bin/true bin/pmu-top ;;
		dangling) ln -s nowhere/pmu-top bin/pmu-top ;;
		pmukit) ln -s ../old/pmukit bin/pmu-top ;;	# another file of this name
		esac
		ls -ld bin/pmu-top >before
		exits 1 alone/pmukit --link bin 2>err
		same - err <<-LINES
			pmukit: not linked, as another file has this name: 'bin/pmu-top'
		LINES
		ls -ld bin/pmu-top | same before -
		test "$(find bin -lname ../alone/pmukit | wc -l)" = $((names - 1))
		rm -r bin/pmu-top
	done
	for own in "$PWD/alone/pmukit" ../gone/pmukit pmu-stream; do
		ln -sf $own bin/pmu-top
		alone/pmukit --link bin
		test "$(find bin -lname ../alone/pmukit | wc -l)" = $names
	done
	ls -l bin >before
	alone/pmukit --link bin
	ls -l bin | same before -
	test "$(ls -A bin | wc -l)" = $names
END

# empty_root: a directory "root" that has pmukit, and a static program; in_root COMMAND... runs
# there, as root or as a user who is root of a namespace.  WITH_PROC=1: with /proc.
empty_root() {
	readelf -lW "$HELP/ten" >headers
	none grep INTERP headers
	mkdir root
	cp "$kit" root/pmukit
	cp "$HELP/ten" root/program
	as=
	test "$(id -u)" = 0 || as="unshare -r"
	$as chroot root /pmukit --version || skip "may not change the root directory"
}
in_root() {
	test -n "$WITH_PROC" || { $as chroot root "$@"; return; }
	mkdir -p root/proc
	unshare ${as:+-r} -m sh -c 'mount --rbind /proc root/proc && exec chroot root "$@"' - "$@"
}

check 'in an empty root directory with only pmukit, a program is profiled, with a page' <<'END'
	needs_sampling
	empty_root
	for WITH_PROC in "" 1; do
		# again where other tests of this user hold the memory of rings, or all CPUs
		for attempt in 1 2 3 4 5 6 7 8; do
			rm -f root/*.pb.gz root/*.html
			in_root /pmukit prof -e cpu-clock -F 100 -- ./program serial 1 >out 2>err
			grep "samples were lost" err || break
		done
		cat out err
		"$kit" top --rows 40 root/program-*.pb.gz >top
		at_least "$(grep -c ' [A-J]$' top)" 3
		grep "</html>" root/program-*.html
		test "$(ls root | grep -v "^program-.*[.]\(pb[.]gz\|html\)$")" = "$(
			printf '%s\n' pmukit ${WITH_PROC:+proc} program)"
	done
END

# as_nobody COMMAND...: as a user without any capability
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all "$@"
}

# capable: alone/pmukit may sample, by a capability of the file
capable() {
	needs_root
	needs_command setcap
	kit_alone
	chmod 755 . alone
	setcap cap_perfmon+ep alone/pmukit || skip "files have no capabilities here"
	mounted=$(findmnt -n -o OPTIONS -T .)
	case ,$mounted, in *,nosuid,*) skip "mounted nosuid" ;; esac
	bounding=0x$(sed -n 's/^CapBnd:[^0-9a-f]*//p' /proc/self/status)
	test $((bounding >> 38 & 1)) = 1 || skip "no program here may have CAP_PERFMON"
}

check 'with a capability of its file, pmukit is pmu-sample only' <<'END'
	capable
	cp alone/pmukit plain
	alone/pmukit --link alone	# root needs no file for its rights
	as_nobody alone/pmu-sample --version
	for tool in $tools perf_to_profile; do
		test $tool != pmu-sample || continue
		for run in "alone/$tool" "alone/pmukit $tool" "alone/pmukit ${tool#pmu-}"; do
			exits 2 as_nobody $run --version >out 2>err
			none cat out
			test "$(wc -l <err)" = 1
			grep "^$tool: this file has a capability" err
		done
		as_nobody ./plain $tool --version >out
	done
	for option in --help --version "--link ."; do
		exits 2 as_nobody alone/pmukit $option 2>err
		grep "^pmukit: this file has a capability" err
	done
	as_nobody alone/pmukit sample --version | grep "^pmu-sample "
	setcap -r alone/pmukit
	chmod u+s,go+rx alone/pmukit
	exits 2 as_nobody alone/pmu-top --version 2>err
	grep "^pmu-top: this file has a capability, or is setuid" err
	chmod u-s,g+s alone/pmukit
	exits 2 as_nobody alone/pmu-top --version
	chmod g-s alone/pmukit
	as_nobody alone/pmu-top --version
END

check 'pmu-sample has the right to sample by the capability of pmukit, by that name' <<'END'
	needs_sampling
	capable
	alone/pmukit --link alone
	as_nobody alone/pmu-sample -a -e cpu-clock -d 10ms -o - >s.data
	"$kit" stream s.data >facts
	setcap -r alone/pmukit
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 || exit 0
	exits 1 as_nobody alone/pmu-sample -a -e cpu-clock -d 10ms -o - >s.data 2>err
	grep paranoid err
END

check "with link-time optimization each tool's main() gets a name of its own, too" <<'END'
	any_user
	make -s -C "$TOP" O="$PWD/o" CFLAGS="-O1 -flto" "$PWD/o/release/pmukit/pmu-topprof.o"
	nm o/release/pmukit/pmu-topprof.o | sed -n "s/^.* [TD] //p" | sort >names
	printf "%s\n" command_of_perf_to_profile command_of_pmu_topprof main_of_pmu_topprof |
		same - names
END

done_testing
