/*
 * embassy-3758.c -- an interrupt is acknowledged after it was handled, which clears the next one
 * too.
 *
 * embassy-rs/embassy#3758 (commit 13b205e); embassy-rs/embassy#6528 is the same elsewhere.
 *
 * The bug. The handler of the timer's interrupt wakes what is due, sets the comparator to the next
 * deadline, and then clears the interrupt. If the counter reaches the new deadline between the
 * last two, the hardware sets the bit that is then cleared. There is no second match, and no alarm
 * fires again.
 *
 * The fix. Clear first, then check: on_interrupt below.
 *
 * Here. A controller blinks at fixed deadlines, some milliseconds or some microseconds apart.
 * Writing the comparator takes the bus some time.
 *
 * Cause: order, counter_main before pending_clear or fired-early in counter_main
 * Must end in: deadlock of the controller, with an expired deadline. Fails on the baseline run:
 * no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ALARMS 6u

/* ---- The hardware: a counter (the clock), a comparator, and an interrupt's bit. -------------- */

struct chip {
    struct sim_world *world;
    struct sim_loop *counter;
    struct sim_loop *processor;
    bool armed;
    uint64_t compare_ns;
    bool pending; /* The bit. */
};

/* A write takes the bus some time, while the counter runs. */
static void
bus_write(struct chip *chip)
{
    sim_sleep(chip->world, 2 * RT_US);
}

static void
counter_main(struct sim_world *world, void *argument)
{
    struct chip *chip = argument;
    for (;;) {
        if (!chip->armed) {
            sim_loop_block(world, 0, "a value to compare with", RT_HERE);
        } else if (sim_now(world) < chip->compare_ns) {
            sim_sleep(world, chip->compare_ns - sim_now(world));
        } else {
            chip->armed = false;
            chip->pending = true;
            sim_loop_wake(chip->processor);
        }
    }
}

static void
compare_set(struct chip *chip, uint64_t compare_ns)
{
    chip->compare_ns = compare_ns;
    chip->armed = true;
    sim_loop_wake(chip->counter);
    bus_write(chip);
}

static void
pending_clear(struct chip *chip)
{
    chip->pending = false;
    bus_write(chip);
}

/* Until the bit is set. */
static void
wait_for_interrupt(struct chip *chip)
{
    while (!chip->pending) {
        sim_loop_block(chip->world, 0, "an interrupt", RT_HERE);
    }
}

/* ---- The driver, and its program. ------------------------------------------------------------ */

struct state {
    struct chip chip;
    uint64_t deadlines_ns[ALARMS];
    uint32_t next;
    bool broken;
};

static void
check_alarm(struct state *state)
{
    while (state->next < ALARMS && state->deadlines_ns[state->next] <= sim_now(state->chip.world)) {
        state->next++; /* Blink. */
    }
    if (state->next < ALARMS) {
        compare_set(&state->chip, state->deadlines_ns[state->next]);
    }
}

static void
on_interrupt(struct state *state)
{
    if (!state->broken) {
        pending_clear(&state->chip);
    }
    check_alarm(state);
    if (state->broken) {
        pending_clear(&state->chip);
    }
}

static void
processor_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    check_alarm(state);
    while (state->next < ALARMS) {
        wait_for_interrupt(&state->chip);
        on_interrupt(state);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const uint64_t apart_ns[] = {2 * RT_MS, 100 * RT_US, 5 * RT_US, RT_US};
    struct state *state = sim_new(world, struct state);
    uint64_t at_ns = 0;
    for (uint32_t i = 0; i < ALARMS; i++) {
        at_ns += apart_ns[sim_pick(world, 4)];
        state->deadlines_ns[i] = at_ns;
    }
    state->broken = broken;
    state->chip.world = world;
    state->chip.counter = sim_loop_new_background(world, "counter", counter_main, &state->chip);
    state->chip.processor = sim_loop_new(world, "processor", processor_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_embassy_3758_broken, .name = "zoo/embassy-3758/broken", .bug = "E19",
        .reference = "embassy-rs/embassy#3758",
        .about = "An interrupt is cleared after the alarm was set again.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_embassy_3758_fixed, .name = "zoo/embassy-3758/fixed",
        .about = "An interrupt is cleared before the alarm is set again.", .setup = setup_fixed);
