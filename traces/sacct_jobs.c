/* SPDX-License-Identifier: MIT */
#include "traces/sacct_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

#define TEXTS_MAX ((size_t)4 << 20)	/* bytes of texts that are kept while rows stream through */

/* Cells are set part by part: one that is put together and copied then waits for its parts. */
static void put_text(struct fit_cell *c, struct fit_text t)
{
	c->na = t.n == 0;
	c->n_plain = 0;
	c->u.t = t;
}

static void put_number(struct fit_cell *c, const struct fit_texts *t, uint32_t number)
{
	put_text(c, fit_texts_get(t, number));
}

/* ---- the store ---- */

int fit_sacct_jobs_init(struct fit_sacct_jobs *j, struct fit_trace_out *out, bool collect,
			const char *input, const char *id_column, struct fit_err *err)
{
	*j = (struct fit_sacct_jobs){
		.out = out, .collect = collect, .input = input, .id_column = id_column,
		.cluster = FIT_NO_TEXT, .last_tres = FIT_NO_TEXT
	};
	if (!collect)
		return FIT_OK;
	fit_trace_ids_are_unique(out);
	j->n_slots = 1024;
	j->slots = calloc(j->n_slots, sizeof *j->slots);
	return j->slots ? FIT_OK : fit_fail_nomem(err);
}

void fit_sacct_jobs_release(struct fit_sacct_jobs *j)
{
	fit_texts_release(&j->texts);
	fit_texts_release(&j->tres_texts);
	free(j->tres);
	free(j->records);
	free(j->bytes);
	free(j->slots);
	fit_id_runs_release(&j->runs);
	fit_str_release(&j->first_mismatch);
}

int fit_sacct_tres_put(struct fit_sacct_jobs *j, struct fit_text t, bool gres, int64_t per_node,
		       uint32_t *number, struct fit_text *bad)
{
	struct fit_str key = { 0 }, types = { 0 }, set = { 0 };
	struct fit_sacct_tres x = { .types = FIT_NO_TEXT, .set = FIT_NO_TEXT };
	bool fresh = false;
	int rc = FIT_OK;

	/* what is allocated is mostly what was asked for */
	if (!gres && j->last_tres != FIT_NO_TEXT && fit_text_eq(t, fit_texts_get(&j->tres_texts, j->last_tres))) {
		*number = j->last_tres;
		return FIT_OK;
	}
	/* the same text is another list where it is meant per node */
	if (gres) {
		rc = fit_str_printf(&key, "%lld@", (long long)per_node);
		rc = rc ? rc : fit_str_add(&key, t.s, t.n);
	}
	*number = fit_index_get(&j->tres_texts.index, gres && !rc ? (struct fit_text){ key.s, key.n } : t);
	if (!rc && *number != FIT_NO_INDEX)
		j->last_tres = *number;
	if (rc || *number != FIT_NO_INDEX)
		goto out;
	rc = gres ? fit_slurm_gres(t, &x.r, &types, bad) : fit_slurm_tres(t, &x.r, &types, bad);
	if (rc)
		goto out;
	if (per_node) {
		x.r.gpus *= (double)per_node;
		x.r.typed *= (double)per_node;
	}
	rc = fit_slurm_type_set((struct fit_text){ types.s, types.n }, &set);
	if (!rc && per_node != 1 && per_node)	/* counts of types are per node: only names are right */
		fit_str_clear(&types);
	if (!rc)
		rc = fit_texts_put(&j->texts, (struct fit_text){ types.s, types.n }, &x.types,
				   NULL);
	if (!rc)
		rc = fit_texts_put(&j->texts, (struct fit_text){ set.s, set.n }, &x.set, NULL);
	if (!rc)
		rc = fit_grow(&j->tres, &j->tres_cap, j->tres_texts.n + 1, sizeof *j->tres);
	if (!rc)
		rc = fit_texts_put(&j->tres_texts, gres ? (struct fit_text){ key.s, key.n } : t,
				   number,
				   &fresh);
	if (!rc && fresh)
		j->tres[*number] = x;
out:
	fit_str_release(&key);
	fit_str_release(&types);
	fit_str_release(&set);
	return rc;
}

