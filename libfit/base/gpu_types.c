/* SPDX-License-Identifier: MIT */
#include "libfit/base/gpu_types.h"

#include <stddef.h>

const struct fit_gpu_type_info fit_gpu_types[] = {
	{ "aws", "T4", 4, 16 },
	{ "azure", "V100", 8, 5 },
	{ "dgx", "A100", 8, 2 },
	{ "dgx-ext", "A100", 8, 2 },
	{ "quad", "Quadro RTX 6000", 4, 1 },
	{ "rtx", "2080 Ti", 8, 3 },
	{ NULL, NULL, 0, 0 }
};

const struct fit_gpu_type_info *fit_gpu_type_find(struct fit_text name)
{
	for (size_t i = 0; fit_gpu_types[i].name; i++)
		if (fit_text_is(name, fit_gpu_types[i].name))
			return &fit_gpu_types[i];
	return NULL;
}
