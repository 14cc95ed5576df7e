/* cmd/output.c - see output.h. */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/table.h"
#include "cmd/cmd.h"

enum {
    PIECE_BYTES = 1 << 20,
    COLUMNS_OTHERWISE = 80, /* of a terminal that does not say */
    COLUMNS_MAX = 10000,
};

static bool write_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR)
            return false;
        bytes = str_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return true;
}

/* Up to PIECE_BYTES, or one line: what is printed may be large, and the copy of it need not be. */
static struct str first_piece(struct str text)
{
    struct str piece = str_first(text, PIECE_BYTES);
    const char *end = piece.n < text.n ? memrchr(piece.p, '\n', piece.n) : NULL;
    if (end)
        return str_range(text.p, end + 1);
    return piece.n < text.n ? str_first(text, str_index(text, '\n') + 1) : text;
}

int cmd_print(const struct command *c, enum cmd_form form, struct str text)
{
    struct strbuf shown;
    strbuf_init(&shown, STRBUF_NO_MAX);
    bool done = true;
    int why = 0;
    while (text.n && done) {
        struct str piece = first_piece(text);
        strbuf_reset(&shown);
        (form == CMD_JSON ? printable_add_json : printable_add_lines)(&shown, piece);
        done = write_all(STDOUT_FILENO, strbuf_str(&shown));
        why = errno;
        text = str_from(text, piece.n);
    }
    strbuf_fini(&shown);
    return done ? 0 : cmd_fail(c, 1, "cannot write to standard output: %s", strerror(why));
}

int cmd_print_folded(const struct command *c, struct str text, unsigned width)
{
    struct strbuf folded;
    strbuf_init(&folded, STRBUF_NO_MAX);
    table_fold(&folded, text, width);
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&folded));
    strbuf_fini(&folded);
    return code;
}

void cmd_write_error(struct str text)
{
    bool done = write_all(STDERR_FILENO, text);
    (void)done; /* nowhere left to complain */
}

static void say(const struct command *c, const char *hint, const char *format, va_list args)
{
    struct arena a;
    struct strbuf line;
    arena_init(&a);
    strbuf_init(&line, STRBUF_NO_MAX);
    strbuf_printf(&line, c ? "berth %s: " : "berth%s: ", c ? c->name : "");
    printable_add(&line, str_of(arena_vprintf(&a, format, args)));
    strbuf_printf(&line, "\n%s", hint);
    cmd_write_error(strbuf_str(&line));
    strbuf_fini(&line);
    arena_fini(&a);
}

void cmd_say(const struct command *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(c, "", format, args);
    va_end(args);
}

int cmd_fail(const struct command *c, int code, const char *format, ...)
{
    char hint[64] = "";
    if (c && code == EXIT_USAGE)
        strcat(strcat(strcpy(hint, "See 'berth "), c->name), " --help'.\n");
    va_list args;
    va_start(args, format);
    say(c, hint, format, args);
    va_end(args);
    return code;
}

unsigned cmd_columns(void)
{
    const char *given = getenv("COLUMNS");
    uint64_t n;
    if (given && cmd_parse_number(given, COLUMNS_MAX, &n) && n)
        return (unsigned)n;
    if (!isatty(STDOUT_FILENO))
        return 0;
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS_OTHERWISE;
}

bool cmd_has_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

void cmd_open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            /* Open for the wrong direction, so that its use is an error as before. */
            int got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            (void)got; /* the lowest one that is free: it is `fd` */
        }
}
