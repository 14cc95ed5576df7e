/* cmd/progress.c - see progress.h. */
#include "cmd/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/output.h"

enum {
    AFTER_MS = 1000,
    EVERY_MS = 200,
    TEXT_BYTES = 128,
    COLUMNS = 80, /* of a terminal that does not say */
};

#define ERASE_LINE "\r\033[K"

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int64_t after_ms(void)
{
    const char *text = getenv("BERTH_PROGRESS_AFTER_MS");
    return text && *text ? atoi(text) : AFTER_MS;
}

void progress_init(struct progress *p)
{
    *p = (struct progress){ .is_terminal = isatty(STDERR_FILENO), .again_ms = now_ms() + after_ms() };
}

/* One less than there are: behind the last column a line breaks. */
static int columns(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return (known ? size.ws_col : COLUMNS) - 1;
}

static void describe(char *to, size_t n, enum sim_phase phase, size_t done, size_t total)
{
    int percent = total ? (int)((double)done / (double)total * 100) : 100;
    switch (phase) {
    case SIM_READING:
        snprintf(to, n, "reading: %d%% of %zu MiB", percent, total >> 20);
        return;
    case SIM_FETCHING:
        snprintf(to, n, "reading the cluster: %zu objects", done);
        return;
    case SIM_SCHEDULING:
        snprintf(to, n, "scheduling: %zu of %zu pods, %d%%", done, total, percent);
        return;
    case SIM_TRACING:
        snprintf(to, n, "trace: %zu of %zu pods have arrived, %d%%", done, total, percent);
        return;
    }
}

/* Whether the line is to be written now. */
static bool is_time(struct progress *p, bool over)
{
    if (!p->is_terminal || (over && !p->shown))
        return false;
    int64_t now = now_ms();
    if (!over && now < p->again_ms)
        return false;
    p->again_ms = now + EVERY_MS;
    p->shown = !over;
    return true;
}

static void write_line(const char *text)
{
    char line[TEXT_BYTES + sizeof(ERASE_LINE)];
    snprintf(line, sizeof(line), ERASE_LINE "%.*s", columns(), text);
    cmd_write_error(str_of(line));
}

static void at(void *context, enum sim_phase phase, size_t done, size_t total)
{
    bool over = done == total;
    char text[TEXT_BYTES] = "";
    if (!is_time(context, over))
        return;
    if (!over)
        describe(text, sizeof(text), phase, done, total);
    write_line(text);
}

void progress_replay(void *progress, size_t n_done, size_t n_bytes)
{
    bool over = n_done == n_bytes;
    char text[TEXT_BYTES] = "";
    if (!is_time(progress, over))
        return;
    if (!over)
        snprintf(text, sizeof(text), "replaying: %d%% of %zu MiB", (int)((double)n_done / (double)n_bytes * 100), n_bytes >> 20);
    write_line(text);
}

struct sim_progress progress_watch(struct progress *p)
{
    return (struct sim_progress){ p, at };
}
