/* base/float.h - floating-point numbers as Go has them: as text, in the forms of strconv and
 * encoding/json, and the logarithm of its package math.
 *
 * All forms of text use the fewest digits that read back as the same number, and of those the nearest
 * to it. Thread: any. */
#pragma once

#include "base/strbuf.h"

/* As FormatFloat(x, 'g', -1, 64): an exponent below 0.0001 and from 1e+06 on. Also NaN, +Inf,
 * -Inf. */
void float_add_g(struct strbuf *b, double x);
/* As FormatFloat(x, 'f', -1, 64): never an exponent. Also NaN, +Inf, -Inf. */
void float_add_f(struct strbuf *b, double x);
/* As encoding/json: plain digits, an exponent below 1e-6 and from 1e21 on, without a padding zero. x is
 * finite. */
void float_add_json(struct strbuf *b, double x);

/* The natural logarithm of a positive, finite x, to the last bit as Go's on amd64: libc's may differ
 * there. */
double float_log(double x);
/* The same with the fewest digits that read back as a float. */
void float_add_json_single(struct strbuf *b, float x);