static struct fit_text id_of(const struct fit_sacct_jobs *j, const struct fit_sacct_record *r)
{
	return (struct fit_text){ j->bytes + r->id_at, r->id_n };
}

static bool same_job(const struct fit_sacct_jobs *j, const struct fit_sacct_record *a,
		     const struct fit_sacct_record *b)
{
	return a->cluster == b->cluster && fit_text_eq(id_of(j, a), id_of(j, b));
}

/*
 * Where a job is looked for. Ids come in runs: sixteen numbers in a row share a cache line of slots,
 * and which line that is comes from a hash, so that no pattern of ids makes long ways.
 */
static size_t home_of(const struct fit_sacct_jobs *j, const struct fit_sacct_record *r)
{
	struct fit_text id = id_of(j, r);
	size_t last = 0;

	if (id.n > 1) {
		last = (size_t)(id.s[id.n - 1] - '0') & 15;
		id.n--;
	}
	return ((size_t)fit_hash64(id, r->cluster) * 16 + last) & (j->n_slots - 1);
}

/* The upper half of a slot is a hash of the id, which saves most looks at the record. */
static uint64_t tag_of(const struct fit_sacct_jobs *j, const struct fit_sacct_record *r)
{
	return fit_hash64(id_of(j, r), ~(uint64_t)r->cluster) & ~(uint64_t)UINT32_MAX;
}

static size_t slot_of(const struct fit_sacct_jobs *j, const struct fit_sacct_record *r,
		      uint64_t tag)
{
	size_t i = home_of(j, r);

	while (j->slots[i] && ((j->slots[i] ^ tag) > UINT32_MAX ||
			       !same_job(j, r, &j->records[(uint32_t)j->slots[i] - 1])))
		i = (i + 1) & (j->n_slots - 1);
	return i;
}

static int grow_slots(struct fit_sacct_jobs *j)
{
	uint64_t *old = j->slots;
	size_t n_old = j->n_slots;

	j->slots = calloc(n_old * 2, sizeof *j->slots);
	if (!j->slots) {
		j->slots = old;
		return FIT_ENOMEM;
	}
	j->n_slots = n_old * 2;
	for (size_t i = 0; i < n_old; i++)
		if (old[i])
			j->slots[slot_of(j, &j->records[(uint32_t)old[i] - 1], old[i])] = old[i];
	free(old);
	return FIT_OK;
}

/* *first: the head of the job of r, the last record, plus 1; 0: it is a new one. */
static int put_slot(struct fit_sacct_jobs *j, const struct fit_sacct_record *r, uint64_t *first)
{
	uint64_t tag;
	size_t slot;

	if (j->n_slotted * 2 >= j->n_slots && grow_slots(j))
		return FIT_ENOMEM;
	tag = tag_of(j, r);
	slot = slot_of(j, r, tag);
	*first = (uint32_t)j->slots[slot];
	if (*first)
		return FIT_OK;
	j->slots[slot] = tag | (uint32_t)j->n;
	j->n_slotted++;
	return FIT_OK;
}

/* The last record under its job: a head, or the next one of its head. */
static int join(struct fit_sacct_jobs *j)
{
	struct fit_sacct_record *r = &j->records[j->n - 1], *head;
	uint64_t first;
	int rc;

	if (!j->collect) {
		if (j->n > 1) {
			r->later = true;
			r->next = j->records[0].next;
			j->records[0].next = (uint32_t)(j->n - 1);
		}
		return FIT_OK;
	}
	if (!j->n_heads)
		j->runs_cluster = r->cluster;
	rc = r->cluster == j->runs_cluster ? fit_id_runs_put(&j->runs, id_of(j, r), j->n, &first) : FIT_END;
	if (rc == FIT_END)
		rc = put_slot(j, r, &first);
	if (rc)
		return rc;
	if (!first) {
		j->n_heads++;
		return FIT_OK;
	}
	head = &j->records[first - 1];
	r->later = true;
	r->next = head->next;
	head->next = (uint32_t)(j->n - 1);
	return FIT_OK;
}

