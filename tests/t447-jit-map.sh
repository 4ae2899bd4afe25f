#!/bin/sh
# --jit-map: Java is asked for the names of its compiled code, and is not harmed if it refuses.
# kinds: release asan user
. tests/lib.sh

echo 'int is_there = 0;' >"$scratch/library.c"

# fake LIBRARY...: the program ./fake, which maps these libraries and libjvm.so
fake() {
	set -- libjvm.so "$@"
	for library; do
		once "fake-$library" gcc -shared -fPIC "$scratch/library.c" -o "$library"
	done
	once "fake-jvm-$#" gcc -O1 -Wl,--no-as-needed "$TOP/tests/fake-jvm.c" \
		$(printf "./%s " "$@") -o fake
	trap 'for jvm in $jvms $jvm; do clean; done' EXIT
}

# clean: remove what $jvm may have left in /tmp
clean() { rm -f /tmp/perf-$jvm.map /tmp/.java_pid$jvm /tmp/.attach_pid$jvm; }

# run MODE [OPTION]...: in the background, as $jvm, what the program says to the file said
run() {
	: >said
	./fake "$@" >said 2>&1 & jvm=$!
	jvms="$jvms $jvm"
	eventually grep -q ready said
}

# ask: --jit-map of $jvm; what it says is in err
ask() { pmu-sample --jit-map -p $jvm -d 1ms -e cpu-clock -o s.data 2>err; }

# refused REASON [SIGNALS]: it exits 1 with this one line; the process lives, got so many signals,
# none of which made it print its stacks; and it is not sampled
refused() {
	rm -f s.data
	exits 1 ask
	cat err said
	test "$(cat err)" = "pmu-sample: no map from Java in process $jvm: $1"
	kill -0 $jvm
	test "$(grep -c SIGQUIT said)" = "${2:-0}"
	none grep "thread dump" said
	test ! -e /tmp/.attach_pid$jvm
	test ! -s s.data
}

check 'one signal makes it listen, and the second request needs none; each writes the map' <<'END'
	fake
	run good
	ask
	cat err
	ls -l /tmp/perf-$jvm.map
	test ! -e /tmp/.attach_pid$jvm
	test "$(sort said | uniq -c | tr -d "\n" | tr -s " ")" = " 1 SIGQUIT 2 map 1 ready"
	rm /tmp/perf-$jvm.map
	ask
	ls -l /tmp/perf-$jvm.map
	test "$(sort said | uniq -c | tr -d "\n" | tr -s " ")" = " 1 SIGQUIT 4 map 1 ready"
END

check 'one that listens gets no signal, whatever its options say' <<'END'
	fake
	run listening -XX:+DisableAttachMechanism
	ask
	ls -l /tmp/perf-$jvm.map
	none grep SIGQUIT said
END

check 'a socket that nobody listens at any more is not in the way' <<'END'
	fake
	run good
	python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('/tmp/.java_pid$jvm')"
	ask
	ls -l /tmp/perf-$jvm.map
	test "$(grep -c SIGQUIT said)" = 1
END

check 'one that does not catch SIGQUIT, because it starts or has -Xrs, is not killed' <<'END'
	fake
	run starting
	refused "it does not catch SIGQUIT: it is still starting, or was started with -Xrs"
END

check 'options that forbid it: of the command line, of each variable, or in a file' <<'END'
	fake
	no=-XX:+DisableAttachMechanism
	run good -cp x $no
	refused "$no forbids it"
	for variable in JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS; do
		kill $jvm
		export $variable="-Xmx64m $no -Dx=y"
		run good
		refused "$no forbids it"
		unset $variable
	done
	for option in @options -XX:Flags=options -XX:VMOptionsFile=options; do
		kill $jvm
		run good $option
		refused "some of its options are in a file, and may forbid it; use jcmd"
	done
	kill $jvm
	export JDK_JAVA_OPTIONS="-Xmx64m @options"
	run good
	refused "some of its options are in a file, and may forbid it; use jcmd"
