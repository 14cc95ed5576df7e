/* tests/unit/metric_facts.h - what a real kube-scheduler's page of metrics declares: type, labels, buckets, help. */
#pragma once

#include <stdint.h>

/* Fails unless every metric of the table whose name begins so is on the page, and declared as there. How many these are. */
uint32_t metric_facts_check(const char *page, const char *prefix);
