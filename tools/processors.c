/* SPDX-License-Identifier: MIT */
#include "tools/processors.h"

#include <unistd.h>

#ifdef __linux__

#include <sched.h>

size_t processors_allowed(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all;

	if (!sched_getaffinity(0, sizeof all, &all))
		return (size_t)CPU_COUNT(&all);
	return online > 0 ? (size_t)online : 1;	/* of more than CPU_SETSIZE */
}

bool processors_keep_to(size_t which)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof all, &all))
		return false;
	which %= (size_t)CPU_COUNT(&all);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || which-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return !sched_setaffinity(0, sizeof one, &one);
	}
	return false;
}

#else

size_t processors_allowed(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (size_t)online : 1;
}

bool processors_keep_to(size_t which)
{
	(void)which;
	return false;
}

#endif
