#!/bin/sh
# Events of the PMUs that sysfs describes: real layouts, packed into tests/data/sysfs.
# kinds: release user
. tests/lib.sh
. tests/events.sh

check 'Skylake: terms, aliases, defaults that a term replaces' <<'END'
	tree skylake
	words skylake cpu/event=0x3c,umask=0,cmask=1/ cpu/mem-loads/ cpu/mem-loads,ldlat=30/pp \
		cpu/event=0xb7,umask=1,offcore_rsp=0x10003c0001/u cpu/inv,event=1/ \
		cpu/config=0x1c0,config1=7/ cpu/r1c0/k cpu/instructions/ mem-stores >got
	cat >want <<-EOF
	cpu/event=0x3c,umask=0,cmask=1/ 4 0x100003c 0x0 0x0
	cpu/mem-loads/ 4 0x1cd 0x3 0x0
	cpu/mem-loads,ldlat=30/pp 4 0x1cd 0x1e 0x0
	cpu/event=0xb7,umask=1,offcore_rsp=0x10003c0001/u 4 0x1b7 0x10003c0001 0x0
	cpu/inv,event=1/ 4 0x800001 0x0 0x0
	cpu/config=0x1c0,config1=7/ 4 0x1c0 0x7 0x0
	cpu/r1c0/k 4 0x1c0 0x0 0x0
	cpu/instructions/ 4 0xc0 0x0 0x0
	cpu/mem-stores/P 4 0x82d0 0x0 0x0
	EOF
	same want got
END

check 'an event alone, with terms of its own; periods that its name suggests' <<'END'
	tree skylake
	words skylake mem-loads/ldlat=30,period=20011/P >got
	echo "cpu/mem-loads,ldlat=30/P 4 0x1cd 0x1e 0x0" | same - got
	test "$(member sample_period)" = 20011
	tree arm
	words arm cpu_cycles inst_retired br_mis_pred l1d_cache_refill >got
	member sample_period >got
	printf "3931177\n4913959\n9833\n9833\n" | same - got
END

check 'one core PMU: generic events need no PMU type' <<'END'
	tree skylake
	words skylake cycles cpu/cycles/ >got
	cat >want <<-EOF
	cycles 0 0x0 0x0 0x0
	cpu/cycles/ 0 0x0 0x0 0x0
	EOF
	same want got
END

check 'uncore: every instance of a name, its CPUs, unit and scale' <<'END'
	tree skylake
	words skylake imc/cas_count_read/ >got
	cat >want <<-EOF
	uncore_imc_0/cas_count_read/ 21 0x304 0x0 0x0
	uncore_imc_1/cas_count_read/ 22 0x304 0x0 0x0
	EOF
	same want got
	test "$(member cpus | sort -u)" = 0,28
	test "$(member per_cpu | sort -u)" = true
	test "$(member unit | sort -u)" = MiB
	test "$(member scale | sort -u)" = 6.103515625e-05
	exits 1 pmu-events --encode --sysfs skylake "uncore_imc_?/clockticks/" 2>err
	grep -q "uncore_imc_1 has no term or event .clockticks." err
	words skylake energy-pkg >got
	grep -qx "power/energy-pkg/ 20 0x2 0x0 0x0" got
	test "$(member unit)" = Joules
	member scale | grep -q "^2.32830643653869.*e-10"
END

check 'hybrid: a bare name opens on each kind of core, the PMU type in the config' <<'END'
	tree hybrid
	words hybrid cycles L1-dcache-load-misses:u r1c0 cpu_core/cycles/ cpu_atom/mem-loads/ \
		cpu-clock slots >got
	cat >want <<-EOF
	cpu_atom/cycles/ 0 0xa00000000 0x0 0x0
	cpu_core/cycles/ 0 0x400000000 0x0 0x0
	cpu_atom/L1-dcache-load-misses/u 3 0xa00010000 0x0 0x0
	cpu_core/L1-dcache-load-misses/u 3 0x400010000 0x0 0x0
	cpu_atom/r1c0/ 10 0x1c0 0x0 0x0
	cpu_core/r1c0/ 4 0x1c0 0x0 0x0
	cpu_core/cycles/ 0 0x400000000 0x0 0x0
	cpu_atom/mem-loads/ 10 0x5d0 0x3 0x0
	cpu-clock 1 0x0 0x0 0x0
	cpu_core/slots/ 4 0x400 0x0 0x0
	EOF
	same want got
	member cpus | sed -n 1,2p >got
	printf "4-7\n0-3,8\n" | same - got
	test "$(member per_cpu | sort -u)" = false
	words hybrid cycles/period=20011/u >got
	cut -d" " -f1 got | paste -sd" " | grep -qx "cpu_atom/cycles/u cpu_core/cycles/u"
	test "$(member sample_period | sort -u)" = 20011
END

check 'hybrid: a name of libpfm4 is bound to the CPUs of its PMU' <<'END'
	tree hybrid
	pmu-events --list --pmu icl >list || { echo "libpfm4 of another architecture"; exit 77; }
	words hybrid icl::INST_RETIRED:ANY_P >got
	test "$(member pmu) $(member cpus)" = "cpu_core 0-3,8"
END

check 'hybrid: a group becomes one for each kind of core' <<'END'
	tree hybrid
	words hybrid "{cycles,instructions,cpu-clock}" >got
	member group >groups
	paste -d" " got groups | awk '{ print $1, $NF }' | sort >both
	cat >want <<-EOF
	cpu-clock 1
	cpu_atom/cycles/ 1
	cpu_atom/instructions/ 1
	cpu_core/cycles/ 2
	cpu_core/instructions/ 2
	EOF
	same want both
END

