#!/bin/sh
# The makers' tables of events: names and codes, models, kinds of cores.
# kinds: release user
. tests/lib.sh
. tests/events.sh

TABLES=$TOP/lib/event/tables

# all_events: "MODEL::NAME CONFIG CONFIG1" of every event in the tables
all_events() {
	awk -F "\t" '!/^#/ {
		n = split($5, model, " ")
		split($3, extra, "=")
		for (i = 1; i <= n; i++)
			print model[i] "::" $1, $2, $3 == "-" ? "0x0" : extra[2]
	}' "$TABLES/events.tsv"
}

# encode_as FORM: "CONFIG CONFIG1" of each "MODEL NAME" on stdin, whose models are sorted.  FORM has
# "@" in place of the name.
encode_as() {
	awk -v form="$1" '
		$1 != last { printf "%s%s", last == "" ? "" : "\n", $1 }
		{ last = $1; text = form; sub(/@/, $2, text); printf " %s", text }
		END { print "" }' |
	while read -r model names; do
		pmu-events --encode --json --pmu "$model" $names | fields config config1
	done
}

check 'each event of each table has its code, in all spellings, within cpu/.../, too' <<'END'
	all_events | sed "s/::/ /" | sort -s -k 1,1 >all
	test "$(wc -l <all)" -gt 24000
	cut -d" " -f3,4 all >want
	cut -d" " -f1,2 all | encode_as @ >got
	same want got
	cut -d" " -f1,2 all | tr A-Z a-z | encode_as @/period=10007/u >got
	same want got
	cut -d" " -f1,2 all | tr A-Z a-z | encode_as cpu/@/ >got
	same want got
END

check 'each event that Intel and Arm publish is known, with the code of their columns' <<'END'
	any_user
	columns=$SHARED/../events
	test -f "$columns/intel-core.tsv" || skip "no $columns"
	python3 "$TOP/tests/maker-columns.py" "$columns" "$TABLES/models.tsv" | sort >want
	all_events | sort >got
	same want got
END

check 'libpfm4 and the tables agree on all names that both have, or a list says why not' <<'END'
	pfm-encode 1 | grep -q ^icx: || skip "libpfm4 of another architecture"
	all_events | sort >all
	cut -d" " -f1 all | pfm-encode - | cut -d" " -f1,3,4 | sort >pfm
	test "$(wc -l <pfm)" -gt 4000
	test "$(cut -d: -f1 pfm | sort -u | wc -l)" -ge 20
	join all pfm | awk "\$2 != \$4 || \$3 != \$5 { print \$1, \$4, \$5 }" >got
	grep -v "^#" "$TABLES/libpfm4.tsv" | cut -f1-3 | tr "\t" " " | sort | same - got
	grep -v "^#" "$TABLES/libpfm4.tsv" | cut -f4 >why
	none grep -x "" why
END

check "wrong codes of libpfm4 are replaced by the maker's, or refused" <<'END'
	pfm-encode 1 | grep -q ^icx: || skip "libpfm4 of another architecture"
	cat >want <<-EOF
	glm::CPU_CLK_UNHALTED:CORE_P 0x3c
	glm::CPU_CLK_UNHALTED:CORE_P 0x3c
	icx::TOPDOWN:BACKEND_BOUND_SLOTS 0x2a4
	icl::TOPDOWN:BACKEND_BOUND_SLOTS:c=1 0x10002a4
	spr::TOPDOWN:BAD_SPEC_SLOTS:u 0x4a4
	spr::TOPDOWN:MEMORY_BOUND_SLOTS 0x10a4
	spr::INST_RETIRED:ANY 0xc0
	spr::MEM_TRANS_RETIRED:STORE_SAMPLE 0x2cd
	icx::MEM_LOAD_MISC_RETIRED:UC 0x4d4
	ivb::MOVE_ELIMINATION:INT_ELIMINATED 0x158
	nhm::MACRO_INSTS:FUSIONS_DECODED 0x1a6
	skx::UOPS_RETIRED:STALL_CYCLES 0x18002c2
	EOF
	pmu-events --encode --json glm::CPU_CLK_UNHALTED $(cut -d" " -f1 want | tail -n +2) |
		fields name config >got
	same want got
	exits 1 pmu-events --encode skx::UOPS_RETIRED:STALL_CYCLES:ALL 2>err
	grep -q "different codes for the umask 'STALL_CYCLES': use it alone" err
	pmu-events --encode icx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30 | grep -q 0x1e
