/*
 * columns_test.c -- a run as columns: what is shown, folded, left out, and how wide it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/phrase.h"
#include "sim/tests/explain/tale.h"
#include "sim/thread/thread.h"

#define PENDING 0
#define READY 1

/* The columns of `tale`; the page is the caller's to give up. */
static const char *
columns_of(struct tale *tale, struct sim_page *page, uint32_t rows_max)
{
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, &tale->recorder);
    sim_columns_put(page, &actor_table, &tale->outcome, NULL, 0, rows_max);
    sim_actor_table_free(&actor_table);
    ck_assert_uint_le(tale_width(sim_page_text(page)), SIM_PAGE_WIDTH);
    return sim_page_text(page);
}

static uint32_t
lines_of(const char *text)
{
    uint32_t lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    return lines;
}

/* Two tasks that wake each other, `rounds` times. */
static void
ping_pong(struct tale *tale, uint32_t ping, uint32_t pong, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t time_ns = tale->step * UINT64_C(100);
        tale_poll(tale, ping, time_ns, tale->step);
        tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, pong), 0);
        tale_polled(tale, ping, PENDING);
        tale_poll(tale, pong, time_ns + 100, tale->step);
        tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, ping), 0);
        tale_polled(tale, pong, PENDING);
    }
}

/* A client waits for a response, a thief takes its place, and the loop `rt` wakes the thief. The
 * response is ready in a step of its own or (`apart` false) of the loop's. */
static void
stolen(struct tale *tale, bool apart)
{
    uint32_t client = tale_task(tale, "client");
    uint32_t thief = tale_task(tale, "thief");
    uint32_t response = tale_actor(tale, SIM_ACTOR_SOURCE, "response B");
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "rt");
    uint32_t source = tale_object_of(tale, response);
    tale_do(tale, RT_PROBE_POST, tale_object_of(tale, client), 0);
    tale_do(tale, RT_PROBE_POST, tale_object_of(tale, thief), 0);
    tale_poll(tale, client, 0, 0);
    tale_do(tale, RT_PROBE_WAIT, source, 0);
    tale_store(tale, client, source, "headers", tale_site(0));
    tale_polled(tale, client, PENDING);
    tale_poll(tale, thief, 100, 0);
    tale_do(tale, RT_PROBE_REPLACE, source, tale_object_of(tale, client));
    tale_store(tale, thief, source, "headers too", tale_site(1));
    tale_polled(tale, thief, PENDING);
    tale_clock(tale, 50000200);
    tale_step(tale, apart ? response : loop, 50000200);
    tale_do(tale, SIM_EVENT_READY, source, 0);
    tale_step(tale, loop, 50000300);
    tale_do(tale, SIM_EVENT_REPORT, source, 0);
    tale_do(tale, RT_PROBE_FIRE, source, tale_object_of(tale, thief));
    tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, thief), 0);
    tale_poll(tale, thief, 50000400, 4);
    tale_do(tale, RT_PROBE_CONSUME, source, 1);
    tale_say(tale, SIM_EVENT_LOG, "got it\n");
    tale_say(tale, SIM_EVENT_OUT, "200 OK\n");
    tale_polled(tale, thief, READY);
    tale->outcome.missing_wake_step = 3;
    tale_end(tale, SIM_VERDICT_LOST_WAKEUP, client);
}

/*
 * Goal: a lost wake is seen at a glance: who waits, that time passes, and where the wake is
 * missing.
 */
TEST(columns_lost_wake_is_marked_where_it_is_missing)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    stolen(tale, false);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  client                      thief                       rt\n"
"     at the start: spawns client, spawns thief\n"
"   1       0ns  poll, stores waker for\n"
"                headers (response B) ->\n"
"                pending\n"
"   2     100ns                              poll, stores waker for\n"
"                                            headers too (response B)\n"
"                                            in place of that of client\n"
"                                            -> pending\n"
"     ~~~ all wait; 50ms pass ~~~\n"
"   3      50ms                                                          response B is ready\n"
"                <-- here client should have been woken\n"
"   4      50ms                              <- woken by rt              response B is reported,\n"
"                                                                        fires response B, wakes\n"
"                                                                        thief\n"
"   5      50ms                              poll (woken at 4), takes 1\n"
"                                            from response B, says \"got\n"
"                                            it\", prints \"200 OK\" ->\n"
"                                            ready\n"
"     the run ends: lost-wakeup\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: four parts with long cells would be half as many lines again: they come line by line.
 * With short cells they stay side by side.
 */
