#!/bin/sh
# Events of loads and stores with data addresses: what is opened, and raw records of AMD's IBS.
# kinds: release asan
. tests/lib.sh
. tests/events.sh

# within TREE COMMAND...: run it where TREE is /sys.  The kernel does not see its events: each call
# succeeds with a descriptor that is not open.  The calls are in ./calls.
within() {
	rm -rf "$1"
	tree "$1"
	at=$PWD/$1/bus/event_source/devices
	shift
	map=-r
	test "$(id -u)" != 0 || map=
	unshare $map -m sh -c '
		mount --bind "$0" /sys/bus/event_source/devices && mount --bind "$0" /sys/devices ||
			exit 77
		exec "$@"' "$at" \
		strace -f -v -qq -o calls -e trace=perf_event_open \
			-e inject=perf_event_open:retval=1000 "$@" >said 2>&1 || test $? != 77 ||
		skip "cannot mount: $(cat said)"
	test -s calls || skip "strace cannot trace here: $(cat said)"
}

# attrs: each distinct attr of ./calls that is not of software, as in tests/data/memory-attrs
attrs() {
	awk '
	function value(key,  at) {
		at = match($0, "[{ ]" key "=")
		if (!at)
			return 0
		at = substr($0, at + length(key) + 2)
		sub(/[,} ].*/, "", at)
		return at
	}
	/perf_event_open\(/ && !/PERF_TYPE_SOFTWARE|PERF_TYPE_HARDWARE/ {
		kind = value("type")
		kind = kind == "PERF_TYPE_RAW" ? 4 : kind == "0xa" ? 10 : kind
		fields = ""
		n = split(value("sample_type"), name, "|")
		for (i = 1; i <= n; i++)
			if (name[i] ~ /ADDR|DATA_SRC|WEIGHT|RAW/)
				fields = fields "|" substr(name[i], 13)
		line = kind " " value("config") " " value("config1") " " value("precise_ip") " " \
			value("exclude_guest") " " substr(fields, 2)
		if (!seen[line]++)
			print line
	}' calls
}

# rows: tests/data/memory-attrs without comments
rows() { grep -v "^#" "$TOP/tests/data/memory-attrs"; }

case $(uname -m) in
aarch64) stack=0x80000000 ;;
*) stack=0x80 ;;
esac

needs_strace() {
	unsanitized
	needs_command strace
}

check 'mem-loads, mem-stores and mem-ldst open what perf opens, by the text of it' <<'END'
	needs_strace
	rows | while IFS="	" read -r tree ours perf want; do
		within "$tree" pmu-sample -e "$ours" --record data -o s.data -- true
		echo "$tree $ours"
		# the raw record of IBS, for kernels before 6.2, is ours
		attrs | sed "s/|RAW//; s/RAW|//" >got
		echo "$want" | tr "\t" "\n" | same - got
	done
END

check 'that text is what perf opens here' <<'END'
	needs_strace
	needs_command perf
	rows | while IFS="	" read -r tree ours perf want; do
		within "$tree" perf record -B -d -W -e "$perf" -o p.data -- true
		echo "$tree $perf"
		attrs >got
		echo "$want" | tr "\t" "\n" | same - got
	done
END

check 'physical addresses, too; without --record data there are no addresses' <<'END'
	needs_strace
	within skylake pmu-sample -e mem-stores --record data,phys -o s.data -- true
	attrs | grep -q " ADDR|DATA_SRC|PHYS_ADDR|WEIGHT_STRUCT"
	within skylake pmu-sample -e mem-stores -o s.data -- true
	attrs | grep -q "^4 0x82d0 0 3 0 $"
	within amd pmu-sample -e mem-ldst --record data -o s.data -- true
	attrs | grep -q " ADDR|RAW|DATA_SRC|WEIGHT_STRUCT"
END

check 'with data addresses comes the stack pointer, unlike perf, which reads ours' <<'END'
	needs_strace
	within skylake pmu-sample -e mem-stores --record data -o s.data -- true
	grep -q "config=0x82d0.*PERF_SAMPLE_REGS_USER.*sample_regs_user=$stack" calls
	within skylake pmu-sample -e mem-stores -o s.data -- true
	none grep -q "PERF_SAMPLE_REGS_USER" calls
	needs_command perf
	pmu-sample -q -c 1 -e page-faults:u --record data -o s.data -- true ||
		skip "page faults cannot be sampled here"
	perf script -i s.data -F ip,addr,uregs 2>err | grep -q "ABI:2 .*[A-Z]*SP:0x"
END

check 'the leader that loads need since Alder Lake, once' <<'END'
	tree sapphirerapids
	members() {
		words sapphirerapids "$@" | cut -d" " -f1 | paste -sd" "
		member group | paste -sd" "
	}
	members mem-loads >got
	members mem-loads/ldlat=50/u >>got
	members "{mem-loads-aux,mem-loads}:P" >>got
	members "{mem-loads,instructions}" >>got
	members cpu/mem-loads/P >>got
	members ldlat-loads:pp,ldlat-stores >>got
	cat >want <<-EOF
	cpu/mem-loads-aux/PH cpu/mem-loads/PH
	1 1
	cpu/mem-loads-aux/uP cpu/mem-loads,ldlat=50/uP
	1 1
	cpu/mem-loads-aux/PH cpu/mem-loads/P
	1 1
	cpu/mem-loads-aux/P cpu/mem-loads/P instructions
	1 1 1
	cpu/mem-loads/P
	0
	cpu/mem-loads-aux/pp cpu/mem-loads,ldlat=30/pp cpu/mem-stores/P
	1 1 0
	EOF
	same want got
