# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What benchmarks share: `. tests/bench/lib.sh` behind tests/golden/lib.sh. Their table goes to the standard
# output of the caller, and nothing else does.
#
#   say WHAT VALUE UNIT
#   aim WHAT VALUE at least|at most LIMIT    a row that says whether it is met; $bad is 1 when one is not

# shellcheck disable=SC2034 # for the caller
bad=0
exec 3>&1 >/dev/null

say() {
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >&3
}

aim() {
	if awk -v v="$2" -v l="$4" -v how="$3" 'BEGIN { exit !(how == "at least" ? v >= l : v <= l) }'; then
		say "aim: $1 $3 $4" met ""
	else
		say "aim: $1 $3 $4" "not met" "($2)"
		# shellcheck disable=SC2034
		bad=1
	fi
}
