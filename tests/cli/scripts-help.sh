# SPDX-License-Identifier: MIT
# The same for every build.
# Each script and each recipe of a figure says what it is for when it is asked, and refuses options that it has not, before
# it does anything.
. tests/cli/lib.sh

git_state() {
	git -c safe.directory='*' status --porcelain --untracked-files=all 2>/dev/null
}
git_state >"$T/before"
n=0
for script in scripts/* figures/* tests/run; do
	case $script in *.sh) continue ;; esac
	[ -f "$script" ] || continue
	n=$((n + 1))
	run "$script --help" 0 "$script" --help
	has "$script --help: says what it does" "$T/out" '[a-z]{3}.* [a-z]{3}'
	hasnt "$script --help: and no more than that" "$T/out" '^(set -|[.] |#)'
	is "$script --help: nothing else" "$T/err" ""
	run "$script, an option that it has not" 2 "$script" --no-such-option
	[ -s "$T/err" ] && [ ! -s "$T/out" ]
	ok "$script, an option that it has not: is said" $?
done
[ $n -gt 50 ]
ok "there are scripts" $?
git_state >"$T/after"
same "nothing was made" "$T/before" "$T/after"