/* ---- attempts ---- */

static bool is_status(const struct fit_sacct_record *r, const char *status)
{
	return strcmp(r->state->status, status) == 0;
}

static bool is_open(const struct fit_sacct_record *r)
{
	return is_status(r, "RUNNING") || is_status(r, "PENDING");
}

/* NA counts as later than any time: a record without start is the last word on its submission. */
static int compare_times(int64_t a, int64_t b)
{
	if (a == b)
		return 0;
	if (a == FIT_INT_NA || b == FIT_INT_NA)
		return a == FIT_INT_NA ? 1 : -1;
	return a < b ? -1 : 1;
}

static int compare_attempts(const void *pa, const void *pb)
{
	const struct fit_sacct_record *a = *(const struct fit_sacct_record *const *)pa;
	const struct fit_sacct_record *b = *(const struct fit_sacct_record *const *)pb;
	int c;

	if (a->user != b->user)		/* a number that was given out again */
		return a->user < b->user ? -1 : 1;
	c = compare_times(a->submit, b->submit);
	c = c ? c : compare_times(a->start, b->start);
	return c ? c : (a->line > b->line) - (a->line < b->line);
}

static bool same_attempt(const struct fit_sacct_record *a, const struct fit_sacct_record *b)
{
	return a->submit == b->submit && (a->start == b->start || a->start == FIT_INT_NA ||
					  b->start == FIT_INT_NA);
}

/* Attempts in order, each once, with what the last look at it said. Returns their number. */
static size_t distinct_attempts(struct fit_sacct_jobs *j, const struct fit_sacct_record **a,
				size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!k || !same_attempt(a[k - 1], a[i])) {
			a[k++] = a[i];
			continue;
		}
		fit_tally_add(&j->tally, "records that came again");
		if (is_open(a[k - 1]) == is_open(a[i]) ? a[i]->line > a[k - 1]->line :
		    is_open(a[k - 1]))
			a[k - 1] = a[i];
	}
	return k;
}

/* ---- one job ---- */

static void put_int(struct fit_cell *c, int64_t v)
{
	c->na = v == FIT_INT_NA;
	c->n_plain = 0;
	c->u.i = c->na ? 0 : v;
}

static void put_real(struct fit_cell *c, double v)	/* negative: missing */
{
	c->na = v < 0;
	c->n_plain = 0;
	c->u.d = c->na ? 0 : v;
}

static const struct fit_sacct_tres *tres_of(const struct fit_sacct_jobs *j, uint32_t number)
{
	return number < j->tres_texts.n ? &j->tres[number] : NULL;
}

/* GPUs, CPUs, nodes and memory: as allocated where the job ran, else as asked for. */
static int put_resources(struct fit_sacct_jobs *j, const struct fit_sacct_record *r,
			 struct fit_cell *row)
{
	const struct fit_sacct_tres *req = tres_of(j, r->req), *alloc = tres_of(j, r->alloc), *use;
	bool started = r->start != FIT_INT_NA;
	double n_req = req ? req->r.gpus : -1;
	double n_alloc = alloc ? alloc->r.gpus : r->alloc_known ? 0 : -1;