TEST(columns_of_four_parts_with_long_cells_become_lines)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    stolen(tale, true);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  who: what\n"
"     at the start: spawns client, spawns thief\n"
"   1       0ns  client: poll, stores waker for headers (response B) -> pending\n"
"   2     100ns  thief: poll, stores waker for headers too (response B) in place of that of client ->\n"
"                pending\n"
"     ~~~ all wait; 50ms pass ~~~\n"
"   3      50ms  response B: is ready\n"
"                <-- here client should have been woken\n"
"   4      50ms  rt: response B is reported, fires response B, wakes thief\n"
"   5      50ms  thief: poll (woken at 4), takes 1 from response B, says \"got it\", prints \"200 OK\" ->\n"
"                ready\n"
"     the run ends: lost-wakeup\n");
    /* clang-format on */
    tale_free(tale);
    sim_page_clear(&page);
    tale = tale_new();
    for (uint32_t i = 0; i < 4; i++) {
        static const char *const names[] = {"one", "two", "three", "four"};
        uint32_t task = tale_task(tale, names[i]);
        tale_poll(tale, task, i * UINT64_C(100), 0);
        tale_polled(tale, task, READY);
    }
    tale_end(tale, SIM_VERDICT_PASS, UINT32_MAX);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  one                  two                  three                four\n"
"   1       0ns  poll -> ready\n"
"   2     100ns                       poll -> ready\n"
"   3     200ns                                            poll -> ready\n"
"   4     300ns                                                                 poll -> ready\n"
"     the run ends: pass\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: no row is empty. A loop's step in which nothing is seen gave way, or, as its last one in a
 * stall, waits; of others it is known only that they went on.
 */
TEST(columns_step_without_anything_to_see_has_words)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "my loop");
    uint32_t other = tale_actor(tale, SIM_ACTOR_OTHER, "the network");
    tale_step(tale, loop, 0);
    tale_step(tale, loop, 100);
    tale_do(tale, SIM_EVENT_BLOCK, 0, 1);
    tale_step(tale, other, 200);
    tale_step(tale, loop, 300);
    tale_do(tale, SIM_EVENT_UNBLOCK, 0, 1);
    tale_step(tale, loop, 400);
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  my loop                                    the network\n"
"   1       0ns  pauses\n"
"   2     100ns  blocks in poll of 1\n"
"   3     200ns                                             takes a step\n"
"   4     300ns  poll returns, 1 ready\n"
"   5     400ns  waits\n"
"     the run stalls: no actor can run\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: what is the case is said once: that something is ready, that all wait, that a task is new.
 */
