/* Heap: order, updates and removals in the middle against a sorted list, and the order of equal items. */
#include "base/heap.h"
#include "tests/test.h"

struct job {
    int priority, number;
    struct heap_node node;
};

static bool higher_first(const struct heap_node *a, const struct heap_node *b, void *context)
{
    ++*(uint64_t *)context;
    return HEAP_ITEM(a, const struct job, node)->priority > HEAP_ITEM(b, const struct job, node)->priority;
}

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

TEST(an_empty_heap_has_no_top)
{
    struct heap h;
    heap_init(&h, higher_first, NULL);
    CHECK(heap_top(&h) == NULL && heap_pop(&h) == NULL);
    heap_fini(&h);
}

/* The same calls on Go's container/heap give these numbers. */
TEST(equal_items_leave_as_from_gos_container_heap)
{
    static const int want[] = { 9, 8, 17, 11, 14, 7, 16, 4, 10, 19, 1, 13, 6, 12, 18, 3, 15, 2 };
    uint64_t n_calls = 0;
    struct heap h;
    struct job jobs[20];
    heap_init(&h, higher_first, &n_calls);
    for (int i = 0; i < 20; i++) {
        jobs[i] = (struct job){ .priority = i * 7 % 3, .number = i };
        heap_push(&h, &jobs[i].node);
    }
    heap_remove(&h, &jobs[5].node);
    heap_remove(&h, &jobs[0].node);
    jobs[9].priority = 5;
    heap_update(&h, &jobs[9].node);
    jobs[2].priority = -1;
    heap_update(&h, &jobs[2].node);
    for (int i = 0; i < 18; i++)
        CHECK_INT("next", HEAP_ITEM(heap_pop(&h), struct job, node)->number, want[i]);
    CHECK(heap_pop(&h) == NULL);
    heap_fini(&h);
}

enum { N_JOBS = 500 };

static int highest(const struct job *jobs)
{
    int best = -1;
    for (int i = 0; i < N_JOBS; i++)
        if (heap_has(&jobs[i].node) && jobs[i].priority > best)
            best = jobs[i].priority;
    return best;
}

TEST(random_calls_always_leave_the_best_on_top)
{
    static struct job jobs[N_JOBS];
    uint64_t n_calls = 0;
    uint32_t n_in = 0;
    struct heap h;
    heap_init(&h, higher_first, &n_calls);
    for (int round = 0; round < 20000; round++) {
        struct job *job = &jobs[next_random() % N_JOBS];
        if (!heap_has(&job->node)) {
            job->priority = (int)(next_random() % 1000);
            heap_push(&h, &job->node);
            n_in++;
        } else if (next_random() % 3) {
            job->priority = (int)(next_random() % 1000);
            heap_update(&h, &job->node);
        } else {
            heap_remove(&h, &job->node);
            CHECK(!heap_has(&job->node));
            n_in--;
        }
        CHECK_INT("size", h.n, n_in);
        if (n_in)
            CHECK_INT("top", HEAP_ITEM(heap_top(&h), struct job, node)->priority, highest(jobs));
    }
    heap_fini(&h);
}

TEST(the_number_of_comparisons_is_logarithmic)
{
    enum { N = 1 << 14 };
    static struct job jobs[N];
    uint64_t n_calls = 0;
    struct heap h;
    heap_init(&h, higher_first, &n_calls);
    for (int i = 0; i < N; i++) {
        jobs[i].priority = i;
        heap_push(&h, &jobs[i].node);
    }
    n_calls = 0;
    heap_pop(&h);
    heap_update(&h, &jobs[0].node);
    heap_remove(&h, &jobs[N / 2].node);
    CHECK(n_calls <= 3 * (2 * 14 + 14));
    heap_fini(&h);
}