END

check 'how often to sample loads is unknown: by frequency, if the user gives no period' <<'END'
	tree skylake
	words skylake mem-loads >got
	test "$(member sample_freq)" = 1000
	words skylake mem-loads/period=2003/ >got
	test "$(member sample_period)" = 2003
END

check 'where there is no such event, a sentence says what there is' <<'END'
	for tree in amd arm skylake; do tree $tree; done
	wrong() { exits 1 pmu-events --encode --sysfs "$1" "$2" 2>err; grep -q "$3" err; }
	wrong amd mem-loads "sampled together: use mem-ldst"
	wrong arm mem-loads "arm_spe_0 writes packets .*: perf record -e .*, then perf inject"
	wrong arm mem-ldst "arm_spe_0 writes packets"
	wrong arm arm_spe "arm_spe_0 writes packets"
	words amd ibs_op mem-ldst | cut -d" " -f1 | uniq -c | grep -q "2 ibs_op//"
	wrong skylake mem-ldst "none of its PMUs samples data addresses"
	mkdir -p none/bus/event_source/devices/software
	echo 1 >none/bus/event_source/devices/software/type
	for name in mem-loads mem-stores mem-ldst ibs_op arm_spe; do
		wrong none $name "no '$name': .* samples data addresses; page-faults and mem:ADDRESS"
	done
	wrong skylake mem-loads:q "'q' is not a modifier"
	wrong skylake mem-loads/ldlt=4/ "did you mean 'ldlat'"
	wrong skylake "mem-loads/$(printf "%300s" "" | tr " " 1)/" "these terms are too long"
END

check 'pmu-stat, which counts, gives no advice on the addresses of samples' <<'END'
	for pmu in arm_spe_0 ibs_op; do
		test ! -d /sys/bus/event_source/devices/$pmu || skip "this machine has $pmu"
	done
	for name in mem-ldst arm_spe; do
		exits 1 pmu-stat -e $name true 2>err
		echo "pmu-stat: this machine has no '$name': none of its PMUs counts it" | same - err
	done
END

check 'arm_spe is refused, with what to use instead; so are traces' <<'END'
	needs_strace
	within arm pmu-sample -e arm_spe_0/load_filter=1/ -o s.data -- true
	grep -q "^pmu-sample: cannot sample 'arm_spe_0/.*': .*perf inject --itrace" said
END

# decoded CPU CAPS [EVENT]: what perf says of raw records of that CPU is what samples have
decoded() {
	ibs() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/ibs.py" "$@"; }
	ibs make "$1" "$2" f.data
	perf report -D -i f.data 2>/dev/null | ibs expect "$1" | sort >want
	test "$(wc -l <want)" = 400
	test "$(sort -u want | wc -l)" -gt 200
	pmu-topprof --label data_src,snoop_status,weight,addr,timestamp_ns f.data -o p.pb.gz
	go tool pprof -raw p.pb.gz 2>/dev/null | ibs labels | sort | same want -
}

check 'a raw record of IBS has address, source and latency: as perf decodes its bits' <<'END'
	unsanitized
	decoded AuthenticAMD,23,49,0 0x7ff	# Zen 2
	decoded AuthenticAMD,25,33,1 0x7ff	# Zen 3: lines have no state
	decoded AuthenticAMD,25,1,1 0x7ff	# Zen 3 with erratum 1293
	decoded AuthenticAMD,25,17,1 0xfff	# Zen 4: more data sources
END

check 'raw records of IBS that are too short, not valid or of no access add nothing' <<'END'
	compose s.data <<-END
		def sample(raw):
		    body = struct.pack("<QIIQI", 1, 1, 1, 1, len(raw)) + raw
		    return record(9, body + bytes(-len(body) % 8))
		def raw(control, data3):
		    return struct.pack("<I7Q", 0xfff, control, 1, 0, 3, data3, 0x1234, 0)
		load = 1 | 1 << 7 | 1 << 17 | 1 << 20 | 77 << 32
		good = raw(0x60000, load)
		kind = attr(10, 0, 1, IP | TID | TIME | RAW)
		pmus = struct.pack("<III", 1, 10, 64) + b"ibs_op".ljust(64, b"\0")
		short = [good[:n] for n in range(4, 60, 4)]
		hostile = struct.pack("<III", 0xffffffff, 10, 0xffffffff) + b"ibs_op\0"
		cpu = [struct.pack("<I", n) + b"AuthenticAMD,25" for n in (0, 1, 15, 0xffffffff)]
		out = file([(kind, [5])], [sample(r) for r in
		    [good, raw(0x20000, load), raw(0x60000, load & ~1)] + short], {16: pmus})
		for i, c in enumerate(cpu):
		    open("cpu%d.data" % i, "wb").write(
		        file([(kind, [5])], [sample(good)], {9: c, 16: hostile}))
	END
	pmu-topprof --label addr,weight,data_src s.data -o p.pb.gz
	go tool pprof -raw p.pb.gz 2>/dev/null >got
	grep -c "addr:\[0x1234\]" got | grep -qx 1
	grep -q "data_src:\[RAM hit\]" got
	grep -c "data_src:" got | grep -qx 1
	for i in 0 1 2 3; do
		pmu-topprof -q --label addr cpu$i.data -o p.pb.gz || test $? = 1
	done
END

done_testing