	use = started && alloc ? alloc : req;
	put_real(&row[FIT_SACCT_GPUS_REQ], n_req);
	put_real(&row[FIT_SACCT_GPUS_ALLOC], n_alloc);
	put_real(&row[FIT_SACCT_GPUS], started && n_alloc >= 0 ? n_alloc : n_req);
	put_number(&row[FIT_SACCT_GPU_TYPES], &j->texts, use ? use->types : FIT_NO_TEXT);
	put_number(&row[FIT_SACCT_GPU_TYPE], &j->texts, use ? use->set : FIT_NO_TEXT);
	if (row[FIT_SACCT_GPU_TYPE].na && row[FIT_SACCT_GPUS].u.d > 0)
		put_number(&row[FIT_SACCT_GPU_TYPE], &j->texts, r->partition);
	put_int(&row[FIT_SACCT_CPUS], use && use->r.cpus >= 0 ? use->r.cpus : r->cpus);
	put_int(&row[FIT_SACCT_NODES], use && use->r.nodes >= 0 ? use->r.nodes : r->nodes);
	put_real(&row[FIT_SACCT_MEM_MIB], use ? use->r.mem_mib : -1);
	if (!use || !use->r.has_total || !(use->r.typed > 0) ||
	    !(fabs(use->r.typed - use->r.gpus) > 0))
		return FIT_OK;
	if (j->mismatches++)
		return FIT_OK;
	return fit_str_add(&j->first_mismatch, j->bytes + r->id_at, r->id_n);
}

/* Times of a job out of those of its attempts. */
static void put_times(struct fit_sacct_jobs *j, const struct fit_sacct_record *const *a, size_t n,
		      struct fit_cell *row)
{
	const struct fit_sacct_record *last = a[n - 1], *first = NULL;
	enum fit_trace_attempts how = fit_trace_params_of(j->out)->attempts;
	int64_t sum = FIT_INT_NA, cpu = FIT_INT_NA, duration;

	put_int(&row[FIT_SACCT_ATTEMPTS], (int64_t)n);
	if (how == FIT_ATTEMPTS_LAST) {
		a += n - 1;
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		if (a[i]->start != FIT_INT_NA && !first)
			first = a[i];
		if (a[i]->elapsed != FIT_INT_NA)
			sum = (sum == FIT_INT_NA ? 0 : sum) + a[i]->elapsed;
		if (a[i]->cpu_time != FIT_INT_NA)
			cpu = (cpu == FIT_INT_NA ? 0 : cpu) + a[i]->cpu_time;
	}
	if (is_status(last, "PENDING"))		/* what it did before does not say when it will start */
		first = NULL;
	duration = sum;
	if (how == FIT_ATTEMPTS_FIRST && first)
		duration = first->elapsed;
	if (how == FIT_ATTEMPTS_SPAN && n > 1)
		duration = first && last->end != FIT_INT_NA ? last->end - first->start : FIT_INT_NA;
	put_int(&row[FIT_SACCT_SUBMIT], a[0]->submit);
	put_int(&row[FIT_SACCT_START], first ? first->start : FIT_INT_NA);
	put_int(&row[FIT_SACCT_END], is_open(last) ? FIT_INT_NA : last->end);
	put_int(&row[FIT_SACCT_DURATION], is_open(last) || !first ? FIT_INT_NA : duration);
	put_int(&row[FIT_SACCT_ELAPSED], is_open(last) ? sum : FIT_INT_NA);
	put_int(&row[FIT_SACCT_CPU_TIME], cpu);
}

static void count_job(struct fit_sacct_jobs *j, const struct fit_sacct_record *last, size_t n)
{
	if (is_status(last, "RUNNING"))
		fit_tally_add(&j->tally, "running (censored)");
	else if (is_status(last, "PENDING"))
		fit_tally_add(&j->tally, "pending");
	else if (last->start == FIT_INT_NA)
		fit_tally_add(&j->tally, "never started");
	if (n > 1) {
		j->requeued++;
		j->earlier += n - 1;
	}
}

static int emit(struct fit_sacct_jobs *j, const struct fit_sacct_record *const *a, size_t n,
		struct fit_err *err)
{
	const struct fit_sacct_record *r = a[n - 1];
	struct fit_cell row[FIT_SACCT_N];
	struct fit_str id = { 0 };
	int rc;

