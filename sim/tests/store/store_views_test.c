/*
 * store_views_test.c -- the views of schema.sql over traces made by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#define READER SIM_OBJECT(RT_OBJECT_TASK, 0, 0)
#define WRITER SIM_OBJECT(RT_OBJECT_TASK, 0, 1)
#define REPLY SIM_OBJECT(RT_OBJECT_SLOT, 2, 0)
#define OTHER SIM_OBJECT(RT_OBJECT_SLOT, 2, 1)

static void
happen(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t kind, uint32_t object,
        uint64_t argument)
{
    const struct sim_event event = {.step = step,
            .object = object,
            .actor = actor,
            .kind = (uint8_t)kind,
            .argument = argument};
    sim_record(recorder, &event);
}

static void
poll_of(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t task, uint32_t cause)
{
    happen(recorder, step, actor, SIM_EVENT_STEP, 0, (uint64_t)step * 100);
    const struct sim_event event = {
            .step = step, .cause = cause, .object = task, .actor = actor, .kind = RT_PROBE_POLL};
    sim_record(recorder, &event);
}

/*
 * The reader (actor 2) waits twice for its reply; the first wait is fired by the writer (actor 3),
 * the second one erased. A place that it shares with the writer is fought for.
 */
static void
tell_story(struct sim_recorder *recorder)
{
    box_say(recorder, SIM_TEXT_ACTOR, 2, "reader");
    box_say(recorder, SIM_TEXT_ACTOR, 3, "writer");
    box_say(recorder, SIM_TEXT_OBJECT, READER, "reader");
    box_say(recorder, SIM_TEXT_OBJECT, REPLY, "the reply");
    happen(recorder, 0, 2, SIM_EVENT_ACTOR, READER, UINT64_C(1) << 32 | 77);
    poll_of(recorder, 1, 2, READER, 0);
    happen(recorder, 1, 2, RT_PROBE_STORE, REPLY, READER);
    happen(recorder, 1, 2, RT_PROBE_STORE, OTHER, READER);
    happen(recorder, 1, 2, RT_PROBE_POLLED, READER, 0);
    poll_of(recorder, 2, 3, WRITER, 0);
    happen(recorder, 2, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(recorder, 2, 3, RT_PROBE_WAKE, READER, 0);
    happen(recorder, 2, 3, RT_PROBE_REPLACE, OTHER, READER);
    happen(recorder, 2, 3, RT_PROBE_STORE, OTHER, WRITER);
    happen(recorder, 2, 3, RT_PROBE_POLLED, WRITER, 0);
    happen(recorder, 3, 1, RT_PROBE_WAKE, READER, 1);
    poll_of(recorder, 4, 2, READER, 2);
    happen(recorder, 4, 2, RT_PROBE_CLONE, READER, READER);
    happen(recorder, 4, 2, RT_PROBE_STORE, REPLY, READER);
    happen(recorder, 4, 2, RT_PROBE_POLLED, READER, 0);
    poll_of(recorder, 5, 3, WRITER, 0);
    happen(recorder, 5, 3, RT_PROBE_ERASE, REPLY, READER);
    happen(recorder, 5, 3, RT_PROBE_DROP, READER, READER);
    happen(recorder, 5, 3, RT_PROBE_POLLED, WRITER, 1);
    happen(recorder, 5, 3, RT_PROBE_ERASE, OTHER, WRITER);
}

static void
store_story(void)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    tell_story(&recorder);
    (void)box_store_run(store, &recorder);
    sim_store_close(&store);
}

#define LEDGER(task) \
    "SELECT group_concat(wait || ' ' || coalesce(object, '-') || ' ' || opened || '-' ||" \
    " coalesce(closed, '') || ' ' || how || ' ' || coalesce(closed_by, '-'), ', ')" \
    " FROM (SELECT * FROM wake_ledger WHERE run = 1 AND task = '" task "' ORDER BY opened_n)"

TEST(store_wake_ledger_tells_the_end_of_each_wait)
{
    store_story();
    EXPECT_STR(box_ask_text(LEDGER("reader")), "1 the reply 1-2 fired writer,"
                                               " 2 slot 2.1 1-2 replaced writer,"
                                               " 3 - 4-5 dropped writer,"
                                               " 4 the reply 4-5 erased writer");
    EXPECT_STR(box_ask_text(LEDGER("writer")), "1 slot 2.1 2-5 ended writer");
}

