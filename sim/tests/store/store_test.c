/*
 * store_test.c -- the trace database: what goes in comes out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/record/site.h"

TEST(store_sweep_totals_replace_each_other)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    struct sim_sweep_totals totals = {.runs = 10,
            .steps = 100,
            .sim_ns = 1000,
            .digest = UINT64_C(0xfedcba9876543210),
            .elapsed_ms = 3};
    totals.verdicts[SIM_VERDICT_PASS] = 9;
    totals.verdicts[SIM_VERDICT_LEAK] = 1;
    MUST(sim_store_sweep_update(store, sweep, &totals));
    totals.runs = 21;
    totals.verdicts[SIM_VERDICT_LEAK] = 12;
    totals.complete = true;
    MUST(sim_store_sweep_update(store, sweep, &totals));
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT sum(runs) FROM sweep_verdicts"), 21);
    EXPECT_EQ(box_ask("SELECT failed FROM sweep_summary"), 12);
    EXPECT_STR(box_ask_text("SELECT digest FROM sweep_summary"), "fedcba9876543210");
    EXPECT_STR(
            box_ask_text("SELECT sweep_summary.complete || library || seed_first FROM sweep_summary"
                         " JOIN sweeps USING (sweep)"),
            "yes./mine.so7");
}

TEST(store_seeds_that_go_on_are_one_range)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    MUST(sim_store_sweep_seeds(store, sweep, 0, 99, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 100, 149, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 200, 299, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 1000, 1006, 2));
    MUST(sim_store_sweep_seeds(store, sweep, 1008, 1010, 2));
    sim_store_close(&store);
    EXPECT_STR(box_ask_text("SELECT group_concat(first || '-' || last || '/' || stride, ' ')"
                            " FROM (SELECT * FROM seeds ORDER BY first)"),
            "0-149/1 200-299/1 1000-1010/2");
}

TEST(store_rows_come_back_as_they_were)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    const uint8_t tapes[] = {1, 2, 3, 4, 5};
    const struct sim_run_row rows[] = {
            {.number = 3,
                    .seed = INT64_MAX,
                    .digest = UINT64_MAX,
                    .steps = 11,
                    .sim_ns = 12,
                    .decisions = 13,
                    .events = 14,
                    .fail_step = 15,
                    .missing_wake_step = 16,
                    .deviations = 17,
                    .actor = 0,
                    .object = UINT32_MAX,
                    .site = 19,
                    .tape_offset = 2,
                    .tape_length = 3,
                    .fresh = 20,
                    .verdict = SIM_VERDICT_LEAK,
                    .oracle = SIM_ORACLE_BALANCE,
                    .news = SIM_NEWS_FAILED},
            {.number = 4, .actor = UINT32_MAX, .fresh = 2, .news = SIM_NEWS_COVERAGE},
    };
    MUST(sim_store_runs(store, sweep, rows, 2, tapes, sizeof(tapes)));
    MUST(sim_store_runs(store, sweep, rows, 0, NULL, 0));
    struct sim_found_run found;
    MUST(sim_store_find_run(store, 1, &found));
    EXPECT(found.seed == INT64_MAX);
    EXPECT(found.digest == UINT64_MAX);
    EXPECT_STR(found.scenario, "mine/ping");
    EXPECT_STR(found.options, "{\"step_ns\":50}");
    EXPECT(found.token == NULL);
    EXPECT_EQ(found.tape_size, 3);
    EXPECT_EQ(memcmp(found.tape, tapes + 2, 3), 0);
    EXPECT_EQ(found.verdict, SIM_VERDICT_LEAK);
    EXPECT_EQ(found.oracle, SIM_ORACLE_BALANCE);
    EXPECT_EQ(found.site, 19);
    sim_found_run_clear(&found);
    EXPECT_EQ(sim_store_find_run(store, 3, &found), SIM_STORE_UNKNOWN);
    sim_store_close(&store);
    EXPECT_STR(
            box_ask_text("SELECT printf('%d %d %d %d %d %d %d %d %d %d', steps, sim_ns, decisions,"
                         " events, fail_step, missing_wake_step, deviations, actor, object, fresh)"
                         " FROM runs WHERE run = 1"),
            "11 12 13 14 15 16 17 0 4294967295 20");
    EXPECT_EQ(
            box_ask("SELECT actor IS NULL AND tape IS NULL AND number = 4 FROM runs WHERE run = 2"),
            1);
    EXPECT_STR(box_ask_text("SELECT group_concat(runs_so_far || ':' || covered, ' ')"
                            " FROM coverage_growth"),
            "4:20 5:22");
}

TEST(store_batch_that_was_not_committed_ends_with_the_store)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    struct sim_run_row rows[BOX_BATCH];
    box_fill_rows(rows, 0);
    MUST(sim_store_batch_begin(store));
    MUST(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM runs"), 0);
}

/* A call that fails gives its batch up: nothing of it is committed by accident. */
TEST(store_failed_call_gives_its_batch_up)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    struct sim_run_row rows[BOX_BATCH];
    box_fill_rows(rows, 0);
    struct sim_recorder recorder = {0};
    MUST(sim_store_batch_begin(store));
    MUST(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0));
    EXPECT_EQ(sim_store_refill(store, 999999, &recorder), SIM_STORE_UNKNOWN);
    EXPECT_EQ(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0), SIM_STORE_UNKNOWN);
    EXPECT_EQ(sim_store_batch_commit(store), SIM_STORE_UNKNOWN);
    MUST(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM runs"), BOX_BATCH);
}