check 'AMD: a value split over two ranges; IBS, whose periods are multiples of 16' <<'END'
	tree amd
	words amd cpu/event=0x1a7,umask=8/ ibs_op/cnt_ctl/ ibs_fetch/rand_en=1/ \
		amd_l3/event=4,umask=0xff,enallcores/ >got
	cat >want <<-EOF
	cpu/event=0x1a7,umask=8/ 4 0x1000008a7 0x0 0x0
	ibs_op/cnt_ctl/ 10 0x80000 0x0 0x0
	ibs_fetch/rand_en=1/ 9 0x200000000000000 0x0 0x0
	amd_l3/event=4,umask=0xff,enallcores/ 12 0x80000000ff04 0x0 0x0
	EOF
	same want got
	period=$(member sample_period | sed -n 2p)
	test "$period" -gt 0
	test $((period % 16)) -eq 0
END

check 'ARM: core PMU, statistical profiling, big.LITTLE' <<'END'
	tree arm
	words arm cycles armv8_pmuv3_0/inst_retired/u \
		arm_spe_0/ts_enable,load_filter,min_latency=10/ l1d_cache_refill >got
	cat >want <<-EOF
	cycles 0 0x0 0x0 0x0
	armv8_pmuv3_0/inst_retired/u 8 0x8 0x0 0x0
	arm_spe_0/ts_enable,load_filter,min_latency=10/ 9 0x200000001 0x0 0xa
	armv8_pmuv3_0/l1d_cache_refill/ 8 0x3 0x0 0x0
	EOF
	same want got
	tree biglittle
	words biglittle cycles r11 >got
	cat >want <<-EOF
	armv8_cortex_a53/cycles/ 0 0x800000000 0x0 0x0
	armv8_cortex_a72/cycles/ 0 0x900000000 0x0 0x0
	armv8_cortex_a53/r11/ 8 0x11 0x0 0x0
	armv8_cortex_a72/r11/ 9 0x11 0x0 0x0
	EOF
	same want got
	member cpus | sed -n 1,2p >got
	printf "0,3-5\n1-2\n" | same - got
END

check 'parsed again, a canonical name is the same event' <<'END'
	for machine in skylake hybrid amd arm biglittle; do
		tree $machine
		pmu-events --list --json --sysfs $machine | fields kind name |
			sed -n "s/^generic //p; s/^pmu //p" >names
		test "$(wc -l <names)" -gt 50
		for letters in "" u k upp GH DeI; do
			sed "/\/\$/!s|\$|${letters:+:}|;s|\$|$letters|" names >with
			words $machine $(cat with) | sort -u >once
			words $machine $(cut -d" " -f1 once) | sort -u | same once -
		done
	done
END

# wrong EVENT: on a Skylake, what stdin says is all that it says
wrong() {
	exits 1 pmu-events --encode --sysfs skylake "$1" 2>err
	sed "s/^/pmu-events: /" | same - err
}

check 'errors name the term, the column, and what may be meant' <<'END'
	tree skylake
	wrong cpu/evnt=1/ <<-EOF
	'cpu/evnt=1/', column 5: cpu has no term or event 'evnt': did you mean 'event'?
	EOF
	wrong cpu/event=0x100/ <<-EOF
	'cpu/event=0x100/', column 5: 0x100 is too large for 'event' (config:0-7): at most 0xff
	EOF
	wrong cpu/event=x1/ <<-EOF
	'cpu/event=x1/', column 11: 'x1' is not a number
	EOF
	wrong cycles,cpi/event=1/ <<-EOF
	'cycles,cpi/event=1/', column 8: there is no PMU 'cpi': did you mean 'cpu'?
	EOF
	wrong cpu/event=1 <<-EOF
	'cpu/event=1', column 4: the terms after '/' lack a closing '/'
	EOF
	wrong cpu/event=1/q <<-EOF
	'cpu/event=1/q', column 13: 'q' is not a modifier; u k h G H I p pp ppp P S D e W are
	EOF
	wrong cpu/event=1,period=0/ <<-EOF
	'cpu/event=1,period=0/', column 13: 'period' needs a number from 1 to 9223372036854775807
	EOF
	wrong cpu/event=1,period=5/ <<-EOF
	a period of 5 is below the floor of 1000 for 'cpu/event=1/'; --force allows it
	EOF
	pmu-events --encode --force --sysfs skylake cpu/event=1,period=5/ | grep -q 'every 5$'
END

check 'a tree that lies does no harm' <<'END'
	tree skylake
	dir=skylake/bus/event_source/devices/cpu
	echo "config:64-70" >$dir/format/event
	exits 1 pmu-events --encode --sysfs skylake cpu/event=1/ 2>err
	grep -q "which is not a format" err
	echo "mem-loads,mem-loads" >$dir/events/mem-loads
	exits 1 pmu-events --encode --sysfs skylake cpu/mem-loads/ 2>err
	exits 1 pmu-events --encode --sysfs skylake cpu/../ 2>err
	exits 1 pmu-events --encode --sysfs skylake cpu/events/ 2>err
	echo elephants >$dir/type
	exits 1 pmu-events --encode --sysfs skylake cpu/umask=1/ 2>err
	grep -q "has no type in sysfs" err
END

check '--sysfs: the copy may keep its name, and one without PMUs is refused' <<'END'
	tree skylake
	mkdir other
	mv skylake other/sys
	words other mem-loads >got
	echo "cpu/mem-loads/P 4 0x1cd 0x3 0x0" | same - got
	rm -r other/sys/bus/event_source/devices/*
	exits 1 pmu-events --encode --sysfs other cycles 2>err
	grep -q "no PMUs in other/bus/event_source/devices" err
	exits 1 pmu-events --list --sysfs nosuch 2>err
END

done_testing
