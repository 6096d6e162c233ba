# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Helpers for golden tests: `. tests/golden/lib.sh`, after tests/cli/lib.sh's rules. A golden test takes
# the folder with the expected results as its first argument, so that others can be put to it.
#
#   golden_folder DEFAULT [N] "$@"
#       set $G to the first argument, or to $GOODFIT_SHARED/DEFAULT; without shared data the test
#       is skipped (N tests). A folder that was named but is not there is a failure.
#   share NAME GOOD ALL PERCENT
#       at least PERCENT % of ALL are GOOD; the share is always printed

. tests/cli/lib.sh

golden_folder() {
	golden_default=$1 golden_n=$2
	shift 2
	if [ $# -gt 0 ]; then
		G=$1
		if [ ! -d "$G" ]; then
			ok "the folder '$G' is there" 1
			exit 0
		fi
	else
		need_shared "$golden_default" "$golden_n"
		G=$GOODFIT_SHARED/$golden_default
	fi
	diag "expected results: ${G##*/shared/}"
}

share() {
	diag "$1: $2 of $3"
	if [ "$3" -gt 0 ] && [ $(($2 * 100)) -ge $(($3 * $4)) ]; then
		ok "$1: at least $4 % ($2 of $3)" 0
	else
		ok "$1: at least $4 % ($2 of $3)" 1
	fi
}
