# The versions of Go that Debian has beside its own, for tests that try them all.  They source this
# after tests/lib.sh.  Without GO_VERSIONS=all (make check-all) this is all that they do.

if test "$GO_VERSIONS" != all; then
	check 'each version of Go that Debian has' <<-"END"
		skip "only with GO_VERSIONS=all (make check-all)"
	END
	done_testing
	exit
fi

# The suite that has each version.
versions='1.21 bookworm-backports
1.22 bookworm-backports
1.23 bookworm-backports
1.24 trixie-backports
1.25 trixie-backports
1.26 trixie-backports
1.27 trixie-backports'
export GO111MODULE=off GOTOOLCHAIN=local GOFLAGS=

# with_go VERSION: that one is "go" from here on
with_go() {
	needs_command apt-get
	suite=$(echo "$versions" | sed -n "s/^$1 //p")
	(cd "$TOP" && tests/lab/archive "$suite" "$(dpkg --print-architecture)" "build/go-$1" \
		"golang-$1-go" "golang-$1-src") || skip "Go $1 cannot be fetched"
	GOROOT=$TOP/build/go-$1/root/usr/lib/go-$1
	PATH=$GOROOT/bin:$PATH
	export GOROOT PATH
	go version | grep " go$1"
}
