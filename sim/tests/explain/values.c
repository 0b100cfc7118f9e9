/*
 * values.c -- assertions that fail because of a value: who wrote it, or who should have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include <string.h>

#include "sim/core/world.h"
#include "sim/rewake.h"

#line 1 "hand/values.c"

/* ---- Two pay into one purse; one may pause between its read and its write. ------------------- */

struct purse {
    uint32_t sum;
    uint32_t payers;
};

__attribute__((noinline)) static void
purse_pay(struct sim_world *world, struct purse *purse)
{
    uint32_t sum = purse->sum;
    if (sim_pick(world, 2) != 0) {
        sim_sleep(world, 10 * RT_MS);
    }
    purse->sum = sum + 1;
}

static void
purse_main(struct sim_world *world, void *argument)
{
    struct purse *purse = argument;
    sim_sleep(world, ++purse->payers * RT_MS);
    purse_pay(world, purse);
    if (--purse->payers == 0) {
        SIM_ALWAYS(purse->sum == 2);
    }
}

static void
purse_setup(struct sim_world *world)
{
    struct purse *purse = sim_new(world, struct purse);
    (void)sim_loop_new(world, "first", purse_main, purse);
    (void)sim_loop_new(world, "second", purse_main, purse);
}

const struct sim_scenario explain_purse = {.name = "explain/purse", .setup = purse_setup};

/* ---- A bell rings when the one who would hear it may be at another door. --------------------- */

struct doors {
    struct rt_task guest;
    struct rt_slot slots[2];
    struct sim_world *world;
    uint32_t at;
    uint32_t door;
    bool rings;
    bool heard;
};

static rt_poll
doors_wait(struct doors *doors, struct rt_cx *cx)
{
    if (doors->rings) {
        return RT_READY;
    }
    rt_slot_replace(&doors->slots[doors->door], cx, "the bell");
    return RT_PENDING;
}

static rt_poll
doors_guest_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct doors *doors = rt_container_of(task, struct doors, guest);
    RT_BEGIN(doors->at);
    doors->door = (uint32_t)sim_pick(doors->world, 2);
    RT_AWAIT_HERE(doors->at, doors_wait(doors, cx));
    doors->heard = true;
    RT_END(doors->at);
}

static void
doors_ring(struct doors *doors)
{
    doors->rings = true;
    (void)rt_slot_wake(&doors->slots[0]);
}

static void
doors_ringer(struct sim_world *world, void *argument)
{
    struct doors *doors = argument;
    sim_sleep(world, RT_MS);
    doors_ring(doors);
    sim_sleep(world, RT_MS);
    SIM_ALWAYS(doors->heard);
}

static void
doors_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct doors *doors = sim_new(world, struct doors);
    doors->world = world;
    rt_slot_init(&doors->slots[0]);
    rt_slot_init(&doors->slots[1]);
    rt_task_init(&doors->guest, doors_guest_poll, NULL, "guest");
    sim_spawn(rt, &doors->guest);
    (void)sim_loop_new(world, "ringer", doors_ringer, doors);
}

const struct sim_scenario explain_doors = {.name = "explain/doors", .setup = doors_setup};

/* ---- What is checked at the end was computed from what was drawn. ---------------------------- */

struct scale {
    uint32_t weight;
    uint32_t sum;
};

static void
scale_main(struct sim_world *world, void *argument)
{
    struct scale *scale = argument;
    scale->weight = sim_pick(world, 2) != 0 ? 3 : 5;
    sim_sleep(world, RT_MS);
    scale->sum = 2 * scale->weight;
}

static void
scale_check(struct sim_world *world, void *argument)
{
    const struct scale *scale = argument;
    (void)world;
    SIM_ALWAYS(scale->sum == 10);
}

static void
scale_setup(struct sim_world *world)
{
    struct scale *scale = sim_new(world, struct scale);
    (void)sim_loop_new(world, "weigher", scale_main, scale);
    sim_set_state(world, scale);
}

