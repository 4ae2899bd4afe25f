#!/bin/sh
# Completions, each in its own shell: they load, and complete what a user would try.
# kinds: release
. tests/lib.sh

# bash_completes TOOL LINE: the replies to LINE, sorted
cat >"$scratch/complete.bash" <<'END'
tool=$1 COMP_LINE=$2
. "$TOP/completions/bash/$tool"
COMP_POINT=${#COMP_LINE}
# as bash does: "=" and ":" are words of their own
read -ra COMP_WORDS <<<"$(sed 's/[=:]/ & /g' <<<"$COMP_LINE")"
case $COMP_LINE in *[' =:']) COMP_WORDS+=('') ;; esac
case $COMP_LINE in *=) COMP_WORDS[-1]== ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"_${tool//-/_}"
printf '%s\n' "${COMPREPLY[@]}" | sort
END
bash_completes() { bash "$scratch/complete.bash" "$1" "$2"; }

fish_completes() {
	HOME=$PWD fish -c "source $TOP/completions/fish/$1.fish; complete -C '$2'" | cut -f 1 | sort
}

# zsh_completes <LINES: what one shell in a terminal makes of each line and a tab, a line each
cat >"$scratch/complete.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($TOP/completions/zsh \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "pmu-sample() { print -r -- made \"\$@\" }; pmu-topprof() { pmu-sample \"\$@\" }"
zpty -w shell "pmukit() { pmu-sample \"\$@\" }; pmu-query() { pmu-sample \"\$@\" }"
zpty -w shell 'print -r -- rea""dy'
zpty -r shell out '*ready*'
while read -r line; do
	zpty -n -w shell "$line"$'\t end\n'
	zpty -r shell out $'*made*end\r\n*'
	print -r -- "$out"
done
END
zsh_completes() {
	timeout 600 zsh -f "$scratch/complete.zsh" | tr -d '\r' | sed -n 's/^made \(.*\) end$/\1/p'
}

check 'bash: options, values after a space and after "=", lists, files, commands' <<'END'
	bash_completes pmu-sample 'pmu-sample --comm' >got
	printf '%s\n' --comm --command-output | same - got
	for line in 'pmu-sample --call-graph ' 'pmu-sample --call-graph='; do
		bash_completes pmu-sample "$line" >got
		printf '%s\n' auto dwarf fp kernel lbr none user | same - got
	done
	test "$(bash_completes pmu-sample 'pmu-sample --call-graph=dw')" = dwarf
	test "$(bash_completes pmu-sample 'pmu-sample --record cpu,ph')" = cpu,phys
	test "$(bash_completes pmu-topprof 'pmu-topprof --frames cut,no')" = 'cut,no-lost
cut,not-sampled'
	bash_completes pmu-sample 'pmu-sample -p 1,' | grep -qx "1,$$"
	bash_completes pmu-sample 'pmu-sample -e page-fau' | grep -qx page-faults
	bash_completes pmu-sample 'pmu-sample gzi' | grep -qx gzip
	test "$(bash_completes pmu-query 'pmu-query se')" = 'service
service='
	touch recording.data
	test "$(bash_completes pmu-topprof 'pmu-topprof recor')" = recording.data
	test "$(bash_completes pmu-topprof 'pmu-topprof -Z z')" = zstd
END

check 'bash: pmukit, its tools by both spellings, and what each tool completes' <<'END'
	needs "$BIN/pmukit"
	test "$(bash_completes pmukit 'pmukit --l')" = --link
	bash_completes pmukit 'pmukit topp' >got
	bash_completes pmukit 'pmukit pmu-topp' >>got
	printf '%s\n' topprof pmu-topprof | same - got
	bash_completes pmukit 'pmukit ' >got
	(cd "$BIN" && echo pmu-*) | tr ' ' '\n' | sed 's/pmu-//' | same - got
	for tool in sample pmu-sample; do
		bash_completes pmukit "pmukit $tool --comm" >got
		printf '%s\n' --comm --command-output | same - got
		test "$(bash_completes pmukit "pmukit $tool --call-graph=dw")" = dwarf
	done
END

check 'fish: the same, and no file has a syntax error' <<'END'
	needs_command fish
	for file in "$TOP"/completions/fish/*; do
		fish --no-execute "$file" 2>err
		none cat err
		fish -c "source $file" 2>err
		none cat err
	done
	fish_completes pmu-sample 'pmu-sample --comm' >got
	printf '%s\n' --comm --command-output | same - got
	fish_completes pmu-sample 'pmu-sample --call-graph ' >got
	printf '%s\n' auto dwarf fp kernel lbr none user | same - got
	fish_completes pmu-topprof 'pmu-topprof --frames cut,no' >got
	printf '%s\n' cut,no-lost cut,not-sampled | same - got
	fish_completes pmu-sample 'pmu-sample -p 1,' | grep -qx "1,$$"
	fish_completes pmu-sample 'pmu-sample -e page-fau' | grep -qx page-faults
	fish_completes pmu-sample 'pmu-sample gzi' | grep -qx gzip
	fish_completes pmu-query 'pmu-query callers fun' | grep -qx function=
	fish_completes pmukit 'pmukit --l' | grep -qx -- --link
	test "$(fish_completes pmukit 'pmukit topp')" = topprof
	test "$(fish_completes pmukit 'pmukit pmu-topp')" = pmu-topprof
	fish -c "for f in $TOP/completions/fish/pmu*; source \$f; end
		complete -C 'pmukit sample --comm'; complete -C 'pmukit pmu-sample --call-graph '" |
		cut -f 1 | sort >got
	printf '%s\n' --comm --command-output auto dwarf fp kernel lbr none user | same - got
	touch recording.data
	fish_completes pmu-topprof 'pmu-topprof recor' | grep -qx recording.data
END

check 'zsh: the same, in a terminal' <<'END'
	needs_command zsh
	for file in "$TOP"/completions/zsh/*; do zsh -n "$file"; done
	touch recording.data
	cat >lines <<-LINES
		pmu-sample --command-
		pmu-sample --call-graph dw
		pmu-topprof --types=pe
		pmu-sample --record cpu,phy
		pmu-sample -e context-sw
		pmu-sample gunzi
		pmu-topprof recor
		pmu-query callers fun
		pmukit topp
		pmukit pmu-topp
		pmukit topprof --types=pe
		pmukit pmu-sample -e context-sw
	LINES
	zsh_completes <lines >got
	cat >want <<-LINES
		--command-output
		--call-graph dwarf
		--types=perf
		--record cpu,phys
		-e context-switches
		gunzip
		recording.data
		callers function=
		topprof
		pmu-topprof
		topprof --types=perf
		pmu-sample -e context-switches
	LINES
	same want got
END

done_testing
