/* bench/apiserver/load_pod.c - the pod that all runs use: about what a Deployment makes. */
#include <stdio.h>

#include "bench/apiserver/load.h"
#include "codec/json.h"
#include "codec/proto.h"

#define SPEC \
    "\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/shop/web:1.27\",\"ports\":[{\"name\":\"http\"," \
    "\"containerPort\":8080}],\"env\":[{\"name\":\"MODE\",\"value\":\"production\"},{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{" \
    "\"fieldPath\":\"metadata.name\"}}}],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":\"100m\"," \
    "\"memory\":\"128Mi\"}},\"readinessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080},\"periodSeconds\":10}}]," \
    "\"nodeSelector\":{\"kubernetes.io/os\":\"linux\"},\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\"," \
    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\"," \
    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]}"

#define STATUS \
    "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Initialized\",\"status\":\"True\",\"lastTransitionTime\":" \
    "\"2026-03-02T09:14:27Z\"},{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"2026-03-02T09:14:29Z\"," \
    "\"message\":\"%u\"},{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-03-02T09:14:27Z\"}]," \
    "\"hostIP\":\"10.0.3.17\",\"podIP\":\"10.244.17.42\",\"podIPs\":[{\"ip\":\"10.244.17.42\"}],\"startTime\":\"2026-03-02T09:14:27Z\"," \
    "\"containerStatuses\":[{\"name\":\"web\",\"state\":{\"running\":{\"startedAt\":\"2026-03-02T09:14:28Z\"}},\"ready\":true," \
    "\"restartCount\":0,\"image\":\"registry.example.com/shop/web:1.27\",\"imageID\":\"registry.example.com/shop/web@sha256:" \
    "9d6b58feebd2dbd3c56ab5853333d627cc6e281011cfd6050fa4bcf2072c9496\",\"started\":true}]}"

#define AMOUNTS "{\"cpu\":\"32\",\"memory\":\"128Gi\",\"pods\":\"110\",\"ephemeral-storage\":\"100Gi\"}"

static struct str as_protobuf(const char *type, struct str json, char room[LOAD_BODY_BYTES])
{
    const struct type *t = schema_type(str_of(type));
    struct arena a;
    struct err e;
    struct value v;
    struct strbuf bytes;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&bytes, LOAD_BODY_BYTES);
    if (json_decode(&a, WORK_OWN, t, json, NULL, &v, &e))
        load_die(e.message);
    proto_encode_object(&bytes, t, &v);
    memcpy(room, bytes.p, bytes.n);
    struct str body = { room, bytes.n };
    strbuf_fini(&bytes);
    arena_fini(&a);
    return body;
}

struct str load_pod(struct load *l, uint32_t number, uint32_t change, bool status, char room[LOAD_BODY_BYTES])
{
    int n = snprintf(room, LOAD_BODY_BYTES,
                     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-66b6c48dd5-%06u\",\"namespace\":\"bench\","
                     "\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"66b6c48dd5\",\"part\":\"p%u\"}}," SPEC, number, number % 100);
    if (status)
        n += snprintf(room + n, LOAD_BODY_BYTES - (size_t)n, "," STATUS, change);
    room[n++] = '}';
    struct str json = { room, (size_t)n };
    return l->o.proto ? as_protobuf("core/v1.Pod", json, room) : json;
}

struct str load_node(struct load *l, uint32_t number, char room[LOAD_BODY_BYTES])
{
    int n = snprintf(room, LOAD_BODY_BYTES,
                     "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"node-%05u\",\"labels\":{\"kubernetes.io/os\":"
                     "\"linux\",\"kubernetes.io/hostname\":\"node-%05u\",\"topology.kubernetes.io/zone\":\"zone-%u\"}},"
                     "\"status\":{\"capacity\":" AMOUNTS ",\"allocatable\":" AMOUNTS ",\"conditions\":[{\"type\":\"Ready\","
                     "\"status\":\"True\",\"reason\":\"KubeletReady\"}]}}", number, number, number % 3);
    struct str json = { room, (size_t)n };
    return l->o.proto ? as_protobuf("core/v1.Node", json, room) : json;
}
