/* SPDX-License-Identifier: MIT */
/*
 * Counting down in doubles: x = x - rate, over and over, each difference rounded, as a simulator does that
 * steps through every second. The result of n steps is the same here, bit by bit, without n steps: as long
 * as x stays within one power of two, rounding makes each step the same whole number of units in the last
 * place, so a power of two is passed at once. A countdown costs some tens of operations, however long.
 */
#ifndef FIT_REPLAY_TICKS_H
#define FIT_REPLAY_TICKS_H

#include <stdint.h>

/* How many subtractions of rate (finite, above 0) bring x (finite) to 0 or below; 0 when it is there.
 * INT64_MAX: it never gets there, since rate is lost in the rounding. */
int64_t fit_ticks_to_zero(double x, double rate);

/* x after n subtractions of rate. */
double fit_ticks_after(double x, double rate, int64_t n);

#endif
