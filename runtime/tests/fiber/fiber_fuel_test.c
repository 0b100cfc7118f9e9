/*
 * fiber_fuel_test.c -- what a guest may use: units of fuel, epochs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/tests/fiber/fiber_bed.h"

/* Loops arguments[0] times at arguments[1] units a turn; the result is how often it was let. */
static void
loop_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < arguments[0]; i++) {
        if (!rt_guest_check(guest, arguments[1])) {
            return;
        }
        results[0]++;
    }
}

/* Runs a loop of `turns` at `units` each; the polls that it took. */
static unsigned
run_loop(struct fiber_bed *bed, uint64_t turns, uint64_t units)
{
    bed->arguments[0] = turns;
    bed->arguments[1] = units;
    bed->result = NO_RESULT;
    bed->trap = NO_TRAP;
    fiber_bed_call(bed, loop_guest);
    unsigned polls = fiber_bed_finish(bed);
    rt_call_delete(&bed->call);
    return polls;
}

/*
 * Goal: without an interval a guest runs through, and pays exactly.
 * Method: 1,000 turns of 7 units; 7,000 are gone, in one poll. Holds F5.
 */
TEST(fuel_without_interval_never_yields)
{
    struct fiber_bed *bed = fiber_bed_new();
    EXPECT(rt_fuel_get(&bed->store) == RT_FUEL_MAX);
    EXPECT_EQ(run_loop(bed, 1000, 7), 1);
    EXPECT(rt_fuel_get(&bed->store) == RT_FUEL_MAX - 7000);
    rt_fuel_set(&bed->store, 10000);
    EXPECT_EQ(run_loop(bed, 1000, 7), 1);
    EXPECT_EQ(bed->result, 1000);
    EXPECT_EQ(rt_fuel_get(&bed->store), 3000);
    fiber_bed_free(&bed);
}

/*
 * Goal: with an interval a guest yields whenever so much is used up, and what is left is exact at
 * each yield.
 * Method: 100 turns of 1 unit, interval 10; at each of ten yields ask for the fuel. Holds F2, F5.
 */
TEST(fuel_interval_yields_and_accounts_exactly)
{
    struct fiber_bed *bed = fiber_bed_new();
    rt_fuel_set(&bed->store, 1000);
    rt_fuel_yield_interval(&bed->store, 10);
    bed->arguments[0] = 100;
    bed->arguments[1] = 1;
    fiber_bed_call(bed, loop_guest);
    for (unsigned yields = 1; yields <= 10; yields++) {
        EXPECT(!rt_call_poll(&bed->call));
        EXPECT_EQ(rt_fuel_get(&bed->store), 1000 - 10 * yields);
        EXPECT_EQ(bed->call.kept[0], 10 * yields - 1);
    }
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->result, 100);
    EXPECT_EQ(rt_fuel_get(&bed->store), 900);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

/*
 * Goal: a debit larger than the chunk is charged in full, and yields once.
 * Method: turns of 25 units with interval 10: each is one yield, each takes 25. Holds F5.
 */
TEST(fuel_overshoot_is_charged_to_the_total)
{
    struct fiber_bed *bed = fiber_bed_new();
    rt_fuel_set(&bed->store, 1000);
    rt_fuel_yield_interval(&bed->store, 10);
    EXPECT_EQ(run_loop(bed, 4, 25), 5);
    EXPECT_EQ(bed->trap, RT_TRAP_NONE);
    EXPECT_EQ(rt_fuel_get(&bed->store), 900);
    EXPECT_EQ(run_loop(bed, 1, 2000), 1);
    EXPECT_EQ(bed->trap, RT_TRAP_OUT_OF_FUEL);
    EXPECT_EQ(rt_fuel_get(&bed->store), 0);
    fiber_bed_free(&bed);
}

/*
 * Goal: no fuel is a trap, with and without yields.
 * Method: 100 turns of which 50 can be paid; then a store that has nothing. Holds F5.
 */
TEST(fuel_used_up_is_a_trap_also_with_yields)
{
    struct fiber_bed *bed = fiber_bed_new();
    for (uint64_t interval = 0; interval <= 10; interval += 10) {
        rt_fuel_yield_interval(&bed->store, interval);
        rt_fuel_set(&bed->store, 50);
        EXPECT_EQ(run_loop(bed, 100, 1), interval == 0 ? 1 : 5);
        EXPECT_EQ(bed->trap, RT_TRAP_OUT_OF_FUEL);
        EXPECT_EQ(bed->result, NO_RESULT);
        EXPECT_EQ(rt_fuel_get(&bed->store), 0);
        EXPECT_EQ(run_loop(bed, 1, 1), 1);
        EXPECT_EQ(bed->trap, RT_TRAP_OUT_OF_FUEL);
    }
    fiber_bed_free(&bed);
}

/*
 * Goal: total and interval can be changed at any time and the sum stays.
 * Method: random settings, debits and questions, against one number that counts down. Holds F5.
 */