TEST(columns_say_nothing_twice)
{
    struct tale *tale = tale_new();
    struct sim_page page;
    uint32_t source = tale_actor(tale, SIM_ACTOR_SOURCE, "line");
    uint32_t guard = tale_task(tale, "guard");
    sim_page_init(&page, false);
    tale_step(tale, source, 0);
    tale_do(tale, SIM_EVENT_READY, tale_object_of(tale, source), 0);
    tale_do(tale, RT_PROBE_POST, tale_object_of(tale, guard), 0);
    tale_do(tale, SIM_EVENT_READY, tale_object_of(tale, source), 0);
    tale_poll(tale, guard, 100, 1);
    tale_polled(tale, guard, READY);
    tale_do(tale, RT_PROBE_POST, tale_object_of(tale, guard), 0);
    tale_clock(tale, 1000);
    tale_clock(tale, 5000);
    tale_end(tale, SIM_VERDICT_PASS, guard);
    const char *text = columns_of(tale, &page, 0);
    EXPECT(strstr(text, "is ready, spawns guard  poll -> ready") == NULL);
    EXPECT(strstr(text, "is ready, spawns guard\n") != NULL);
    EXPECT(strstr(text, "starts guard again") != NULL);
    EXPECT(strstr(text, "~~~ all wait; 4.9us pass ~~~\n     the run ends: pass") != NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: an object of a program that no variable has is called by what it is, and by where it was
 * used first.
 */
TEST(columns_name_what_a_program_has_no_name_for)
{
    struct tale *tale = tale_new();
    struct sim_page page;
    uint32_t thread = tale_task(tale, "thread 1");
    uint32_t other = tale_task(tale, "thread 2");
    uint32_t object = SIM_OBJECT(RT_OBJECT_NOTIFY, thread, SIM_STACK_NTH | 22);
    sim_page_init(&page, false);
    tale_poll(tale, thread, 0, 0);
    tale_store(tale, thread, object, "a condition variable", tale_site(1));
    tale_polled(tale, thread, PENDING);
    tale_poll(tale, other, 100, 0);
    tale_do(tale, RT_PROBE_FIRE, object, 0);
    tale_end(tale, SIM_VERDICT_DEADLOCK, thread);
    const char *text = columns_of(tale, &page, 0);
    EXPECT(strstr(text, "for the condition\n") != NULL);
    EXPECT(strstr(text, " variable of step_1() (story.c:20) on its\n") != NULL);
    EXPECT(strstr(text, " step_1() (story.c:20) on the stack of\n") != NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: a run that was cut off says so, also when the judge has found a lost wake-up behind the
 * limit.
 */
TEST(columns_lost_wake_behind_a_limit_ends_with_the_limit)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t task = tale_task(tale, "task");
    tale_poll(tale, task, 0, 0);
    tale_polled(tale, task, PENDING);
    tale_end(tale, SIM_VERDICT_STEP_LIMIT, task);
    tale->outcome.verdict = SIM_VERDICT_LOST_WAKEUP;
    EXPECT(strstr(columns_of(tale, &page, SIM_ROWS_DEFAULT),
                   "\n     the run is cut off: step-limit\n") != NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: what goes round in circles is reported once.
 * Method: 1000 rounds of two tasks; with everything shown it is 2000 rows.
 */
TEST(columns_repeating_part_is_folded)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t ping = tale_task(tale, "ping");
    uint32_t pong = tale_task(tale, "pong");
    ping_pong(tale, ping, pong, 200);
    tale_end(tale, SIM_VERDICT_LIVELOCK, ping);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  ping                                       pong\n"
"   1       0ns  poll, wakes pong -> pending                <- woken by ping\n"
"   2     100ns  <- woken by pong                           poll (woken at 1), wakes ping -> pending\n"
"     ... 396 steps like the 2 rows above: ping and pong take turns, until step 398, 39.7us ...\n"
" 399    39.8us  poll (woken at 398), wakes pong ->         <- woken by ping\n"
"                pending\n"
" 400    39.9us  <- woken by pong                           poll (woken at 399), wakes ping ->\n"
"                                                           pending\n"
"     the run ends: livelock\n");
    /* clang-format on */
    sim_page_clear(&page);
    ck_assert_uint_gt(lines_of(columns_of(tale, &page, 0)), 400);
    EXPECT(strstr(sim_page_text(&page), "...") == NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: the rows around the owed wake are shown, even in the middle of a repeating part.
 */
TEST(columns_owed_step_is_never_folded_away)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t ping = tale_task(tale, "ping");
    uint32_t pong = tale_task(tale, "pong");
    uint32_t waiter = tale_task(tale, "blocked");
    ping_pong(tale, ping, pong, 100);
    tale->outcome.missing_wake_step = 101;
    tale_end(tale, SIM_VERDICT_LOST_WAKEUP, waiter);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  ping                                       pong\n"
"   1       0ns  poll, wakes pong -> pending                <- woken by ping\n"
"   2     100ns  <- woken by pong                           poll (woken at 1), wakes ping -> pending\n"
"     ... 96 steps like the 2 rows above: ping and pong take turns, until step 98, 9.7us ...\n"
"  99     9.8us  poll (woken at 98), wakes pong -> pending  <- woken by ping\n"
" 100     9.9us  <- woken by pong                           poll (woken at 99), wakes ping -> pending\n"
" 101      10us  poll (woken at 100), wakes pong ->         <- woken by ping\n"
"                pending\n"
"                <-- here blocked should have been woken\n"
" 102    10.1us  <- woken by pong                           poll (woken at 101), wakes ping ->\n"
"                                                           pending\n"
" 103    10.2us  poll (woken at 102), wakes pong ->         <- woken by ping\n"
"                pending\n"
" 104    10.3us  <- woken by pong                           poll (woken at 103), wakes ping ->\n"
"                                                           pending\n"
" 105    10.4us  poll (woken at 104), wakes pong ->         <- woken by ping\n"
"                pending\n"
"     ... 94 steps like the 2 rows above: pong and ping take turns, until step 199, 19.8us ...\n"
" 200    19.9us  <- woken by pong                           poll (woken at 199), wakes ping ->\n"
"                                                           pending\n"
"     the run ends: lost-wakeup\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: a part in which the time jumps between the turns is folded too, with its jumps.
 */
TEST(columns_jumps_of_time_fold_with_their_steps)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t ticker = tale_task(tale, "ticker");
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "rt");
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, ticker, i + 1);
        uint64_t time_ns = i * UINT64_C(1000000);
        tale_poll(tale, ticker, time_ns, tale->step);
        tale_store(tale, ticker, timer, "sleep", tale_site(0));
        tale_do(tale, RT_PROBE_ARM, timer, time_ns + 1000000);
        tale_polled(tale, ticker, PENDING);
        tale_clock(tale, time_ns + 1000000);
        tale_step(tale, loop, time_ns + 1000000);
        tale_do(tale, RT_PROBE_EXPIRE, timer, time_ns + 1000000);
        tale_do(tale, RT_PROBE_FIRE, timer, tale_object_of(tale, ticker));
        tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, ticker), 0);
    }
    tale_end(tale, SIM_VERDICT_TIME_LIMIT, ticker);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  ticker                                     rt\n"
