/* codec/json_indent.c - compact JSON made readable; see json.h. */
#include "codec/json.h"

static void new_line(struct strbuf *to, int depth)
{
    strbuf_add_char(to, '\n');
    for (int i = 0; i < depth; i++)
        STRBUF_ADD_LIT(to, "  ");
}

/* Members and items on lines of their own, what is empty stays together. */
void json_indent(struct strbuf *to, struct str json)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i], last = i ? json.p[i - 1] : 0, next = i + 1 < json.n ? json.p[i + 1] : 0;
        if (in_string) {
            strbuf_add_char(to, c);
            if (c == '\\')
                strbuf_add_char(to, json.p[++i]);
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        bool closes = c == '}' || c == ']', opens = c == '{' || c == '[';
        if (closes && last != (c == '}' ? '{' : '['))
            new_line(to, --depth);
        strbuf_add_char(to, c);
        if (opens && next != (c == '{' ? '}' : ']'))
            new_line(to, ++depth);
        else if (c == ',')
            new_line(to, depth);
        else if (c == ':')
            strbuf_add_char(to, ' ');
    }
}
