/* tests/test.h - the unit test harness: TEST(name) { ... } registers itself and runs in its own process.
 *
 * A test fails by CHECK, by a signal, by a sanitizer's report or by running longer than a minute. The
 * program takes names (parts of names) to run, --list, and ends with the line "N passed, N failed". */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *t);
/* How many times slower everything is than usual: ASan and TSan need room. */
int test_slowdown(void);
/* That this test has used, divided by the slowdown: for bounds on work that no other program can move. */
double test_cpu_seconds(void);
/* Prints the message and ends the test as failed. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define TEST(test_name)                                                                    \
    static void test_name(void);                                                           \
    __attribute__((constructor)) static void test_name##_register(void)                    \
    {                                                                                      \
        static struct test t = { #test_name, test_name, NULL };                            \
        test_register(&t);                                                                 \
    }                                                                                      \
    static void test_name(void)

#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition))                                                                  \
            FAIL("%s", #condition);                                                        \
    } while (0)

/* `what` names the row of a table. */
#define CHECK_INT(what, got, want)                                                         \
    do {                                                                                   \
        long long got_ = (long long)(got), want_ = (long long)(want);                      \
        if (got_ != want_)                                                                 \
            FAIL("%s: %s is %lld, want %lld", (what), #got, got_, want_);                  \
    } while (0)

#define CHECK_STR(what, got, want)                                                         \
    do {                                                                                   \
        struct str got_ = (got), want_ = (want);                                           \
        if (!str_eq(got_, want_))                                                          \
            FAIL("%s: %s is\n  %.*s\nwant\n  %.*s", (what), #got, STR_ARG(got_),           \
                 STR_ARG(want_));                                                          \
    } while (0)

#define CHECK_TEXT(what, got, want) CHECK_STR(what, str_of(got), str_of(want))