/* ---- A run with its events. ------------------------------------------------------------------ */

/* Every field at its limit somewhere, and no two events alike. */
static struct sim_event
odd_event(uint32_t i)
{
    return (struct sim_event){
            .step = i % 3 == 0 ? UINT32_MAX : i,
            .cause = i % 3 == 1 ? UINT32_MAX : i + 1,
            .object = i % 5 == 0 ? UINT32_MAX : i + 2,
            .site = i % 5 == 1 ? UINT32_MAX : i + 3,
            .await = i % 7 == 0 ? UINT32_MAX : i + 4,
            .actor = i % 7 == 1 ? UINT16_MAX : (uint16_t)(i + 5),
            .kind = i % 2 == 0 ? UINT8_MAX : (uint8_t)i,
            .flags = i % 4 == 0 ? UINT8_MAX : (uint8_t)(i + 6),
            .argument = i % 2 == 0 ? UINT64_MAX - i : i,
    };
}

/* More events than the capacity of the ring: the last ones are stored, under their numbers. */
TEST(store_events_of_a_wrapped_ring_come_back)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    for (uint32_t i = 0; i < BOX_RING + 100; i++) {
        const struct sim_event event = odd_event(i);
        sim_record(&recorder, &event);
    }
    (void)sim_recorder_end(&recorder, 0);
    int64_t run = box_store_run(store, &recorder);
    struct sim_event events[BOX_RING];
    uint32_t count = 0;
    MUST(sim_store_read_events(store, run, 0, events, BOX_RING, &count));
    EXPECT_EQ(count, BOX_RING);
    for (uint32_t i = 0; i < BOX_RING; i++) {
        const struct sim_event event = odd_event(100 + i);
        EXPECT_EQ(memcmp(&events[i], &event, sizeof(event)), 0);
    }
    MUST(sim_store_read_events(store, run, 300, events, 2, &count));
    EXPECT_EQ(count, 2);
    EXPECT(events[0].argument == odd_event(300).argument);
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT min(n) FROM events WHERE run = 1"), 100);
    EXPECT_EQ(box_ask("SELECT max(n) FROM events"), BOX_RING + 99);
    /* The view takes the words apart as C does. */
    const struct sim_event event = odd_event(211);
    char expected[128];
    (void)snprintf(expected, sizeof(expected), "%u %u %u %u %u %u %u %u %lld", event.step,
            event.cause, event.actor, event.kind, event.object, event.site, event.await,
            event.flags, (long long)event.argument);
    EXPECT_STR(box_ask_text("SELECT printf('%d %d %d %d %d %d %d %d %d', step, cause, actor, kind,"
                            " object, site, await, flags, argument) FROM events WHERE n = 211"),
            expected);
}