	for (size_t i = 0; i < FIT_SACCT_N; i++)
		row[i] = (struct fit_cell){ .na = true };
	put_text(&row[FIT_SACCT_JOB_ID], id_of(j, r));
	if (j->clusters && r->cluster != FIT_NO_TEXT) {
		struct fit_text cluster = fit_texts_get(&j->texts, r->cluster);

		if (fit_str_add(&id, cluster.s, cluster.n) || fit_str_add(&id, ":", 1) ||
		    fit_str_add(&id, j->bytes + r->id_at, r->id_n)) {
			fit_str_release(&id);
			return fit_fail_nomem(err);
		}
		row[FIT_SACCT_JOB_ID].u.t = (struct fit_text){ id.s, id.n };
	}
	put_number(&row[FIT_SACCT_USER], &j->texts, r->user);
	put_number(&row[FIT_SACCT_GROUP], &j->texts, r->account);
	put_text(&row[FIT_SACCT_NAME], (struct fit_text){ j->bytes + r->name_at, r->name_n });
	put_number(&row[FIT_SACCT_PARTITION], &j->texts, r->partition);
	put_number(&row[FIT_SACCT_QOS], &j->texts, r->qos);
	put_text(&row[FIT_SACCT_STATUS], fit_text_of(r->state->status));
	if (r->state->says_more)
		put_text(&row[FIT_SACCT_RAW_STATUS], fit_text_of(r->state->name));
	put_int(&row[FIT_SACCT_PRIORITY], r->priority);
	if (r->limit != FIT_INT_NA)
		row[FIT_SACCT_TIMELIMIT] = (struct fit_cell){
			.u.d = r->limit == FIT_SACCT_NO_LIMIT ? (double)INFINITY : fit_time_to_double(r->limit)
		};
	put_times(j, a, n, row);
	rc = put_resources(j, r, row) ? fit_fail_nomem(err) : FIT_OK;
	if (!rc)
		rc = fit_trace_check_times(j->out, r->line, &row[FIT_SACCT_SUBMIT],
					   &row[FIT_SACCT_START],
					   &row[FIT_SACCT_END], &row[FIT_SACCT_DURATION], err);
	if (!rc)
		rc = fit_trace_emit(j->out, row, r->line, err);
	if (rc)
		rc = fit_trace_bad(j->out, rc, "times out of order", err);
	else
		count_job(j, r, n);
	fit_str_release(&id);
	return rc;
}

static int reused_id(struct fit_sacct_jobs *j, const struct fit_sacct_record *first,
		     const struct fit_sacct_record *r, struct fit_err *err)
{
	fit_fail(err, FIT_EDATA, "%s:%llu:%s: duplicate id '%.*s' (of another user on line %llu)",
		 j->input, (unsigned long long)r->line, j->id_column,
		 FIT_TEXT_ARG(id_of(j, r)), (unsigned long long)first->line);
	return fit_trace_bad(j->out, FIT_EDATA, "duplicate id", err);
}

/* The job whose first record is number head: usually one attempt, of one user. */
static int emit_head(struct fit_sacct_jobs *j, uint32_t head, struct fit_err *err)
{
	const struct fit_sacct_record *one = &j->records[head], **a = &one;
	size_t n = 1, cap = 0;
	int rc = FIT_OK;

	if (one->next == FIT_NO_TEXT)
		return emit(j, a, 1, err);
	a = NULL;
	n = 0;
	for (uint32_t i = head; !rc && i != FIT_NO_TEXT; i = j->records[i].next) {
		rc = fit_grow(&a, &cap, n + 1, sizeof *a) ? fit_fail_nomem(err) : FIT_OK;
		if (!rc)
			a[n++] = &j->records[i];
	}
	if (!rc)
		qsort(a, n, sizeof *a, compare_attempts);
	for (size_t from = 0, to; !rc && from < n; from = to) {
		for (to = from + 1; to < n && a[to]->user == a[from]->user; to++)
			;
		if (from && j->collect)
			rc = reused_id(j, a[0], a[from], err);
		else
			rc = emit(j, a + from, distinct_attempts(j, a + from, to - from), err);
	}
	free(a);
	return rc;
}

