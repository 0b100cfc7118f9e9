/*
 * run_test.c -- a run out of the database is the run that was put in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/run.h"

#include <string.h>

#include "sim/tests/store/store_box.h"

#define READER SIM_OBJECT(RT_OBJECT_TASK, 0, 0)
#define WRITER SIM_OBJECT(RT_OBJECT_TASK, 0, 1)
#define SLOT SIM_OBJECT(RT_OBJECT_SLOT, 1, 0)

static void
add(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t kind, uint32_t object,
        uint64_t argument)
{
    struct sim_event event = {.step = step,
            .actor = actor,
            .kind = (uint8_t)kind,
            .object = object,
            .argument = argument};
    event.cause = kind == RT_PROBE_POLL && argument > 0 ? (uint32_t)argument : 0;
    event.argument = kind == RT_PROBE_POLL ? 0 : argument;
    sim_record(recorder, &event);
}

/* The reader stores a waker and sleeps; the writer fires it; the reader is polled again. */
static void
tell_wake(struct sim_recorder *recorder)
{
    add(recorder, 0, 0, SIM_EVENT_ACTOR, READER, (uint64_t)SIM_ACTOR_TASK << 32);
    recorder->memory.events[0].actor = 1;
    add(recorder, 0, 2, SIM_EVENT_ACTOR, WRITER, (uint64_t)SIM_ACTOR_TASK << 32 | 1);
    add(recorder, 1, 1, SIM_EVENT_STEP, 0, 0);
    add(recorder, 1, 1, RT_PROBE_POLL, READER, 0);
    add(recorder, 1, 1, RT_PROBE_STORE, SLOT, READER);
    add(recorder, 1, 1, RT_PROBE_POLLED, READER, 0);
    add(recorder, 1, 1, SIM_EVENT_CLOCK, 0, 5000);
    add(recorder, 2, 2, SIM_EVENT_STEP, 0, 5000);
    add(recorder, 2, 2, RT_PROBE_POLL, WRITER, 0);
    add(recorder, 2, 2, RT_PROBE_FIRE, SLOT, READER);
    add(recorder, 2, 2, RT_PROBE_WAKE, READER, 0);
    add(recorder, 2, 2, RT_PROBE_WAKE, READER, 1);
    add(recorder, 2, 2, RT_PROBE_POLLED, WRITER, 1);
    add(recorder, 3, 1, SIM_EVENT_STEP, 0, 5100);
    add(recorder, 3, 1, RT_PROBE_POLL, READER, 2);
    add(recorder, 3, 1, RT_PROBE_WAKE, WRITER, 0);
}

TEST(run_has_steps_actors_wakes_and_waits)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    struct report_places places;
    static struct report_run run;
    tell_wake(&recorder);
    box_say(&recorder, SIM_TEXT_ACTOR, 1, "reader");
    box_say(&recorder, SIM_TEXT_ACTOR, 2, "<script>");
    int64_t number = box_store_run(store, &recorder);
    MUST(report_places_load(store, &places));
    MUST(report_run_load(store, number, &places, &run));

    EXPECT_EQ(run.actors_count, 3);
    EXPECT_STR(run.actors[1].name, "reader");
    EXPECT_STR(run.actors[2].name, "<script>"); /* As it is: pages escape it. */
    EXPECT_STR(run.actors[1].kind, "task");
    EXPECT_EQ(run.actors[1].lane, 0);
    EXPECT_EQ(run.actors[0].lane, 2);
    EXPECT_EQ(run.steps_count, 4);
    EXPECT_EQ(run.steps[2].step, 2);
    EXPECT_EQ(run.steps[2].time_ns, 5000);
    EXPECT_EQ(run.steps[2].jump_ns, 5000);
    EXPECT_EQ(run.steps[3].actor, 1);
    EXPECT_EQ(run.steps[3].cause, 2);
    EXPECT_EQ(report_run_step(&run, 3)->first, 13);
    EXPECT(report_run_step(&run, 4) == NULL);

    EXPECT_EQ(run.wakes_count, 3);
    EXPECT_EQ(run.wakes[0].how, SIM_WAKE_QUEUED);
    EXPECT_EQ(run.wakes[0].actor, 2);
    EXPECT_EQ(run.wakes[0].woken, 1);
    EXPECT_EQ(run.wakes[0].poll_step, 3);
    EXPECT_EQ(run.wakes[1].how, SIM_WAKE_COALESCED);
    EXPECT_EQ(run.wakes[1].poll_step, 3);
    EXPECT_EQ(run.wakes[2].poll_step, 0); /* No task was polled for it. */
    EXPECT_EQ(run.ledger.count, 1);
    EXPECT_EQ(run.ledger.waits[0].end, SIM_WAIT_FIRED);
    EXPECT_EQ(run.outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    report_run_free(&run);
    report_places_free(&places);
    sim_store_close(&store);
}