TEST(store_full_run_is_found_with_all_that_is_known)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    for (uint32_t i = 0; i < 130; i++) {
        const struct sim_event event = odd_event(i);
        sim_record(&recorder, &event);
    }
    box_say(&recorder, SIM_TEXT_ACTOR, 2, "reader");
    box_say(&recorder, SIM_TEXT_EVENT, 129, "caf\xc3\xa9 \"log\"");
    (void)sim_recorder_end(&recorder, 0);
    int64_t run = box_store_run(store, &recorder);
    struct sim_found_run found;
    MUST(sim_store_find_run(store, run, &found));
    EXPECT_STR(found.token, "rw1:mine/ping:42:abc");
    EXPECT_STR(found.library, "./mine.so");
    EXPECT_STR(found.options, "{\"n\":1}");
    EXPECT_STR(found.message, "reader sleeps forever");
    EXPECT_EQ(found.events_stored, 130);
    EXPECT_EQ(found.tape_size, 3);
    EXPECT_EQ(found.hashes_count, 2);
    EXPECT(found.hashes[0] == box_hashes[0] && found.hashes[1] == box_hashes[1]);
    sim_found_run_clear(&found);
    sim_store_close(&store);
    EXPECT_STR(
            box_ask_text("SELECT scenario || ' ' || verdict || ' ' || oracle || ' ' || actor || ' '"
                         " || in_fifo_order || ' ' || digest FROM failures"),
            "mine/ping lost-wakeup rewake reader yes 0000000000001234");
    EXPECT_STR(box_ask_text("SELECT text FROM trace WHERE n = 129"), "caf\xc3\xa9 \"log\"");
    EXPECT_STR(box_ask_text("SELECT name FROM actors WHERE actor = 2"), "reader");
}

/*
 * Goal: a failure's row is there with its count, and its events come later.
 * Method: three bare rows; the one in the middle gets its details, and stays where it was.
 */
TEST(store_failure_with_a_row_keeps_its_number)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    static struct sim_run_row rows[BOX_BATCH];
    box_fill_rows(rows, 0);
    MUST(sim_store_runs(store, sweep, rows, 3, NULL, 0));
    const struct sim_outcome outcome = {
            .seed = rows[1].seed, .steps = 77, .verdict = SIM_VERDICT_HANG, .message = "it hangs"};
    const uint8_t tape[] = {1, 2};
    struct sim_full_run run = {.sweep = sweep,
            .number = rows[1].number,
            .outcome = &outcome,
            .token = "rw1:t",
            .options = "{}",
            .tape = tape,
            .tape_size = sizeof(tape),
            .has_row = true};
    int64_t id = 0;
    MUST(sim_store_failure(store, &run, &id));
    EXPECT_EQ(id, 2);
    run.number = 1000;
    EXPECT_EQ(sim_store_failure(store, &run, &id), SIM_STORE_CORRUPT);
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM runs"), 3);
    EXPECT_EQ(box_ask("SELECT steps FROM runs WHERE run = 2"), 77);
    EXPECT_EQ(box_ask("SELECT length(tape) FROM runs WHERE run = 2"), 2);
    EXPECT_STR(box_ask_text("SELECT token FROM details WHERE run = 2"), "rw1:t");
    EXPECT_EQ(box_ask("SELECT count(*) FROM details"), 1);
}

/* Another run's rows stand before and after; they must stay. */
TEST(store_refill_replaces_events_of_its_run_only)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    const struct sim_event event = odd_event(1);
    sim_record(&recorder, &event);
    int64_t before = box_store_run(store, &recorder);
    int64_t run = box_store_run(store, &recorder);
    int64_t after = box_store_run(store, &recorder);
    for (uint32_t i = 0; i < 10; i++) {
        sim_record(&recorder, &event);
    }
    box_say(&recorder, SIM_TEXT_ACTOR, 1, "new");
    MUST(sim_store_refill(store, run, &recorder));
    MUST(sim_store_refill(store, run, &recorder));
    struct sim_event events[BOX_RING];
    uint32_t count = 0;
    MUST(sim_store_read_events(store, run, 0, events, BOX_RING, &count));
    EXPECT_EQ(count, 11);
    MUST(sim_store_read_events(store, before, 0, events, BOX_RING, &count));
    EXPECT_EQ(count, 1);
    MUST(sim_store_read_events(store, after, 0, events, BOX_RING, &count));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(sim_store_refill(store, 77, &recorder), SIM_STORE_UNKNOWN);
    EXPECT(strstr(sim_store_message(store), "run:77") != NULL);
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM event_words"), 13);
}

