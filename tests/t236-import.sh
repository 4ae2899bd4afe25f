#!/bin/sh
# lib/event/tables/import: the makers' tables from checkouts of Intel's perfmon and Arm's data, in
# small ones of the same form; and the C that is generated of them.
# kinds: release
. tests/lib.sh

# A model named by hand, a model of either maker that is not imported, and the events of all.
cat >"$scratch/models.tsv" <<'END'
# columns
glc	big	goldencove	1.0	GenuineIntel-6-1/core	Named by hand
old	-	oldcove	1.2	GenuineIntel-6-F	Not imported
n9	-	Neoverse N9	-	0x41d99	Not imported
END
cat >"$scratch/events.tsv" <<'END'
# columns
GONE	0x1	-	-	glc
KEPT	0x2	ldlat=0x3	Pd	glc old
SW_INCR	0x0	-	-	n9
END

# checkout: ./perfmon and ./data, as their makers lay them out
checkout() {
	mkdir -p perfmon/GLC/events perfmon/OLD/events data/pmu
	printf '\357\273\277' >perfmon/mapfile.csv
	cat >>perfmon/mapfile.csv <<-END
		Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name
		GenuineIntel-6-97,V1.40,/GLC/events/goldencove_core.json,hybridcore,0x40,0x000001,Core
		GenuineIntel-6-9A,V1.40,/GLC/events/goldencove_core.json,hybridcore,0x40,0x000001,Core
		GenuineIntel-6-97,V1.40,/GLC/events/gracemont_core.json,hybridcore,0x20,0x000001,Atom
		GenuineIntel-6-C5,V1.40,/GLC/events/crest.json,hybridcore,0x20,0x000002,LowPower_Atom
		GenuineIntel-6-97,V1.40,/GLC/events/goldencove_uncore.json,uncore,,,
		GenuineIntel-6-55-[01234],V2,/OLD/events/lake.json,core,,,
	END
	cat >perfmon/GLC/events/goldencove_core.json <<-END
		{ "Header": { "Copyright": "Copyright", "Info": "Events", "DatePublished": "06/01/2026",
		              "Version": "1.40", "Legend": "" },
		  "Events": [
		  { "EventCode": "0x00", "UMask": "0x01", "EventName": "INST_RETIRED.ANY",
		    "BriefDescription": "One", "MSRIndex": "0x00", "MSRValue": "0x00",
		    "Precise": "1", "CounterMask": "0", "Invert": "0", "EdgeDetect": "0", "Deprecated": "0" },
		  { "EventCode": "0x00", "UMask": "0x04", "EventName": "TOPDOWN.SLOTS", "MSRIndex": "0" },
		  { "EventCode": "0x00", "UMask": "0x05", "EventName": "TOPDOWN.BAD" },
		  { "EventCode": "0x73", "UMask": "0x06", "EventName": "TOPDOWN.BAD_P" },
		  { "EventCode": "0xA3", "UMask": "0x04", "EventName": "CYCLE_ACTIVITY.STALLS",
		    "CounterMask": "4", "Invert": "1", "EdgeDetect": "1", "UMaskExt": "0x12",
		    "Deprecated": "1" },
		  { "EventCode": "0xcd", "UMask": "0x01", "EventName": "LOAD_LATENCY_GT_8",
		    "MSRIndex": "0x3F6", "MSRValue": "0x8", "Precise": "2" },
		  { "EventCode": "0x2A,0x2B", "UMask": "0x01", "EventName": "OCR.DEMAND",
		    "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x3F803C0001" },
		  { "EventCode": "0xB7, 0xBB", "UMask": "0x01, 0x02", "EventName": "OCR.SECOND",
		    "MSRIndex": "0x1a7", "MSRValue": "0x10" } ] }
	END
	printf '{ "Header": { "Version": "1.41" }, "Events": [ %s ] }' \
		'{ "EventCode": "0x3c", "UMask": "0x00", "EventName": "CYCLES" }' |
		tee perfmon/GLC/events/gracemont_core.json >perfmon/GLC/events/crest.json
	echo "not JSON: it is not of cores" >perfmon/GLC/events/goldencove_uncore.json
	# older tables are a list, with other names of columns
	cat >perfmon/OLD/events/lake.json <<-END
		[ { "EventCode": "0xC0", "UMask": "0x00", "EventName": "INST_RETIRED.PREC", "PEBS": "2",
		    "AnyThread": "1", "CounterMask": "1", "MSRIndex": "0x3F7", "MSRValue": "0x11" } ]
	END
	cat >data/pmu/neoverse-v9.json <<-END
		{ "counters": 6, "cpu": "Neoverse V9", "cpuid": "0x41dff", "architecture": "armv9",
		  "events": [ { "code": 17, "name": "CPU_CYCLES", "type": "INC", "description": "c" },
		              { "code": 49160, "name": "LDST_X" } ] }
	END
	echo '{ "name": "common", "events": [ { "code": 0, "name": "SW_INCR" } ] }' \
		>data/pmu/common_armv9.json
	echo '{ "registers": [] }' >data/pmu/others.json
}