"   1       0ns  poll, stores waker for sleep (timer 1),\n"
"                starts timer 1, due at 1ms -> pending\n"
"     ~~~ all wait; 1ms pass ~~~\n"
"   2       1ms  <- woken by rt                             timer 1 of ticker comes due, wakes ticker\n"
"     ... 96 steps like the 3 rows above: ticker and rt take turns, until step 98, 49ms ...\n"
"  99      49ms  poll (woken at 98), stores waker for\n"
"                sleep (timer 50), starts timer 50, due at\n"
"                50ms -> pending\n"
"     ~~~ all wait; 1ms pass ~~~\n"
" 100      50ms  <- woken by rt                             timer 50 of ticker comes due, wakes\n"
"                                                           ticker\n"
"     the run ends: time-limit\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/* A run of `tasks` tasks in an order without any pattern. */
static void
crowd(struct tale *tale, uint32_t tasks, uint32_t steps)
{
    uint32_t actors[32];
    char name[64];
    uint32_t state = 1;
    ck_assert_uint_le(tasks, 32);
    for (uint32_t i = 0; i < tasks; i++) {
        (void)snprintf(name, sizeof(name), "worker %u of the whole crowd", i);
        actors[i] = tale_task(tale, name);
    }
    for (uint32_t i = 0; i < steps; i++) {
        state = state * 1103515245u + 12345u;
        uint32_t who = actors[(state >> 16) % tasks];
        tale_poll(tale, who, i * UINT64_C(1000), 0);
        tale_store(tale, who, SIM_OBJECT(RT_OBJECT_SLOT, 0, i + 1), "something of its own",
                tale_site(i % TALE_SITES));
        tale_polled(tale, who, PENDING);
    }
}

/*
 * Goal: more parts than fit side by side are reported line by line, and the rows are capped.
 */