END

check 'attributes and modifiers; what an event does not allow is an error' <<'END'
	words="name config precise_ip exclude_kernel"
	e=emr::UOPS_RETIRED.SLOTS
	pmu-events --encode --json $e:e:c=2:upp $e:i=1:c=1:t:precise=1 $e:P $e:intx \
		emr::INST_RETIRED.PREC_DIST:k | fields $words >got
	cat >want <<-EOF
	emr::UOPS_RETIRED:SLOTS:e=1:c=2:upp 0x20402c2 2 true
	emr::UOPS_RETIRED:SLOTS:i=1:c=1:t=1:p 0x1a002c2 1 false
	emr::UOPS_RETIRED:SLOTS:P 0x2c2 0 false
	emr::UOPS_RETIRED:SLOTS:intx=1 0x1000002c2 0 false
	emr::INST_RETIRED:PREC_DIST:k 0x100 0 false
	EOF
	same want got
	pmu-events --encode --json $(cut -d" " -f1 got) | fields $words | same want -
	pmu-events --encode --json $e:period=20011 | fields sample_period | grep -qx 20011
	pmu-events --encode --to perf ${e}:u |
		grep -qx "cpu/config=0x2c2,name=emr__UOPS_RETIRED_SLOTS,period=4913959/u"
	for wrong in $e:q $e:c=256 $e:c=x emr::UOPS_RETIRED.STALLS:c=2 arm_n1::CPU_CYCLES:c=1; do
		exits 1 pmu-events --encode $wrong 2>err
		grep -q "does not support all of" err
	done
END

# x86_cpu TREE FAMILY MODEL
x86_cpu() {
	mkdir -p "$1/devices/system/cpu"
	echo "cpu:type:x86,ven0000fam$2mod$3:feature:,0000,0001" >"$1/devices/system/cpu/modalias"
}

words() { pmu-events --encode --json "$@" | fields name type config config1 pmu; }

check 'hybrid: each kind of core has its own names, codes and PMU' <<'END'
	tree hybrid
	x86_cpu hybrid 0006 0097
	words --sysfs hybrid mem_load_retired.l3_miss inst_retired.any:u \
		mem_bound_stalls.load cpu_atom/mem_uops_retired.load_latency_gt_64,period=1009/pp \
		cpu_core/ocr.demand_data_rd.l3_miss/ >got
	cat >want <<-EOF
	adl_glc::MEM_LOAD_RETIRED:L3_MISS 4 0x20d1 0x0 cpu_core
	adl_grt::INST_RETIRED:ANY:u 10 0xc0 0x0 cpu_atom
	adl_glc::INST_RETIRED:ANY:u 4 0xc0 0x0 cpu_core
	adl_grt::MEM_BOUND_STALLS:LOAD 10 0x734 0x0 cpu_atom
	cpu_atom/mem_uops_retired.load_latency_gt_64,period=1009/pp 10 0x5d0 0x40 cpu_atom
	cpu_core/ocr.demand_data_rd.l3_miss/ 4 0x12a 0x3fbfc00001 cpu_core
	EOF
	sed -i "s|,period=1009||" want
	same want got
	pmu-events --encode --to perf --sysfs hybrid mem_bound_stalls.load |
		grep -q "^cpu_atom/config=0x734,"
	exits 1 pmu-events --encode --sysfs hybrid cpu_atom/mem_load_retired.l3_missx/ 2>err
	exits 1 pmu-events --encode --sysfs hybrid cpu_core/mem_bound_stalls.load/ 2>err
	grep -q "cpu_core has no term or event 'mem_bound_stalls.load'" err
END

