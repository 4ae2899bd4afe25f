#!/bin/sh
# The relink archive's script links the tools again, with a changed libiberty.a, and they run.
set -e
cd "$(dirname "$0")/../.."
library=$(cc -print-file-name=libiberty.a)
test -e "$library" || { echo "there is no libiberty.a"; exit 77; }
make -s -j2 all pmukit
work=$(mktemp -d /tmp/pmukit-relink.XXXXXX)
trap 'rm -rf "$work"' EXIT
LDFLAGS=-Wl,--build-id=sha1 packaging/relink build/release "$work/it's here" pmukit-test

# the same libraries give the same tools
cd "$work/it's here"
./relink
for tool in bin/*; do
	"$tool" --version | grep -q "^${tool#bin/} [0-9]" || { echo "$tool does not run"; exit 1; }
done

# a libiberty.a with another demangler for D
mkdir "$work/changed"
cp "$library" "$work/changed/libiberty.a"
cat >"$work/changed/d-demangle.c" <<'END'
#include <string.h>
char *dlang_demangle(const char *mangled, int options)
{
	(void)mangled;
	(void)options;
	return strdup("changed.by.its.user");
}
END
cc -O2 -fPIE -c -o "$work/changed/d-demangle.o" "$work/changed/d-demangle.c"
ar r "$work/changed/libiberty.a" "$work/changed/d-demangle.o" 2>/dev/null
./relink "-L$work/changed"

cd "$work"
cat >d.c <<'END'
void spin(void) __asm__("_D3app4spinFZv");
void spin(void)
{
	for (volatile long i = 0; i < 200000000; i++)
		;
}
int main(void)
{
	spin();
	return 0;
}
END
cc -O1 -g0 -o d d.c
bin=$work/it\'s\ here/bin
"$bin/pmu-sample" -q -e cpu-clock:u -o d.data -- ./d ||
	{ echo "no sampling is allowed here"; exit 77; }
for tool in pmu-symbolize "pmukit symbolize"; do
	words=${tool#*t }
	test "$words" != "$tool" || words=
	"$bin/${tool% *}" $words -q d.data | "$bin/pmu-topprof" -o d.pb.gz
	"$bin/pmu-top" d.pb.gz | grep -w "changed.by.its.user" || {
		echo "$tool does not have the changed library"
		exit 1
	}
done
