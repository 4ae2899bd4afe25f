#!/bin/sh
# Labels set by libpmukit: each sample has those of the function that ran.
# kinds: release
. tests/lib.sh
. tests/program-labels.sh

lib=${BIN%/bin}/lib

# built NAME [LINK...]: the program, linked in this way
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	name=$1
	shift
	test -e "$scratch/$name" ||
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -pthread -I"$TOP/include" -o "$scratch/$name" \
			"$TOP/tests/library/labels.c" "$@"
	ln -sf "$scratch/$name" .
}
labels() { LD_LIBRARY_PATH=$lib ./labels "$@"; }

# judged FILE LEAST: each sample in a function work_X has the label of X, and there are enough
judged() {
	pmu-symbolize -q "$1" | pmu-topprof -q -l label:work,label:also,label:* -Z none -o p.pb
	go tool pprof -symbolize=none -raw p.pb 2>err >raw
	python3 - raw "$2" <<-"EOF"
	import re, sys
	text = open(sys.argv[1]).read()
	samples, places = text.split("Samples:")[1].split("Locations")
	name = {}
	for line in places.splitlines():
	    m = re.match(r" +(\d+): 0x\w+ M=\d+ (\S+)", line)
	    if m:
	        name[m[1]] = m[2]
	right = wrong = 0
	for row in re.findall(r"^ +(\d+) +\d+: ([\d ]*)\n((?: {16,}\S.*\n)*)", samples, re.M):
	    functions = [name.get(i, "")[5:] for i in row[1].split()
	                 if name.get(i, "").startswith("work_")]
	    label = re.search(r"\bwork:\[(\w*)\]", row[2])
	    want = functions[0] if functions else None
	    has = label[1] if label else "none"
	    if want:
	        right, wrong = right + int(row[0]) * (want == has), wrong + int(row[0]) * (want != has)
	print(right, wrong)
	sys.exit(wrong > 0 or right < int(sys.argv[2]))
	EOF
}

check 'each sample has the labels of its function: the shared library' <<'END'
	needs_bpf
	built labels -L"$lib" -lpmukit
	export LD_LIBRARY_PATH=$lib
	pmu-sample -q --labels=custom -e cpu-clock -F 2500 -o s.data -- ./labels work 700
	judged s.data 1500
END

check 'each sample has the labels of its function: the archive, in a dynamic program' <<'END'
	needs_bpf
	built archive "$lib/libpmukit.a"
	pmu-sample -q --labels=custom -e cpu-clock -F 2500 -o s.data -- ./archive work 300
	judged s.data 600
END

check 'each sample has the labels of its function: the archive, in a static program' <<'END'
	needs_bpf
	built whole -static "$lib/libpmukit.a"
	pmu-sample -q --labels=custom -e cpu-clock -F 2500 -o s.data -- ./whole work 300
	judged s.data 600
END

check 'of more labels than a profile has, the first reach it; long keys and values are cut' <<'END'
	needs_bpf
	built labels -L"$lib" -lpmukit
	export LD_LIBRARY_PATH=$lib
	pmu-sample -q --labels=custom -e cpu-clock -F 2500 -o s.data -- ./labels limits 200
	pmu-symbolize -q s.data | pmu-topprof -q -l "label:*" -Z none -o p.pb
	go tool pprof -symbolize=none -raw p.pb 2>err | grep "[^ ]:\[" | tr -s " " "\n" |
		sed "/./!d; s/xxx*/x/g" | grep -v "^labels:\|^known\]\|^left\|^out\]" | sort -u >got
	x() { printf "%*s" "$1" "" | tr " " x; }
	printf "%s\n" key0:[even] key1:[odd] key2:[even] key3:[odd] key4:[even] key5:[odd] \
		key6:[even] key7:[odd] long:[x...] x...:[long] | sort | same got -
	go tool pprof -symbolize=none -raw p.pb 2>err | grep -c "long:\[$(x 255)\.\.\.\]"
	go tool pprof -symbolize=none -raw p.pb 2>err | grep -c " $(x 63)\.\.\.:\[long\]"
END

check 'labels of another library are kept, and not freed' <<'END'
	built labels -L"$lib" -lpmukit
	labels foreign >got
	printf "%s\n" other=set ours=after 0 | same got -
END

check 'threads free their labels when they end' <<'END'
	built labels -L"$lib" -lpmukit
	needs_command valgrind
	LD_LIBRARY_PATH=$lib valgrind -q --leak-check=full --error-exitcode=9 \
		--show-leak-kinds=definite,indirect,possible ./labels threads 200 2>err
	none grep "definitely\|indirectly" err
END

check 'wrong calls are errors, and removing what is absent is not' <<'END'
	built labels -L"$lib" -lpmukit
	labels mistakes >got
	printf "%s\n" "-2 -2 a label needs a key" 0 | same got -
END

done_testing