TEST(columns_of_too_many_parts_become_lines)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    crowd(tale, 12, 40);
    tale_end(tale, SIM_VERDICT_STEP_LIMIT, 3);
    EXPECT_STR(columns_of(tale, &page, 16),
            /* clang-format off */
"step      time  who: what\n"
"   1       0ns  worker 2 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   2       1us  worker 6 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   3       2us  worker 9 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   4       3us  worker 3 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   5       4us  worker 3 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   6       5us  worker 7 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"   7       6us  worker 2 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"     ... 12 steps left out, until step 19, 18us ...\n"
"  20      19us  worker 2 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"     ... 13 steps left out, until step 33, 32us ...\n"
"  34      33us  worker 10 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  35      34us  worker 7 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  36      35us  worker 7 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  37      36us  worker 10 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  38      37us  worker 9 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  39      38us  worker 5 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"  40      39us  worker 0 of the whole crowd: poll, stores waker for something of its own -> pending\n"
"     the run ends: step-limit\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: the host's sources share a column before tasks lose theirs.
 */
TEST(columns_of_sources_are_merged_first)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t task = tale_task(tale, "task");
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "rt");
    uint32_t sources[6];
    char name[16];
    for (uint32_t i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof(name), "source %u", i);
        sources[i] = tale_actor(tale, SIM_ACTOR_SOURCE, name);
    }
    for (uint32_t i = 0; i < 6; i++) {
        tale_step(tale, sources[i], i * UINT64_C(100));
        tale_do(tale, SIM_EVENT_READY, tale_object_of(tale, sources[i]), 0);
    }
    tale_step(tale, loop, 700);
    tale_do(tale, SIM_EVENT_REPORT, tale_object_of(tale, sources[4]), 0);
    tale_poll(tale, task, 800, 0);
    tale_polled(tale, task, READY);
    tale_end(tale, SIM_VERDICT_PASS, UINT32_MAX);
    EXPECT_STR(columns_of(tale, &page, SIM_ROWS_DEFAULT),
            /* clang-format off */
"step      time  task                        rt                          host\n"
"   1       0ns                                                          source 0: is ready\n"
"   2     100ns                                                          source 1: is ready\n"
"   3     200ns                                                          source 2: is ready\n"
"   4     300ns                                                          source 3: is ready\n"
"   5     400ns                                                          source 4: is ready\n"
"   6     500ns                                                          source 5: is ready\n"
"   7     700ns                              source 4 is reported\n"
"   8     800ns  poll -> ready\n"
"     the run ends: pass\n");
    /* clang-format on */
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: a long run stays short, and its rows are those that matter.
 * Method: 1000 steps without a pattern; 60 rows; the marked step in the middle and the end are
 * there.
 */
TEST(columns_of_a_long_run_keep_to_the_cap_and_to_what_matters)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    crowd(tale, 3, 800);
    tale->outcome.missing_wake_step = 400;
    tale_end(tale, SIM_VERDICT_LOST_WAKEUP, 1);
    const char *text = columns_of(tale, &page, 60);
    EXPECT(strstr(text, "\n 400     399us") != NULL);
    EXPECT(strstr(text, "should have been woken") != NULL ||
            strstr(text, "blocks, but could make progress") != NULL);
    EXPECT(strstr(text, "\n 800     799us") != NULL);
    EXPECT(strstr(text, "\n   1       0ns") != NULL);
    EXPECT(strstr(text, "\n 300     299us") == NULL);
    EXPECT(strstr(text, "left out") != NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: whatever the names and texts are, no line is wider than a page, and no control character
 * gets out; also with colours.
 * Method: names and logs of growing length, with escapes and with letters of two bytes, for one to
 * nine parts; columns_of() checks the width.
 */
TEST(columns_never_wider_than_a_page_and_never_a_control_character)
{
    char name[80];
    char log[300];
    for (uint32_t parts = 1; parts <= 9; parts++) {
        struct tale *tale = tale_new();
        struct sim_page page = {.colour = parts % 2 == 0};
        uint32_t first = 0;
        for (uint32_t i = 0; i < parts; i++) {
            memset(name, 'n', sizeof(name));
            name[7 * i + 3] = '\0';
            (void)memcpy(name, i % 2 == 0 ? "\xc3\xa4\n" : "\t\033x", 3);
            uint32_t task = tale_task(tale, name);
            first = first == 0 ? task : first;
            memset(log, i % 3 == 0 ? 'x' : ' ', sizeof(log));
            memset(log + 10 * i, 'w', 100);
            (void)memcpy(log, "\033[31m", 5);
            log[280] = '\0';
            tale_poll(tale, task, i * UINT64_C(123456789), 0);
            tale_say(tale, SIM_EVENT_LOG, log);
            tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, first), 0);
            tale_polled(tale, task, PENDING);
        }
        tale->outcome.missing_wake_step = parts;
        tale_end(tale, SIM_VERDICT_LOST_WAKEUP, first);
        const char *text = columns_of(tale, &page, SIM_ROWS_DEFAULT);
        EXPECT(strchr(text, '\t') == NULL);
        EXPECT(strstr(text, "\033[31m") == NULL);
        EXPECT((strchr(text, '\033') != NULL) == page.colour);
        sim_page_fini(&page);
        tale_free(tale);
    }
}

