/*
 * displaced_waker.c -- two readers share one slot, and the second displaces the waker of the first.
 *
 * Each reader stores its waker in the slot of the arrival and in its own slot. The reader that was
 * polled last is the one that the arrival wakes; it then wakes the other through the other's own
 * slot. So each reader is woken in time, although the shared slot holds one waker only. A spurious
 * poll of the displaced reader stores its waker in the shared slot again. That changes what the
 * reader waits for, and is no progress.
 *
 * fixed: the message arrives after 1 ms. broken: it never arrives. No wake is lost then, as no
 * task could make progress: deadlock in every run, and never lost-wakeup.
 *
 * relay: the reader that is woken first reads for 1 ms, then hands the message to the other. A
 * spurious poll of the displaced reader makes it the first one, so it finishes earlier than
 * without the poll. It has stored again what its own last poll had stored, and has missed no wake.
 *
 * Guards: a changed wait alone is no progress; and a wait is unchanged where the poll stores what
 * the task's own last poll stored.
 * Must end in: pass, for each order and audit rate. broken: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct program;

struct reader {
    struct rt_task task;
    struct program *program;
    struct reader *other;
    struct rt_slot own;
    struct rt_sleep reading;
};

struct program {
    struct rt_slot arrival;
    struct reader *holder; /* Of the message; NULL: no reader has it. */
    bool arrived;
    struct reader readers[2];
    struct rt_task source;
    struct rt_sleep latency;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct program *program = reader->program;
    if (program->arrived && program->holder == NULL) {
        program->holder = reader;
    }
    if (program->holder != reader) {
        rt_slot_replace(&program->arrival, cx, "the message");
        rt_slot_replace(&reader->own, cx, "the other reader");
        return RT_PENDING;
    }
    RT_AWAIT(rt_sleep_poll(&reader->reading, cx));
    program->holder = reader->other;
    rt_slot_wake(&reader->other->own);
    return RT_READY;
}

static rt_poll
source_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, source);
    RT_AWAIT(rt_sleep_poll(&program->latency, cx));
    program->arrived = true;
    rt_slot_wake(&program->arrival);
    return RT_READY;
}

static void
begin(struct sim_world *world, uint64_t latency_ns, uint64_t reading_ns)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    rt_slot_init(&program->arrival);
    for (uint32_t i = 0; i < 2; i++) {
        struct reader *reader = &program->readers[i];
        reader->program = program;
        reader->other = &program->readers[1 - i];
        rt_slot_init(&reader->own);
        rt_sleep_init(&reader->reading, reading_ns);
        rt_task_init(&reader->task, reader_poll, NULL, i == 0 ? "first" : "second");
        sim_spawn(rt, &reader->task);
    }
    rt_sleep_init(&program->latency, latency_ns);
    rt_task_init(&program->source, source_poll, NULL, "source");
    sim_spawn(rt, &program->source);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, RT_NEVER, 0);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, RT_MS, 0);
}

static void
setup_relay(struct sim_world *world)
{
    begin(world, RT_MS, RT_MS);
}

SIM_SCENARIO(oracle_displaced_waker_broken, .name = "oracle/displaced-waker/broken",
        .about = "Two readers share a slot, and the message never arrives.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(oracle_displaced_waker_fixed, .name = "oracle/displaced-waker/fixed",
        .about = "Two readers share a slot; the one that is woken wakes the other.",
        .setup = setup_fixed);
SIM_SCENARIO(oracle_displaced_waker_relay, .name = "oracle/displaced-waker/relay",
        .about = "Two readers share a slot; the one that is woken reads, then hands over.",
        .setup = setup_relay);
