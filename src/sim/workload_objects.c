/* sim/workload_objects.c - the objects of workload.h's workloads, as JSON. */
#include "sim/workload.h"

#define REQUESTS(cpu) "\"resources\":{\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"500Mi\"}}"
#define CONTAINER(cpu)                                                                                                 \
    "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10.2\"," REQUESTS(cpu) "}]"
#define SELECT(color) "\"labelSelector\":{\"matchLabels\":{\"color\":\"" color "\"}}"
#define TERM(color, key) "{" SELECT(color) ",\"topologyKey\":\"" key "\",\"namespaces\":[\"sched-1\",\"sched-0\"]}"
#define NS_TERM(color, key) \
    "{" SELECT(color) ",\"topologyKey\":\"" key "\",\"namespaceSelector\":{\"matchLabels\":{\"team\":\"devops\"}}}"
#define REQUIRED(kind, term)                                                                                           \
    "\"affinity\":{\"" kind "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" term "]}},"
#define PREFERRED(kind, term)                                                              \
    "\"affinity\":{\"" kind "\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"   \
    "\"podAffinityTerm\":" term "}]}},"
#define SPREAD(action)                                                                     \
    "\"topologySpreadConstraints\":[{\"maxSkew\":5,\"topologyKey\":\"topology.kubernetes.io/zone\","    \
    "\"whenUnsatisfiable\":\"" action "\"," SELECT("blue") "}],"
#define HOSTNAME "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"

/* Templates of pods: name, labels, the beginning of the spec. */
static const struct template {
    const char *name, *labels, *spec;
} templates[] = {
    { "default", "", CONTAINER("100m") },
    { "anti-affinity", "\"color\":\"green\"", REQUIRED("podAntiAffinity", TERM("green", HOSTNAME)) CONTAINER("100m") },
    { "affinity", "\"color\":\"blue\"", REQUIRED("podAffinity", TERM("blue", ZONE)) CONTAINER("100m") },
    { "preferred-affinity", "\"color\":\"red\"", PREFERRED("podAffinity", TERM("red", HOSTNAME)) CONTAINER("100m") },
    { "preferred-anti-affinity", "\"color\":\"yellow\"",
      PREFERRED("podAntiAffinity", TERM("yellow", HOSTNAME)) CONTAINER("100m") },
    { "node-affinity", "",
      "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
      "{\"matchExpressions\":[{\"key\":\"" ZONE "\",\"operator\":\"In\",\"values\":[\"zone1\",\"zone2\"]}]}]}}},"
      CONTAINER("100m") },
    { "spread", "\"color\":\"blue\"", SPREAD("DoNotSchedule") CONTAINER("100m") },
    { "preferred-spread", "\"color\":\"blue\"", SPREAD("ScheduleAnyway") CONTAINER("100m") },
    { "low-priority", "", CONTAINER("900m") },
    { "high-priority", "", "\"priority\":10," CONTAINER("3000m") },
    { "large", "", "\"priority\":10," CONTAINER("9") },
    { "label", "\"app\":\"scheduler-perf\"",
      "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10.1\"}]" },
    { "ns-anti-affinity", "\"color\":\"green\"",
      REQUIRED("podAntiAffinity", NS_TERM("green", HOSTNAME)) CONTAINER("100m") },
    { "ns-affinity", "\"color\":\"blue\"", REQUIRED("podAffinity", NS_TERM("blue", ZONE)) CONTAINER("100m") },
    { "ns-preferred-affinity", "\"color\":\"red\"",
      PREFERRED("podAffinity", NS_TERM("red", HOSTNAME)) CONTAINER("100m") },
    { "ns-preferred-anti-affinity", "\"color\":\"green\"",
      PREFERRED("podAntiAffinity", NS_TERM("green", HOSTNAME)) CONTAINER("100m") },
    { "all-different", "", NULL },
};

static const struct template *find_template(const char *name)
{
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
        if (strcmp(templates[i].name, name) == 0)
            return &templates[i];
    return NULL;
}

/* Every pod another shape: requests, a label, and a preference of its own. */
static void add_different(struct strbuf *to, uint32_t i)
{
    strbuf_printf(
        to,
        "\"tolerations\":[{\"key\":\"team-%u\",\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"c\",\"image\":"
        "\"registry.example.com/app-%u:1\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"}}}]",
        i, i, 50 + i % 97, 100 + i);
}

void workload_add_node(struct strbuf *to, const struct workload *w, uint32_t i)
{
    strbuf_printf(to, "{\"metadata\":{\"name\":\"node-%u\",\"labels\":{\"" HOSTNAME "\":\"node-%u\"", i, i);
    uint32_t n_zones = 0;
    while (w->zones && w->zones[n_zones])
        n_zones++;
    if (n_zones)
        strbuf_printf(to, ",\"" ZONE "\":\"%s\"", w->zones[i % n_zones]);
    STRBUF_ADD_LIT(to, "}},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"110\"}}}");
}

void workload_add_pod(struct strbuf *to, const struct workload_pod *p)
{
    const struct template *t = find_template(p->template_name);
    strbuf_printf(to,
                  "{\"metadata\":{\"name\":\"%s-%u\",\"namespace\":\"%s\",\"uid\":\"%s-%s-%u\",\"resourceVersion\":"
                  "\"1\",\"labels\":{%s",
                  p->kind, p->i, p->ns, p->ns, p->kind, p->i, t->labels);
    if (!t->spec)
        strbuf_printf(to, "\"app\":\"app-%u\"", p->i);
    STRBUF_ADD_LIT(to, "}},\"spec\":{\"schedulerName\":\"default-scheduler\",");
    if (t->spec)
        strbuf_add_text(to, t->spec);
    else
        add_different(to, p->i);
    STRBUF_ADD_LIT(to, "}}");
}

void workload_add_namespace(struct strbuf *to, const struct workload *w, const char *name)
{
    strbuf_printf(to, "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}}", name,
                  w->namespaces_have_labels ? "\"team\":\"devops\"" : "");
}

void workload_add_service(struct strbuf *to, const char *ns)
{
    strbuf_printf(to, "{\"metadata\":{\"name\":\"s\",\"namespace\":\"%s\"},\"spec\":{\"selector\":{\"app\":"
                      "\"scheduler-perf\"},\"ports\":[{\"port\":80}]}}", ns);
}

const char *const *workload_init_templates(const struct workload *w, const char *room[2])
{
    static const char *const mixed[] = { "default", "affinity", "anti-affinity", "preferred-affinity",
                                         "preferred-anti-affinity", NULL };
    room[0] = w->init;
    room[1] = NULL;
    return w->mixed_init ? mixed : room;
}
