/* patch/go_print.c - plain values in the words of Go, for the messages that quote them. */
#include "base/float.h"
#include "patch/patch_priv.h"

const char *go_kind(const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
        return "bool";
    case VALUE_INT:
        return "int64";
    case VALUE_DOUBLE:
        return "float64";
    case VALUE_STRING:
        return "string";
    case VALUE_LIST:
        return "slice";
    case VALUE_MAP:
        return "map";
    default:
        return "<nil>";
    }
}

static void print_map(struct strbuf *to, const struct value *v, char verb)
{
    STRBUF_ADD_LIT(to, "map[");
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ' ');
        strbuf_add_str(to, v->members[i].key);
        strbuf_add_char(to, ':');
        go_print(to, &v->members[i].value, verb);
    }
    strbuf_add_char(to, ']');
}

static void print_list(struct strbuf *to, const struct value *v, char verb)
{
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            strbuf_add_char(to, ' ');
        go_print(to, &v->items[i], verb);
    }
    strbuf_add_char(to, ']');
}

static void print_scalar(struct strbuf *to, const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
        strbuf_add_text(to, v->b ? "true" : "false");
        return;
    case VALUE_INT:
        strbuf_add_int(to, v->i);
        return;
    case VALUE_DOUBLE:
        float_add_g(to, v->d);
        return;
    default:
        STRBUF_ADD_LIT(to, "<nil>");
        return;
    }
}

void go_print(struct strbuf *to, const struct value *v, char verb)
{
    bool null = v->kind == VALUE_NULL;
    if (v->kind == VALUE_MAP) {
        print_map(to, v, verb);
    } else if (v->kind == VALUE_LIST) {
        print_list(to, v, verb);
    } else if (v->kind == VALUE_STRING) {
        strbuf_add_str(to, value_text(v));
    } else if (verb == 's') { /* not a string: Go says so in its own way */
        STRBUF_ADD_LIT(to, "%!s(");
        if (!null)
            strbuf_printf(to, "%s=", go_kind(v));
        print_scalar(to, v);
        strbuf_add_char(to, ')');
    } else {
        print_scalar(to, v);
    }
}

void go_print_shown(struct strbuf *to, const struct value *v, char verb)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    go_print(&b, v, verb);
    strbuf_add_shown(to, strbuf_str(&b));
    strbuf_fini(&b);
}
