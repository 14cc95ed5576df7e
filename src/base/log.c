/* base/log.c - see log.h. First the two forms of a record, then the settings, then writing. */
#include "base/log.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/float.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"

struct record {
    struct log_site site;
    char severity; /* 'I', 'W' or 'E' */
    bool plain;    /* the message is the whole text */
    int32_t level;     /* of what is no error */
    const char *error; /* may be NULL */
    const char *message;
    const struct log_pair *pairs;
    int64_t wall_ns;
};

/* The last `n_parts` parts of a path. */
static struct str path_end(const char *path, int n_parts)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --n_parts > 0))
        at--;
    return str_of(at);
}

/* The text, or a cut copy of it in `room`. */
static struct str bounded(struct str text, struct strbuf *room)
{
    if (text.n <= LOG_VALUE_BYTES_MAX)
        return text;
    strbuf_add(room, text.p, LOG_VALUE_BYTES_MAX);
    STRBUF_ADD_LIT(room, "...");
    return strbuf_str(room);
}

/* ---- klog's text ---- */

/* With line breaks: a block of indented lines, as klog has it but for what is not printable. */
static void text_add_block(struct strbuf *b, struct str s)
{
    STRBUF_ADD_LIT(b, "=<\n");
    while (s.n) {
        struct str line = str_first(s, str_index(s, '\n'));
        strbuf_add_char(b, '\t');
        printable_add(b, line);
        strbuf_add_char(b, '\n');
        s = str_from(s, line.n + 1);
    }
    STRBUF_ADD_LIT(b, " >");
}

static void text_add_string(struct strbuf *b, struct str text)
{
    struct strbuf room;
    strbuf_init(&room, STRBUF_NO_MAX);
    struct str s = bounded(text, &room);
    if (str_index(s, '\n') < s.n) {
        text_add_block(b, s);
    } else {
        strbuf_add_char(b, '=');
        strbuf_add_quoted(b, s);
    }
    strbuf_fini(&room);
}

static void text_add_float(struct strbuf *b, double x)
{
    strbuf_add_char(b, '=');
    if (isfinite(x)) {
        float_add_json(b, x);
        return;
    }
    strbuf_add_char(b, '"');
    float_add_g(b, x);
    strbuf_add_char(b, '"');
}

static void text_add_object(struct strbuf *b, struct str ns, struct str name)
{
    struct strbuf both;
    strbuf_init(&both, STRBUF_NO_MAX);
    strbuf_add_str(&both, ns);
    if (ns.n)
        strbuf_add_char(&both, '/');
    strbuf_add_str(&both, name);
    text_add_string(b, strbuf_str(&both));
    strbuf_fini(&both);
}

static void text_add_pair(struct strbuf *b, const struct log_pair *p)
{
    strbuf_add_char(b, ' ');
    strbuf_add_text(b, p->key);
    switch (p->kind) {
    case LOG_TEXT: text_add_string(b, p->text); break;
    case LOG_OBJECT: text_add_object(b, p->object.ns, p->object.name); break;
    case LOG_FLOAT: text_add_float(b, p->f); break;
    case LOG_BOOL: strbuf_add_text(b, p->b ? "=true" : "=false"); break;
    case LOG_INT:
        strbuf_add_char(b, '=');
        strbuf_add_int(b, p->i);
        break;
    case LOG_UINT:
        strbuf_add_char(b, '=');
        strbuf_add_uint(b, p->u);
        break;
    }
}

static void text_add_header(struct strbuf *b, const struct record *r)
{
    time_t seconds = (time_t)(r->wall_ns / CLOCK_NS_PER_SECOND);
    int micros = (int)(r->wall_ns % CLOCK_NS_PER_SECOND / 1000);
    struct tm t = { 0 };
    localtime_r(&seconds, &t);
    struct str file = path_end(r->site.file, 1);
    strbuf_printf(b, "%c%02d%02d %02d:%02d:%02d.%06d %7d %.*s:%d] ", r->severity,
                  t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, micros, (int)getpid(),
                  STR_ARG(file), r->site.line);
}