END

check 'one that is stopped, and gets no signal that would wait for it' <<'END'
	fake
	run good
	kill -STOP $jvm
	is_stopped() { grep "State:.T" /proc/$jvm/status; }
	eventually is_stopped
	refused "the process is stopped"
	kill -CONT $jvm
	ask
	test "$(grep -c SIGQUIT said)" = 1
END

check 'Java before 17, one that closes the connection, one that writes no map' <<'END'
	fake
	run old
	why="java.lang.IllegalArgumentException: Unknown ? command"
	refused "it has no such command, as before Java 17: '$why'" 1
	kill $jvm
	run closing
	refused "it closed the connection without an answer" 1
	kill $jvm
	run mapless
	refused "it answered, but wrote no map into its /tmp" 1
END

check 'one that does not answer, or does not listen: given up after 10 seconds' <<'END'
	unsanitized
	fake
	run mute
	first=$jvm
	pmu-sample --jit-map -p $jvm -d 1ms -e cpu-clock -o mute.data 2>err.mute & mute=$!
	run silent
	exits 1 ask
	exits 1 wait $mute
	cat err err.mute
	echo "pmu-sample: no map from Java in process $first: it did not answer within 10 seconds" |
		same - err.mute
	echo "pmu-sample: no map from Java in process $jvm: it did not answer within 10 seconds" |
		same - err
	kill -0 $first
	kill -0 $jvm
	rm /tmp/.java_pid$first
	# the file stays for a process that handles its signal later
	ls /tmp/.attach_pid$jvm
END

check 'a socket of another process, and what is not a socket: no signal, no request' <<'END'
	fake
	run good
	touch /tmp/.java_pid$jvm
	refused "its /tmp/.java_pid$jvm is not its own socket"
	rm /tmp/.java_pid$jvm
	cat >other.py <<-EOF
		import socket, time
		s = socket.socket(socket.AF_UNIX)
		s.bind("/tmp/.java_pid$jvm")
		s.listen()
		open("listens", "w")
		c = s.accept()[0]
		open("got", "wb").write(c.recv(1000))
	EOF
	python3 other.py & other=$!
	eventually test -e listens
	refused "its /tmp/.java_pid$jvm is not its own socket"
	wait $other
	test ! -s got
END

check 'processes that do not run Java, OpenJ9, and a target without processes' <<'END'
	sleep infinity & jvm=$!
	exits 1 ask
	why="no process of the target runs Java (none has mapped libjvm.so)"
	test "$(cat err)" = "pmu-sample: --jit-map: $why"
	kill $jvm
	fake libj9vm29.so
	run good
	refused "OpenJ9 does not write such maps"
	exits 2 pmu-sample --jit-map -o s.data -- true 2>err
	grep -e "--jit-map needs one of --pid, --uid, --comm" err
END

check 'pmu-prof says no more than the one line, and exits 1' <<'END'
	unsanitized
	fake
	run good -XX:+DisableAttachMechanism
	exits 1 pmu-prof --jit-map -p $jvm -o p 2>err
	same - err <<-EOF
		pmu-sample: no map from Java in process $jvm: -XX:+DisableAttachMechanism forbids it
	EOF
	test ! -e p.pb.gz
	none grep SIGQUIT said
END

check "another user's process: refused; root asks with the rights of the process's user" <<'END'
	needs_root
	chmod 755 .
	fake
	setpriv --reuid=12345 --regid=12345 --clear-groups ./fake good >said 2>&1 & jvm=$!
	eventually grep -q ready said
	exits 1 setpriv --reuid=12346 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$BIN/pmu-sample" --jit-map -p $jvm -e cpu-clock 2>err >/dev/null
	no="pmu-sample: no map from Java in process $jvm"
	test "$(cat err)" = "$no: only its own user and root may ask"
	none grep SIGQUIT said
	setpriv --reuid=12346 --clear-groups touch /tmp/.attach_pid$jvm
	exits 1 ask
	test "$(cat err)" = "$no: cannot create /tmp/.attach_pid$jvm there: File exists"
	none grep SIGQUIT said
	rm /tmp/.attach_pid$jvm
	ask
	test "$(stat -c %u /tmp/perf-$jvm.map)" = 12345
	test "$(grep -c SIGQUIT said)" = 1
	none grep "thread dump" said
