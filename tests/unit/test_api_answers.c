/* tests/unit/test_api_answers.c - whole requests and what the real server answers to them: the order of its checks, what it warns
 * of, and where it looks at an object as one of its internal version. */
#include "tests/api_connection.h"
#include "tests/test.h"

#define ITEM "{\"metadata\":{\"name\":\"c\"}}"
#define SCALED "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":" \
               "{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
#define BOUND "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\"," \
              "\"name\":\"r\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"s\",\"namespace\":\"n\"}]}"
#define CORE "/api/v1/namespaces/default"
#define APPS "/apis/apps/v1/namespaces/default"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
#define MERGES "Content-Type: application/merge-patch+json\r\n"
#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"
#define DETAILS "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n"
#define UNNAMED "the name of the object (c based on URL) was undeterminable: name must be provided"
#define JOB_WARNING "child pods are preserved by default when jobs are deleted"
#define ENDPOINTS_WARNING "v1 Endpoints is deprecated"

static const struct row {
    const char *what, *method, *target, *headers, *body;
    const char *has[3], *lacks; /* of the whole answer; the first is its code */
} rows[] = {
    { "a map", "POST", CORE "/configmaps", "", ITEM, { " 201 " }, NULL },
    { "a patch that takes the version away", "PATCH", CORE "/configmaps/c", MERGES, "{\"apiVersion\":null}",
      { " 400 ", UNNAMED, "unknown field \\\"metadata\\\"" }, NULL },
    { "and nobody is warned who does not want to be", "PATCH", CORE "/configmaps/c?fieldValidation=Ignore", MERGES,
      "{\"apiVersion\":\"\"}", { " 400 ", UNNAMED }, "unknown field" },
    { "and it is an error who wants that", "PATCH", CORE "/configmaps/c?fieldValidation=Strict", MERGES,
      "{\"apiVersion\":null}", { " 422 ", "strict decoding error: unknown field \\\"metadata\\\"" }, NULL },
    { "a version of nothing, of another kind", "PATCH", CORE "/configmaps/c", MERGES, "{\"apiVersion\":null,\"kind\":\"Foo\"}",
      { " 422 ", "no kind \\\"Foo\\\" is registered for the internal version of group \\\"\\\"" }, NULL },
    { "a uid of another object", "PUT", CORE "/configmaps/c", "", "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}}",
      { " 409 ", "Key: /registry/configmaps/default/c," }, NULL },
    { "a dry run knows keys without their beginning", "PUT", CORE "/configmaps/c?dryRun=All", "",
      "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}}", { " 409 ", "Key: /configmaps/default/c," }, NULL },
    { "options of an update are looked at before its form", "PUT", CORE "/configmaps/c?dryRun=x", "Content-Type: text/plain\r\n",
      ITEM, { " 422 ", "Unsupported value" }, NULL },
    { "those of a creation after it", "POST", CORE "/configmaps?dryRun=x", "Content-Type: text/plain\r\n", ITEM, { " 415 " }, NULL },
    { "where to go on comes before which version", "GET", CORE "/configmaps?continue=e30&resourceVersion=x", "", "",
      { " 400 ", "continue key is not valid" }, NULL },
    { "a deleted job is warned of even if there is none", "DELETE", "/apis/batch/v1/namespaces/default/jobs/j", "", "",
      { " 404 ", JOB_WARNING }, NULL },
    { "but not who says what is to become of the pods", "DELETE",
      "/apis/batch/v1/namespaces/default/jobs/j?propagationPolicy=Orphan", "", "", { " 404 " }, JOB_WARNING },
    { "endpoints are warned of", "GET", CORE "/endpoints", "", "", { " 200 ", ENDPOINTS_WARNING }, NULL },
    { "but not who wants an answer that there is not", "GET", CORE "/endpoints", "Accept: text/html\r\n", "", { " 406 " },
      ENDPOINTS_WARNING },
    { "nor who sends a patch that is none", "PATCH", CORE "/endpoints/e", "", "{}", { " 415 " }, ENDPOINTS_WARNING },
    { "something with replicas", "POST", APPS "/replicasets", "", SCALED, { " 201 " }, NULL },
    { "a scale without a name", "PUT", APPS "/replicasets/c/scale", "", "{\"spec\":{\"replicas\":1}}", { " 400 ", UNNAMED }, NULL },
    { "a scale that is only tried is one, too", "PUT", APPS "/replicasets/r/scale?dryRun=All", "",
      "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"replicas\":7}}", { " 200 ", "\"kind\":\"Scale\"", "\"replicas\":7" }, NULL },
    { "an eviction of what cannot be read", "POST", CORE "/pods/p/eviction", "",
      "{\"metadata\":{\"name\":\"p\"},\"deleteOptions\":{\"ignoreStoreReadErrorWithClusterBreakingPotential\":true}}",
      { " 422 ", "Eviction.policy \\\"p\\\" is invalid" }, NULL },
    { "a scale as a table", "GET", APPS "/replicasets/r/scale", TABLE, "",
      { " 200 ", "{\"name\":\"Name\",\"type\":\"string\",\"format\":\"\"" }, NULL },
    { "a driver with nothing in it", "POST", "/apis/storage.k8s.io/v1/csidrivers", "", ITEM,
      { " 201 ", "\"attachRequired\":true" }, NULL },
    { "an empty list of a dry run is as a stored one", "POST", CORE "/limitranges?dryRun=All", "",
      "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"limits\":[]}}", { " 201 ", "\"limits\":null" }, NULL },
    { "who is bound", "POST", RBAC "/rolebindings", "", BOUND, { " 201 " }, NULL },
    { "the table says it with the namespace", "GET", RBAC "/rolebindings", TABLE, "", { " 200 ", "\"n/s\"" }, NULL },
    { "a table without rows", "GET", RBAC "/roles", TABLE, "", { " 200 ", "\"rows\":null}\n" }, "\n\n\n" },
    { "the status of a claim for devices", "POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "", ITEM,
      { " 201 " }, NULL },
    { "has no table", "GET", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status",
      "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n", "", { " 200 ", "\"kind\":\"ResourceClaim\"" },
      "columnDefinitions" },
    { "a service", "POST", CORE "/services", "", "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}",
      { " 201 ", "\"internalTrafficPolicy\":\"Cluster\"" }, NULL },
    { "one that becomes a name has no policy", "PATCH", CORE "/services/s", MERGES,
      "{\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"x.example.com\"}}", { " 200 " }, "\"internalTrafficPolicy\":" },
    { "a policy that its status makes", "PATCH", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/v/status?fieldManager=m",
      "Content-Type: application/apply-patch+yaml\r\n",
      "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{\"name\":\"v\"},"
      "\"spec\":{\"matchConstraints\":{\"resourceRules\":[{\"operations\":[\"CREATE\"],\"apiGroups\":[\"\"],\"apiVersions\":"
      "[\"v1\"],\"resources\":[\"pods\"]}]},\"validations\":[{\"expression\":\"true\"}]}}", { " 201 " }, NULL },
    { "versions are read", "PUT", "/api", "", "", { " 405 " }, NULL },
    { "groups are told whatever the method", "PUT", "/apis", "", "", { " 200 ", "APIGroupList" }, NULL },
    { "and each of them", "PUT", "/apis/apps/", "", "", { " 200 ", "APIGroup" }, NULL },
    { "details of all groups", "GET", "/apis", DETAILS, "", { " 200 ", "APIGroupDiscoveryList" }, NULL },
    { "and none behind a slash", "GET", "/apis/", DETAILS, "", { " 406 " }, NULL },
    { "an event", "POST", CORE "/events", "", "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"namespace\":\"default\"}}",
      { " 201 " }, NULL },
    { "is of no group, whoever asks", "DELETE", "/apis/events.k8s.io/v1/namespaces/default/events/e", "",
      "{\"preconditions\":{\"uid\":\"u\"}}", { " 409 ", "cannot be fulfilled on Event \\\"e\\\":" }, NULL },
    { "an annotation that is a field elsewhere", "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "",
      "{\"metadata\":{\"name\":\"h\",\"annotations\":{\"autoscaling.alpha.kubernetes.io/metrics\":\"[]\"}},\"spec\":"
      "{\"maxReplicas\":2,\"scaleTargetRef\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"d\"}}}",
      { " 201 " }, "f:autoscaling.alpha" },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool contains(struct str text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static void check(struct str answer, const struct row *r)
{
    for (int i = 0; i < 3 && r->has[i]; i++)
        if (!contains(answer, r->has[i]))
            FAIL("%s: no '%s' in %.*s", r->what, r->has[i], STR_ARG(answer));
    if (r->lacks && contains(answer, r->lacks))
        FAIL("%s: '%s' in %.*s", r->what, r->lacks, STR_ARG(answer));
}

static void ask(struct connection *c, const struct row *r)
{
    const char *form = strstr(r->headers, "Content-Type") ? "" : "Content-Type: application/json\r\n";
    connection_feed(c, str_of(arena_printf(&c->world->arena, "%s %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\n%s%s"
                                           "Content-Length: %zu\r\n\r\n%s", r->method, r->target, form, r->headers,
                                           strlen(r->body), r->body)));
}

TEST(answers_are_those_of_the_real_server)
{
    struct api_world w;
    struct connection c;
    api_world_init(&w, &(struct api_world_options){ .token_file = "a,admin,1,system:masters\n" });
    connection_init(&c, &w);
    connection_ask(&c, "POST", "/api/v1/namespaces", "", "{\"metadata\":{\"name\":\"default\"}}");
    api_world_poll(&w);
    connection_run(&c);
    for (size_t i = 0; i < N_ROWS; i++) {
        strbuf_reset(&c.sent);
        ask(&c, &rows[i]);
        api_world_poll(&w);
        connection_run(&c);
        check(strbuf_str(&c.sent), &rows[i]);
    }
    connection_fini(&c);
    api_world_fini(&w);
}
