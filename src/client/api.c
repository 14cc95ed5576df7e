/* client/api.c - what an answer says; see api.h. */
#include "client/api.h"

#include "api/schema_slots.h"

/* The Status in an answer that is not a success; absent when there is none. */
static struct value read_status(struct arena *a, const struct api_answer *answer)
{
    struct object object;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("Status") };
    struct err e;
    err_init(&e, a);
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    if (answer->status == 0 || object_read(a, &work, answer->media, answer->body, endpoint, NULL, &object, &seen, &e) ||
        !str_is(object.type->kind, "Status"))
        return (struct value){ 0 };
    return object.value;
}

const char *api_problem(struct arena *a, const struct api_answer *answer)
{
    if (answer->status == 0)
        return answer->error;
    struct value status = read_status(a, answer);
    struct str message = value_text(value_slot(&status, SLOT_meta_v1_Status_message));
    if (message.n)
        return arena_cstr(a, message);
    return arena_printf(a, "the server answered with status %d", answer->status);
}

struct str api_status_reason(struct arena *a, const struct api_answer *answer)
{
    struct value status = read_status(a, answer);
    return value_text(value_slot(&status, SLOT_meta_v1_Status_reason));
}

void api_add_escaped(struct strbuf *to, struct str value)
{
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-_.~", c);
        if (plain && c)
            strbuf_add_char(to, (char)c);
        else
            strbuf_printf(to, "%%%02X", c);
    }
}
