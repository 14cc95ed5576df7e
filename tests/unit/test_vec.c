/* Vec: growth, order of insert and remove, swap removal, reset. */
#include "base/vec.h"

#include "tests/test.h"

typedef VEC(int) int_vec;

static void expect(const char *what, const int_vec *v, const char *want)
{
    char got[256] = "";
    for (size_t i = 0; i < v->n; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d ", v->at[i]);
    CHECK_TEXT(what, got, want);
}

TEST(pushed_elements_stay_in_order_while_it_grows)
{
    VEC(uint64_t) v = { 0 };
    for (uint64_t i = 0; i < 10000; i++)
        vec_push(&v, i * i);
    CHECK_INT("count", v.n, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        CHECK(v.at[i] == i * i);
    CHECK(*vec_last(&v) == 9999ull * 9999);
    CHECK(vec_pop(&v) == 9999ull * 9999);
    CHECK_INT("count", v.n, 9999);
    vec_fini(&v);
    CHECK(v.at == NULL && v.n == 0 && v.cap == 0);
}

TEST(insert_and_remove_keep_the_order_and_swap_does_not)
{
    int_vec v = { 0 };
    for (int i = 1; i <= 9; i++) /* one more insert makes it grow */
        vec_insert(&v, 0, i);
    vec_insert(&v, 9, 0);
    vec_insert(&v, 5, 77);
    expect("inserted", &v, "9 8 7 6 5 77 4 3 2 1 0 ");
    vec_remove(&v, 0);
    vec_remove(&v, 4);
    vec_remove(&v, v.n - 1);
    expect("removed", &v, "8 7 6 5 4 3 2 1 ");
    vec_remove_swap(&v, 1);
    vec_remove_swap(&v, v.n - 1);
    expect("swapped", &v, "8 1 6 5 4 3 ");
    vec_fini(&v);
}

TEST(reserved_room_does_not_move_and_reset_keeps_it)
{
    struct pair {
        int a, b;
    };
    VEC(struct pair) v = { 0 };
    vec_reserve(&v, 100);
    struct pair *at = v.at;
    for (int i = 0; i < 100; i++)
        vec_push(&v, (struct pair){ i, -i });
    CHECK(v.at == at && v.at[99].b == -99);
    vec_reset(&v);
    CHECK(v.n == 0 && v.at == at && v.cap >= 100);
    vec_fini(&v);
}