/*
 * Goal: every kind of event has words, or is meant to have none.
 * Method: one event of each kind by a task at a timer that another one made; then those that read
 * otherwise where the object or the waker is the task's own.
 */
TEST(phrase_of_each_kind_of_event)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    struct sim_actor_table actor_table;
    uint32_t task = tale_task(tale, "task");
    uint32_t other = tale_task(tale, "other");
    uint32_t objects[2] = {SIM_OBJECT(RT_OBJECT_TIMER, other, 3), tale_object_of(tale, task)};
    for (uint32_t own = 0; own < 2; own++) {
        for (uint32_t kind = 0; kind < SIM_EVENT_END_OF_KINDS; kind++) {
            bool gap = kind >= RT_PROBE_KINDS && kind < SIM_EVENT_FIRST;
            if (gap || kind == SIM_EVENT_ACTOR) {
                continue;
            }
            /* Each in a step of its own: neighbours change the words of some. */
            tale_step(tale, task, 0);
            tale_do(tale, kind, objects[own], tale_object_of(tale, own == 0 ? other : task));
        }
    }
    tale_step(tale, task, 0);
    tale_do(tale, RT_PROBE_WAKE, objects[1], 1);
    tale_step(tale, task, 0);
    tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, other), 2);
    tale_step(tale, task, 0);
    tale_do(tale, RT_PROBE_POLLED, objects[1], 2);
    tale_step(tale, task, 0);
    tale_do(tale, RT_PROBE_CONSUME, 0, 5);
    sim_actor_table_make(&actor_table, &tale->recorder);
    for (uint64_t i = actor_table.first; i < actor_table.end; i++) {
        size_t start = page.length;
        if (sim_actor_table_event(&actor_table, i)->kind != SIM_EVENT_STEP &&
                sim_phrase_put(&actor_table, &page, i)) {
            ck_assert_uint_gt(page.length, start);
            sim_page_put(&page, "\n");
        }
    }
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"spawns timer 3 of other\n"
"poll\n"
"-> an answer that is none\n"
"timer 3 of other has finished\n"
"cancels timer 3 of other\n"
"timer 3 of other parks\n"
"cleans timer 3 of other up\n"
"wakes timer 3 of other\n"
"wakes no task: timer 3 of other has finished\n"
"stores the waker of other for timer 3 of other\n"
"keeps the waker of other for timer 3 of other\n"
"replaces the waker of other for timer 3 of other\n"
"fires timer 3 of other\n"
"wakes timer 3 of other: no waiter registered\n"
"erases the waker of other for timer 3 of other\n"
"clones the waker of other\n"
"drops a waker of other\n"
"timer 3 of other: child 268435458 woken\n"
"starts timer 3 of other, due at 268.435ms\n"
"timer 3 of other comes due\n"
"stops timer 3 of other\n"
"watches timer 3 of other\n"
"stops watching timer 3 of other\n"
"asks the host\n"
"takes 268435458 from timer 3 of other\n"
"puts 268435458 into timer 3 of other\n"
"grants 268435458 of timer 3 of other\n"
"takes a grant of 268435458 of timer 3 of other back\n"
"closes timer 3 of other\n"
"gives way\n"
"timer 3 of other suspends\n"
"timer 3 of other resumes\n"
"submits timer 3 of other\n"
"timer 3 of other is done\n"
"destroys what is left in timer 3 of other\n"
"gets nothing of timer 3 of other, and does not wait\n"
"which is one with what is in timer 3 of other already\n"
"finds no subscriber for it\n"
"subscribes to timer 3 of other\n"
"ends its subscription to timer 3 of other\n"
"has finished\n"
"takes 268.435ms longer\n"
"timer 3 of other is ready\n"
"timer 3 of other is not ready any more\n"
"timer 3 of other is reported\n"
"false alarm for timer 3 of other\n"
"reads 268435458 bytes of timer 3 of other\n"
"writes 268435458 bytes to timer 3 of other\n"
"blocks in poll of 268435458\n"
"poll returns, 268435458 ready\n"
"opens timer 3 of other as 268435458\n"
"closes 268435458 (timer 3 of other)\n"
"fault: of a kind unknown here\n"
"says \"\"\n"
"prints \"\"\n"
"makes progress\n"
"reaches a goal\n"
"reads timer 3 of other: 268435458\n"
"sets timer 3 of other to 268435458\n"
"(no faults from here on)\n"
"gives way before ()\n"
"frees the memory of timer 3 of other with the waker of other in it\n"
"writes timer 3 of other\n"
"waits for timer 3 of other\n"
"timer 3 of other is granted\n"
"gives timer 3 of other back\n"
"spawns task\n"
"poll\n"
"-> an answer that is none\n"
"cancels itself\n"
"parks\n"
"cleans up\n"
"wakes itself\n"
"wakes no task: task has finished\n"
"stores waker for the end of task\n"
"keeps waker for the end of task\n"
"replaces the waker of task for task\n"
"fires task\n"
"wakes task: no waiter registered\n"
"takes waker back from task\n"
"clones its waker\n"
"drops one of its own wakers\n"
"task: child 268435457 woken\n"
"starts task, due at 268.435ms\n"
"task comes due\n"
"stops task\n"
"watches task\n"
"stops watching task\n"
"asks the host\n"
"takes 268435457 from task\n"
"puts 268435457 into task\n"
"grants 268435457 of task\n"
"takes a grant of 268435457 of task back\n"
"closes task\n"
"gives way\n"
"task suspends\n"
"task resumes\n"
"submits task\n"
"task is done\n"
"destroys what is left in task\n"
"gets nothing of task, and does not wait\n"
"which is one with what is in task already\n"
"finds no subscriber for it\n"
"subscribes to task\n"
"ends its subscription to task\n"
"has finished\n"
"takes 268.435ms longer\n"
"is ready\n"
"is not ready any more\n"
"is reported\n"
"is woken for nothing\n"
"reads 268435457 bytes of task\n"
"writes 268435457 bytes to task\n"
"blocks in poll of 268435457\n"
"poll returns, 268435457 ready\n"
"opens task as 268435457\n"
"closes 268435457 (task)\n"
"fault: of a kind unknown here\n"
"says \"\"\n"
"prints \"\"\n"
"makes progress\n"
"reaches a goal\n"
"reads task: 268435457\n"
"sets task to 268435457\n"
"(no faults from here on)\n"
"gives way before ()\n"
"frees the memory of task with its own waker in it\n"
"writes task\n"
"waits for task\n"
"task is granted\n"
"gives task back\n"
"wakes itself (is awake already)\n"
"wakes other (during its poll)\n"
"-> parked\n"
"takes 5\n");
    /* clang-format on */
    sim_actor_table_free(&actor_table);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: widths are of letters, not of bytes.
 */
