/* tests/test.c - see test.h. */
#include "tests/test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 };

static struct test *first_test, **last_link = &first_test;

void test_register(struct test *t)
{
    *last_link = t;
    last_link = &t->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    fprintf(stderr, "%s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

int test_slowdown(void)
{
    const char *factor = getenv("TEST_SLOWDOWN");
    return factor ? atoi(factor) : 1;
}

double test_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return ((double)t.tv_sec + (double)t.tv_nsec / 1e9) / test_slowdown();
}

/* NULL, or how it failed. */
static const char *run_test(const struct test *t)
{
    static char how[64];
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child == 0) {
        alarm((unsigned)(SECONDS_MAX * test_slowdown()));
        t->run();
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof(how), "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof(how), "exit code %d", WEXITSTATUS(status));
    return how;
}

static bool wanted(const struct test *t, int n_names, char **names)
{
    for (int i = 0; i < n_names; i++)
        if (strstr(t->name, names[i]))
            return true;
    return n_names == 0;
}

int main(int argc, char **argv)
{
    int n_passed = 0, n_failed = 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    for (const struct test *t = first_test; t; t = t->next) {
        if (list)
            puts(t->name);
        if (list || !wanted(t, argc - 1, argv + 1))
            continue;
        const char *how = run_test(t);
        if (how)
            printf("FAILED %s: %s\n", t->name, how);
        *(how ? &n_failed : &n_passed) += 1;
    }
    if (!list)
        printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed > 0 || (!list && n_passed == 0);
}