const struct sim_scenario explain_scale = {
        .name = "explain/scale", .setup = scale_setup, .check = scale_check};

/* ---- A loop goes round until another stops it, which may forget to. -------------------------- */

struct mill {
    uint32_t turns;
    bool stop;
};

__attribute__((noinline)) static int
mill_turn(struct sim_world *world, struct mill *mill)
{
    sim_sleep(world, RT_US);
    mill->turns++;
    return 1;
}

static void
mill_main(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    while (mill_turn(world, mill) == 1 && !mill->stop) {
    }
}

static void
mill_keeper(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    sim_sleep(world, 10 * RT_US);
    if (sim_pick(world, 2) == 0) {
        mill->stop = true;
    }
}

static void
mill_setup(struct sim_world *world)
{
    struct mill *mill = sim_new(world, struct mill);
    (void)sim_loop_new(world, "mill", mill_main, mill);
    (void)sim_loop_new(world, "keeper", mill_keeper, mill);
}

const struct sim_scenario explain_mill = {.name = "explain/mill", .setup = mill_setup};

/* ---- A reader chooses a book, waits, and takes that of this number; another takes one. ------- */

#define SHELF_BOOKS 3u

struct shelf {
    uint32_t books[SHELF_BOOKS];
    uint32_t count;
    uint32_t taken;
};

static uint32_t
shelf_last(const struct shelf *shelf)
{
    return shelf->count - 1;
}

__attribute__((noinline)) static void
shelf_read(struct sim_world *world, struct shelf *shelf)
{
    uint32_t chosen = shelf_last(shelf);
    sim_sleep(world, 10 * RT_MS);
    shelf->taken += shelf->books[chosen];
}

static void
shelf_reader(struct sim_world *world, void *argument)
{
    struct shelf *shelf = argument;
    shelf_read(world, shelf);
    SIM_ALWAYS(shelf->taken == SHELF_BOOKS);
}

__attribute__((noinline)) static void
shelf_borrow(struct shelf *shelf)
{
    shelf->books[--shelf->count] = 0;
}

static void
shelf_borrower(struct sim_world *world, void *argument)
{
    sim_sleep(world, (1 + 20 * sim_pick(world, 2)) * RT_MS);
    shelf_borrow(argument);
}

static void
shelf_setup(struct sim_world *world)
{
    struct shelf *shelf = sim_new(world, struct shelf);
    for (; shelf->count < SHELF_BOOKS; shelf->count++) {
        shelf->books[shelf->count] = shelf->count + 1;
    }
    (void)sim_loop_new(world, "reader", shelf_reader, shelf);
    (void)sim_loop_new(world, "borrower", shelf_borrower, shelf);
}

const struct sim_scenario explain_shelf = {.name = "explain/shelf", .setup = shelf_setup};

/* ---- A form is overwritten by a copy as a whole, before or after it is filled in. ------------ */

struct form {
    uint64_t fields[6];
};

struct office {
    struct form form;
    struct form blank;
};

__attribute__((noinline)) static void
office_reset(struct office *office)
{
    volatile size_t size = sizeof(office->form); /* So that it is a call. */
    memcpy(&office->form, &office->blank, size);
}

static void
office_cleaner(struct sim_world *world, void *argument)
{
    sim_sleep(world, (1 + 20 * sim_pick(world, 2)) * RT_MS);
    office_reset(argument);
}

static void
office_clerk(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    sim_sleep(world, 10 * RT_MS);
    office->form.fields[4] = 7;
    sim_sleep(world, 20 * RT_MS);
    SIM_ALWAYS(office->form.fields[4] == 7);
}

static void
office_setup(struct sim_world *world)
{
    struct office *office = sim_new(world, struct office);
    (void)sim_loop_new(world, "clerk", office_clerk, office);
    (void)sim_loop_new(world, "cleaner", office_cleaner, office);
}

const struct sim_scenario explain_office = {.name = "explain/office", .setup = office_setup};