/* Goal: a reader sees which tasks the scheduler had to choose from. */
TEST(run_task_is_runnable_from_its_wake_to_the_end_of_its_poll)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    const struct report_places places = {.count = 0};
    static struct report_run run;
    uint8_t ready[3] = {0};
    char said[64] = "";
    tell_wake(&recorder);
    add(&recorder, 3, 1, RT_PROBE_WAKE, READER, 2); /* During its poll: it is queued again. */
    add(&recorder, 3, 1, RT_PROBE_POLLED, READER, 0);
    MUST(report_run_load(store, box_store_run(store, &recorder), &places, &run));
    REPORT_EVENTS(&run, i)
    {
        report_run_ready(&run, i, ready);
        said[i] = ready[1] != 0 ? ready[2] != 0 ? 'b' : 'r' : ready[2] != 0 ? 'w' : '-';
    }
    EXPECT_STR(said, "---rr---wwbbrrrbbb");
    report_run_free(&run);
    sim_store_close(&store);
}

TEST(run_without_events_is_its_outcome)
{
    struct sim_store *store = box_new();
    struct report_places places;
    struct report_run run;
    int64_t number = box_store_run(store, NULL);
    MUST(report_places_load(store, &places));
    MUST(report_run_load(store, number, &places, &run));
    EXPECT_EQ(run.steps_count, 0);
    EXPECT_EQ(run.wakes_count, 0);
    EXPECT_EQ(run.outcome.missing_wake_step, 5);
    report_run_free(&run);
    EXPECT_EQ(report_run_load(store, number + 1, &places, &run), SIM_STORE_UNKNOWN);
    EXPECT_EQ(report_run_load(store, -number, &places, &run), SIM_STORE_UNKNOWN);
    report_places_free(&places);
    sim_store_close(&store);
}

/* Goal: a database from anywhere never makes the reader go wrong. */
TEST(run_survives_a_damaged_record)
{
    static const char *const damages[] = {
            "UPDATE event_words SET await_actor_kind = -1",
            "UPDATE event_words SET step_cause = 4294967295 - id",
            "UPDATE event_words SET object_site = id * 2654435761",
            "UPDATE details SET first_n = -7, stored = 1000000",
            "UPDATE details SET first_n = 9, stored = 13",
            "UPDATE runs SET actor = 70000, object = -1, fail_step = -1, missing_wake_step = 1 << "
            "40",
            "UPDATE texts SET which = -which",
            "UPDATE details SET actor_name = printf('%.2000c', 'x')",
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        struct sim_store *store = i == 0 ? box_new() : box_open(SIM_STORE_WRITE);
        struct sim_recorder recorder = box_recorder();
        struct report_places places;
        static struct report_run run;
        tell_wake(&recorder);
        int64_t number = box_store_run(store, &recorder);
        box_other_program(damages[i]);
        MUST(report_places_load(store, &places));
        MUST(report_run_load(store, number, &places, &run));
        report_run_free(&run);
        report_places_free(&places);
        sim_store_close(&store);
    }
}
