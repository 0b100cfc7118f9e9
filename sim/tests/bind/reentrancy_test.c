/*
 * reentrancy_test.c -- fault `reentrancy`: a wake, a drop, a cleanup or a destructor calls back at
 * once.
 *
 * Each walk has two forms: a correct one survives in every run, and one that continues from a link
 * that it read before its call is found, and only with the fault.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/base/list.h"
#include "runtime/sync/channel.h"
#include "sim/tests/lab.h"

#define SEEDS 300u

/* How many of SEEDS runs do not pass. */
static uint32_t
failures(const struct sim_scenario *scenario, uint64_t faults)
{
    struct sim_scenario brave = *scenario;
    brave.survives = faults;
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0xa5);
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        failed += lab_judge(lab, &brave, seed, false).verdict != SIM_VERDICT_PASS;
    }
    lab_fini(lab);
    free(lab);
    return failed;
}

/* ---- A crowd at one gate. -------------------------------------------------------------------- */

#define CROWD 4u

struct gate;

struct visitor {
    struct rt_task task;
    struct rt_list link; /* In the gate's crowd while it waits. */
    struct rt_slot slot;
    struct gate *gate;
};

struct gate {
    struct rt_list crowd;
    bool open;
    bool careless; /* Continues from a link that it read before a wake. */
    struct visitor visitors[CROWD];
    struct rt_task keeper;
    uint32_t left;
};

static void
leave(struct visitor *visitor)
{
    if (!rt_list_empty(&visitor->link)) {
        rt_list_unlink(&visitor->link);
    }
    (void)rt_slot_clear(&visitor->slot);
}

static rt_poll
visit(struct rt_task *task, struct rt_cx *cx)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    if (visitor->gate->open) {
        leave(visitor);
        return RT_READY;
    }
    if (rt_list_empty(&visitor->link)) {
        rt_list_push_back(&visitor->gate->crowd, &visitor->link);
    }
    rt_slot_replace(&visitor->slot, cx, "the gate");
    return RT_PENDING;
}

/* Its memory is overwritten, as if it were freed. */
static void
vanish(struct rt_task *task)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    leave(visitor);
    visitor->link.next = NULL;
}

static void
wake_carelessly(struct gate *gate)
{
    struct rt_list *link = gate->crowd.next;
    while (link != &gate->crowd && link != NULL) {
        struct rt_list *next = link->next;
        struct visitor *visitor = rt_container_of(link, struct visitor, link);
        (void)rt_slot_wake(&visitor->slot);
        link = next;
    }
}

static void
wake_carefully(struct gate *gate)
{
    while (!rt_list_empty(&gate->crowd)) {
        struct visitor *visitor = rt_container_of(gate->crowd.next, struct visitor, link);
        rt_list_unlink(&visitor->link);
        (void)rt_slot_wake(&visitor->slot);
    }
}

static rt_poll
keep_gate(struct rt_task *task, struct rt_cx *cx)
{
    struct gate *gate = rt_container_of(task, struct gate, keeper);
    if (gate->left-- > 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    gate->open = true;
    if (gate->careless) {
        wake_carelessly(gate);
    } else {
        wake_carefully(gate);
    }
    return RT_READY;
}

static void
gate_setup(struct sim_world *world, bool careless)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gate *gate = sim_new(world, struct gate);
    rt_list_init(&gate->crowd);
    gate->careless = careless;
    gate->left = 3;
    for (uint32_t i = 0; i < CROWD; i++) {
        struct visitor *visitor = &gate->visitors[i];
        visitor->gate = gate;
        rt_list_init(&visitor->link);
        rt_slot_init(&visitor->slot);
        rt_task_init(&visitor->task, visit, vanish, "visitor");
        sim_spawn(rt, &visitor->task);
    }
    rt_task_init(&gate->keeper, keep_gate, NULL, "keeper");
    sim_spawn(rt, &gate->keeper);
}

