/* controllers/expectations.h - what a controller has ordered and not seen yet.
 *
 * Between a write and the change that tells of it a controller would count wrong: it would order the same again. So it says
 * before it writes how many creations, or which deletions, are to be seen, by the key of the object that it works on, and does
 * nothing about that object before all have come. After EXPECTATIONS_TIMEOUT_MS it goes on anyway, as upstream.
 *
 * Thread: one at a time. Time: never reads the clock.    Owns: copies of keys and names. */
#pragma once

#include "base/str.h"

enum { EXPECTATIONS_TIMEOUT_MS = 5 * 60 * 1000 };

struct expectations;

struct expectations *expectations_new(void);
void expectations_free(struct expectations *x);

/* Both forget what was expected before. */
void expectations_expect_creations(struct expectations *x, struct str key, uint32_t n, int64_t now_ms);
/* Nothing is expected until expectations_add_deletion names what. */
void expectations_expect_deletions(struct expectations *x, struct str key, int64_t now_ms);
void expectations_add_deletion(struct expectations *x, struct str key, struct str name);

/* Seen, or never to be seen because the write failed. What was not expected changes nothing. */
void expectations_creation_observed(struct expectations *x, struct str key);
void expectations_deletion_observed(struct expectations *x, struct str key, struct str name);

/* The object is gone. */
void expectations_forget(struct expectations *x, struct str key);
bool expectations_satisfied(const struct expectations *x, struct str key, int64_t now_ms);
