/* rules/convert_priv.h - what the conversions share: see convert.c. */
#pragma once

#include "rules/convert.h"

/* A struct of one type as the other: fields of the same name, those of the table of names under their other names, what
 * is below in the same way. Types that are the same, or equal but for names, come back as they are. */
struct value convert_struct(struct arena *a, const struct type *from, const struct type *to, const struct value *v);
struct value convert_list(struct arena *a, const struct type *from, const struct type *to, const struct value *list);

/* HorizontalPodAutoscaler, between v1 and v2 (convert_autoscaler.c): what names alone do not tell. `v` is the object
 * before, *to what convert_struct made of it. */
void autoscaler_to_v1(struct arena *a, const struct value *v, struct value *to);
void autoscaler_to_v2(struct arena *a, const struct value *v, struct value *to);
/* Without the annotations that only v1 has; `t` is either version. */
struct value autoscaler_without_annotations(struct arena *a, const struct type *t, const struct value *v);
/* A metric of v2 that came from v1: the type of its target, amounts that v1 always has. */
void metric_to_v2(struct arena *a, const struct type *v1, struct value *metric);
