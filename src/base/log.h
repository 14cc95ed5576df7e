/* base/log.h - structured log records, as klog writes them (text) or component-base does (JSON).
 *
 *     LOG(2, "Successfully bound pod to node", KO("pod", ns, name), KS("node", node), KI("n", n));
 *     LOG_ERROR(e.message, "Error scheduling pod; retrying", KO("pod", ns, name));
 *
 *     I1115 23:36:42.123456   12345 bind.c:123] "Successfully bound pod to node" pod="default/a" node="n" n=3
 *     {"ts":1700000000000.123,"caller":"sched/bind.c:123","msg":"Successfully ...","v":2,"pod":{"name":"a",...
 *
 * A record is written when its level is at most the verbosity (--v), or at most N where `pattern=N` is the
 * first entry of --vmodule whose pattern matches the file's name without directory and ".c". A disabled
 * record costs one comparison and does not evaluate its pairs. Error records are always written.
 * Every record goes to the sink in one piece and one at a time, so lines never mix. A text longer than
 * LOG_VALUE_BYTES_MAX is cut and ends in "...".
 *
 * Thread: any. These settings are the only mutable globals of the process besides metrics. */
#pragma once

#include <stdatomic.h>

#include "base/clock.h"
#include "base/err.h"

#define LOG_VALUE_BYTES_MAX 65536
#define LOG_VMODULE_MAX 64 /* entries of --vmodule */

/* ---- Settings ---- */

/* "text" or "json"; the empty name is text. */
ERR_MUST_CHECK enum err_code log_set_format(struct str name, struct err *e);
/* A number from 0 to 2147483647, as given to --v. */
ERR_MUST_CHECK enum err_code log_set_level(struct str number, struct err *e);
void log_set_level_number(int32_t level);
int32_t log_level(void);
/* A comma-separated list of pattern=N; * ? and [ ] match as in file names. Replaces the list there is. */
ERR_MUST_CHECK enum err_code log_set_vmodule(struct str list, struct err *e);

/* Gets each record with its newline; called by one thread at a time and must not log. */
typedef void (*log_sink)(void *context, struct str record);
/* NULL: standard error, one write(2) a record. */
void log_set_sink(log_sink sink, void *context);
/* NULL: the clock of the machine. It must live as long as it is set. */
void log_set_clock(const struct clock *clock);

/* ---- Pairs ---- */

enum log_kind { LOG_TEXT, LOG_INT, LOG_UINT, LOG_FLOAT, LOG_BOOL, LOG_OBJECT };

struct log_pair {
    const char *key; /* NULL ends a list */
    enum log_kind kind;
    union {
        struct str text;
        int64_t i;
        uint64_t u;
        double f;
        bool b;
        struct {
            struct str ns, name;
        } object;
    };
};

static inline struct str log_same_str(struct str s)
{
    return s;
}

/* From a struct str or a char pointer; NULL is the empty text. */
#define LOG_STR(text) _Generic((text), struct str: log_same_str, default: str_of)(text)

#define KS(name, value) { .key = (name), .kind = LOG_TEXT, .text = LOG_STR(value) }
#define KI(name, value) { .key = (name), .kind = LOG_INT, .i = (value) }
#define KU(name, value) { .key = (name), .kind = LOG_UINT, .u = (value) }
#define KF(name, value) { .key = (name), .kind = LOG_FLOAT, .f = (value) }
#define KB(name, value) { .key = (name), .kind = LOG_BOOL, .b = (value) }
/* "namespace/name" in text, {"name":...,"namespace":...} in JSON; cluster objects have no namespace. */
#define KO(key_name, namespace, value)                                                     \
    { .key = (key_name), .kind = LOG_OBJECT, .object = { LOG_STR(namespace), LOG_STR(value) } }

/* ---- Records ---- */

/* The largest level that anything may be written at: of --v and all of --vmodule. */
extern _Atomic int32_t log_threshold;

/* For a level within the threshold. */
bool log_enabled(int32_t level, const char *file);

#define LOG_ON(level)                                                                      \
    ((level) <= atomic_load_explicit(&log_threshold, memory_order_relaxed)                 \
     && log_enabled((level), __FILE__))

struct log_site {
    const char *file;
    int line;
};

void log_info(struct log_site site, int32_t level, const char *message, const struct log_pair *pairs);
void log_error(struct log_site site, const char *error, const char *message, const struct log_pair *pairs);
/* A line without pairs, as klog's Infof and Warningf write it: the text as it is. severity: 'I', 'W' or 'E'. */
void log_plain(struct log_site site, char severity, int32_t level, const char *text);

#define LOG_SITE ((struct log_site){ __FILE__, __LINE__ })
#define LOG_PAIRS(...) ((const struct log_pair[]){ __VA_ARGS__ __VA_OPT__(, ) { .key = NULL } })

#define LOG(level, message, ...)                                                           \
    do {                                                                                   \
        if (LOG_ON(level))                                                                 \
            log_info(LOG_SITE, (level), (message), LOG_PAIRS(__VA_ARGS__));                \
    } while (0)

/* error: text of the cause, NULL when there is none. */
#define LOG_ERROR(error, message, ...)                                                     \
    log_error(LOG_SITE, (error), (message), LOG_PAIRS(__VA_ARGS__))

#define LOG_PLAIN(level, text)                                                             \
    do {                                                                                   \
        if (LOG_ON(level))                                                                 \
            log_plain(LOG_SITE, 'I', (level), (text));                                     \
    } while (0)
#define LOG_WARNING(text) log_plain(LOG_SITE, 'W', 0, (text))
