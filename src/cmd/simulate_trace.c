/* cmd/simulate_trace.c - see simulate_trace.h. */
#include "cmd/simulate_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sim/report.h"
#include "sim/trace_report.h"

/* ---- The file ---- */

struct text {
    struct str bytes;
    bool mapped;
};

/* A file is mapped, anything else is read. */
static bool open_text(const char *path, struct text *ret_text)
{
    struct stat s;
    int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
        void *p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        *ret_text = (struct text){ { p, (size_t)s.st_size }, true };
        return p != MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    size_t n;
    char *bytes = cmd_read_file(path, &n);
    *ret_text = (struct text){ { bytes, bytes ? n : 0 }, false };
    return bytes != NULL;
}

static void close_text(const struct text *t)
{
    void *p = (void *)(uintptr_t)t->bytes.p;
    if (t->mapped)
        munmap(p, t->bytes.n);
    else
        free(p);
}

static enum err_code load_trace(struct trace *t, const char *path, struct err *e)
{
    struct text text;
    if (!open_text(path, &text))
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    enum err_code code = trace_read(t, text.bytes, e);
    close_text(&text);
    return code;
}

/* ---- The run ---- */

enum { PROGRESS_STEPS = 1024, PROGRESS_FIRST_MS = 1000, PROGRESS_MS = 200 };

/* On a terminal, when it takes longer. */
struct progress {
    int64_t next_ms;
    uint32_t n_steps;
    bool shown;
};

static void show_progress(void *context, const struct trace_run *r)
{
    struct progress *p = context;
    if (++p->n_steps % PROGRESS_STEPS != 0)
        return;
    int64_t now_ms = clock_mono_ms(&clock_real);
    if (now_ms < p->next_ms)
        return;
    fprintf(stderr, "\r%.1fh: %llu of %llu pods arrived, %llu finished, %lld wait \033[K", (double)r->time_ms / 3600000,
            (unsigned long long)r->n_made, (unsigned long long)r->trace->n_pods, (unsigned long long)r->counts.finished,
            (long long)r->level.waiting);
    p->next_ms = now_ms + PROGRESS_MS;
    p->shown = true;
}

/* Whether the terminal of a person shows more than ASCII. */
static bool has_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static int print(const struct command *c, const struct trace_run *r, bool json)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (json) {
        sim_report_json_open(&text, r->world);
        STRBUF_ADD_LIT(&text, ",\n\"trace\":");
        trace_report_json(&text, r);
        STRBUF_ADD_LIT(&text, "}\n");
    } else {
        trace_report_text(&text, r, has_unicode());
    }
    bool failed = fwrite(text.p, 1, text.n, stdout) != text.n || fflush(stdout) != 0;
    strbuf_fini(&text);
    return failed ? cmd_fail(c, 1, "cannot write: %s", strerror(errno)) : 0;
}

static int run_loaded(const struct command *c, struct sim_world *w, const struct trace *t, uint32_t failures, bool json,
                      bool *ret_pending, struct err *e)
{
    struct progress progress = { .next_ms = clock_mono_ms(&clock_real) + PROGRESS_FIRST_MS };
    struct trace_run *r = mem_alloc(sizeof(*r));
    trace_run_init(r, w, t);
    if (failures)
        r->failures_per_second_max = failures;
    if (isatty(STDERR_FILENO)) {
        r->observe = show_progress;
        r->observe_context = &progress;
    }
    bool failed = trace_run(r, e) != ERR_OK;
    if (progress.shown)
        fputs("\r\033[K", stderr);
    int code = failed ? cmd_fail(c, 1, "%s", e->message) : print(c, r, json);
    *ret_pending = r->level.waiting > 0;
    trace_run_fini(r);
    free(r);
    return code;
}

int cmd_run_trace(const struct command *c, struct sim_world *w, const struct trace_options *options, bool json,
                  bool *ret_pending, struct err *e)
{
    struct trace t;
    trace_init(&t, strcmp(options->path, "-") == 0 ? "standard input" : options->path);
    *ret_pending = false;
    int code = load_trace(&t, options->path, e) ? cmd_fail(c, 1, "%s", e->message)
                                                : run_loaded(c, w, &t, options->failures, json, ret_pending, e);
    trace_fini(&t);
    return code;
}

/* ---- Made ones ---- */

static bool write_piece(void *context, struct str piece)
{
    (void)context;
    return fwrite(piece.p, 1, piece.n, stdout) == piece.n;
}

int cmd_make_trace(const struct command *c, const struct trace_make *m)
{
    bool written = trace_make(m, write_piece, NULL) && fflush(stdout) == 0;
    return written ? 0 : cmd_fail(c, 1, "cannot write: %s", strerror(errno));
}
