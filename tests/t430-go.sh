#!/bin/sh
# The function table of Go programs, by addr2frames -g, held against Go's own addr2line, LLVM's
# symbolizer, and for versions of Go that are not here, tests/go-frames.
#
# ORACLE=all: programs of each version of Go, position-independent ones of the whole library,
# more addresses.  Sanitizers see the tables read; what is in them is compared once, without.
# kinds: release asan
. tests/lib.sh

count=2000 few=1000 pie=runtime.go kind=release
case $BIN in *asan*) kind=asan ;; esac
test -z "$ORACLE" || count=10000 few=10000 pie=t.go kind=all

cat >"$scratch/sum" <<'EOF'

func square(x int) int { return x * x }

func sum(v []int) (s int) {
	for _, x := range v {
		s += square(x) + square(x+1)
	}
	return
}
EOF
cat - "$scratch/sum" >"$scratch/t.go" <<'EOF'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

type pair struct {
	Key   string
	Count int
}

func main() {
	words := map[string]int{}
	for _, a := range os.Args {
		for _, w := range strings.Fields(strings.ToLower(a)) {
			words[w]++
		}
	}
	var all []pair
	for k, v := range words {
		all = append(all, pair{k, v})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Count > all[j].Count })
	text, err := json.Marshal(all)
	fmt.Println(string(text), err, sum([]int{1, 2, len(all)}))
}
EOF
# The library is there compiled, but not position-independent: here is little of it
cat - "$scratch/sum" >"$scratch/runtime.go" <<'EOF'
package main

import (
	"sort"
	"strings"
)

func main() {
	words := strings.Fields("some words and others")
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	println(strings.Join(words, " "), sum([]int{1, 2, len(words)}))
}
EOF
export GO111MODULE=off

# wanted FORM: does this kind check it?
wanted() {
	case $kind-$1 in
	all-* | release-plain | release-pie-* | release-linked | release-1.16 | release-1.27 | \
	asan-plain | asan-pie-lld | asan-1.16 | asan-1.27) ;;
	*) return 1 ;;
	esac
}

