/* apiserver/fields.c - see fields.h. Upstream: ToSelectableFields and its like in the registries. */
#include "apiserver/fields.h"

#include "base/strbuf.h"

/* A field, where its value is in the stored object, and what it is when nothing is there. */
static const struct row {
    const char *group, *plural, *field, *path, *empty;
} rows[] = {
    { "", "pods", "spec.nodeName", "spec.nodeName", "" },
    { "", "pods", "spec.restartPolicy", "spec.restartPolicy", "" },
    { "", "pods", "spec.schedulerName", "spec.schedulerName", "" },
    { "", "pods", "spec.serviceAccountName", "spec.serviceAccountName", "" },
    { "", "pods", "spec.hostNetwork", "spec.hostNetwork", "false" },
    { "", "pods", "status.phase", "status.phase", "" },
    { "", "pods", "status.podIP", "status.podIP", "" },
    { "", "pods", "status.nominatedNodeName", "status.nominatedNodeName", "" },
    { "", "nodes", "spec.unschedulable", "spec.unschedulable", "false" },
    { "", "namespaces", "status.phase", "status.phase", "" },
    { "", "secrets", "type", "type", "" },
    { "", "services", "spec.clusterIP", "spec.clusterIP", "" },
    { "", "services", "spec.type", "spec.type", "" },
    { "", "replicationcontrollers", "status.replicas", "status.replicas", "0" },
    { "", "events", "involvedObject.kind", "involvedObject.kind", "" },
    { "", "events", "involvedObject.namespace", "involvedObject.namespace", "" },
    { "", "events", "involvedObject.name", "involvedObject.name", "" },
    { "", "events", "involvedObject.uid", "involvedObject.uid", "" },
    { "", "events", "involvedObject.apiVersion", "involvedObject.apiVersion", "" },
    { "", "events", "involvedObject.resourceVersion", "involvedObject.resourceVersion", "" },
    { "", "events", "involvedObject.fieldPath", "involvedObject.fieldPath", "" },
    { "", "events", "reason", "reason", "" },
    { "", "events", "reportingComponent", "reportingComponent", "" },
    { "", "events", "source", "source.component", "" },
    { "", "events", "type", "type", "" },
    { "events.k8s.io", "events", "regarding.kind", "involvedObject.kind", "" },
    { "events.k8s.io", "events", "regarding.namespace", "involvedObject.namespace", "" },
    { "events.k8s.io", "events", "regarding.name", "involvedObject.name", "" },
    { "events.k8s.io", "events", "regarding.uid", "involvedObject.uid", "" },
    { "events.k8s.io", "events", "regarding.apiVersion", "involvedObject.apiVersion", "" },
    { "events.k8s.io", "events", "regarding.resourceVersion", "involvedObject.resourceVersion", "" },
    { "events.k8s.io", "events", "regarding.fieldPath", "involvedObject.fieldPath", "" },
    { "events.k8s.io", "events", "reason", "reason", "" },
    { "events.k8s.io", "events", "reportingController", "reportingComponent", "" },
    { "events.k8s.io", "events", "type", "type", "" },
    { "batch", "jobs", "status.successful", "status.succeeded", "0" },
    { "certificates.k8s.io", "certificatesigningrequests", "spec.signerName", "spec.signerName", "" },
    { "resource.k8s.io", "resourceslices", "spec.nodeName", "spec.nodeName", "" },
    { "resource.k8s.io", "resourceslices", "spec.driver", "spec.driver", "" },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), FIELDS_MAX = 16 };

static struct str text_of(struct arena *a, const struct value *v, const char *empty)
{
    if (v->kind == VALUE_STRING && v->n)
        return value_text(v);
    if (v->kind == VALUE_BOOL)
        return v->b ? STR("true") : STR("false");
    if (v->kind == VALUE_INT)
        return str_of(arena_printf(a, "%lld", (long long)v->i));
    return str_of(empty);
}

/* An event that names no source counts as one of who reports it. */
static struct str field_text(struct arena *a, const struct row *row, const struct type *t, const struct value *v)
{
    struct str text = text_of(a, value_path(t, v, row->path), row->empty);
    if (text.n == 0 && strcmp(row->field, "source") == 0)
        return text_of(a, value_path(t, v, "reportingComponent"), "");
    return text;
}

static struct labels labels_of(struct arena *a, const struct value *map)
{
    if (map->kind != VALUE_MAP || map->n == 0)
        return (struct labels){ NULL, 0 };
    struct label *at = ARENA_NEW_N(a, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, map->n };
}

struct selectable selectable_of(struct arena *a, const struct resource *r, const struct type *t, const struct value *v)
{
    struct label *at = ARENA_NEW_N(a, struct label, FIELDS_MAX);
    size_t n = 0;
    at[n++] = (struct label){ STR("metadata.name"), value_text(value_path(t, v, "metadata.name")) };
    at[n++] = (struct label){ STR("metadata.namespace"), value_text(value_path(t, v, "metadata.namespace")) };
    for (size_t i = 0; i < N_ROWS; i++)
        if (str_is(r->plural, rows[i].plural) && str_is(r->group, rows[i].group))
            at[n++] = (struct label){ str_of(rows[i].field), field_text(a, &rows[i], t, v) };
    n = labels_sort(a, at, n);
    return (struct selectable){ labels_of(a, value_path(t, v, "metadata.labels")), { at, n } };
}

bool selectable_matches(const struct list_options *o, const struct selectable *s)
{
    return selector_matches(&o->labels, s->labels) && field_selector_matches(&o->fields, s->fields);
}

bool selects_all(const struct list_options *o)
{
    return o->labels.n == 0 && field_selector_empty(&o->fields);
}