# tables: ./tables has the program and the tables of above
tables() {
	rm -rf tables
	mkdir tables
	cp "$TOP/lib/event/tables/import" "$TOP/lib/event/tables/generate" tables
	cp "$scratch/models.tsv" "$scratch/events.tsv" tables
}

check 'the events of both makers have the codes that the kernel wants; other tables stay' <<'END'
	needs_command python3
	any_user
	checkout
	tables
	tables/import perfmon data
	sed 's/	/ | /g' >want <<-ROWS
		CPU_CYCLES	0x11	-	-	neoverse_v9
		CYCLES	0x3c	-	-	crest gracemont
		CYCLE_ACTIVITY.STALLS	0x1200048404a3	-	d	glc
		INST_RETIRED.ANY	0xc0	-	p	glc
		INST_RETIRED.PREC	0x12000c0	frontend=0x11	P	lake
		KEPT	0x2	ldlat=0x3	Pd	old
		LDST_X	0xc008	-	-	neoverse_v9
		LOAD_LATENCY_GT_8	0x1cd	ldlat=0x8	P	glc
		OCR.DEMAND	0x12a	offcore_rsp=0x3f803c0001	-	glc
		OCR.SECOND	0x2bb	offcore_rsp=0x10	-	glc
		SW_INCR	0x0	-	-	common n9
		TOPDOWN.BAD	0x673	-	-	glc
		TOPDOWN.BAD_P	0x673	-	-	glc
		TOPDOWN.SLOTS	0x400	-	-	glc
	ROWS
	grep -v "^#" tables/events.tsv | sed "s/	/ | /g" >got
	same want got
	sed 's/	/ | /g' >want <<-ROWS
		common	-	common	-	-	common
		crest	-	crest	1.41	GenuineIntel-6-C5/lowpower	crest
		glc	big	goldencove	1.40	GenuineIntel-6-97/core GenuineIntel-6-9A/core	Named by hand
		gracemont	-	gracemont	1.41	GenuineIntel-6-97/atom	gracemont
		lake	-	lake	-	GenuineIntel-6-55-[01234]	lake
		n9	-	Neoverse N9	-	0x41d99	Not imported
		neoverse_v9	-	Neoverse V9	-	0x41dff	Neoverse V9
		old	-	oldcove	1.2	GenuineIntel-6-F	Not imported
	ROWS
	grep -v "^#" tables/models.tsv | sed "s/	/ | /g" >got
	same want got
	tables/generate >t.c
	for word in CYCLE_ACTIVITY.STALLS LDST_X neoverse_v9 "GenuineIntel-6-55-\[01234\]"; do
		grep -q "$word" t.c
	done
END

check 'one maker alone, in either order, and again: the same tables' <<'END'
	needs_command python3
	any_user
	checkout
	tables
	tables/import perfmon data
	cp tables/events.tsv tables/models.tsv .
	tables/import
	tables/import perfmon data
	cmp events.tsv tables/events.tsv
	cmp models.tsv tables/models.tsv
	tables
	tables/import - data
	grep -q "^GONE" tables/events.tsv
	grep -q "	glc old$" tables/events.tsv
	tables/import perfmon
	cmp events.tsv tables/events.tsv
	cmp models.tsv tables/models.tsv
END

check 'the tables here are as import writes them' <<'END'
	needs_command python3
	any_user
	tables
	cp "$TOP"/lib/event/tables/*.tsv tables
	tables/import
	cmp tables/events.tsv "$TOP/lib/event/tables/events.tsv"
	cmp tables/models.tsv "$TOP/lib/event/tables/models.tsv"
END

done_testing