static void text_add_record(struct strbuf *b, const struct record *r)
{
    text_add_header(b, r);
    if (r->plain)
        printable_add(b, str_of(r->message));
    else
        strbuf_add_quoted(b, str_of(r->message));
    if (r->error)
        text_add_pair(b, &(struct log_pair)KS("err", r->error));
    for (const struct log_pair *p = r->pairs; p->key; p++)
        text_add_pair(b, p);
    strbuf_add_char(b, '\n');
}

/* ---- JSON ---- */

static void json_add_escaped(struct strbuf *b, unsigned char c)
{
    switch (c) {
    case '"': STRBUF_ADD_LIT(b, "\\\""); break;
    case '\\': STRBUF_ADD_LIT(b, "\\\\"); break;
    case '\n': STRBUF_ADD_LIT(b, "\\n"); break;
    case '\r': STRBUF_ADD_LIT(b, "\\r"); break;
    case '\t': STRBUF_ADD_LIT(b, "\\t"); break;
    default: strbuf_printf(b, "\\u%04x", c);
    }
}

/* As zap, where bytes that are not UTF-8 become U+FFFD; and what is not printable is escaped, too, which is the same
 * text to whoever reads JSON. */
static void json_add_string(struct strbuf *b, struct str text)
{
    struct strbuf room;
    strbuf_init(&room, STRBUF_NO_MAX);
    struct str s = bounded(text, &room);
    strbuf_add_char(b, '"');
    for (size_t at = 0, n; at < s.n; at += n ? n : 1) {
        unsigned char c = (unsigned char)s.p[at];
        uint32_t rune;
        n = utf8_decode(str_from(s, at), &rune);
        if (!n)
            STRBUF_ADD_LIT(b, "\\ufffd");
        else if (c < ' ' || c == '"' || c == '\\')
            json_add_escaped(b, c);
        else
            printable_add_json(b, (struct str){ s.p + at, n });
    }
    strbuf_add_char(b, '"');
    strbuf_fini(&room);
}

static void json_add_key(struct strbuf *b, const char *key)
{
    strbuf_add_char(b, ',');
    json_add_string(b, str_of(key));
    strbuf_add_char(b, ':');
}

static void json_add_object(struct strbuf *b, struct str ns, struct str name)
{
    STRBUF_ADD_LIT(b, "{\"name\":");
    json_add_string(b, name);
    if (ns.n) {
        json_add_key(b, "namespace");
        json_add_string(b, ns);
    }
    strbuf_add_char(b, '}');
}

static void json_add_float(struct strbuf *b, double x)
{
    if (!isfinite(x))
        strbuf_add_char(b, '"');
    float_add_f(b, x);
    if (!isfinite(x))
        strbuf_add_char(b, '"');
}

static void json_add_pair(struct strbuf *b, const struct log_pair *p)
{
    json_add_key(b, p->key);
    switch (p->kind) {
    case LOG_TEXT: json_add_string(b, p->text); break;
    case LOG_OBJECT: json_add_object(b, p->object.ns, p->object.name); break;
    case LOG_FLOAT: json_add_float(b, p->f); break;
    case LOG_BOOL: strbuf_add_text(b, p->b ? "true" : "false"); break;
    case LOG_INT: strbuf_add_int(b, p->i); break;
    case LOG_UINT: strbuf_add_uint(b, p->u); break;
    }
}

