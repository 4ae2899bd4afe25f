#!/bin/sh
# The makers' names of events: what libpfm4's own encoder says is the truth.
# kinds: release user
. tests/lib.sh
. tests/events.sh

# icx is one of many models of libpfm4 for x86
needs_icx() { pfm-encode 1 | grep -q ^icx: || skip "libpfm4 of another architecture"; }

check 'hundreds of events of dozens of models are encoded as libpfm4 encodes them' <<'END'
	pfm-encode 24 >want
	test "$(wc -l <want)" -ge 200
	test "$(cut -d: -f1 want | sort -u | wc -l)" -ge 10
	pmu-events --encode --json $(cut -d" " -f1 want) | fields name type config config1 config2 >got
	# but for those that the makers' tables replace: t235-makers.sh
	grep -v "^#" "$TOP/lib/event/tables/libpfm4.tsv" | cut -f1 >replaced
	paste -d" " got want | awk "NR == FNR { skip[\$1]; next }
		{ name = \$1; sub(/::/, \"@\", name); sub(/:/, \".\", name); sub(/@/, \"::\", name) }
		!(name in skip)" replaced - >both
	test "$(wc -l <both)" -ge $(($(wc -l <want) - 40))
	cut -d" " -f2-5 both >got
	cut -d" " -f7- both | same - got
END

check 'a canonical name is the same event' <<'END'
	pfm-encode 6 | cut -d" " -f1 | sed 's/$/:u/' >names
	words="name config config1 exclude_kernel"
	pmu-events --encode --json $(cat names) | fields $words >once
	pmu-events --encode --json $(cut -d" " -f1 once) | fields $words >twice
	test -s once
	same once twice
END

# member EVENT KEY...
member() {
	event=$1
	shift
	pmu-events --encode --json "$event" | fields "$@" | head -n 1
}

check 'modifiers of libpfm4 and of perf, alone and together' <<'END'
	needs_icx
	e=icx::INST_RETIRED:ANY_P
	test "$(member $e:c=1:i config)" = 0x18000c0
	test "$(member $e:c=1:i:e:u config exclude_kernel exclude_user)" = "0x18400c0 true false"
	test "$(member $e:ukpp precise_ip exclude_kernel exclude_hv)" = "2 false true"
	test "$(member $e:precise=2 name precise_ip)" = "$e:pp 2"
	test "$(member $e:P precise_max)" = true
	test "$(member $e:period=20011 sample_period)" = 20011
	test "$(member icx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30 config config1)" = "0x1cd 0x1e"
END

check '--pmu names the model that a bare name means' <<'END'
	needs_icx
	pmu-events --encode --pmu icx INST_RETIRED:ANY_P:u | head -n 1 >got
	echo icx::INST_RETIRED:ANY_P:u | same - got
	LIBPFM_FORCE_PMU=icx pmu-events --encode INST_RETIRED:ANY_P:u | head -n 1 | same got -
	exits 1 pmu-events --encode --pmu nosuch INST_RETIRED:ANY_P 2>err
	grep -q "neither a maker's table nor libpfm4 has the model 'nosuch'" err
END

check 'errors: a wrong event, umask, model' <<'END'
	needs_icx
	for e in icx::INST_RETIRD:ANY_P icx::INST_RETIRED:ANYP icx::INST_RETIRED:e icy::INST_RETIRED; do
		exits 1 pmu-events --encode $e 2>>err
	done
	grep -q "unknown event .INST_RETIRD.: did you mean .INST_RETIRED.?" err
	grep -q ".icx::INST_RETIRED. has no umask or modifier .ANYP.: did you mean .ANY_P.?" err
	grep -q ".icx::INST_RETIRED. needs one of the umasks .*PREC_DIST" err
	if test -r $tracing/events || ! has_tracefs; then
		grep -q "unknown event .icy::INST_RETIRED." err
	else
		grep -q ".icy::INST_RETIRED. may be a tracepoint, but only root" err
	fi
END

check 'an event of a PMU that is not here: its name in full, its model, its code' <<'END'
	event=snbep_unc_imc0::UNC_M_CAS_COUNT:RD
	pmu-events --encode --json --pmu snbep_unc_imc0 unc_m_cas_count.rd >got || skip "no snbep_unc_imc0"
	test "$(fields name base pmu config <got)" = "$event $event snbep_unc_imc0 0x304"
END

check 'an event that only other models have is reported with them' <<'END'
	pmu-events --encode --pmu skl cycle_activity.stalls_mem_any >skl || skip "no skl"
	! pmu-events --encode cycle_activity.stalls_mem_any 2>err || skip "this machine has it"
	grep -q "on this machine; other models have it: .*skl, .*skx.* (pmu-events --pmu [a-z_]*)" err
	pmu-events --encode --pmu "$(sed 's/.*--pmu \([a-z_]*\).*/\1/' err)" \
		cycle_activity.stalls_mem_any
	exits 1 pmu-events --encode cycle_activity.stalls_mem_anyx 2>err
	none grep "other models" err
	exits 1 pmu-events --encode cpu_cycles 2>err
	grep -q "did you mean 'cpu-cycles'" err
END

check 'lists: one model, all models, umasks and modifiers' <<'END'
	needs_icx
	pmu-events --list --pmu icx | grep -q "^  icx::INST_RETIRED  *Number of instr"
	pmu-events --list --long --pmu icx INST_RETIRED >long
	grep -qx "      :PREC_DIST" long
	grep -qx "      :c=N" long
	pmu-events --list --pmu all --json >all
	python3 -m json.tool all >/dev/null	# JSON, whatever the makers' texts contain
	test "$(fields name <all | wc -l)" -gt 10000
	pmu-events --list "icx::INST_RET*" | grep -q icx::INST_RETIRED
	pmu-events --list --pmu icx >list
	none awk 'length($0) > 80' list
	exits 1 pmu-events --list --pmu nosuch 2>err
END

done_testing
