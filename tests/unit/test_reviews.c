/* Questions whose answers are kept: daemon/reviews.c, with a server played by hand and a clock that is moved. */
#include "daemon/reviews.h"

#include "base/log.h"
#include "tests/played_api.h"

static struct clock_manual clock_;
static struct loop *loop;
static struct reviews *reviews;
static int64_t keep_ms = 10000;

struct asker {
    struct review_waiter waiter;
    char got[100];
    int n_done;
    const char *then_ask; /* from within done; NULL: nothing */
};

static void done(struct review_waiter *w, const void *answer, const char *error)
{
    struct asker *a = LIST_ITEM(w, struct asker, waiter);
    a->n_done++;
    snprintf(a->got, sizeof(a->got), "%s%s", answer ? (const char *)answer : "error: ", answer ? "" : error);
    if (a->then_ask) {
        const char *question = a->then_ask;
        a->then_ask = NULL;
        const char *known = reviews_ask(reviews, str_of(question), w);
        if (known)
            snprintf(a->got, sizeof(a->got), "known %s", known);
    }
}

static const void *read_answer(void *context, struct arena *a, const struct api_answer *answer, int64_t *ret_keep_ms,
                               const char **ret_error)
{
    (void)context;
    if (str_is(answer->body, "nonsense")) {
        *ret_error = "the answer makes no sense";
        return NULL;
    }
    *ret_keep_ms = keep_ms;
    return arena_cstr(a, answer->body);
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void begin_with(int64_t total_ms)
{
    log_set_sink(quiet, NULL);
    clock_manual_init(&clock_, CLOCK_NS_PER_SECOND, 0);
    loop = loop_new(&clock_.clock);
    reviews = reviews_new(&(struct reviews_options){ .loop = loop, .api = &played_api, .target = "/reviews", .name = "test",
                                                     .try_ms = 10000, .total_ms = total_ms, .read = read_answer,
                                                     .seed = 1 });
}

static void begin(void)
{
    begin_with(0);
}

static void end(void)
{
    reviews_free(reviews);
    loop_free(loop);
    played_fini();
}

static void ask(struct asker *a, const char *question)
{
    a->waiter.done = done;
    const char *known = reviews_ask(reviews, str_of(question), &a->waiter);
    if (known)
        snprintf(a->got, sizeof(a->got), "known %s", known);
}

static void pass_ms(int64_t ms)
{
    clock_manual_advance(&clock_, ms * CLOCK_NS_PER_MS);
    loop_run_once(loop, false);
    loop_run_once(loop, false);
}

TEST(an_answer_is_known_until_its_time_is_over)
{
    begin();
    struct asker a = { 0 }, b = { 0 }, c = { 0 };
    ask(&a, "q");
    CHECK_INT("sent", played.n, 1);
    CHECK_TEXT("as it is", played.at[0].body, "q");
    CHECK_TEXT("where", played.at[0].target, "/reviews");
    CHECK_TEXT("how", played.at[0].method, "POST");
    CHECK_INT("no longer than", played.at[0].timeout_ms, 10000);
    played_answer(0, 201, "yes");
    CHECK_TEXT("told", a.got, "yes");
    pass_ms(9999);
    ask(&b, "q");
    CHECK_TEXT("still good", b.got, "known yes");
    CHECK_INT("not sent", played.n, 1);
    pass_ms(1);
    ask(&c, "q");
    CHECK_INT("asked anew", played.n, 2);
    played_answer(1, 200, "no");
    CHECK_TEXT("told", c.got, "no");
    CHECK_INT("one is kept", reviews_counts(reviews).n_kept, 1);
    CHECK_INT("used", reviews_counts(reviews).n_kept_used, 1);
    end();
}

TEST(without_a_time_nothing_is_kept)
{
    begin();
    keep_ms = 0;
    struct asker a = { 0 };
    ask(&a, "q");
    played_answer(0, 201, "yes");
    ask(&a, "q");
    CHECK_INT("asked twice", played.n, 2);
    CHECK_INT("kept", reviews_counts(reviews).n_kept, 0);
    keep_ms = 10000;
    end();
}

TEST(who_asks_the_same_waits_for_the_same_answer)
{
    begin();
    struct asker a[5] = { 0 }, other = { 0 };
    for (int i = 0; i < 5; i++)
        ask(&a[i], "q");
    ask(&other, "r");
    CHECK_INT("two questions", played.n, 2);
    review_leave(&a[2].waiter);
    review_leave(&a[2].waiter); /* as often as one likes */
    played_answer(0, 201, "yes");
    for (int i = 0; i < 5; i++)
        CHECK_INT("told once", a[i].n_done, i == 2 ? 0 : 1);
    CHECK_INT("the other waits", other.n_done, 0);
    end();
}

TEST(all_may_leave_and_the_answer_is_kept)
{
    begin();
    struct asker a = { 0 }, b = { 0 };
    ask(&a, "q");
    review_leave(&a.waiter);
    played_answer(0, 201, "yes");
    ask(&b, "q");
    CHECK_TEXT("known", b.got, "known yes");
    end();
}

TEST(who_is_told_may_ask_again)
{
    begin();
    struct asker a = { .then_ask = "q" }, b = { .then_ask = "r" };
    ask(&a, "q");
    ask(&b, "q");
    played_answer(0, 201, "yes"); /* while it is told, the question is nobody's */
    CHECK_INT("both asked", played.n, 3);
    played_answer(1, 201, "again");
    played_answer(2, 201, "another");
    CHECK_TEXT("the same", a.got, "again");
    CHECK_TEXT("another", b.got, "another");
    struct asker c = { 0 };
    ask(&c, "q");
    CHECK_TEXT("the newer one is known", c.got, "known again");
    struct asker fails = { .then_ask = "f" };
    ask(&fails, "f");
    played_answer(3, 403, "");
    CHECK_INT("also after an error", played.n, 5);
    end();
}

TEST(what_may_pass_is_tried_five_times)
{
    static const struct {
        const char *what;
        int status;
        bool again;
    } rows[] = {
        { "internal error", 500, true }, { "too many", 429, true }, { "gateway timeout", 504, true },
        { "cut connection", 0, true }, { "forbidden", 403, false }, { "not found", 404, false },
        { "unavailable", 503, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct asker a = { 0 };
        ask(&a, "q");
        for (size_t n = 0; n < 10 && !a.n_done; n++) {
            played_answer(n, rows[i].status, rows[i].status ? "" : "cut");
            if (a.n_done)
                break;
            CHECK_INT("not at once", played.n, n + 1);
            pass_ms(499);
            CHECK_INT("not too early", played.n, n + 1);
            pass_ms(3000);
            CHECK_INT("again", played.n, n + 2);
        }
        CHECK_INT(rows[i].what, played.n, rows[i].again ? 5 : 1);
        CHECK_INT(rows[i].what, a.n_done, 1);
        CHECK(strncmp(a.got, "error: ", 7) == 0);
        CHECK_INT("errors are not kept", reviews_counts(reviews).n_kept, 0);
        CHECK_INT("nothing is left", reviews_counts(reviews).n_at_once, 0);
        end();
    }
}

TEST(pauses_grow_by_half)
{
    begin();
    struct asker a = { 0 };
    static const int64_t least_ms[] = { 500, 750, 1125, 1687 }; /* and a fifth more by chance */
    ask(&a, "q");
    for (size_t i = 0; i < 4; i++) {
        played_answer(i, 500, "");
        pass_ms(least_ms[i] - 1);
        CHECK_INT("not yet", played.n, i + 1);
        pass_ms(least_ms[i] / 5 + 2);
        CHECK_INT("now", played.n, i + 2);
    }
    end();
}

TEST(a_server_that_hangs_or_is_not_there_is_not_asked_again)
{
    begin_with(10000);
    struct asker a = { 0 }, b = { 0 };
    ask(&a, "q");
    pass_ms(10000);
    played_answer(0, 0, "no answer in time");
    CHECK_TEXT("told", a.got, "error: no answer in time");
    ask(&b, "q");
    played_answer_with(1, (struct api_answer){ .error = "connection refused", .unsent = true });
    CHECK_TEXT("told", b.got, "error: connection refused");
    CHECK_INT("no more", played.n, 2);
    end();
}

TEST(all_tries_share_the_time_of_the_question)
{
    begin_with(10000);
    struct asker a = { 0 };
    ask(&a, "q");
    pass_ms(9000);
    played_answer(0, 500, "");
    pass_ms(700);
    CHECK_INT("again", played.n, 2);
    CHECK_INT("with what is left", played.at[1].timeout_ms, 300);
    pass_ms(300);
    played_answer(1, 500, "");
    CHECK_INT("it is over", a.n_done, 1);
    end();
}

TEST(answers_without_sense_or_end_are_errors)
{
    begin();
    struct asker a = { 0 }, b = { 0 };
    ask(&a, "q");
    played_answer(0, 201, "nonsense");
    CHECK_TEXT("told", a.got, "error: the answer makes no sense");
    char *large = malloc(REVIEW_ANSWER_BYTES_MAX + 2);
    memset(large, 'x', REVIEW_ANSWER_BYTES_MAX + 1);
    large[REVIEW_ANSWER_BYTES_MAX + 1] = '\0';
    ask(&b, "q");
    played_answer(1, 201, large);
    CHECK_TEXT("told", b.got, "error: the answer is too large");
    large[REVIEW_BYTES_MAX + 1000] = '\0';
    ask(&b, "q");
    played_answer(2, 201, large);
    CHECK_INT("told, but not kept", b.n_done, 2);
    CHECK_INT("kept", reviews_counts(reviews).n_kept, 0);
    free(large);
    end();
}

TEST(ten_thousand_questions_are_bounded)
{
    begin();
    static struct asker a[10000];
    char question[32];
    for (size_t i = 0; i < 10000; i++) {
        snprintf(question, sizeof(question), "q%zu", i);
        ask(&a[i], question);
        played_answer(i, 201, "yes");
        CHECK_INT("told", a[i].n_done, 1);
        CHECK(reviews_counts(reviews).n_kept <= REVIEWS_KEPT_MAX);
    }
    CHECK_INT("as many as may be", reviews_counts(reviews).n_kept, REVIEWS_KEPT_MAX);
    CHECK(reviews_counts(reviews).kept_bytes <= REVIEWS_KEPT_BYTES_MAX);
    struct asker oldest = { 0 }, newest = { 0 };
    ask(&newest, "q9999");
    CHECK_TEXT("the newest is there", newest.got, "known yes");
    ask(&oldest, "q0");
    CHECK_TEXT("the oldest is gone", oldest.got, "");
    end();
}

TEST(what_is_asked_for_stays_longer)
{
    begin();
    static struct asker a[REVIEWS_KEPT_MAX + 2];
    char question[32];
    struct asker first = { 0 };
    for (size_t i = 0; i <= REVIEWS_KEPT_MAX; i++) {
        snprintf(question, sizeof(question), "q%zu", i);
        ask(&a[i], question);
        played_answer(i, 201, "yes");
        if (i == 100)
            ask(&first, "q0");
    }
    ask(&first, "q0");
    CHECK_TEXT("it was used", first.got, "known yes");
    ask(&a[REVIEWS_KEPT_MAX + 1], "q1");
    CHECK_TEXT("it was not", a[REVIEWS_KEPT_MAX + 1].got, "");
    end();
}

TEST(questions_at_the_server_are_bounded)
{
    begin();
    static struct asker a[REVIEWS_AT_ONCE_MAX + 1];
    char question[32];
    for (size_t i = 0; i <= REVIEWS_AT_ONCE_MAX; i++) {
        snprintf(question, sizeof(question), "q%zu", i);
        ask(&a[i], question);
    }
    CHECK_INT("sent", played.n, REVIEWS_AT_ONCE_MAX);
    CHECK_INT("not from within", a[REVIEWS_AT_ONCE_MAX].n_done, 0);
    pass_ms(1);
    CHECK_TEXT("told", a[REVIEWS_AT_ONCE_MAX].got, "error: too many questions are at the API server already");
    CHECK_INT("the others wait", a[0].n_done, 0);
    CHECK_INT("at once", reviews_counts(reviews).n_at_once, REVIEWS_AT_ONCE_MAX);
    end(); /* and they are cancelled */
}

TEST(the_end_cancels_what_is_under_way)
{
    begin();
    struct asker a = { 0 }, b = { 0 };
    ask(&a, "q");
    ask(&b, "r");
    played_answer(1, 500, "");
    reviews_free(reviews);
    CHECK(played.at[0].cancelled);
    CHECK(!list_has(&a.waiter.node) && !list_has(&b.waiter.node));
    loop_free(loop);
    played_fini();
}