/* A run that was only a row gets its events when it is replayed. */
TEST(store_refill_of_a_bare_row_makes_its_details)
{
    struct sim_store *store = box_new();
    const struct sim_run_row row = {.seed = 5, .news = SIM_NEWS_ASKED};
    MUST(sim_store_runs(store, box_sweep(store), &row, 1, NULL, 0));
    struct sim_recorder recorder = box_recorder();
    const struct sim_event event = odd_event(1);
    sim_record(&recorder, &event);
    MUST(sim_store_refill(store, 1, &recorder));
    struct sim_found_run found;
    MUST(sim_store_find_run(store, 1, &found));
    EXPECT_EQ(found.events_stored, 1);
    EXPECT_STR(found.options, "{\"step_ns\":50}");
    sim_found_run_clear(&found);
    sim_store_close(&store);
}

/* The recorder of a worker that died may say anything. */
TEST(store_texts_beyond_their_memory_are_left_out)
{
    struct sim_store *store = box_new();
    struct sim_recorder recorder = box_recorder();
    box_say(&recorder, SIM_TEXT_ACTOR, 1, "whole");
    box_say(&recorder, SIM_TEXT_ACTOR, 2, "broken");
    box_say(&recorder, SIM_TEXT_ACTOR, 3, "far");
    box_texts[1].length = UINT32_MAX;
    box_texts[2].offset = BOX_BYTES + 1;
    recorder.texts = 1000;
    recorder.hashes = 1000;
    memset(box_texts + 3, 0xff, sizeof(box_texts) - 3 * sizeof(box_texts[0]));
    (void)box_store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(box_ask_text("SELECT group_concat(text) FROM texts"), "whole");
}

TEST(store_sites_are_written_with_their_places)
{
    sim_sites_init();
    const struct rt_site *here = RT_HERE;
    struct sim_store *store = box_new();
    (void)box_sweep(store);
    sim_store_close(&store);
    char sql[128];
    char place[128];
    (void)snprintf(sql, sizeof(sql), "SELECT place FROM places WHERE site = %u", here->id);
    (void)snprintf(place, sizeof(place), "store_test.c:%u %s", here->line, __func__);
    EXPECT_STR(box_ask_text(sql), place);
}

/* ---- Remembered failures. -------------------------------------------------------------------- */

static bool
list_token(const struct sim_remembered *failure, void *argument)
{
    char *list = argument;
    size_t used = strlen(list);
    (void)snprintf(list + used, 128 - used, "%s%s ", failure->token,
            failure->library != NULL ? failure->library : "");
    return true;
}

static bool
list_one(const struct sim_remembered *failure, void *argument)
{
    (void)list_token(failure, argument);
    return false;
}

TEST(store_remembers_each_way_to_fail_once_newest_first)
{
    struct sim_store *store = box_new();
    struct sim_remembered failure = {.scenario = "a", .token = "t1", .verdict = 1, .oracle = 2};
    MUST(sim_store_remember(store, &failure));
    failure.site = 9;
    failure.token = "t2";
    failure.library = "@lib";
    MUST(sim_store_remember(store, &failure));
    failure.site = 0;
    failure.token = "t3";
    failure.library = NULL;
    MUST(sim_store_remember(store, &failure));
    char list[128] = "";
    MUST(sim_store_remembered(store, list_token, list));
    EXPECT_STR(list, "t3 t2@lib ");
    list[0] = '\0';
    MUST(sim_store_remembered(store, list_one, list));
    EXPECT_STR(list, "t3 ");
    MUST(sim_store_forget(store, &failure));
    MUST(sim_store_forget(store, &failure));
    list[0] = '\0';
    MUST(sim_store_remembered(store, list_token, list));
    EXPECT_STR(list, "t2@lib ");
    sim_store_close(&store);
}

/* ---- Words. ---------------------------------------------------------------------------------- */

TEST(store_errors_have_names_and_advice)
{
    for (uint32_t i = 0; i < SIM_STORE_ERRORS; i++) {
        EXPECT(strcmp(sim_store_err_name((enum sim_store_err)i), "?") != 0);
        EXPECT(strlen(sim_store_err_text((enum sim_store_err)i)) > 8);
    }
    EXPECT_STR(sim_store_err_name(SIM_STORE_HELD), "held");
    EXPECT_STR(sim_store_err_name(SIM_STORE_ERRORS), "?");
}
