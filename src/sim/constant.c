/* sim/constant.c - see constant.h. */
#include "sim/constant.h"

#include <assert.h>

#include "codec/json.h"

struct value constant_value(struct arena *a, const char *type_name, const char *json)
{
    const struct type *t = schema_type(str_of(type_name));
    assert(t);
    struct err e;
    err_init(&e, a);
    struct value v;
    enum err_code code = json_decode(a, WORK_OWN, t, str_of(json), NULL, &v, &e);
    assert(code == ERR_OK);
    (void)code;
    return v;
}
