/* What plugins keep of a cluster is one scheduler's: neither the next one under the same profiles nor one beside it, under
 * the same configuration, meets the volumes that another has given away. */
#include "tests/unit/sched_world.h"
#include "tests/unit/what_if_model.h"

#define CLASS "{\"metadata\":{\"name\":\"local\"},\"provisioner\":\"kubernetes.io/no-provisioner\"," \
              "\"volumeBindingMode\":\"WaitForFirstConsumer\"}"
#define CLAIM(name) \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"uid\":\"" name "\",\"resourceVersion\":\"1\"},\"spec\":{" \
    "\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"local\",\"resources\":{\"requests\":{\"storage\":\"1\"}}}}"
#define VOLUME(name, host) \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"1\"},\"spec\":{\"capacity\":{\"storage\":\"1\"},\"accessModes\":[" \
    "\"ReadWriteOnce\"],\"storageClassName\":\"local\",\"local\":{\"path\":\"/\"},\"nodeAffinity\":{\"required\":{" \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"host\",\"operator\":\"In\",\"values\":[\"" host "\"]}]}]}}}," \
    "\"status\":{\"phase\":\"Available\"}}"

static void set(struct sched_world *w, enum object_kind kind, const char *json)
{
    const void *form;
    struct err e;
    err_init(&e, &w->arena);
    if (object_form_decode(kind, &w->syms, TYPED_JSON, str_of(json), &form, &e))
        FAIL("%s", e.message);
    sched_object_set(w->sched, kind, form);
    object_unref(&w->syms, kind, form);
}

/* What is asked for when a pod with that claim comes to a node with one volume. */
static const char *use_claim(struct sched_world *w, const char *claim)
{
    sched_world_open(w);
    set(w, OBJECT_STORAGE_CLASS, CLASS);
    set(w, OBJECT_PERSISTENT_VOLUME_CLAIM, CLAIM("data"));
    set(w, OBJECT_PERSISTENT_VOLUME_CLAIM, CLAIM("more"));
    set(w, OBJECT_PERSISTENT_VOLUME, VOLUME("on-a", "a"));
    world_node(w, "a", "4", "\"host\":\"a\"");
    const char *volumes = arena_printf(&w->arena, "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}]",
                                       claim);
    sched_pod_set(w->sched, world_pod(w, "p", NULL, 0, "1", volumes));
    CHECK(sched_run_once(w->sched));
    return world_log(w);
}

TEST(the_next_scheduler_begins_anew)
{
    static const struct volume_binding_args args = { .bind_timeout_s = 600 };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &volumebinding_plugin, &args, 0);
    CHECK_TEXT("the first", use_claim(&w, "data"), "nominate p a\nvolumes of p\n");
    sched_volumes_bound(w.sched, w.tickets.at[0], NULL);
    sched_bound(w.sched, w.tickets.at[1], NULL);
    CHECK_TEXT("the first", world_log(&w), "bind p a\nevent Normal Scheduled Successfully assigned default/p to a\n");
    sched_free(w.sched); /* before any watch has shown the volume's claim */
    CHECK_TEXT("the next", use_claim(&w, "more"), "nominate p a\nvolumes of p\n");
    sched_world_close(&w);
}

static const char cluster[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {host: a}}\nstatus: {capacity: {cpu: 4, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: b, labels: {host: b}}\nstatus: {capacity: {cpu: 4, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], volumes: [{name: v, "
    "persistentVolumeClaim: {claimName: data}}]}\n---\n";

static struct sim_input read_cluster(struct lab *l)
{
    static const char *const objects[][2] = {
        { "storage.k8s.io/v1, kind: StorageClass", CLASS },
        { "v1, kind: PersistentVolumeClaim", CLAIM("data") },
        { "v1, kind: PersistentVolume", VOLUME("on-a", "a") },
        { "v1, kind: PersistentVolume", VOLUME("on-b", "b") },
    };
    struct sim_input in;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, cluster);
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        strbuf_printf(&text, "{apiVersion: %s, %s\n---\n", objects[i][0], objects[i][1] + 1);
    lab_read(l, &in, strbuf_str(&text));
    strbuf_fini(&text);
    return in;
}

TEST(two_worlds_share_no_volumes)
{
    struct lab l;
    struct sim_run first, second;
    lab_init(&l, NULL);
    struct sim_input in = read_cluster(&l);
    sim_object_set(&in, sim_input_find(&in, "Node", "", "b"), "spec.unschedulable", value_bool(true));
    lab_run(&l, &first, &in, NULL);
    CHECK_TEXT("the first", lab_outcome(&l, &first.world), "default/p a 0 \n");
    sim_object_set(&in, sim_input_find(&in, "Node", "", "b"), "spec.unschedulable", value_bool(false));
    sim_object_set(&in, sim_input_find(&in, "Node", "", "a"), "spec.unschedulable", value_bool(true));
    lab_run(&l, &second, &in, NULL); /* while the first is there */
    CHECK_TEXT("the second", lab_outcome(&l, &second.world), "default/p b 0 \n");
    sim_run_fini(&second);
    sim_run_fini(&first);
    sim_input_fini(&in);
    lab_fini(&l);
}
