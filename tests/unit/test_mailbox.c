/* Mailbox: order, bound, wake-ups, and many threads at once. */
#include "base/mailbox.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/test.h"

struct letter {
    struct mail mail;
    int poster, number;
};

static void count_wake(void *context)
{
    ++*(int *)context;
}

TEST(messages_arrive_oldest_first_in_one_batch)
{
    struct mailbox m;
    int n_wakes = 0;
    struct letter letters[5];
    mailbox_init(&m, 10, count_wake, &n_wakes);
    CHECK(mailbox_take(&m) == NULL);
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 5; i++) {
            letters[i].number = i;
            CHECK(mailbox_post(&m, &letters[i].mail));
        }
        CHECK_INT("one wake-up a batch", n_wakes, round);
        struct mail *at = mailbox_take(&m);
        for (int i = 0; i < 5; i++, at = at->next)
            CHECK_INT("number", MAIL_ITEM(at, struct letter, mail)->number, i);
        CHECK(at == NULL && mailbox_take(&m) == NULL);
    }
    mailbox_fini(&m);
}

TEST(a_full_mailbox_refuses_until_it_is_taken)
{
    struct mailbox m;
    struct letter letters[4];
    mailbox_init(&m, 3, NULL, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            CHECK(mailbox_post(&m, &letters[i].mail));
        CHECK(!mailbox_post(&m, &letters[3].mail));
        CHECK(!mailbox_post(&m, &letters[3].mail));
        CHECK(mailbox_take(&m) == &letters[0].mail);
    }
    mailbox_fini(&m);
}

TEST(a_bell_rings_once_for_many_rings)
{
    struct bell b;
    CHECK(bell_init(&b));
    CHECK(!bell_wait(&b, 0));
    CHECK(!bell_wait(&b, 5));
    bell_ring(&b);
    bell_ring(&b);
    CHECK(bell_wait(&b, -1));
    CHECK(!bell_wait(&b, 0));
    bell_fini(&b);
}

enum { N_POSTERS = 4, N_LETTERS = 20000, MAX_LETTERS = 256 };

static struct mailbox box;
static struct bell bell;

static void *post_all(void *context)
{
    for (int i = 0; i < N_LETTERS; i++) {
        struct letter *l = malloc(sizeof(*l));
        l->poster = (int)(intptr_t)context;
        l->number = i;
        while (!mailbox_post(&box, &l->mail))
            sched_yield();
    }
    return NULL;
}

TEST(threads_lose_nothing_and_keep_the_order_of_each_poster)
{
    pthread_t posters[N_POSTERS];
    int next[N_POSTERS] = { 0 };
    CHECK(bell_init(&bell));
    mailbox_init(&box, MAX_LETTERS, bell_ring, &bell);
    for (intptr_t i = 0; i < N_POSTERS; i++)
        CHECK(pthread_create(&posters[i], NULL, post_all, (void *)i) == 0);
    for (int n_left = N_POSTERS * N_LETTERS; n_left > 0;) {
        /* Takes only after a ring: a lost wake-up would stop the test here. */
        CHECK(bell_wait(&bell, 30000));
        int n_batch = 0;
        for (struct mail *at = mailbox_take(&box), *after; at; at = after) {
            struct letter *l = MAIL_ITEM(at, struct letter, mail);
            after = at->next;
            CHECK_INT("number", l->number, next[l->poster]++);
            free(l);
            n_batch++;
        }
        CHECK(n_batch <= MAX_LETTERS);
        n_left -= n_batch;
    }
    for (int i = 0; i < N_POSTERS; i++)
        pthread_join(posters[i], NULL);
    CHECK(mailbox_take(&box) == NULL);
    mailbox_fini(&box);
    bell_fini(&bell);
}