/* ---- taking records in ---- */

/* Emit the one job at hand and forget it. */
static int flush(struct fit_sacct_jobs *j, struct fit_err *err)
{
	int rc = j->n ? emit_head(j, 0, err) : FIT_OK;

	j->n = 0;
	j->bytes_n = 0;
	return rc;
}

/* Move a text that is still in use. */
static int keep_text(const struct fit_texts *from, struct fit_texts *to, uint32_t *number)
{
	return fit_texts_put(to, fit_texts_get(from, *number), number, NULL);
}

static int keep_tres(struct fit_sacct_jobs *j, const struct fit_texts *old_texts,
		     const struct fit_texts *old_lists, const struct fit_sacct_tres *old,
		     uint32_t *number)
{
	struct fit_sacct_tres x;
	bool fresh;
	int rc;

	if (*number == FIT_NO_TEXT)
		return FIT_OK;
	x = old[*number];
	rc = fit_grow(&j->tres, &j->tres_cap, j->tres_texts.n + 1, sizeof *j->tres);
	rc = rc ? rc : fit_texts_put(&j->tres_texts, fit_texts_get(old_lists, *number), number,
				     &fresh);
	rc = rc ? rc : keep_text(old_texts, &j->texts, &x.types);
	rc = rc ? rc : keep_text(old_texts, &j->texts, &x.set);
	if (!rc && fresh)
		j->tres[*number] = x;
	return rc;
}

int fit_sacct_jobs_trim(struct fit_sacct_jobs *j)
{
	struct fit_texts texts = j->texts, lists = j->tres_texts;
	struct fit_sacct_tres *tres = j->tres;
	int rc = FIT_OK;

	if (j->collect || texts.bytes_n + lists.bytes_n < TEXTS_MAX)
		return FIT_OK;
	j->texts = j->tres_texts = (struct fit_texts){ 0 };
	j->tres = NULL;
	j->tres_cap = 0;
	rc = keep_text(&texts, &j->texts, &j->cluster);
	for (size_t i = 0; !rc && i < j->n; i++) {
		struct fit_sacct_record *r = &j->records[i];
		uint32_t *numbers[] = { &r->cluster, &r->user, &r->account, &r->partition,
				       &r->qos };

		for (size_t k = 0; !rc && k < sizeof numbers / sizeof *numbers; k++)
			rc = keep_text(&texts, &j->texts, numbers[k]);
		rc = rc ? rc : keep_tres(j, &texts, &lists, tres, &r->req);
		rc = rc ? rc : keep_tres(j, &texts, &lists, tres, &r->alloc);
	}
	fit_texts_release(&texts);
	fit_texts_release(&lists);
	free(tres);
	return rc;
}

int fit_sacct_jobs_add(struct fit_sacct_jobs *j, struct fit_sacct_record *r, struct fit_text id,
		       struct fit_text name, struct fit_err *err)
{
	struct fit_text cluster = fit_texts_get(&j->texts, r->cluster);
	int rc;

