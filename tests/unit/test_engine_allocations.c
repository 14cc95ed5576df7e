/* An attempt for a pod whose class is known does not allocate: arenas, classes and memos keep their memory. The program is
 * linked so that malloc, calloc and realloc pass by here first. */
#include "sched/attempt.h"
#include "tests/unit/random_world.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static uint64_t n_allocations;

void *__wrap_malloc(size_t n)
{
    n_allocations++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    n_allocations++;
    return __real_realloc(p, n);
}

/* Something new may still come up late: a class that fits nowhere for the first time gets its memo then. */
enum { NODES = 150, PODS = 300, WARM_UPS = 3, LATE_MAX = 2 };

static int64_t fixed_now(void *context)
{
    (void)context;
    return 1000;
}

static struct sched *open_sched(struct random_world *w, struct setup *setup)
{
    if (setup_from_text(setup, w->syms, world_config(), world_registry(), &w->e))
        FAIL("%s", w->e.message);
    struct sched *s = sched_new(&(struct sched_options){ .syms = w->syms,
                                                         .profiles = setup->profiles,
                                                         .n_profiles = setup->n_profiles,
                                                         .features = setup->features,
                                                         .io = { .now_ms = fixed_now, .wall_s = fixed_now },
                                                         .percentage_of_nodes_to_score = 100 });
    set_static_objects(w, s);
    for (unsigned i = 0; i < NODES; i++) {
        const struct node *node = random_node(w, i);
        sched_node_set(s, node);
        node_unref(w->syms, node);
    }
    return s;
}

static const struct pod *make_pod(struct random_world *w, const struct shape *shape, unsigned number, const char *node)
{
    const char *name = arena_printf(&w->texts, "p%u", number);
    return pod_of_shape(w, shape, &(struct pod_text){ .name = name, .uid = name, .version = 1, .node = node });
}

static void place(struct random_world *w, struct sched *s, unsigned number)
{
    const struct pod *pod = make_pod(w, &w->shapes[below(w, N_SHAPES)], number, node_name_of(w, below(w, NODES)));
    sched_pod_set(s, pod);
    pod_unref(w->syms, pod);
}

static uint64_t allocations_of_attempt(struct sched *s, const struct pod *pod)
{
    struct attempt a;
    uint64_t before = n_allocations;
    attempt_run(s, &a, pod, (struct attempt_wants){ .reasons = true });
    return n_allocations - before;
}

/* Each shape is tried on a cluster that changes by a pod between attempts, as it does while a workload is placed. */
TEST(an_attempt_of_a_known_class_does_not_allocate)
{
    struct random_world w;
    struct sym_table syms;
    struct setup setup;
    sym_init(&syms);
    random_world_init(&w, &syms, seed_of_test(7), NODES);
    struct sched *s = open_sched(&w, &setup);
    unsigned n_pods = 0, n_late = 0;
    while (n_pods < PODS)
        place(&w, s, n_pods++);
    for (int round = 0; round < WARM_UPS + 3; round++)
        for (unsigned i = 0; i < N_SHAPES; i++) {
            const struct pod *pod = make_pod(&w, &w.shapes[i], n_pods++, NULL);
            uint64_t n = allocations_of_attempt(s, pod);
            n_late += round >= WARM_UPS && n;
            if (round >= WARM_UPS && (n = allocations_of_attempt(s, pod)))
                FAIL("shape %u allocates %llu times: %s", i, (unsigned long long)n, w.shapes[i].spec);
            pod_unref(&syms, pod);
            place(&w, s, n_pods++);
        }
    CHECK(n_late <= LATE_MAX);
    sched_free(s);
    random_world_fini(&w);
    setup_fini(&setup);
    sym_fini(&syms);
}