static void
gate_careful(struct sim_world *world)
{
    gate_setup(world, false);
}

static void
gate_careless(struct sim_world *world)
{
    gate_setup(world, true);
}

static const struct sim_scenario good_gate = {.name = "test/gate", .setup = gate_careful};
static const struct sim_scenario bad_gate = {.name = "test/bad-gate", .setup = gate_careless};

/*
 * Goal: a wake, or a cleanup, may call back at once, for any task.
 * Method: a list is walked with the next link read before the wake. A neighbour that is cancelled
 * before or after, as by fault `cancel`, does no harm; one cancelled inside the wake does. Holds
 * W7.
 */
TEST(reentrancy_finds_a_walk_that_a_wake_can_break)
{
    uint64_t faults = SIM_FAULT_CANCEL | SIM_FAULT_REENTRANCY;
    struct sim_scenario keeper_stays = bad_gate;
    uint32_t by_cancel = failures(&keeper_stays, SIM_FAULT_CANCEL);
    uint32_t by_both = failures(&keeper_stays, faults);
    ck_assert_uint_gt(by_both, by_cancel);
    /* With fault `cancel` the keeper may be cancelled too, and the gate stays closed. */
    EXPECT_EQ(failures(&good_gate, SIM_FAULT_REENTRANCY), 0);
}

/* ---- A crowd whose wakers are dropped. ------------------------------------------------------- */

/* A club that keeps a clone of each member's waker; it drops all of them, then wakes all members.
 * A member that was not served in the first walk continues to wait. */
struct club;

struct member {
    struct rt_task task;
    struct rt_list link;
    struct rt_slot slot;
    struct rt_waker clone;
    struct club *club;
    bool served;
};

struct club {
    bool careless; /* Continues from a link that it read before it dropped a waker. */
    struct rt_list list;
    struct member members[CROWD];
    struct rt_task clerk;
    uint32_t left;
};

static rt_poll
attend(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    if (member->served) {
        (void)rt_slot_clear(&member->slot);
        return RT_READY;
    }
    if (rt_list_empty(&member->link)) {
        rt_list_push_back(&member->club->list, &member->link);
        member->clone = rt_waker_clone(rt_cx_waker(cx));
    }
    rt_slot_replace(&member->slot, cx, "the clerk");
    return RT_PENDING;
}

static void
resign(struct rt_task *task)
{
    struct member *member = rt_container_of(task, struct member, task);
    if (!rt_list_empty(&member->link)) {
        rt_list_unlink(&member->link);
    }
    member->link.next = NULL;
    rt_waker_drop(&member->clone);
}

static void
serve(struct member *member)
{
    member->served = true;
    rt_waker_drop(&member->clone);
}

static void
serve_all(struct club *club)
{
    struct rt_list *link = club->list.next;
    while (club->careless && link != &club->list && link != NULL) {
        struct rt_list *next = link->next;
        serve(rt_container_of(link, struct member, link));
        link = next;
    }
    for (uint32_t i = 0; !club->careless && i < CROWD; i++) {
        serve(&club->members[i]);
    }
}

