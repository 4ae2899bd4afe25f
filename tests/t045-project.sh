#!/bin/sh
# What surrounds the code: the workflow, the issue forms, the changelog and SECURITY.md.
# kinds: release
. tests/lib.sh

check 'the workflow and the issue forms have keys, jobs, targets and scripts that exist' <<'END'
	python3 "$TOP/tests/workflow.py" "$TOP"
	grep -q "run: \.ci/run$" "$TOP/.github/workflows/ci.yml"
	mkdir -p tree/tests
	cp -r "$TOP/Makefile" "$TOP/.ci" tree
	cp "$TOP/tests/setup" tree/tests
	for broken in 's/runs-on/run-on/' 's/\<quick$/quickly/' 's/matrix\.comp/matrix.pomp/' \
			's|\.ci/run|.ci/runs|' 's/@v4/@main/' 's/update &&/update \&\& (/' \
			's/^permissions:/name:/' 's/^  fuzz:/&\n    needs: other/'; do
		cp -r "$TOP/.github" tree
		python3 "$TOP/tests/workflow.py" tree
		sed -i "$broken" tree/.github/workflows/ci.yml
		exits 3 python3 "$TOP/tests/workflow.py" tree
	done
	! command -v actionlint || actionlint "$TOP/.github/workflows/ci.yml"
END

# is_usual CHANGELOG VERSION: its headings are the usual ones, and its newest release is VERSION
is_usual() {
	grep "^##* " "$1" >headings
	none grep -vxE -e '# Changelog|## \[Unreleased\]' \
		-e '## \[[0-9]+(\.[0-9]+)+\] - 20[0-9]{2}-[01][0-9]-[0-3][0-9]' \
		-e '### (Added|Changed|Deprecated|Removed|Fixed|Security)' headings || return
	sed -n 's/^## \[\([0-9.]*\)\] .*/\1/p' headings >versions
	sort -rV versions | cmp - versions || return
	case $(sed -n 2p headings) in
	"## [Unreleased]") test ! -s versions || test "$(head -n 1 versions)" = "$2" ;;
	*) test "$(head -n 1 versions)" = "$2" ;;
	esac
}

check 'the newest release of the changelog is VERSION, or nothing is released yet' <<'END'
	version=$(sed -n "s/^VERSION *= *//p" "$TOP/Makefile")
	is_usual "$TOP/CHANGELOG.md" "$version"
	released="## [0.2] - 2026-12-01"
	printf "%s\n" "# Changelog" "$released" "### Added" "## [0.1] - 2026-11-01" >good
	is_usual good 0.2
	sed "1a ## [Unreleased]" good >next
	is_usual next 0.2
	exits 1 is_usual good 0.1
	exits 1 is_usual next 0.1
	for broken in 's/ - 2026-12-01//' 's/Added/New/' 's/0\.2/0.0.9/' 's/2026-12/12-26/'; do
		sed "$broken" good >bad
		exits 1 is_usual bad 0.2
	done
END

check 'SECURITY.md says of each tool what it trusts' <<'END'
	for tool in "$BIN"/pmu-*; do
		grep "^| .*\`${tool##*/}\`.* | .* | .* |$" "$TOP/SECURITY.md"
	done
END

done_testing
