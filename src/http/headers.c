/* http/headers.c - see headers.h. */
#include "http/headers.h"

#include <assert.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"

/* tchar of RFC 9110 5.6.2 */
static bool is_token_char(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool header_name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_token_char((unsigned char)name.p[i]))
            return false;
    return name.n > 0;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

bool header_value_is_valid(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (is_control((unsigned char)value.p[i]))
            return false;
    return value.n == 0 || (!is_space(value.p[0]) && !is_space(value.p[value.n - 1]));
}

void headers_add_borrowed(struct headers *h, struct arena *a, struct str name, struct str value)
{
    if (h->n == h->cap) {
        uint32_t cap = h->cap ? 2 * h->cap : 16;
        struct header *at = ARENA_NEW_N(a, struct header, cap);
        if (h->n)
            memcpy(at, h->at, h->n * sizeof(h->at[0]));
        h->at = at;
        h->cap = cap;
    }
    h->at[h->n++] = (struct header){ name, value };
}

void headers_add(struct headers *h, struct arena *a, struct str name, struct str value)
{
    assert(header_name_is_valid(name));
    char *lower = arena_cstr(a, name), *clean = arena_cstr(a, value);
    for (size_t i = 0; i < name.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] | 0x20);
    for (size_t i = 0; i < value.n; i++)
        if (is_control((unsigned char)clean[i]))
            clean[i] = ' ';
    struct str trimmed = { clean, value.n };
    while (trimmed.n && is_space(trimmed.p[0]))
        trimmed = str_from(trimmed, 1);
    while (trimmed.n && is_space(trimmed.p[trimmed.n - 1]))
        trimmed.n--;
    headers_add_borrowed(h, a, (struct str){ lower, name.n }, trimmed);
}

struct str headers_get(const struct headers *h, const char *name)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (str_is(h->at[i].name, name))
            return h->at[i].value;
    return (struct str){ 0 };
}

uint32_t headers_count(const struct headers *h, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        n += str_is(h->at[i].name, name);
    return n;
}

bool str_is_nocase(struct str a, const char *text)
{
    return a.n == strlen(text) && strncasecmp(a.p, text, a.n) == 0;
}

static bool list_has_word(struct str list, const char *word)
{
    while (list.n) {
        struct str item = str_first(list, str_index(list, ','));
        list = str_from(list, item.n + 1);
        while (item.n && is_space(item.p[0]))
            item = str_from(item, 1);
        while (item.n && is_space(item.p[item.n - 1]))
            item.n--;
        if (str_is_nocase(item, word))
            return true;
    }
    return false;
}

bool headers_has_word(const struct headers *h, const char *name, const char *word)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (str_is(h->at[i].name, name) && list_has_word(h->at[i].value, word))
            return true;
    return false;
}

void headers_copy(struct headers *to, struct arena *a, const struct headers *from)
{
    *to = (struct headers){ 0 };
    for (uint32_t i = 0; i < from->n; i++)
        headers_add(to, a, from->at[i].name, from->at[i].value);
}

void head_copy(struct head *to, struct arena *a, const struct head *from)
{
    struct head copy = *from;
    copy.method = arena_str(a, from->method);
    copy.scheme = arena_str(a, from->scheme);
    copy.authority = arena_str(a, from->authority);
    copy.target = arena_str(a, from->target);
    headers_copy(&copy.headers, a, &from->headers);
    *to = copy;
}

bool header_is_hop_by_hop(struct str name)
{
    static const char *const names[] = { "connection", "keep-alive", "proxy-connection", "transfer-encoding",
                                         "upgrade" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

bool status_has_no_body(uint16_t status)
{
    return status < 200 || status == 204 || status == 304;
}

const char *status_text(uint16_t status)
{
    static const struct {
        uint16_t status;
        const char *text;
    } texts[] = {
        { 100, "Continue" }, { 101, "Switching Protocols" }, { 200, "OK" }, { 201, "Created" }, { 202, "Accepted" },
        { 204, "No Content" }, { 206, "Partial Content" }, { 301, "Moved Permanently" }, { 302, "Found" },
        { 303, "See Other" }, { 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
        { 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
        { 405, "Method Not Allowed" }, { 406, "Not Acceptable" }, { 408, "Request Timeout" }, { 409, "Conflict" },
        { 410, "Gone" }, { 411, "Length Required" }, { 412, "Precondition Failed" },
        { 413, "Request Entity Too Large" }, { 414, "Request URI Too Long" }, { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" }, { 421, "Misdirected Request" }, { 422, "Unprocessable Entity" },
        { 426, "Upgrade Required" }, { 429, "Too Many Requests" }, { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" }, { 501, "Not Implemented" }, { 502, "Bad Gateway" },
        { 503, "Service Unavailable" }, { 504, "Gateway Timeout" }, { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Status";
}

void http_date(int64_t wall_ns, char ret_text[HTTP_DATE_BYTES + 1])
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = wall_ns / CLOCK_NS_PER_SECOND;
    struct tm t;
    gmtime_r(&seconds, &t); /* not strftime: its names follow the locale */
    char room[64]; /* for any year, if the compiler asks */
    snprintf(room, sizeof(room), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * t.tm_wday, t.tm_mday,
             months + 3 * t.tm_mon, (t.tm_year + 1900) % 10000, t.tm_hour, t.tm_min, t.tm_sec);
    memcpy(ret_text, room, HTTP_DATE_BYTES);
    ret_text[HTTP_DATE_BYTES] = 0;
}

struct str number_text(struct arena *a, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    return arena_str(a, (struct str){ digits + at, sizeof(digits) - at });
}

bool parse_length(struct str text, uint64_t *ret_length)
{
    uint64_t n = 0;
    if (text.n == 0 || text.n > 18)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.p[i] - '0');
    }
    *ret_length = n;
    return true;
}