# same_go [-o ORACLE] PROGRAM: addr2frames -g agrees; sanitizers only see it read
same_go() {
	if test $kind = asan; then
		shift $(($# - 1))
		"$TOP/tests/same-go" -a -n $count "$1" >addresses
		addr2frames -g "$1" <addresses >frames
		test "$(grep -c '^$' frames)" = $count
	else
		"$TOP/tests/same-go" -n $count "$@"
	fi
}

# agree SOURCE OPTION...: a program built so, and the same without symbols and DWARF
agree() {
	source=$scratch/$1
	shift
	go build "$@" -ldflags "$link -compressdwarf=false" -o t "$source"
	go build "$@" -ldflags "$link -s -w" -o stripped "$source"
	same_go t
	readelf -SW stripped | none grep " \.symtab\|\.debug_info"
	same_go -o t stripped
}

wanted plain &&
check 'functions, lines and inlined calls, as Go and LLVM show them; stripped too' <<'END'
	needs_command go
	link= agree t.go
END

wanted pie-internal && check 'the same, position-independent' <<'END'
	needs_command go
	link=-linkmode=internal agree $pie -buildmode=pie
END

wanted linked && check 'the same, linked by the C linker' <<'END'
	needs_command go
	link=-linkmode=external agree t.go
END

wanted pie-external && check 'the same, linked by the C linker, position-independent' <<'END'
	needs_command go
	link=-linkmode=external agree $pie -buildmode=pie
END

wanted pie-lld &&
check 'they are those of a program, too, in which LLVM leaves zeros where the loader writes' <<'END'
	needs_command go ld.lld
	link="-linkmode=external -extldflags=-fuse-ld=lld" agree $pie -buildmode=pie
END

# packed PACKAGE PROGRAM FILE: what others built with other versions of Go, stripped
packed() {
	file=$(timeout 600 npm pack --silent --cache "$PWD/cache" "$1" | tail -n 1)
	test -s "$file" || skip "npm does not get $1"
	tar -xzf "$file"
	mv "package/bin/$2" "$3"
	rm -r package cache "$file"
}

for which in \
	'1.16	esbuild-linux-64@0.8.57		esbuild' \
	'1.17	esbuild-linux-64@0.12.29	esbuild' \
	'1.19	esbuild-linux-64@0.14.54	esbuild' \
	'1.20	@esbuild/linux-x64@0.17.19	esbuild' \
	'1.23	@esbuild/linux-x64@0.25.12	esbuild' \
	'1.26	@esbuild/linux-x64@0.28.2	esbuild' \
	'1.27	lefthook-linux-x64@2.2.2	lefthook'
do
	set -- $which
	version=$1 package=$2 program=$3
	wanted $version &&
	check "a program of Go $version, as a reader of our own in Python has it" <<-'END'
		needs_command npm
		once go-$version packed $package $program program
		grep -aq "go$version" program
		"$TOP/tests/same-go" -a -n $few program >addresses
		addr2frames -g program <addresses >got
		sanitized || "$TOP/tests/go-frames" program <addresses >want
		sanitized || same want got
		# two for each address, and those of inlined calls
		at_least $(grep -c . got) $((few * 23 / 10))
	END
done

check 'a program that is not in Go has no such table' <<'END'
	exits 1 addr2frames -g /bin/sh </dev/null
END

cat >"$scratch/generic.go" <<'EOF'
package main

//go:noinline
func work[T int | int64](x T) T {
	for i := 0; i < 100000; i++ {
		x = x*31 + T(i)
	}
	return x
}

func main() {
	x, y := 1, int64(1)
	for i := 0; i < 1000; i++ {
		x, y = work(x), work(y)
	}
	println(x, y)
}
EOF

check 'generic functions are called as Go calls them, with DWARF and stripped' <<'END'
	unsanitized
	needs_command go
	go build -o whole "$scratch/generic.go"
	go build -ldflags "-s -w" -o stripped "$scratch/generic.go"
	for program in whole stripped; do
		pmu-sample -e cpu-clock -F 500 -o s.data -- ./$program
		pmu-symbolize s.data | pmu-topprof --to folded >top
		cat top
		grep -q ";main.work\[\.\.\.\] " top
		none grep "go.shape" top
	done
END

cat >"$scratch/c.go" <<'EOF'
package main

// static int start(void) { return 40000000; }
import "C"

func deeper(x int) (s int) {
	for i := 0; i < 10; i++ {
		s ^= i * x
	}
	return
}

func deep(x int) int { return deeper(x) * 3 }

//go:noinline
func work(n int) (s int) {
	for i := 0; i < n; i++ {
		s += deep(i)
	}
	return
}

//export run
func run() { println(work(int(C.start()))) }

func main() { run() }
EOF

# go_build FLAGS FILE: c.go, linked so
go_build() { go build -ldflags "$1" -o "$2" "$scratch/c.go"; }

# sampled PROGRAM OBJECT: it runs; how frames in OBJECT were named is in "how", the profile in
# "raw", which has the calls that were inlined, with their lines
sampled() {
	pmu-sample -e cpu-clock -F 500 -g -o s.data -- ./$1 2>ran
	pmu-symbolize -v s.data 2>said >resolved
	grep "/$2.: " said >how
	cat how
	pmu-topprof -o p.pb.gz resolved
	go tool pprof -raw p.pb.gz 2>/dev/null >raw
}

# by_table: Go's functions are named by Go's table.  C code may be named by DWARF, which has more.
# Stubs of the procedure linkage table are named by symbols, which have no lines.
by_table() {
	grep -q "named by Go.s table" how
	none grep "M=.* \(main\|runtime\)\.[^ ]* :0 " raw
	grep -A 2 "M=.* main.deeper .*/c\.go:[78] " raw >calls
	grep -q "^ *main.deep .*/c\.go:13 " calls
	grep -q "^ *main.work .*/c\.go:18 " calls
}

check 'a program with C that has DWARF of the C code only' <<'END'
	needs_command go
	once go-part go_build "-w -linkmode external" part
	readelf -SW part | grep -q " \.debug_info"
	sampled part part
	by_table
	awk '/ M=.* main\./ { print $2, $5 }' raw >got
	cut -d" " -f1 got | go tool addr2line part | awk "NR % 2 == 0" >lines
	cut -d" " -f1 got | paste -d" " - lines >want
	test -s want
	same want got
	once go-whole go_build "-linkmode external" whole
	sampled whole whole
	grep -q "named by debug information" how
	none grep "Go.s table" how
END

check 'the same in a shared library' <<'END'
	unsanitized
	needs_command go
	go build -buildmode=c-shared -ldflags -w -o libpart.so "$scratch/c.go"
	echo "void run(void); int main(void) { run(); }" >main.c
	gcc main.c -o main -L. -lpart -Wl,-rpath,"$PWD"
	sampled main libpart.so
	by_table
END

done_testing