TEST(fuel_under_random_settings_agrees_with_one_number)
{
    struct fiber_bed *bed = fiber_bed_new();
    uint64_t state = 5;
    uint64_t model = RT_FUEL_MAX;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t units = bed_below(&state, 200);
        switch (bed_below(&state, 8)) {
        case 0:
            model = bed_below(&state, 4) == 0 ? RT_FUEL_MAX : bed_below(&state, 3000);
            rt_fuel_set(&bed->store, model);
            break;
        case 1:
            rt_fuel_yield_interval(&bed->store, bed_below(&state, 3) == 0 ? 0 : units);
            break;
        default:
            (void)run_loop(bed, 1, units);
            EXPECT_EQ(bed->trap, units < model ? RT_TRAP_NONE : RT_TRAP_OUT_OF_FUEL);
            model -= units < model ? units : model;
            break;
        }
        EXPECT(rt_fuel_get(&bed->store) == model);
    }
    fiber_bed_free(&bed);
}

static void
count(void *argument, uint64_t units)
{
    struct fiber_bed *bed = argument;
    bed->charged += units;
}

/*
 * Goal: a simulation of a guest's time gets each unit.
 * Method: a hook that adds up; a thousand turns of three. Holds F5.
 */
TEST(fuel_charged_is_reported_to_the_hook)
{
    struct fiber_bed *bed = fiber_bed_new();
    struct rt_engine engine;
    struct rt_store store;
    struct rt_engine_config config = bed->engine.config;
    config.on_charge = count;
    config.charge_argument = bed;
    rt_engine_init(&engine, &config);
    rt_store_init(&store, &engine, bed);
    rt_fuel_yield_interval(&store, 100);
    bed->arguments[0] = 1000;
    bed->arguments[1] = 3;
    struct rt_call_config call = fiber_bed_config(bed, loop_guest);
    EXPECT_EQ(rt_call_init(&bed->call, &store, &call), RT_OK);
    (void)fiber_bed_finish(bed);
    EXPECT_EQ(bed->result, 1000);
    EXPECT_EQ(bed->charged, 3000);
    rt_call_delete(&bed->call);
    rt_store_fini(&store);
    rt_engine_fini(&engine);
    fiber_bed_free(&bed);
}

/* ---- Epochs. --------------------------------------------------------------------------------- */

/* Loops; each turn a tick comes when arguments[1] says so. */
static void
ticked_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct fiber_bed *bed = guest->store->data;
    for (uint64_t i = 0; i < arguments[0]; i++) {
        if (arguments[1] != 0) {
            rt_epoch_tick(&bed->engine);
        }
        if (!rt_guest_check(guest, 1)) {
            return;
        }
        results[0]++;
    }
}

/*
 * Goal: a deadline that is reached traps where nothing else was asked for.
 * Method: a deadline two epochs ahead; the second tick of the loop ends it. Holds F6.
 */
TEST(epoch_deadline_without_a_policy_traps)
{
    struct fiber_bed *bed = fiber_bed_new();
    bed->arguments[0] = 10;
    bed->arguments[1] = 1;
    rt_epoch_deadline(&bed->store, 2);
    fiber_bed_call(bed, ticked_guest);
    EXPECT_EQ(fiber_bed_finish(bed), 1);
    EXPECT_EQ(bed->trap, RT_TRAP_EPOCH);
    EXPECT_EQ(bed->call.kept[0], 1);
    rt_call_delete(&bed->call);
    rt_epoch_deadline(&bed->store, RT_EPOCH_NEVER);
    fiber_bed_call(bed, ticked_guest);
    EXPECT_EQ(fiber_bed_finish(bed), 1);
    EXPECT_EQ(bed->trap, RT_TRAP_NONE);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

/*
 * Goal: with the yielding policy the next deadline counts from the resume.
 * Method: the guest yields at the deadline; before it is resumed the epoch advances by 100. Its new
 * deadline is delta from there, not from the old one. Holds F6.
 */
TEST(epoch_yield_takes_its_next_deadline_on_resume)
{
    struct fiber_bed *bed = fiber_bed_new();
    bed->arguments[0] = 10;
    rt_epoch_yield_every(&bed->store, 3);
    rt_epoch_deadline(&bed->store, 1);
    fiber_bed_call(bed, ticked_guest);
    rt_epoch_tick(&bed->engine);
    EXPECT(!rt_call_poll(&bed->call));
    EXPECT_EQ(bed->call.kept[0], 0);
    for (unsigned i = 0; i < 100; i++) {
        rt_epoch_tick(&bed->engine);
    }
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->result, 10);
    EXPECT_EQ(bed->store.epoch_deadline, 101 + 3);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

/*
 * Goal: a guest that is ticked all the time yields again and again, and ends.
 * Method: a tick at each turn, a yield every 4 epochs: 40 turns take ten yields. Holds F6.
 */
TEST(epoch_ticking_in_a_loop_yields_every_delta)
{
    struct fiber_bed *bed = fiber_bed_new();
    bed->arguments[0] = 40;
    bed->arguments[1] = 1;
    rt_epoch_yield_every(&bed->store, 4);
    rt_epoch_deadline(&bed->store, 4);
    fiber_bed_call(bed, ticked_guest);
    EXPECT_EQ(fiber_bed_finish(bed), 11);
    EXPECT_EQ(bed->result, 40);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}
