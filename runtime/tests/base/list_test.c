/*
 * list_test.c -- the intrusive list, by examples and against a plain array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/list.h"
#include "runtime/tests/bed.h"

struct item {
    int number;
    struct rt_list link;
};

static struct item *
item_of(struct rt_list *node)
{
    return rt_container_of(node, struct item, link);
}

static void
make_items(struct item *items, int count)
{
    for (int i = 0; i < count; i++) {
        items[i].number = i;
        rt_list_init(&items[i].link);
    }
}

/* Both directions must agree. */
static void
expect_list(struct rt_list *head, const int *numbers, int count)
{
    int i = 0;
    rt_list_each(node, head)
    {
        EXPECT(i < count);
        EXPECT_EQ(item_of(node)->number, numbers[i]);
        EXPECT(node->next->prev == node);
        i++;
    }
    EXPECT_EQ(i, count);
    for (struct rt_list *node = head->prev; node != head; node = node->prev) {
        EXPECT_EQ(item_of(node)->number, numbers[--i]);
    }
    EXPECT_EQ(rt_list_empty(head), count == 0);
}

TEST(list_pushed_at_both_ends_keeps_the_order)
{
    struct item items[4];
    make_items(items, 4);
    struct rt_list head;
    rt_list_init(&head);
    EXPECT(rt_list_pop_front(&head) == NULL);
    rt_list_push_back(&head, &items[1].link);
    rt_list_push_back(&head, &items[2].link);
    rt_list_push_front(&head, &items[0].link);
    rt_list_push_back(&head, &items[3].link);
    expect_list(&head, (const int[]){0, 1, 2, 3}, 4);
    EXPECT(rt_list_pop_front(&head) == &items[0].link);
    EXPECT(rt_list_empty(&items[0].link));
    expect_list(&head, (const int[]){1, 2, 3}, 3);
}

TEST(list_unlinking_twice_changes_nothing)
{
    struct item items[3];
    make_items(items, 3);
    struct rt_list head;
    rt_list_init(&head);
    for (int i = 0; i < 3; i++) {
        rt_list_push_back(&head, &items[i].link);
    }
    rt_list_unlink(&items[1].link);
    rt_list_unlink(&items[1].link);
    EXPECT(rt_list_empty(&items[1].link));
    expect_list(&head, (const int[]){0, 2}, 2);
}

TEST(list_spliced_goes_to_the_tail_and_leaves_nothing)
{
    struct item items[4];
    make_items(items, 4);
    struct rt_list to;
    struct rt_list from;
    rt_list_init(&to);
    rt_list_init(&from);
    rt_list_splice(&to, &from);
    expect_list(&to, NULL, 0);
    rt_list_push_back(&from, &items[2].link);
    rt_list_push_back(&from, &items[3].link);
    rt_list_push_back(&to, &items[0].link);
    rt_list_push_back(&to, &items[1].link);
    rt_list_splice(&to, &from);
    expect_list(&to, (const int[]){0, 1, 2, 3}, 4);
    expect_list(&from, NULL, 0);
}

static void
remove_number(int *model, int *count, int number)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        if (model[i] != number) {
            model[kept++] = model[i];
        }
    }
    *count = kept;
}

/* Goal: no sequence of pushes, pops and unlinks tears the ring. Method: a plain array beside it. */
TEST(list_long_random_history_agrees_with_an_array)
{
    struct item items[8];
    make_items(items, 8);
    struct rt_list head;
    rt_list_init(&head);
    int model[8];
    int count = 0;
    uint64_t random = 1;
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[bed_below(&random, 8)];
        bool linked = !rt_list_empty(&item->link);
        switch (bed_below(&random, 4)) {
        case 0:
            if (!linked) {
                rt_list_push_back(&head, &item->link);
                model[count++] = item->number;
            }
            break;
        case 1:
            if (!linked) {
                rt_list_push_front(&head, &item->link);
                memmove(model + 1, model, sizeof(int) * (size_t)count);
                model[0] = item->number;
                count++;
            }
            break;
        case 2:
            rt_list_unlink(&item->link);
            remove_number(model, &count, item->number);
            break;
        default:
            if (count > 0) {
                struct rt_list *node = rt_list_pop_front(&head);
                EXPECT_EQ(item_of(node)->number, model[0]);
                remove_number(model, &count, model[0]);
            } else {
                EXPECT(rt_list_pop_front(&head) == NULL);
            }
        }
        expect_list(&head, model, count);
    }
}
