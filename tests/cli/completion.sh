#!/bin/sh
# SPDX-License-Identifier: MIT
# Shell completion, generated from the option tables: the words that bash and zsh offer.
. tests/cli/lib.sh

for src in tools/gf-*.c; do
	tool=$(basename "$src" .c)
	"$B/$tool" --completion bash >"$T/$tool.bash" 2>"$T/err" && [ ! -s "$T/err" ]
	ok "$tool --completion bash" $?
	"$B/$tool" --completion zsh >"$T/_$tool" 2>"$T/err" && [ ! -s "$T/err" ]
	ok "$tool --completion zsh" $?
	"$B/$tool" --help >"$T/help"
	# Every option and verb of the help text is offered by both.
	sed -n 's/^ *\(-., \)\{0,1\}--\([a-z0-9-]*\).*/\2/p' "$T/help" | sort -u >"$T/options"
	sed -n "s/^usage: $tool \([a-z][a-z0-9-]*\) .*/\1/p" "$T/help" | sort -u >"$T/verbs"
	{
		while read -r o; do
			grep -q -e " --${o}[ '\"]" "$T/$tool.bash" || echo "bash: --$o"
			grep -q -e "--${o}['={,}]" "$T/_$tool" || echo "zsh: --$o"
		done <"$T/options"
		while read -r v; do
			grep -q "verb=" "$T/$tool.bash" && grep -q -w -e "$v" "$T/$tool.bash" || echo "bash: $v"
			grep -q "$v\\\\:" "$T/_$tool" || echo "zsh: $v"
		done <"$T/verbs"
	} >"$T/absent"
	is "$tool: every option and verb of --help is offered" "$T/absent" ""
	sed 1d "$T/$tool.bash" >"$T/rest"
	hasnt "$tool: not the option that wrote it" "$T/rest" ' --completion'
done
run "another shell" 2 gf-table --completion fish
is "is a fault of the command line" "$T/err" "gf-table: unknown value 'fish' for --completion (expected bash, zsh)
Try 'gf-table --help'."

# ---- bash ----

# TOOL WORD…: what bash offers for the last word; '=' is a word by itself, as bash breaks lines.
offers() {
	(cd "$T/files" && bash -c '
		tool=$2
		source "$1/$tool.bash" || exit 9
		complete -p "$tool" >/dev/null || exit 8
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		"_${tool//-/_}" || exit 7
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' - "$T" "$@") >"$T/offered" 2>"$T/offer-err" || echo "status $?" >>"$T/offered"
	cat "$T/offer-err" >>"$T/offered"
}
mkdir "$T/files"
: >"$T/files/jobs.tsv"
: >"$T/files/job list.tsv"

if command -v bash >/dev/null 2>&1; then
	for src in tools/gf-*.c; do
		tool=$(basename "$src" .c)
		bash -n "$T/$tool.bash" 2>&1 || echo "$tool"
	done >"$T/found"
	is "bash reads them all" "$T/found" ""
	offers gf-replay --pol
	is "an option" "$T/offered" --policy
	offers gf-replay --policy tir
	is "a policy" "$T/offered" "tiresias
tiresias-g"
	offers gf-replay --policy = gav
	is "after =" "$T/offered" "gavel-fifo
gavel-isolated
gavel-fairness
gavel-fairness-agnostic
gavel-makespan
gavel-finish-time
gavel-throughput"
	offers gf-replay --placement=e
	is "where = does not break words" "$T/offered" --placement=emptiest
	offers gf-replay -p tiresias-
	is "the short option" "$T/offered" tiresias-g
	offers gf-replay --fidelity =
	head -n 2 "$T/offered" >"$T/first"
	is "all conventions" "$T/first" "none
pollux-osdi21"
	offers gf-replay --interval 6
	is "nothing for a number" "$T/offered" ""
	offers gf-replay -o jo
	sort "$T/offered" >"$T/first"
	is "files after -o, also with a blank" "$T/first" "job list.tsv
jobs.tsv"
	offers gf-replay --policy fifo jobs
	is "a file as operand" "$T/offered" jobs.tsv
	offers gf-tree p
	is "verbs" "$T/offered" "predict
print
prune"
	offers gf-tree train --min-l
	is "options of the verb" "$T/offered" --min-leaf
	offers gf-tree predict --min-l
	is "not of another one" "$T/offered" ""
	offers gf-tree train --criterion g
	is "and its enumerations" "$T/offered" gini
	offers gf-trace --from he
	is "formats of traces" "$T/offered" helios
	offers gf-table --no-m
	is "options that every tool has" "$T/offered" --no-meta
	sed 's/tiresias-g/tiresias-h/' "$T/gf-replay.bash" >"$T/gf-other.bash"
	sed -i 's/gf-replay/gf-other/g; s/_gf_replay/_gf_other/g' "$T/gf-other.bash"
	offers gf-other -p tiresias-
	is "a changed word would be seen" "$T/offered" tiresias-h
else
	skip "bash is not installed" 16
fi

# ---- zsh ----

if ! command -v zsh >/dev/null 2>&1; then
	skip "zsh is not installed" 5
	exit 0
fi
for src in tools/gf-*.c; do
	tool=$(basename "$src" .c)
	zsh -n "$T/_$tool" 2>&1 || echo "$tool"
done >"$T/found"
is "zsh reads them all" "$T/found" ""

# LINE PATTERN: what zsh shows when it completes the line in a terminal of its own, until the pattern is seen.
cat >"$T/ask.zsh" <<'END'
zmodload zsh/zpty || exit 9
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
say "PROMPT= RPROMPT= ; fpath=($1 \$fpath); cd $1/files; stty -echo columns 200 rows 200"
say "autoload -Uz compinit; compinit -u -D; LISTMAX=1000; print -r ready; print -r set"
line='' shown=''
while zpty -r shell line '*set'; do [[ $line == *ready* ]] && break; done
zpty -n -w shell "$2"$'\t'$'\t'
for ((k = 0; k < 300; k++)); do
	while zpty -r -t shell line; do shown+=$line; done
	[[ $shown == ${~3} ]] && break
	sleep 0.1
done
print -r -- $shown
zpty -d shell
END
shows() {
	timeout 100 zsh -f "$T/ask.zsh" "$T" "$1" "$2" 2>"$T/zsh-err" | tr -d '\r' |
		sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >"$T/shown"
	cat "$T/zsh-err" >>"$T/shown"
}
shows 'gf-replay --fidelity pollux' '*pollux-osdi21*'
has "zsh completes a convention" "$T/shown" 'pollux-osdi21'
shows 'gf-tree ' '*train*'
has "zsh offers verbs, with what they do" "$T/shown" 'prune.*--'
shows 'gf-tree train --min-' '*weight-share*'
has "zsh offers options of a verb" "$T/shown" '--min-leaf.*least rows'
hasnt "zsh has no complaint about the functions" "$T/shown" '_arguments:|_gf|comparguments|bad|error'
