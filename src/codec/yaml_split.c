/* codec/yaml_split.c - see yaml.h: the documents of a stream.
 *
 * As YAMLOrJSONDecoder in k8s.io/apimachinery: a stream that begins with "{" is read as JSON as long as that
 * goes well, or to its end once it has gone well twice; the rest is YAML. A line with "---" at its beginning
 * ends the document before it and belongs to the one behind it. */
#include "codec/json_scan.h"
#include "codec/yaml.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

void yaml_stream_init(struct yaml_stream *s, struct str text)
{
    *s = (struct yaml_stream){ .text = text, .json = str_starts(trim(text), STR("{")) };
}

/* ---- YAML ---- */

/* The line at `at` with its end. */
static struct str line_at(struct str text, size_t at)
{
    struct str rest = str_from(text, at);
    size_t n = str_index(rest, '\n');
    return str_first(rest, n < rest.n ? n + 1 : n);
}

static bool is_separator(struct str line)
{
    return str_starts(line, STR("---"));
}

static enum err_code check_separator(struct str line, struct err *e)
{
    struct str behind = trim(str_from(line, 3));
    if (behind.n && behind.p[0] != '#')
        return err_set(e, ERR_BAD_REQUEST, "invalid Yaml document separator: %.*s", STR_ARG(behind));
    return ERR_OK;
}

static bool has_content(struct str line)
{
    struct str text = trim(line);
    return text.n && text.p[0] != '#' && !is_separator(line);
}

/* From the stream's place up to a separator behind some line, or to the end. */
static enum err_code next_yaml(struct yaml_stream *s, struct str *ret_document, struct err *e)
{
    size_t start = s->at;
    bool content = false;
    while (s->at < s->text.n) {
        struct str line = line_at(s->text, s->at);
        if (is_separator(line)) {
            if (check_separator(line, e))
                return e->code;
            if (content)
                break;
            start = s->at; /* what was before it is no document */
        }
        content |= has_content(line);
        s->at += line.n;
    }
    struct str document = { s->text.p + start, s->at - start };
    *ret_document = content ? document : (struct str){ 0 };
    return ERR_OK;
}

/* ---- JSON ---- */

/* White space up to the end of the line, which would confuse YAML. */
static void skip_line_end(struct yaml_stream *s)
{
    while (s->at < s->text.n && is_space(s->text.p[s->at]))
        if (s->text.p[s->at++] == '\n')
            return;
}

/* False when the rest is to be read as YAML. */
static bool next_json(struct yaml_stream *s, struct str *ret_value)
{
    struct json_scan scan = json_scan_init(str_from(s->text, s->at));
    *ret_value = (struct str){ 0 };
    if (json_at_end(&scan)) {
        s->at = s->text.n;
        return true;
    }
    if (!json_scan_value(&scan, ret_value))
        return false;
    s->at = (size_t)(scan.at - s->text.p);
    s->n_json++;
    return true;
}

enum err_code yaml_next_document(struct yaml_stream *s, struct str *ret_document, struct err *e)
{
    struct str value;
    while (s->json) {
        if (next_json(s, &value)) {
            if (str_is(value, "null"))
                continue;
            *ret_document = value;
            return ERR_OK;
        }
        *ret_document = (struct str){ 0 };
        if (s->n_json > 1)
            return json_check(str_from(s->text, s->at), e);
        s->json = false;
        skip_line_end(s);
    }
    return next_yaml(s, ret_document, e);
}