static void json_add_record(struct strbuf *b, const struct record *r)
{
    STRBUF_ADD_LIT(b, "{\"ts\":");
    float_add_f(b, (double)r->wall_ns / CLOCK_NS_PER_MS);
    json_add_key(b, "caller");
    struct str file = path_end(r->site.file, 2);
    strbuf_printf(b, "\"%.*s:%d\"", STR_ARG(file), r->site.line);
    json_add_pair(b, &(struct log_pair)KS("msg", r->message));
    if (r->severity != 'E')
        json_add_pair(b, &(struct log_pair)KI("v", r->level));
    for (const struct log_pair *p = r->pairs; p->key; p++)
        json_add_pair(b, p);
    if (r->error)
        json_add_pair(b, &(struct log_pair)KS("err", r->error));
    STRBUF_ADD_LIT(b, "}\n");
}

/* ---- Settings ---- */

struct module_level {
    char *pattern;
    int32_t level;
};

typedef VEC(struct module_level) module_levels;

static void write_to_stderr(void *context, struct str record)
{
    (void)context;
    while (record.n) {
        ssize_t n = write(STDERR_FILENO, record.p, record.n);
        if (n < 0 && errno != EINTR)
            return; /* nowhere left to complain */
        record = str_from(record, n > 0 ? (size_t)n : 0);
    }
}

_Atomic int32_t log_threshold;

static _Atomic int32_t verbosity;

static struct {
    pthread_mutex_t lock; /* guards the rest, and the sink while it writes */
    bool json;
    module_levels modules;
    log_sink sink;
    void *sink_context;
    const struct clock *clock;
} settings = { .lock = PTHREAD_MUTEX_INITIALIZER, .sink = write_to_stderr, .clock = &clock_real };

/* Locked. */
static void set_threshold(void)
{
    int32_t most = atomic_load(&verbosity);
    for (size_t i = 0; i < settings.modules.n; i++)
        if (settings.modules.at[i].level > most)
            most = settings.modules.at[i].level;
    atomic_store(&log_threshold, most);
}

enum err_code log_set_format(struct str name, struct err *e)
{
    bool json = str_is(name, "json");
    if (!json && !str_is(name, "text") && name.n != 0)
        return err_set(e, ERR_INVALID, "format: Invalid value: \"%.*s\": Unsupported log format",
                       STR_ARG(name));
    pthread_mutex_lock(&settings.lock);
    settings.json = json;
    pthread_mutex_unlock(&settings.lock);
    return ERR_OK;
}

/* The texts are those of Go's strconv, which users of the flags know. */
static enum err_code parse_level(struct str number, int32_t *ret_level, struct err *e)
{
    int64_t level = 0;
    bool digits = number.n > 0;
    for (size_t i = 0; i < number.n && digits; i++) {
        digits = number.p[i] >= '0' && number.p[i] <= '9';
        if (digits && level <= INT32_MAX)
            level = level * 10 + (number.p[i] - '0');
    }
    if (!digits || level > INT32_MAX)
        return err_set(e, ERR_INVALID, "strconv.ParseUint: parsing \"%.*s\": %s", STR_ARG(number),
                       digits ? "value out of range" : "invalid syntax");
    *ret_level = (int32_t)level;
    return ERR_OK;
}

void log_set_level_number(int32_t level)
{
    pthread_mutex_lock(&settings.lock);
    atomic_store(&verbosity, level);
    set_threshold();
    pthread_mutex_unlock(&settings.lock);
}

enum err_code log_set_level(struct str number, struct err *e)
{
    int32_t level;
    enum err_code rc = parse_level(number, &level, e);
    if (!rc)
        log_set_level_number(level);
    return rc;
}

int32_t log_level(void)
{
    return atomic_load(&verbosity);
}

static void free_modules(module_levels *modules)
{
    for (size_t i = 0; i < modules->n; i++)
        free(modules->at[i].pattern);
    vec_fini(modules);
}

