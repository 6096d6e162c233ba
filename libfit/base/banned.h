/* SPDX-License-Identifier: MIT */
/*
 * Functions that this project does not use, made a compile error. The Makefile includes this file
 * ahead of every translation unit (-include), so the system headers that declare the functions come
 * first, before the names are taken away.
 *
 * Numbers are parsed by fit_parse_*() (num.h), text is built with struct fit_str (text.h), random
 * numbers come from fit_rng_new() (rng.h), and nobody changes the locale.
 */
#ifndef FIT_BASE_BANNED_H
#define FIT_BASE_BANNED_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_BANNED(name) fit_banned_function_##name

#undef atoi
#undef atol
#undef atof
#undef scanf
#undef sscanf
#undef fscanf
#undef strtok
#undef sprintf
#undef vsprintf
#undef strcpy
#undef strcat
#undef strncpy
#undef rand
#undef srand
#undef setlocale
#define atoi(s) FIT_BANNED(atoi)
#define atol(s) FIT_BANNED(atol)
#define atof(s) FIT_BANNED(atof)
#define scanf(...) FIT_BANNED(scanf)
#define sscanf(...) FIT_BANNED(sscanf)
#define fscanf(...) FIT_BANNED(fscanf)
#define strtok(s, d) FIT_BANNED(strtok)
#define sprintf(...) FIT_BANNED(sprintf)
#define vsprintf(b, f, a) FIT_BANNED(vsprintf)
#define strcpy(d, s) FIT_BANNED(strcpy)
#define strcat(d, s) FIT_BANNED(strcat)
#define strncpy(d, s, n) FIT_BANNED(strncpy)
#define rand() FIT_BANNED(rand)
#define srand(s) FIT_BANNED(srand)
#define setlocale(c, l) FIT_BANNED(setlocale)

#endif