	if (cluster.n && j->cluster == FIT_NO_TEXT)
		j->cluster = r->cluster;
	if (r->cluster != j->cluster && !j->clusters) {
		if (!j->collect)
			return fit_fail(err, FIT_EINVAL,
					"%s:%llu:Cluster: another cluster '%.*s', whose ids "
					"may be the same (expected one, or no --no-sort and --no-unique)",
					j->input, (unsigned long long)r->line, FIT_TEXT_ARG(cluster));
		j->clusters = true;
	}
	if (!j->collect && j->n && (r->cluster != j->records[0].cluster ||
				    !fit_text_eq(id, id_of(j, &j->records[0])))) {
		rc = flush(j, err);
		if (rc)
			return rc;
	}
	if (id.n > UINT32_MAX || name.n > UINT32_MAX || j->n >= UINT32_MAX - 2 ||
	    fit_grow(&j->records, &j->cap, j->n + 1, sizeof *j->records) ||
	    fit_grow(&j->bytes, &j->bytes_cap, j->bytes_n + id.n + name.n + 1, 1))
		return fit_fail_nomem(err);
	r->id_at = j->bytes_n;
	r->id_n = (uint32_t)id.n;
	r->name_at = r->id_at + id.n;
	r->name_n = (uint32_t)name.n;
	r->next = FIT_NO_TEXT;
	r->later = false;
	memcpy(j->bytes + r->id_at, id.s, id.n);
	if (name.n)
		memcpy(j->bytes + r->name_at, name.s, name.n);
	j->bytes_n += id.n + name.n;
	j->records[j->n++] = *r;
	return join(j) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- the end ---- */

struct rank {
	int64_t submit;
	uint32_t head;
};

static int compare_ranks(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;
	int c = compare_times(a->submit, b->submit);

	return c ? c : (a->head > b->head) - (a->head < b->head);
}

static int emit_sorted(struct fit_sacct_jobs *j, struct fit_err *err)
{
	struct rank *ranks = malloc((j->n_heads ? j->n_heads : 1) * sizeof *ranks);
	bool sorted = true;
	size_t n = 0;
	int rc = FIT_OK;

	if (!ranks)
		return fit_fail_nomem(err);
	free(j->slots);
	j->slots = NULL;
	for (size_t i = 0; i < j->n; i++) {
		int64_t submit = j->records[i].submit;

		if (j->records[i].later)
			continue;
		for (uint32_t k = j->records[i].next; k != FIT_NO_TEXT; k = j->records[k].next)
			if (compare_times(j->records[k].submit, submit) < 0)
				submit = j->records[k].submit;
		ranks[n++] = (struct rank){ submit, (uint32_t)i };
		sorted = sorted && (n < 2 || compare_times(ranks[n - 2].submit, submit) <= 0);
	}
	if (!sorted)
		qsort(ranks, n, sizeof *ranks, compare_ranks);
	for (size_t i = 0; !rc && i < n; i++)
		rc = emit_head(j, ranks[i].head, err);
	free(ranks);
	return rc;
}

static int add_notes(struct fit_sacct_jobs *j)
{
	int rc = fit_tally_note(&j->tally, j->out);

	if (!rc && j->requeued)
		rc = fit_trace_note(j->out,
				    "%llu requeued job%s, %llu earlier attempt%s joined (--attempts)",
				    (unsigned long long)j->requeued, j->requeued == 1 ? "" : "s",
				    (unsigned long long)j->earlier, j->earlier == 1 ? "" : "s");
	if (!rc && j->suspended)
		rc = fit_trace_note(j->out,
				    "%llu record%s with Elapsed shorter than End - Start (suspended "
				    "time does not count, the duration is Elapsed)",
				    (unsigned long long)j->suspended, j->suspended == 1 ? "" : "s");
	if (!rc && j->mismatches)
		rc = fit_trace_note(j->out,
				    "%llu job%s with GPU types that do not add up to gres/gpu (the "
				    "total is taken), such as job %s", (unsigned long long)j->mismatches,
				    j->mismatches == 1 ? "" : "s", j->first_mismatch.s);
	return rc;
}

int fit_sacct_jobs_end(struct fit_sacct_jobs *j, struct fit_err *err)
{
	int rc = j->collect ? emit_sorted(j, err) : flush(j, err);

	return rc ? rc : add_notes(j) ? fit_fail_nomem(err) : FIT_OK;
}
