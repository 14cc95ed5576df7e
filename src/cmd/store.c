/* cmd/store.c - `berth store`: checks, copies and compacts the files of the API server's store. */
#include <inttypes.h>
#include <string.h>

#include "cmd/options.h"
#include "codec/json.h"
#include "store/lmdb.h"
#include "store/lmdb_files.h"
#include "store/store.h"

static const char help[] =
    "usage: berth store verify DIR [-o text|json]\n"
    "       berth store backup DIR FILE [-o text|json]\n"
    "       berth store restore FILE DIR [-o text|json]\n"
    "       berth store compact DIR [-o text|json]\n\n"
    "Looks after the folder in which an API server keeps its objects.\n\n"
    "  verify       reads every record and compares its checksum; the store may be in use\n"
    "  backup       writes a consistent copy to a new file, and checks it; the store may be in use\n"
    "  restore      makes a store of a backup, which is checked first; the folder must have none\n"
    "  compact      forgets all history and gives unused room back to the disk; the store must not be in use. Clients that\n"
    "               watch from an older revision begin again\n"
    "  -o text      for people (default)\n"
    "  -o json      for programs: one object with folder, records, deletions, recordBytes, fileBytes, revision, compacted,\n"
    "               uncleanEnd; of compact also fileBytesBefore\n\n"
    "Nothing that exists is overwritten, but for compact, where the new file takes the place of the old one as a whole.\n\n"
    "exit code: 0 done, 1 the store is damaged, in use or cannot be read (the message says which), 2 wrong usage\n\n"
    "examples:\n"
    "  berth store verify /var/lib/berth/store\n"
    "  berth store backup /var/lib/berth/store /backup/berth.1\n"
    "  berth store restore /backup/berth.1 /var/lib/berth/store -o json\n";

enum { WORDS_MAX = 3 };

struct storing {
    const struct command *c;
    const char *words[WORDS_MAX]; /* what to do, then its names */
    int n_words;
    bool json;
    struct arena arena;
    struct err e;
    const char *folder; /* that the facts are of */
    struct lmdb_facts facts;
    uint64_t file_bytes_before; /* 0: nothing was made smaller */
};

/* ---- What is printed ---- */

static bool ended_uncleanly(const struct lmdb_facts *f)
{
    return f->state.ceiling > f->state.revision;
}

static void add_json(struct strbuf *to, const struct storing *x)
{
    const struct lmdb_facts *f = &x->facts;
    STRBUF_ADD_LIT(to, "{\"folder\":");
    json_add_string(to, str_of(x->folder));
    strbuf_printf(to, ",\"records\":%" PRIu64 ",\"deletions\":%" PRIu64 ",\"recordBytes\":%" PRIu64 ",\"fileBytes\":%" PRIu64
                      ",\"revision\":%" PRIu64 ",\"compacted\":%" PRIu64 ",\"uncleanEnd\":%s",
                  f->n_records, f->n_deletions, f->record_bytes, f->file_bytes, f->state.revision, f->state.compacted,
                  ended_uncleanly(f) ? "true" : "false");
    if (x->file_bytes_before)
        strbuf_printf(to, ",\"fileBytesBefore\":%" PRIu64, x->file_bytes_before);
    STRBUF_ADD_LIT(to, "}\n");
}

static void add_text(struct strbuf *to, const struct storing *x)
{
    const struct lmdb_facts *f = &x->facts;
    strbuf_printf(to, "%s: %" PRIu64 " records are in order, %" PRIu64 " of them deletions; ", x->folder, f->n_records,
                  f->n_deletions);
    strbuf_printf(to, "%" PRIu64 " bytes in a file of %" PRIu64 "\n", f->record_bytes, f->file_bytes);
    strbuf_printf(to, "  revision %" PRIu64 ", history from %" PRIu64 " on\n", f->state.revision, f->state.compacted);
    if (ended_uncleanly(f))
        STRBUF_ADD_LIT(to, "  in use, or it was not closed; some revisions may be skipped at the next start\n");
    if (x->file_bytes_before)
        strbuf_printf(to, "  the file had %" PRIu64 " bytes before\n", x->file_bytes_before);
}