static enum err_code add_module(module_levels *modules, struct str entry, struct err *e)
{
    struct str pattern = str_first(entry, str_index(entry, '='));
    struct str number = str_from(entry, pattern.n + 1);
    int32_t level;
    if (pattern.n == 0 || number.n == 0 || str_index(number, '=') < number.n)
        return err_set(e, ERR_INVALID, "\"%.*s\" does not have the pattern=N format", STR_ARG(entry));
    if (parse_level(number, &level, e))
        return err_wrap(e, "parsing verbosity in \"%.*s\"", STR_ARG(entry));
    if (level == 0)
        return ERR_OK; /* as klog: such an entry does not even hide later ones */
    if (modules->n == LOG_VMODULE_MAX)
        return err_set(e, ERR_INVALID, "more than %d patterns", LOG_VMODULE_MAX);
    char *copy = mem_alloc(pattern.n + 1);
    memcpy(copy, pattern.p, pattern.n);
    copy[pattern.n] = '\0';
    vec_push(modules, (struct module_level){ copy, level });
    return ERR_OK;
}

enum err_code log_set_vmodule(struct str list, struct err *e)
{
    module_levels modules = { 0 };
    enum err_code rc = ERR_OK;
    while (list.n && !rc) {
        struct str entry = str_first(list, str_index(list, ','));
        list = str_from(list, entry.n + 1);
        if (entry.n)
            rc = add_module(&modules, entry, e);
    }
    if (!rc) {
        pthread_mutex_lock(&settings.lock);
        module_levels old = settings.modules;
        settings.modules = modules;
        modules = old;
        set_threshold();
        pthread_mutex_unlock(&settings.lock);
    }
    free_modules(&modules);
    return rc;
}

void log_set_sink(log_sink sink, void *context)
{
    pthread_mutex_lock(&settings.lock);
    settings.sink = sink ? sink : write_to_stderr;
    settings.sink_context = context;
    pthread_mutex_unlock(&settings.lock);
}

void log_set_clock(const struct clock *clock)
{
    pthread_mutex_lock(&settings.lock);
    settings.clock = clock ? clock : &clock_real;
    pthread_mutex_unlock(&settings.lock);
}

/* ---- Writing ---- */

/* The name without directory and ".c", cut to what any pattern is about. */
static void module_name(const char *file, char to[static 64])
{
    struct str name = path_end(file, 1);
    if (str_ends(name, STR(".c")))
        name.n -= 2;
    name = str_first(name, 63);
    memcpy(to, name.p, name.n);
    to[name.n] = '\0';
}

bool log_enabled(int32_t level, const char *file)
{
    if (level <= atomic_load_explicit(&verbosity, memory_order_relaxed))
        return true;
    char name[64];
    module_name(file, name);
    bool enabled = false;
    pthread_mutex_lock(&settings.lock);
    for (size_t i = 0; i < settings.modules.n; i++)
        if (fnmatch(settings.modules.at[i].pattern, name, 0) == 0) {
            enabled = level <= settings.modules.at[i].level;
            break;
        }
    pthread_mutex_unlock(&settings.lock);
    return enabled;
}

static void write_record(struct record r)
{
    int saved = errno;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    pthread_mutex_lock(&settings.lock);
    r.wall_ns = clock_wall_ns(settings.clock);
    bool json = settings.json;
    pthread_mutex_unlock(&settings.lock);
    (json ? json_add_record : text_add_record)(&b, &r);
    pthread_mutex_lock(&settings.lock);
    settings.sink(settings.sink_context, strbuf_str(&b));
    pthread_mutex_unlock(&settings.lock);
    strbuf_fini(&b);
    errno = saved;
}

void log_info(struct log_site site, int32_t level, const char *message, const struct log_pair *pairs)
{
    write_record((struct record){ .site = site, .severity = 'I', .level = level, .message = message, .pairs = pairs });
}

void log_error(struct log_site site, const char *error, const char *message, const struct log_pair *pairs)
{
    write_record((struct record){
        .site = site, .severity = 'E', .error = error, .message = message, .pairs = pairs });
}

void log_plain(struct log_site site, char severity, int32_t level, const char *text)
{
    write_record((struct record){ .site = site, .severity = severity, .plain = true, .level = level, .message = text,
                                  .pairs = LOG_PAIRS() });
}
