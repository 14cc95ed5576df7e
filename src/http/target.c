/* http/target.c - see target.h. */
#include "http/target.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct str target_unescape(struct arena *a, struct str text, bool plus)
{
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            int high = i + 2 < text.n ? hex_digit(text.p[i + 1]) : -1, low = high >= 0 ? hex_digit(text.p[i + 2]) : -1;
            if (low < 0)
                return (struct str){ 0 };
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        to[n++] = c;
    }
    to[n] = '\0';
    return (struct str){ to, n };
}

static bool read_pair(struct arena *a, struct str text, struct target_pair *ret_pair)
{
    size_t equals = str_index(text, '=');
    if (text.n == 0 || str_index(text, ';') < text.n)
        return false;
    ret_pair->name = target_unescape(a, str_first(text, equals), true);
    ret_pair->value = target_unescape(a, str_from(text, equals + 1), true);
    return ret_pair->name.p && ret_pair->value.p;
}

static void read_query(struct arena *a, struct str text, struct target *t)
{
    size_t n_max = 1;
    for (size_t i = 0; i < text.n; i++)
        n_max += text.p[i] == '&';
    if (n_max > TARGET_PAIRS_MAX)
        n_max = TARGET_PAIRS_MAX;
    struct target_pair *pairs = ARENA_NEW_N(a, struct target_pair, n_max);
    while (text.n && t->n_query < n_max) {
        size_t end = str_index(text, '&');
        if (read_pair(a, str_first(text, end), &pairs[t->n_query]))
            t->n_query++;
        text = str_from(text, end + 1);
    }
    t->query = pairs;
}

bool target_read(struct arena *a, struct str text, struct target *ret_target)
{
    size_t question = str_index(text, '?');
    *ret_target = (struct target){ 0 };
    if (text.n == 0 || text.p[0] != '/')
        return false;
    ret_target->path = target_unescape(a, str_first(text, question), false);
    read_query(a, str_from(text, question + 1), ret_target);
    return ret_target->path.p != NULL;
}

struct str target_get(const struct target *t, const char *name)
{
    for (size_t i = 0; i < t->n_query; i++)
        if (str_is(t->query[i].name, name))
            return t->query[i].value;
    return (struct str){ 0 };
}
