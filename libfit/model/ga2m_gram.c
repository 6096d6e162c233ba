/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_gram.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64

size_t ga2m_gram_bytes(size_t m, size_t n, bool small_counts)
{
	size_t stride = (m + 7) / 8 * 8;

	(void)n;
	return stride * m * (small_counts ? sizeof(uint16_t) : sizeof(float));
}

static void *aligned(size_t bytes)
{
	return aligned_alloc(ALIGN, (bytes + ALIGN) / ALIGN * ALIGN);
}

int ga2m_gram_init(struct ga2m_gram *g, size_t m, bool small)
{
	if (g->m == m && (small ? (void *)g->small : (void *)g->wide))
		return FIT_OK;
	ga2m_gram_release(g);
	*g = (struct ga2m_gram){ .m = m, .stride = (m + 7) / 8 * 8 };
	if (small)
		g->small = aligned(g->stride * m * sizeof *g->small);
	else
		g->wide = aligned(g->stride * m * sizeof *g->wide);
	return g->small || g->wide ? FIT_OK : FIT_ENOMEM;
}

void ga2m_gram_release(struct ga2m_gram *g)
{
	free(g->small);
	free(g->wide);
	*g = (struct ga2m_gram){ 0 };
}

static void put(struct ga2m_gram *g, size_t row, size_t column, double v)
{
	if (g->small)
		g->small[row * g->stride + column] = (uint16_t)v;
	else
		g->wide[row * g->stride + column] = (float)v;
}

/* Joint counts of two features to indicators: running sums along the axes that are in order. */
static void accumulate(double *c, size_t rows, size_t columns, bool row_order, bool column_order)
{
	for (size_t i = 0; column_order && i < rows; i++)
		for (size_t j = 2; j < columns; j++)
			c[i * columns + j] += c[i * columns + j - 1];
	for (size_t i = 2; row_order && i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			c[i * columns + j] += c[(i - 1) * columns + j];
}

static void count_pair(const struct ga2m_part *part, size_t f, size_t g, size_t columns,
		const double *w,
		       uint32_t *count, double *sum, size_t cells)
{
	const uint16_t *a = part->bin[f], *b = part->bin[g];

	if (w) {
		memset(sum, 0, cells * sizeof *sum);
		for (size_t i = 0; i < part->n; i++)
			sum[a[i] * columns + b[i]] += w[i];
		return;
	}
	memset(count, 0, cells * sizeof *count);
	for (size_t i = 0; i < part->n; i++)
		count[a[i] * columns + b[i]]++;
	for (size_t c = 0; c < cells; c++)
		sum[c] = count[c];
}

int ga2m_gram_fill(struct ga2m_gram *g, const struct ga2m_binned *b, const struct ga2m_part *part,
		   const size_t *off, const double *w)
{
	size_t widest = 1;
	uint32_t *count;
	double *sum;

	for (size_t f = 0; f < b->n_features; f++)
		widest = b->n_bins[f] > widest ? b->n_bins[f] : widest;
	count = malloc(widest * widest * sizeof *count);
	sum = malloc(widest * widest * sizeof *sum);
	for (size_t f = 0; count && sum && f < b->n_features; f++) {
		for (size_t h = f; h < b->n_features; h++) {
			size_t rows = b->n_bins[f], columns = b->n_bins[h];

			count_pair(part, f, h, columns, w, count, sum, rows * columns);
			accumulate(sum, rows, columns, !b->nominal[f], !b->nominal[h]);
			for (size_t i = 0; i < rows; i++)
				for (size_t j = 0; j < columns; j++)
					put(g, off[f] + i, off[h] + j, sum[i * columns + j]);
			for (size_t j = 0; h > f && j < columns; j++)
				for (size_t i = 0; i < rows; i++)
					put(g, off[h] + j, off[f] + i, sum[i * columns + j]);
		}
	}
	for (size_t i = 0; i < g->m; i++)
		for (size_t j = g->m; j < g->stride; j++)
			put(g, i, j, 0);
	free(count);
	free(sum);
	return count && sum ? FIT_OK : FIT_ENOMEM;
}

/*
 * Vectors of the compiler: the same arithmetic, element by element, whatever the machine has. Where it has
 * registers for four doubles they are used; nothing is fused or reordered, so the bits are the same.
 */
typedef double vec __attribute__((vector_size(4 * sizeof(double))));
typedef float vec_float __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t vec_int __attribute__((vector_size(4 * sizeof(int32_t))));
typedef uint16_t vec_short __attribute__((vector_size(4 * sizeof(uint16_t))));

#define TAKE(name, element, widen)                                                                          \
	static void name(const element *p, size_t n, double a, const vec *t, double c, vec *s)              \
	{                                                                                                   \
		if (c > 0 || c < 0)                                                                         \
			for (size_t i = 0; i < n; i++)                                                      \
				s[i] -= a * widen(p[i]) + c * t[i];                                         \
		else                                                                                        \
			for (size_t i = 0; i < n; i++)                                                      \
				s[i] -= a * widen(p[i]);                                                    \
	}
#define FROM_SHORT(v) __builtin_convertvector(__builtin_convertvector(v, vec_int), vec)
#define FROM_FLOAT(v) __builtin_convertvector(v, vec)

TAKE(take_small, vec_short, FROM_SHORT)
TAKE(take_wide, vec_float, FROM_FLOAT)
#if defined(__x86_64__)
#define HAVE_AVX2 __builtin_cpu_supports("avx2")
__attribute__((target("avx2"))) TAKE(take_small_avx2, vec_short, FROM_SHORT)
__attribute__((target("avx2"))) TAKE(take_wide_avx2, vec_float, FROM_FLOAT)
#else
#define HAVE_AVX2 0
#define take_small_avx2 take_small
#define take_wide_avx2 take_wide
#endif

void ga2m_gram_take(const struct ga2m_gram *g, size_t row, double a, const double *all, double c,
		    double *sum)
{
	size_t n = g->stride / 4;
	vec *s = (vec *)(void *)sum;
	const vec *t = (const vec *)(const void *)all;
	const void *p = g->small ? (const void *)(g->small + row * g->stride)
				 : (const void *)(g->wide + row * g->stride);

	if (g->small)
		(HAVE_AVX2 ? take_small_avx2 : take_small)(p, n, a, t, c, s);
	else
		(HAVE_AVX2 ? take_wide_avx2 : take_wide)(p, n, a, t, c, s);
}