check 'Arm: the model is that of MIDR, of each kind of core' <<'END'
	tree biglittle
	for cpu in 0:410fd034 1:410fd080; do
		dir=biglittle/devices/system/cpu/cpu${cpu%:*}/regs/identification
		mkdir -p $dir
		echo 0x00000000${cpu#*:} >$dir/midr_el1
	done
	words --sysfs biglittle BR_PRED INST_SPEC >got
	cat >want <<-EOF
	arm_ac53::BR_PRED 8 0x12 0x0 armv8_cortex_a53
	arm_ac72::BR_PRED 9 0x12 0x0 armv8_cortex_a72
	arm_ac72::INST_SPEC 9 0x1b 0x0 armv8_cortex_a72
	EOF
	same want got
	words --pmu neoverse-n1 ll_cache_miss_rd >got
	echo "arm_n1::LL_CACHE_MISS_RD 4 0x37 0x0 null" | same - got
END

check 'one kind of cores: the model of the CPU that sysfs names; its own events come first' <<'END'
	tree skylake
	x86_cpu skylake 0006 005E
	words --sysfs skylake mem_load_retired.l3_miss cpu/mem_load_retired.l3_miss,cmask=2/ \
		cpu/mem-loads/ >got
	cat >want <<-EOF
	skl::MEM_LOAD_RETIRED:L3_MISS 4 0x20d1 0x0 null
	cpu/mem_load_retired.l3_miss,cmask=2/ 4 0x20020d1 0x0 cpu
	cpu/mem-loads/ 4 0x1cd 0x3 cpu
	EOF
	same want got
	# two tables share this model; sysfs does not have the stepping
	x86_cpu skylake 0006 0055
	exits 1 pmu-events --encode --sysfs skylake cpu/mem_load_retired.l3_miss/ 2>err
	pmu-events --encode --pmu skylakex --sysfs skylake cpu/mem_load_retired.l3_miss/
END

check 'lists, suggestions, models that share a name' <<'END'
	pmu-events --list --pmu emr "ocr.demand_data_rd.l3_hit" >got
	cat >want <<-EOF
	emr, Intel Emerald Rapids
	  emr::OCR.DEMAND_DATA_RD.L3_HIT config=0x12a, offcore_rsp=0x3f803c0001

	EOF
	same want got
	pmu-events --list "gnr::inst_retired.any" | grep -q "gnr::INST_RETIRED.ANY "
	pmu-events --list --pmu arl --json | fields group | sort -u >got
	printf "arl_cmt\narl_lnc\narl_skt\n" | same - got
	exits 1 pmu-events --encode lnl_skt::INST_RETIRED.ANIP 2>err
	grep -q "unknown event 'INST_RETIRED.ANIP': did you mean 'INST_RETIRED.ANY'" err
	exits 1 pmu-events --encode mem-loads 2>err
	none grep "did you mean" err
END

check 'a note says so if an event of another CPU is sampled' <<'END'
	needs_icx() { pfm-encode 1 | grep -q ^icx: || skip "libpfm4 of another architecture"; }
	needs_icx
	# a CPU is one model at most; which events it has does not matter
	notes() {
		pmu-sample -e "$1" -o s.data -- true 2>err || :
		grep -c "is an event of another CPU, Intel .*: this CPU may count something else" err || :
	}
	both=$(($(notes gnr::INST_RETIRED.ANY_P:u) + $(notes knl::INST_RETIRED:ANY_P:u)))
	test "$both" -ge 1
	both=$(($(notes clx::LSD:UOPS:u) + $(notes hsw::LSD:UOPS:c=1:u)))
	test "$both" -ge 1
	pmu-sample -e inst_retired.any_p:u -o s.data -- true 2>err || :
	none grep "another CPU" err
	test "$(notes cpu-clock:u)" = 0
END

check 'the tables are only in tools that encode events, and below 1 MB there' <<'END'
	any_user
	for tool in "$BIN"/*; do
		grep -q GenuineIntel-6-CF "$tool" && basename "$tool"
	done >got
	printf "pmu-events\npmu-sample\npmu-stat\npmukit\n" | same - got
	"$TABLES/generate" | gcc -I"$TOP/lib" -c -x c -o tables.o -
	test "$(size tables.o | awk "NR == 2 { print \$1 + \$2 + \$3 }")" -lt 1000000
	none readelf -r tables.o | none grep R_X86
END

done_testing
