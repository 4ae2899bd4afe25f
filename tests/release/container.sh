#!/bin/sh
# container.sh - packaging/Containerfile by a container builder, or, where none can run, the same
# tree by chroot; and in it what doc/containers.md says to run.
#
# buildah works without a daemon, by chroot and without layers, so it also runs in a container.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
. tests/release/judge

needs_root
needs curl readlink
bin=build/release/bin
test -x $bin/pmukit || make -s pmukit || exit 1
scratch=$(mktemp -d) && chmod 755 "$scratch" || exit 1
first=
trap 'test -z "$first" || kill -KILL $first; rm -rf --one-file-system "$scratch"' EXIT
mkdir "$scratch/context"
cp $bin/pmukit "$scratch/context"

builder() {
	buildah --root "$scratch/images" --runroot "$scratch/run" --storage-driver vfs "$@"
}

# by_builder: $tree is what the image has, $config what it says
by_builder() {
	command -v buildah >/dev/null || { echo "no buildah: by chroot"; return 1; }
	builder bud --quiet --isolation chroot -f packaging/Containerfile -t pmukit \
		"$scratch/context" >"$scratch/log" 2>&1 &&
	container=$(builder from pmukit) && tree=$(builder mount "$container") || {
		tail -n 3 "$scratch/log"
		echo "buildah cannot build here: by chroot"
		return 1
	}
	config=$(builder inspect --type image --format '{{with .OCIv1.Config}}USER {{.User}}
		ENTRYPOINT {{.Entrypoint}} ENV {{.Env}}{{end}}' pmukit | xargs)
	echo "by buildah $(buildah --version | sed 's/.*version \([^ ]*\).*/\1/')"
}
by_chroot() {
	tests/image "$scratch/context" "$scratch/tree" || exit 1
	tree=$scratch/tree
	config=$(sed 's/\["/[/; s/"\]/]/; s/^ENV \(.*\)/ENV [\1]/' "$tree.config" |
		sort -r | xargs)
}
by_builder || by_chroot
is "it runs pmukit as nobody" "$(echo "$config" | tr ' ' '\n' | sort | xargs)" \
	"65534:65534 ENTRYPOINT ENV USER [/usr/bin/pmukit] [PATH=/usr/bin]"
# builders add files of their own to the others
is "it has one file" "$(cd "$tree" && find . -xdev -type f |
	grep -v -e ^./etc/ -e ^./run/ -e ^./proc/ -e ^./sys/ -e ^./dev/)" ./usr/bin/pmukit
is "all tools are links to it" \
	"$(cd "$tree/usr/bin" && find . -type l | while read -r name; do
		test "$(readlink "$name")" = pmukit && echo "${name#./}"; done | sort | xargs)" \
	"$(cd $bin && echo perf_to_profile pmu-*)"

# A container whose first process is a workload.  Commands enter its lists of processes and mounts.
mkdir -m 777 "$scratch/out"
echo a-token-of-many-letters-and-digits-1234567890 >"$scratch/token"
chmod 600 "$scratch/token"
TREE=$tree OUT=$scratch/out TOKEN=$scratch/token unshare --mount --pid --fork --kill-child sh -c '
	mkdir -p "$TREE/proc" "$TREE/out" && : >"$TREE/token" &&
	mount -t proc proc "$TREE/proc" && mount --bind "$OUT" "$TREE/out" &&
	mount --bind "$TOKEN" "$TREE/token" && exec "$0" lazy 6000 >/dev/null' \
	"$PWD/build/release/tests/bin/ten" 2>"$scratch/unshare" &
outside=$!
tries=0
until first=$(pgrep -P $outside -x ten) || test $tries = 600; do
	tries=$((tries + 1))
	sleep 0.1
done
defaults=chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw
defaults=+$defaults,sys_chroot,mknod,audit_write,setfcap

# contained USER "CAPABILITY ..." WORD...: as the image runs these words, with the capabilities that
# Docker gives, and those
contained() {
	bounds=$(echo "-all,$defaults $2" | tr 'A-Z ,' 'a-z,,' | sed 's/,\([a-z]\)/,+\1/g; s/,*$//')
	user=$1
	shift 2
	nsenter -t "$first" -m -p setpriv "--bounding-set=$bounds" env -i PATH=/usr/sbin:/usr/bin \
		chroot --userspec="$user:$user" "$tree" /usr/bin/pmukit "$@"
}

cp build/release/tests/bin/ten "$scratch/out/program"
succeeds "nobody profiles a program of a volume" \
	contained 65534 "" prof -q -e cpu-clock -o /out/p -- /out/program serial 0.3
succeeds "and reads the profile" contained 65534 "" top /out/p.pb.gz
contained 65534 "" sample -q -p 1 -d 0.1 -o /out/q
is "nobody cannot sample others" $? 1

# commands_of_page: each line of doc/containers.md that runs the image, lines with \ joined
commands_of_page() {
	sed -n '/^    /{ :more; /\\$/{ N; s/ *\\\n */ /; b more }; s/^    //p }' doc/containers.md |
		grep -E '^(docker|podman) run .* pmukit '
}

# serve_as_page WORD...: the server answers with a profile, for the token only
serve_as_page() {
	contained "$user" "$capabilities" "$@" -l 127.0.0.1:0 >"$scratch/url" 2>"$scratch/said" &
	server=$!
	tries=0
	until url=$(grep -m 1 ^http "$scratch/url") || test $tries = 600; do
		tries=$((tries + 1))
		sleep 0.1
	done
	status=0
	curl -sSf -m 300 -H "Authorization: Bearer $(cat "$scratch/token")" \
		-o "$scratch/out/served" "$url/debug/pprof/profile?seconds=1" &&
		"$bin/pmu-top" "$scratch/out/served" || status=1
	! curl -sf -m 300 "$url/debug/pprof/profile?seconds=1" || status=1
	kill $(pgrep -P $server) $server
	wait $server
	cat "$scratch/said"
	return $status
}

# as_page COMMAND: its words after the image's name, in less time, with its user and capabilities
as_page() {
	user=$(echo "$1" | sed -n 's/.* --user \([0-9]*\).*/\1/p')
	capabilities=$(echo "$1" | grep -o -e '--cap-add [A-Z_]*' | cut -d ' ' -f 2 | xargs)
	set -- $(echo "$1" | sed 's/.* pmukit //; s/ >.*//; s/-d 10/-d 0.5/; s/-l [^ ]*//')
	user=${user:-65534}
	case $1 in
	serve)	serve_as_page "$@" ;;
	sample)	contained "$user" "$capabilities" "$@" >"$scratch/s.data" &&
		"$bin/pmu-top" "$scratch/s.data" ;;
	*)	contained "$user" "$capabilities" "$@" ;;
	esac
}

if test -e doc/containers.md; then
	commands_of_page >"$scratch/commands"
	is "the page has commands" "$(test -s "$scratch/commands" && echo yes)" yes
	while read -r command; do
		succeeds "$command" as_page "$command" </dev/null
	done <"$scratch/commands"
fi
kill -KILL "$first"	# it is the first process, so it gets no other signal
wait $outside 2>/dev/null
first=
test -z "$container" || { builder rm "$container" && builder rmi pmukit; } >"$scratch/log" 2>&1
verdict
