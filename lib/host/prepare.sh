# prepare.sh - runs on a host, by whatever sh it has: finds or copies the program, and becomes it.
#
# stdin and stdout are the connection, and both sides speak in turns.  This side says which machine
# this is, then asks for the file ("send") if it does not have it.  Names of variables have a
# prefix: a variable that is in the environment would be changed for the command, too.
#
# All is done in the directory of the file, by names without a path.  Once that directory is known
# to be this user's alone, nobody else can put anything into the way.

pmukit_start=$(pwd) pmukit_mask=$(umask) pmukit_user=$(id -u) pmukit_new= pmukit_whys=
pmukit_noted= pmukit_unused=
umask 077
trap 'rm -f "$pmukit_new"' EXIT
trap 'exit 1' HUP INT PIPE TERM

echo "pmukit-host 1 $(uname -m)"
read -r pmukit_sum pmukit_size && IFS= read -r pmukit_given || exit 1
pmukit_file=pmukit-$pmukit_sum

# Print the SHA-256 of a file; nothing where no program can tell.
pmukit_sum_of() {
	{
		sha256sum "$1" || shasum -a 256 "$1" || openssl dgst -sha256 -r "$1" ||
		busybox sha256sum "$1"
	} 2>/dev/null | cut -c 1-64
}

# The place is of no use: remember why, and fail.
pmukit_no() {
	pmukit_whys="${pmukit_whys:+$pmukit_whys; }$1: $2"
	return 1
}

# Go to the directory of ours in BASE.  A link to it is refused, even one that is made just now.
pmukit_enter() {
	cd -P -- "$1" 2>/dev/null || { pmukit_no "$1" 'there is no such directory'; return; }
	pmukit_at=$(pwd -P)
	pmukit_at=${pmukit_at%/}/pmukit-$pmukit_user
	mkdir "pmukit-$pmukit_user" 2>/dev/null
	pmukit_is=$(ls -ldn "pmukit-$pmukit_user" 2>/dev/null)
	test -n "$pmukit_is" || { pmukit_no "$1" 'it cannot be written'; return; }
	cd -P "./pmukit-$pmukit_user" 2>/dev/null && test "$(pwd -P)" = "$pmukit_at" &&
		pmukit_is=$(ls -ldn .)
	case $(pwd -P):$(echo "$pmukit_is" | { read -r a b c d; echo "$a $c"; }) in
	"$pmukit_at:drwx--"[-S]"--- $pmukit_user" | "$pmukit_at:drwx--"[-S]"---. $pmukit_user") ;;
	*)	pmukit_noted=$1
		echo "note '$pmukit_at' is not used: it is not a directory of mode 0700 that is" \
			"this user's own"
		pmukit_no "$1" "'pmukit-$pmukit_user' in it is not this user's alone" ;;
	esac
}

# Find or make the file in this directory, which is in BASE.
pmukit_provide() {
	test ! -f "$pmukit_file" || test "$(pmukit_sum_of "$pmukit_file")" != "$pmukit_sum" || {
		"./$pmukit_file" --version >/dev/null 2>&1 </dev/null && return
		pmukit_no "$1" 'programs there cannot be run'
		return
	}
	pmukit_new=try.$$
	{ echo '#!/bin/sh' >"$pmukit_new" && chmod 700 "$pmukit_new"; } 2>/dev/null ||
		{ pmukit_no "$1" 'it cannot be written'; return; }
	"./$pmukit_new" 2>/dev/null || { pmukit_no "$1" 'programs there cannot be run'; return; }
	echo send
	# all that is sent is read, also where it cannot be written
	head -c "$pmukit_size" | { cat >"$pmukit_new"; cat >/dev/null; } 2>/dev/null
	test "$(wc -c <"$pmukit_new")" -eq "$pmukit_size" ||
		{ pmukit_no "$1" 'the program cannot be written'; return; }
	pmukit_got=$(pmukit_sum_of "$pmukit_new")
	test -n "$pmukit_got" || echo 'note there is no program for SHA-256, so pmukit is copied' \
		'for each run, and only its size is checked'
	test "${pmukit_got:-$pmukit_sum}" = "$pmukit_sum" && mv -f "$pmukit_new" "$pmukit_file" ||
		pmukit_no "$1" 'the program was damaged on its way'
}

test ! -d "$HOME" || mkdir "$HOME/.cache" 2>/dev/null
for pmukit_base in "$pmukit_given" "${HOME:+$HOME/.cache}" /tmp; do
	test -n "$pmukit_base" || continue
	pmukit_enter "$pmukit_base" && pmukit_provide "$pmukit_base" && {
		test -z "$pmukit_unused" || echo "note --host-dir is not used: $pmukit_unused"
		umask "$pmukit_mask"
		echo run
		exec "./$pmukit_file" prof "--host=stdio:$pmukit_start"
	}
	rm -f "$pmukit_new"
	test "$pmukit_base" != "$pmukit_given" || test "$pmukit_noted" = "$pmukit_base" ||
		pmukit_unused=$pmukit_whys
	pmukit_new=
	cd "$pmukit_start" || exit 1
done
echo "fail $pmukit_whys"