static rt_poll
keep_club(struct rt_task *task, struct rt_cx *cx)
{
    struct club *club = rt_container_of(task, struct club, clerk);
    if (club->left-- > 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    serve_all(club);
    for (uint32_t i = 0; i < CROWD; i++) {
        (void)rt_slot_wake(&club->members[i].slot);
    }
    return RT_READY;
}

static void
club_setup(struct sim_world *world, bool careless)
{
    struct sim_rt *rt = sim_rt_new(world, &(struct sim_rt_options){.order = SIM_ORDER_FIFO});
    struct club *club = sim_new(world, struct club);
    rt_list_init(&club->list);
    club->careless = careless;
    club->left = 3;
    for (uint32_t i = 0; i < CROWD; i++) {
        struct member *member = &club->members[i];
        member->club = club;
        rt_list_init(&member->link);
        rt_slot_init(&member->slot);
        rt_task_init(&member->task, attend, resign, "member");
        sim_spawn(rt, &member->task);
    }
    rt_task_init(&club->clerk, keep_club, NULL, "clerk");
    sim_spawn(rt, &club->clerk);
}

static void
club_careful(struct sim_world *world)
{
    club_setup(world, false);
}

static void
club_careless(struct sim_world *world)
{
    club_setup(world, true);
}

static const struct sim_scenario good_club = {.name = "test/club", .setup = club_careful};
static const struct sim_scenario bad_club = {.name = "test/bad-club", .setup = club_careless};

/*
 * Goal: the drop of a waker may call back at once, for any task.
 * Method: as above, with a walk that drops. Without reentrancy both forms fail equally often, by a
 * cancelled clerk; with it the careless one fails more often. Holds W7.
 */
TEST(reentrancy_finds_a_walk_that_a_drop_can_break)
{
    uint64_t faults = SIM_FAULT_CANCEL | SIM_FAULT_REENTRANCY;
    EXPECT_EQ(failures(&good_club, SIM_FAULT_REENTRANCY), 0);
    EXPECT_EQ(failures(&bad_club, SIM_FAULT_CANCEL), failures(&good_club, SIM_FAULT_CANCEL));
    ck_assert_uint_gt(failures(&bad_club, faults), failures(&good_club, faults));
}

/* ---- Items that are never taken. ------------------------------------------------------------- */

#define LEFT 3u

struct shop {
    struct rt_channel channel;
    uint32_t ring[LEFT];
    uint32_t destroyed[LEFT];
    struct rt_task clearers[2];
};

static void
destroy_item(const void *item, void *argument)
{
    struct shop *shop = argument;
    shop->destroyed[*(const uint32_t *)item]++;
}

static rt_poll
clear_shop(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

static void
clear_first(struct rt_task *task)
{
    (void)rt_channel_clear(&rt_container_of(task, struct shop, clearers[0])->channel);
}

static void
clear_second(struct rt_task *task)
{
    (void)rt_channel_clear(&rt_container_of(task, struct shop, clearers[1])->channel);
}

static void
shop_setup(struct sim_world *world)
{
    static void (*const cleanups[2])(struct rt_task * task) = {clear_first, clear_second};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct shop *shop = sim_new(world, struct shop);
    struct rt_channel_config config = {.ring = shop->ring,
            .item_size = sizeof(uint32_t),
            .capacity = LEFT,
            .destroy = destroy_item,
            .argument = shop};
    rt_channel_init(&shop->channel, &config);
    for (uint32_t i = 0; i < LEFT; i++) {
        EXPECT_EQ(rt_channel_try_send(&shop->channel, &i), RT_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        rt_task_init(&shop->clearers[i], clear_shop, cleanups[i], "clearer");
        sim_spawn(rt, &shop->clearers[i]);
    }
    sim_set_state(world, shop);
}

static uint32_t shops_within;

static void
shop_check(struct sim_world *world, void *state)
{
    const struct shop *shop = state;
    (void)world;
    for (uint32_t i = 0; i < LEFT; i++) {
        SIM_ALWAYS(shop->destroyed[i] == 1);
    }
    shops_within += shop->clearers[0].end == RT_TASK_CANCELLED;
    shops_within += shop->clearers[1].end == RT_TASK_CANCELLED;
}

static const struct sim_scenario shop = {
        .name = "test/shop", .setup = shop_setup, .check = shop_check};

/* Goal: an item's destructor may call into the channel, and nothing is destroyed twice.
 * Method: a second clear from within the first one, by reentrancy. Holds K2, W7. */
TEST(reentrancy_clears_a_channel_that_is_being_cleared)
{
    shops_within = 0;
    EXPECT_EQ(failures(&shop, SIM_FAULT_CANCEL | SIM_FAULT_REENTRANCY), 0);
    ck_assert_uint_gt(shops_within, 10);
}
