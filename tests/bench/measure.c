/* SPDX-License-Identifier: MIT */
/*
 * measure [-n TIMES] COMMAND [ARGUMENT…]: run a command so often (default 9) with standard output
 * thrown away, and print one line: median and smallest wall time (ms), median processor time (ms),
 * largest peak memory (KiB). The exit status is 1 when the command fails once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libfit/base/num.h"

#define MAX_RUNS 1000

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static double cpu_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

static int run_once(char **command, double *wall_ms, double *cpu_ms, long *peak_kib)
{
	double start = now_ms();
	struct rusage before, after;
	int status;
	pid_t pid;

	getrusage(RUSAGE_CHILDREN, &before);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(127);
		execvp(command[0], command);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		return 1;
	*wall_ms = now_ms() - start;
	getrusage(RUSAGE_CHILDREN, &after);
	*cpu_ms = cpu_of(&after) - cpu_of(&before);
	*peak_kib = after.ru_maxrss;	/* the largest of all children so far */
	return 0;
}

int main(int argc, char **argv)
{
	static double wall[MAX_RUNS], cpu[MAX_RUNS];
	int64_t n = 9;
	long peak_kib = 0;

	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		if (fit_parse_int64(fit_text_of(argv[2]), &n) || n < 1 || n > MAX_RUNS)
			return 2;
		argv += 2;
		argc -= 2;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: measure [-n TIMES] COMMAND [ARGUMENT...]\n");
		return 2;
	}
	for (int64_t i = 0; i < n; i++) {
		if (run_once(argv + 1, &wall[i], &cpu[i], &peak_kib)) {
			fprintf(stderr, "measure: %s failed\n", argv[1]);
			return 1;
		}
	}
	qsort(wall, (size_t)n, sizeof *wall, by_value);
	qsort(cpu, (size_t)n, sizeof *cpu, by_value);
	printf("%.3f %.3f %.3f %ld\n", wall[n / 2], wall[0], cpu[n / 2], peak_kib);
	return 0;
}