TEST(page_width_counts_letters)
{
    const char *text = "na\xc3\xafve \xe2\x82\xac";
    EXPECT_EQ(sim_text_width(text, strlen(text)), 7);
    EXPECT_EQ(sim_text_fit(text, strlen(text), 3), 4);
    EXPECT_EQ(sim_text_fit(text, strlen(text), 7), strlen(text));
}

/*
 * Goal: times are in units that people read.
 */
TEST(page_time_is_in_human_units)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {
            {0, "0ns"},
            {999, "999ns"},
            {1000, "1us"},
            {1250, "1.25us"},
            {1999999, "1.999ms"},
            {50000000, "50ms"},
            {2500000000, "2.5s"},
            {3600000000000, "3600s"},
            {1001000, "1.001ms"},
            {UINT64_MAX, "18446744073.709s"},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct sim_page page = {0};
        sim_page_time(&page, times[i].ns);
        EXPECT_STR(sim_page_text(&page), times[i].text);
        sim_page_fini(&page);
    }
}

/*
 * Goal: text is broken at blanks, a word that is too long is cut, and letters stay whole.
 */
TEST(page_wrap_breaks_at_blanks_and_cuts_long_words)
{
    struct sim_page page = {0};
    sim_page_wrap(&page, "one two  three abcdefghijklmnop \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6",
            0, 2, 8);
    EXPECT_STR(sim_page_text(&page),
            /* clang-format off */
"one two\n"
"  three\n"
"  abcdef\n"
"  ghijkl\n"
"  mnop\n"
"  äöüäö\n");
    /* clang-format on */
    sim_page_fini(&page);
}
