#!/bin/sh
# SPDX-License-Identifier: MIT
# Each page of docs/formats as a manual page: the linters have nothing to say, and nothing is lost on the way.
# The same for every build.
. tests/cli/lib.sh

# Words of the rendered text, without what lays it out.
rendered() { mandoc -T utf8 -O width=900 "$1" | sed 's/.\x08//g' | tr -s ' \t\n' '\n\n\n' | sort -u; }
for page in docs/formats/*.md; do
	name=goodfit-$(basename "$page" .md)
	run "$name: is made" 0 scripts/format-page "$page"
	cp "$T/out" "$T/$name.5"
	lint_page "$name" "$T/$name.5"
	if command -v mandoc >/dev/null 2>&1; then
		# Every piece of code within a line of the source that is one word.
		rendered "$T/$name.5" >"$T/words"
		grep -v -e '^    ' -e '^# ' -e '^|' "$page" | grep -oE '`[a-z0-9_]+`' | tr -d '`' | sort -u >"$T/code"
		while read -r w; do
			grep -qF -e "$w" "$T/words" || echo "$w"
		done <"$T/code" >"$T/absent"
		is "$name: no name is lost" "$T/absent" ""
	else
		skip "mandoc is not installed"
	fi
	[ "$(grep -c '^## ' "$page")" -eq "$(($(grep -c '^[.]Sh ' "$T/$name.5") - 2 - $(grep -c '^[.]Sh DESCRIPTION$' "$T/$name.5")))" ]
	ok "$name: all sections" $?
done

cat >"$T/some.md" <<'END'
# A `made-up` page

First text with `code_a`, **weight**, [a link](jobs.md) and
.a dot. A second sentence … with "quotes" and 'these' and a\b ^~-.

| column | type | meaning |
|---|---|---|
| `x_s` | time | when \| where |
| `.y` | int | |

## Of `lists` here

* one
  goes on
* two

After it.

    code  $HOME\n
    .dot

    more

### Deep
Ends.
END
cat >"$T/want" <<'END'
.\" SPDX-License-Identifier: MIT
.Dd November 30, 2026
.Dt GOODFIT-SOME 5
.Os goodfit
.Sh NAME
.Nm goodfit-some
.Nd A made\-up page
.Sh DESCRIPTION
First text with \fBcode_a\fR, \fIweight\fR, a link (jobs.md) and .a dot.
A second sentence \[u2026] with \(dqquotes\(dq and \(aqthese\(aq and a\eb
\(ha\(ti\-.
.Bl -tag -width Ds
.It \fBx_s\fR
time; when | where
.It \fB.y\fR
int
.El
.Sh OF lists HERE
.Bl -bullet
.It
one goes on
.It
two
.El
.Pp
After it.
.Bd -literal -offset indent
code  $HOME\en
\&.dot

more
.Ed
.Ss Deep
Ends.
.Sh SEE ALSO
.Xr fit-table 5
END
run "a page with everything" 0 scripts/format-page "$T/some.md"
same "comes out so" "$T/want" "$T/out"
run "a page that is not there" 2 scripts/format-page "$T/none.md"
is "says how it is called" "$T/err" "usage: scripts/format-page FILE.md"
