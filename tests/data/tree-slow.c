/* A decision tree (gini): 7 leaves. x holds
 *   x[0] gpus,
 *   x[1] queue: 0 queue-a, 1 queue-b, 2 queue-c, 3 queue-d,
 *   x[2] hour,
 *   x[3] mem_gib
 * and NaN where a value is missing, -1 for an unknown level.
 * Classes: 0 no, 1 yes */

int tree_leaf(const double *x);
double tree(const double *x);
void tree_share(const double *x, double *p);

/* The number of the leaf, from 0, in order of the text below. */
int tree_leaf(const double *x)
{
	if (!(x[1] != x[1] ? 0 : x[1] == 0 || x[1] == 2))
		goto n8;
	if (!(x[0] != x[0] ? 1 : x[0] <= 0x1.8p+2))
		goto n7;
	if (!(x[3] != x[3] ? 0 : x[3] <= (1e308 * 10)))
		goto n4;
	return 0;
n4:
	if (!(x[0] != x[0] ? 1 : x[0] <= 0x1.8p+1))
		goto n6;
	return 1;
n6:
	return 2;
n7:
	return 3;
n8:
	if (!(x[0] != x[0] ? 0 : x[0] <= 0x1.8p+1))
		goto n12;
	if (!(x[2] != x[2] ? 1 : x[2] <= 0x1p+4))
		goto n11;
	return 4;
n11:
	return 5;
n12:
	return 6;
}

double tree(const double *x)
{
	static const double value[] = {
		0x0p+0,
		0x0p+0,
		0x1p+0,
		0x1p+0,
		0x0p+0,
		0x1p+0,
		0x1p+0,
	};

	return value[tree_leaf(x)];
}

void tree_share(const double *x, double *p)
{
	static const double share[][2] = {
		{ 0x1p+0, 0x0p+0 },
		{ 0x1p+0, 0x0p+0 },
		{ 0x0p+0, 0x1p+0 },
		{ 0x0p+0, 0x1p+0 },
		{ 0x1p+0, 0x0p+0 },
		{ 0x0p+0, 0x1p+0 },
		{ 0x0p+0, 0x1p+0 },
	};
	const double *s = share[tree_leaf(x)];

	for (int c = 0; c < 2; c++)
		p[c] = s[c];
}
