# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2034,SC2154
# What figures 9a and 9b of Pollux have in common: `. figures/autoscale.sh` after figures/lib.sh.
#
#   want_rules RULE…   replay one imagenet job under each rule; "RULE RUN" a line in $W/rules
make_single() {
	printf 'job_id\tsubmit_s\tapp\tgpus\tbatch_size\nimagenet-0\t0\timagenet\t4\t%s\n' "$init_batch" >"$made"
}

want_rules() {
	cluster=16x4
	limits_of imagenet
	into "inputs/$FIGURE_DATA-imagenet.tsv" make_single
	for rule in "$@"; do
		replay "inputs/$FIGURE_DATA-imagenet.tsv" --policy pollux --seed "$SEED" --autoscale "$rule"
		echo "$rule $run" >>"$W/rules"
	done
	replays
}
