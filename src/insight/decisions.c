/* insight/decisions.c - see decisions.h: the ring, and what goes into it.
 *
 * Records of different lengths stand behind each other in one block of memory; a new one takes the place of the
 * oldest. Nothing is allocated for a record but the block of refusals, which most records share. */
#include "insight/decisions_priv.h"

#include "base/mem.h"
#include "sched/preempt.h"

/* ---- The ring ---- */

static struct kept_decision *oldest(const struct decisions *d)
{
    return (struct kept_decision *)(d->ring + d->offsets[d->first]);
}

static void drop_oldest(struct decisions *d)
{
    struct kept_decision *k = oldest(d);
    sym_unref(d->syms, k->ns);
    if (k->node != SYM_NONE)
        sym_unref(d->syms, k->node);
    for (uint8_t i = 0; i < k->n_best; i++)
        sym_unref(d->syms, kept_nodes(k)[i].name);
    refusals_give_back(d->refusals, k->refusals);
    d->n_bytes -= k->n_bytes;
    d->first = (d->first + 1) % d->n_max;
    d->n--;
}

/* Whether n_bytes are free at d->write, which may move to the beginning for it. */
static bool has_room(struct decisions *d, size_t n_bytes)
{
    if (!d->n) {
        d->write = 0;
        return true;
    }
    size_t first = d->offsets[d->first];
    if (d->write <= first)
        return first - d->write >= n_bytes;
    if (d->ring_bytes - d->write >= n_bytes)
        return true;
    if (first < n_bytes)
        return false;
    d->write = 0;
    return true;
}

static struct kept_decision *take_room(struct decisions *d, size_t n_bytes)
{
    assert(n_bytes <= d->ring_bytes);
    while (d->n == d->n_max || !has_room(d, n_bytes))
        drop_oldest(d);
    d->offsets[(d->first + d->n++) % d->n_max] = (uint32_t)d->write;
    struct kept_decision *k = (struct kept_decision *)(d->ring + d->write);
    d->write += n_bytes;
    d->n_bytes += n_bytes;
    return k;
}

/* ---- A decision ---- */

struct victims {
    const struct pod *const *at;
    uint32_t n, n_kept;
};

static struct victims victims_of(const struct sched_decision *decision)
{
    if (decision->outcome != DECISION_PREEMPTING)
        return (struct victims){ .n = 0 };
    const struct candidate *chosen = decision->attempt->cycle.preemption->chosen;
    uint32_t n = chosen->n_victims;
    return (struct victims){ chosen->victims, n, n < DECISION_VICTIMS_MAX ? n : DECISION_VICTIMS_MAX };
}

static size_t texts_bytes(const struct decisions *d, const struct pod *pod, const struct victims *v)
{
    size_t n = strlen(pod->meta.name) + strlen(pod->meta.uid) + 2;
    for (uint32_t i = 0; i < v->n_kept; i++)
        n += sym_text(d->syms, v->at[i]->meta.ns).n + strlen(v->at[i]->meta.name) + 2;
    return n;
}

static void put_texts(const struct decisions *d, struct kept_decision *k, const struct pod *pod, const struct victims *v)
{
    char *at = stpcpy((char *)(uintptr_t)kept_name(k), pod->meta.name) + 1;
    at = stpcpy(at, pod->meta.uid) + 1;
    for (uint32_t i = 0; i < v->n_kept; i++)
        at = stpcpy(stpcpy(stpcpy(at, sym_text(d->syms, v->at[i]->meta.ns).p), "/"), v->at[i]->meta.name) + 1;
}

static void put_best(const struct decisions *d, struct kept_decision *k, const struct attempt *a,
                     const struct decision_node *best)
{
    struct kept_node *nodes = (struct kept_node *)(k + 1);
    int64_t *scores = (int64_t *)(nodes + k->n_best);
    for (uint8_t i = 0; i < k->n_best; i++) {
        nodes[i] = (struct kept_node){ best[i].total, sym_ref(d->syms, a->cycle.cache->rows.at[best[i].node].name) };
        memcpy(scores + (size_t)i * k->n_plugins, best[i].scores, k->n_plugins * sizeof(*scores));
    }
}