static int print_facts(const struct storing *x)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    (x->json ? add_json : add_text)(&text, x);
    int code = cmd_print(x->c, x->json ? CMD_JSON : CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

/* ---- What is done ---- */

static enum err_code verify(struct storing *x)
{
    x->folder = x->words[1];
    return lmdb_verify(x->folder, &x->facts, &x->e);
}

static enum err_code backup(struct storing *x)
{
    x->folder = x->words[1];
    return lmdb_backup(x->folder, x->words[2], &x->facts, &x->e);
}

static enum err_code restore(struct storing *x)
{
    x->folder = x->words[2];
    return lmdb_restore(x->words[1], x->folder, &x->facts, &x->e);
}

/* The store knows what is current. */
static enum err_code forget_history(struct storing *x)
{
    struct store_options o = { 0 };
    struct store *s;
    if (lmdb_open(&(struct lmdb_options){ .folder = x->folder }, &o.own_engine, &x->e) || store_new(&o, &s, &x->e))
        return x->e.code;
    store_compact(s, store_revision(s));
    store_free(s);
    return ERR_OK;
}

static enum err_code compact(struct storing *x)
{
    x->folder = x->words[1];
    if (lmdb_verify(x->folder, &x->facts, &x->e)) /* also: it makes no store where there is none */
        return x->e.code;
    x->file_bytes_before = x->facts.file_bytes;
    if (forget_history(x) || lmdb_shrink(x->folder, &x->e))
        return x->e.code;
    return lmdb_verify(x->folder, &x->facts, &x->e);
}

static const struct {
    const char *name;
    int n_words;
    const char *names; /* for a message */
    enum err_code (*run)(struct storing *x);
} actions[] = {
    { "verify", 2, "a folder", verify },
    { "backup", 3, "a folder and a file", backup },
    { "restore", 3, "a file and a folder", restore },
    { "compact", 2, "a folder", compact },
};

static int act(struct storing *x)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (x->n_words == 0 || strcmp(x->words[0], actions[i].name) != 0)
            continue;
        if (x->n_words != actions[i].n_words)
            return cmd_fail(x->c, EXIT_USAGE, "%s takes %s", actions[i].name, actions[i].names);
        if (actions[i].run(x))
            return cmd_fail(x->c, 1, "%s", x->e.message);
        return print_facts(x);
    }
    return cmd_fail(x->c, EXIT_USAGE, "what to do is verify, backup, restore or compact%s%s%s", x->n_words ? ", not \"" : "",
                    x->n_words ? x->words[0] : "", x->n_words ? "\"" : "");
}

/* ---- Options ---- */

static int take_output(void *context, const char *value)
{
    struct storing *x = context;
    x->json = strcmp(value, "json") == 0;
    if (!x->json && strcmp(value, "text") != 0)
        return cmd_fail(x->c, EXIT_USAGE, "-o is text or json, not \"%s\"", value);
    return 0;
}

static int take_word(void *context, char *text)
{
    struct storing *x = context;
    if (x->n_words == WORDS_MAX)
        return cmd_fail(x->c, EXIT_USAGE, "\"%s\" is one name too many", text);
    x->words[x->n_words++] = text;
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){ { "-o", CMD_VALUE, take_output, NULL }, { 0 } },
    .argument = take_word,
};

static int run(const struct command *c, int argc, char **argv)
{
    struct storing x = { .c = c };
    int code = cmd_options_parse(c, &options, &x, argc, argv);
    if (code)
        return code;
    arena_init(&x.arena);
    err_init(&x.e, &x.arena);
    code = act(&x);
    arena_fini(&x.arena);
    return code;
}

const struct command store_command = {
    .name = "store",
    .summary = "check, back up, restore and compact a store",
    .help = help,
    .run = run,
};
