#!/bin/sh
# All JSON that the tools printed in the test files of this run, and here, is as doc/schema says.
# kinds: alone
. tests/lib.sh

# judge FILE...: by the schemas
judge() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/schemas.py" "$TOP/doc/schema" "$@"; }

lbr=$TOP/../shared/data/lbr

check 'each kind of output has its schema, which is closed to unknown fields' <<'END'
	make-stream 2000 tree 12 >s.data
	pmu-topprof --slices 4 s.data >p.pb.gz
	pmu-topprof --diff p.pb.gz p.pb.gz >d.pb.gz
	pmu-stream --json s.data >pmu-stream.counts
	pmu-stream --dump --json s.data >pmu-stream.records
	pmu-top --json p.pb.gz >pmu-top.flat
	pmu-top --tree --json p.pb.gz >pmu-top.tree
	pmu-top --objects --json p.pb.gz >pmu-top.objects
	pmu-top --json d.pb.gz >pmu-top.change
	pmu-top --ratio samples/cpu --json p.pb.gz >pmu-top.ratio
	pmu-diff --json p.pb.gz p.pb.gz >pmu-diff.one
	cp p.pb.gz q.pb.gz
	pmu-diff --json -b p.pb.gz -b q.pb.gz p.pb.gz q.pb.gz >pmu-diff.two
	pmu-events --list --long --json >pmu-events.list || :
	pmu-events --encode --json --pmu skx inst_retired.any:u >pmu-events.encode
	pmu-events --check --json cpu-clock cycles >pmu-events.check || :
	pmu-events --doctor --json $$ >pmu-events.doctor || :
	pmu-stat --json true >pmu-stat.one
	! test -e "$lbr/test.lbr" || pmu-branch -q --json "$lbr/test.lbr" >pmu-branch.json
	pmu-topprof --to rows --rows-detail p.pb.gz >pmu-topprof.rows
	pmu-topprof --to rows --label pid,cpu s.data >pmu-topprof.labels
	pmu-stat --json --per op=2 --vs true "true; :" >pmu-stat.vs
	judge pmu-*.*
	grep -q '"ratios"' pmu-top.ratio
	grep -q '"verdict"' pmu-top.change
	for edit in 's/"records"/"record"/' 's/"lost": 0, //' 's/"sum": /"all": 1, &/' 's/"bytes": /&-/' \
			's/"ATTR"/"ATTRS"/' 's/}]}/}}/'; do
		sed "$edit" pmu-stream.counts >pmu-stream.wrong
		exits 3 judge pmu-stream.wrong
	done
	sed '1s/"hash":"./&g/' pmu-topprof.rows >pmu-topprof.wrong
	exits 3 judge pmu-topprof.wrong
	sed '2s/"mark": [a-z]*/&, "more": 1/' pmu-top.flat >pmu-top.wrong
	exits 3 judge pmu-top.wrong
	cp -r "$TOP/doc/schema" open
	sed -i 's/"additionalProperties": false/"title": "x"/' open/pmu-diff.json
	exits 3 python3 "$TOP/tests/schemas.py" open
END

check 'so is what was printed in all other files' <<'END'
	test -d "$ONCE/json" || skip "no other file ran"
	judge "$ONCE"/json/*
END

done_testing