static struct refusal_block *refusals_of(struct decisions *d, const struct sched_decision *decision)
{
    return decision->message ? refusals_of_failure(d->refusals, decision->attempt, decision->message)
                             : refusals_of_choice(d->refusals, decision->attempt);
}

static void keep(void *context, const struct sched_decision *decision)
{
    struct decisions *d = context;
    struct attempt *a = decision->attempt;
    struct decision_node best[DECISION_NODES_MAX];
    struct victims victims = victims_of(decision);
    uint32_t n_best = decision->outcome == DECISION_PLACED ? decision_best(a, best) : 0;
    uint8_t n_plugins = n_best ? a->cycle.profile->points[POINT_SCORE].n : 0;
    size_t n_bytes = sizeof(struct kept_decision) + n_best * (sizeof(struct kept_node) + n_plugins * sizeof(int64_t)) +
                     texts_bytes(d, decision->pod, &victims);
    n_bytes = (n_bytes + 7) & ~(size_t)7;
    struct refusal_block *refusals = refusals_of(d, decision);
    while (d->n && refusals_bytes(d->refusals) > d->refusals_bytes_max)
        drop_oldest(d);
    struct kept_decision *k = take_room(d, n_bytes);
    *k = (struct kept_decision){
        .sequence = ++d->n_seen,
        .wall_ns = clock_wall_ns(d->clock),
        .profile = decision->profile,
        .refusals = refusals,
        .n_bytes = (uint32_t)n_bytes,
        .n_attempts = decision->n_attempts,
        .n_nodes = a ? (uint32_t)a->cycle.cache->order.n : 0,
        .n_feasible = a && decision->outcome == DECISION_PLACED ? a->n_feasible : 0,
        .n_victims = victims.n,
        .ns = sym_ref(d->syms, decision->pod->meta.ns),
        .node = decision->node == SYM_NONE ? SYM_NONE : sym_ref(d->syms, decision->node),
        .outcome = (uint8_t)decision->outcome,
        .n_best = (uint8_t)n_best,
        .n_plugins = n_plugins,
        .n_victims_kept = (uint8_t)victims.n_kept,
    };
    put_best(d, k, a, best);
    put_texts(d, k, decision->pod, &victims);
}

/* ---- All of them ---- */

struct decisions *decisions_new(struct sched *s, const struct decisions_options *options)
{
    struct decisions *d = mem_zalloc(sizeof(*d));
    size_t bytes_max = options->bytes_max ? options->bytes_max : DECISIONS_BYTES_MAX;
    if (bytes_max < DECISIONS_BYTES_MIN)
        bytes_max = DECISIONS_BYTES_MIN;
    d->sched = s;
    d->syms = sched_cache(s)->syms;
    d->clock = options->clock ? options->clock : &clock_real;
    d->n_max = options->n_max ? options->n_max : DECISIONS_KEPT;
    d->refusals = refusals_new();
    d->refusals_bytes_max = bytes_max / 4;
    d->ring_bytes = (bytes_max - d->refusals_bytes_max) & ~(size_t)7;
    if (d->ring_bytes > UINT32_MAX - 7)
        d->ring_bytes = UINT32_MAX - 7;
    d->ring = mem_alloc(d->ring_bytes);
    d->offsets = mem_alloc(d->n_max * sizeof(*d->offsets));
    sched_watch_decisions(s, keep, d);
    return d;
}

void decisions_follow(struct decisions *d, struct sched *s)
{
    assert(sched_cache(s)->syms == d->syms);
    d->sched = s;
    sched_watch_decisions(s, keep, d);
}

void decisions_free(struct decisions *d)
{
    if (!d)
        return;
    sched_watch_decisions(d->sched, NULL, NULL);
    while (d->n)
        drop_oldest(d);
    refusals_free(d->refusals);
    free(d->ring);
    free(d->offsets);
    free(d);
}

struct decisions_counts decisions_counts(const struct decisions *d)
{
    return (struct decisions_counts){ d->n, d->n_seen - d->n, d->n_bytes + refusals_bytes(d->refusals) };
}

uint32_t decisions_n_named(const struct decisions *d, struct str ns, struct str name)
{
    sym id = sym_find(d->syms, ns);
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n && id != SYM_NONE; i++) {
        const struct kept_decision *k = decisions_newest(d, i);
        n += k->ns == id && str_is(name, kept_name(k));
    }
    return n;
}
