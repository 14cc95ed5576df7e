#include "base/list.h"

#include "tests/test.h"

struct item {
    int id;
    struct list_node node;
};

static int read_ids(const struct list *l)
{
    int ids = 0;
    for (struct list_node *n = list_first(l); n; n = list_next(l, n))
        ids = ids * 10 + LIST_ITEM(n, struct item, node)->id;
    return ids;
}

TEST(items_come_in_the_order_in_which_they_were_pushed)
{
    struct list l;
    struct item items[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
    list_init(&l);
    CHECK(list_is_empty(&l));
    CHECK(!list_first(&l));
    for (int i = 0; i < 3; i++)
        list_push(&l, &items[i].node);
    CHECK_INT("all", read_ids(&l), 123);
}

TEST(any_item_can_leave_and_come_back)
{
    struct list l;
    struct item items[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
    list_init(&l);
    for (int i = 0; i < 3; i++)
        list_push(&l, &items[i].node);
    list_remove(&items[1].node);
    CHECK(!list_has(&items[1].node));
    CHECK_INT("without the middle", read_ids(&l), 13);
    list_push(&l, &items[1].node);
    CHECK_INT("at the end", read_ids(&l), 132);
    list_remove(&items[0].node);
    list_remove(&items[1].node);
    list_remove(&items[2].node);
    CHECK(list_is_empty(&l));
}