/* Ends whose stores the ring has lost must not be taken for the ends of others. */
TEST(store_wake_ledger_leaves_ends_without_beginning_out)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    happen(&recorder, 7, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 8, 3, RT_PROBE_ERASE, REPLY, READER);
    happen(&recorder, 9, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 9, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 10, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 10, 3, RT_PROBE_WAKE, READER, 0);
    (void)box_store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(box_ask_text(LEDGER("task 0.0")),
            "1 slot 2.0 9-10 fired actor 3, 2 slot 2.0 9- open -");
}

/* A wake just after a fire is that of the fire; another one is a clone's. */
TEST(store_wake_ledger_gives_each_wake_to_one_waker)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    happen(&recorder, 1, 2, RT_PROBE_CLONE, READER, READER);
    happen(&recorder, 1, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 2, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 2, 3, RT_PROBE_WAKE, READER, 0);
    happen(&recorder, 3, 4, RT_PROBE_WAKE, READER, 1);
    (void)box_store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(box_ask_text(LEDGER("task 0.0")),
            "1 - 1-3 fired actor 4, 2 slot 2.0 1-2 fired actor 3");
}

TEST(store_lost_wakeups_name_the_last_wait)
{
    store_story();
    EXPECT_STR(
            box_ask_text("SELECT actor || ': ' || waits_for || ' since ' || waits_since || ', ' ||"
                         " its_waker || ' at ' || closed_step || ' by ' || closed_by ||"
                         " ', owed at ' || missing_wake_step FROM lost_wakeups WHERE run = 1"),
            "reader: the reply since 4, erased at 5 by writer, owed at 5");
}

/* Most failures are only rows: they are listed too. */
TEST(store_lost_wakeups_list_runs_without_events)
{
    struct sim_store *store = box_new();
    const struct sim_run_row row = {.seed = 5,
            .verdict = SIM_VERDICT_LOST_WAKEUP,
            .oracle = SIM_ORACLE_REWAKE,
            .actor = 2,
            .fail_step = 8,
            .news = SIM_NEWS_FAILED};
    MUST(sim_store_runs(store, box_sweep(store), &row, 1, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(
            box_ask("SELECT count(*) FROM lost_wakeups WHERE fail_step = 8 AND its_waker IS NULL"),
            1);
    EXPECT_EQ(box_ask("SELECT count(*) FROM failures WHERE verdict = 'lost-wakeup'"), 1);
}

TEST(store_wake_edges_and_latency_go_from_wake_to_poll)
{
    store_story();
    EXPECT_EQ(box_ask("SELECT count(*) FROM wake_edges"), 1);
    EXPECT_STR(box_ask_text("SELECT wake_step || '>' || poll_step || ' ' || waker_actor || '>' ||"
                            " polled_actor FROM wake_edges"),
            "2>4 3>2");
    EXPECT_EQ(box_ask("SELECT count(*) FROM poll_latency"), 1);
    EXPECT_STR(
            box_ask_text("SELECT woken_step || ' ' || polled_step || ' ' || latency_steps || ' ' ||"
                         " latency_ns FROM poll_latency"),
            "2 4 2 200");
}

TEST(store_words_of_the_trace_need_no_table_of_numbers)
{
    store_story();
    EXPECT_STR(
            box_ask_text("SELECT group_concat(actor || ' ' || kind || ' ' || coalesce(object, '-'))"
                         " FROM trace WHERE run = 1 AND step = 2 AND kind IN ('fire', 'replace')"),
            "writer fire the reply,writer replace slot 2.1");
    EXPECT_STR(box_ask_text("SELECT name || ' ' || kind || ' ' || id FROM actors WHERE actor = 2"),
            "reader task 77");
    EXPECT_EQ(box_ask("SELECT time_ns FROM steps WHERE run = 1 AND step = 4"), 400);
    EXPECT_STR(box_ask_text("SELECT name || kind || creator FROM objects WHERE object >> 28 = 2"
                            " ORDER BY object"),
            "the replyslot2");
}