END

check 'a process with a PID and a /tmp of its own: both are those of its namespaces' <<'END'
	needs_root
	fake
	unshare -m -p --fork sh -c "mount -t tmpfs none /tmp && exec ./fake good" >said 2>&1 &
	outer=$!
	eventually grep -q ready said
	jvm=$(tr -d " " <"/proc/$outer/task/$outer/children")
	ask
	cat err said
	ls -l "/proc/$jvm/root/tmp/perf-1.map"
	for name in "/proc/$jvm/root/tmp/.attach_pid1" /tmp/.attach_pid1 /tmp/.attach_pid$jvm; do
		test ! -e "$name"
	done
	test "$(grep -c SIGQUIT said)" = 1
	none grep "thread dump" said
END

check 'Java itself: compiled code has its names, also what it compiled after the start' <<'END'
	any_user
	unsanitized
	needs_command java javac
	cat >Work.java <<-EOF
		public class Work {
			static long sum;
			static long early(long n) { for (long i = 0; i < n; i++) sum += i ^ sum; return sum; }
			static long late(long n) { for (long i = 0; i < n; i++) sum += i * sum; return sum; }
			public static void main(String[] a) throws Exception {
				while (System.in.available() == 0) early(100000);
				System.out.println("late");
				while (true) late(100000);
			}
		}
	EOF
	javac Work.java || skip "javac cannot compile it"
	mkfifo go out
	java -Xmx64m -XX:+UseSerialGC Work <go >said 2>&1 & jvm=$!
	exec 9>go
	trap 'kill -KILL $jvm; clean' EXIT
	eventually has_run $jvm 1500
	pmu-prof --view none --jit-map -e cpu-clock -F 500 -p $jvm -o one 2>err & prof=$!
	eventually test -s /tmp/perf-$jvm.map
	eventually has_run $jvm 2000
	echo >&9
	eventually grep -q late said
	eventually has_run $jvm 3000
	kill -INT $prof
	wait $prof
	cat err
	pmu-topprof --to folded one.pb.gz >folded
	none grep "no names" err
	cat folded
	grep "Work.early" folded
	at_least "$(awk '{ n += $NF } /Work\.(late|early)/ { m += $NF }
		END { print 100 * m / n }' folded)" 60
	grep "Work.late" folded
	test "$(cat said)" = late	# nothing of ours in its output
END

check 'Java that runs, without the option: the line to type names all samples' <<'END'
	any_user
	unsanitized
	needs_command java javac jcmd
	cat >Work.java <<-EOF
		public class Work {
			static long sum;
			static long work(long n) {
				for (long i = 0; i < n; i++) sum += i ^ sum;
				return sum;
			}
			public static void main(String[] a) { while (true) work(100000); }
		}
	EOF
	javac Work.java || skip "javac cannot compile it"
	java -Xmx64m -XX:+UseSerialGC Work >said 2>&1 & jvm=$!
	trap 'kill -KILL $jvm; clean' EXIT
	eventually has_run $jvm 1000
	pmu-prof --view none -e cpu-clock -F 500 -p $jvm -o one 2>err & prof=$!
	eventually grep "type 'jcmd" err
	sh -c "$(sed -n "s/.* type '\(jcmd [^']*\)'.*/\1/p" err)" >out
	kill -INT $prof
	wait $prof
	pmu-topprof --to folded one.pb.gz >folded
	cat err folded
	at_least "$(awk '{ n += $NF } /Work\.work/ { m += $NF }
		END { print 100 * m / n }' folded)" 60
END

done_testing
