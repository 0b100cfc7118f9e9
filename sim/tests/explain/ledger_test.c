/*
 * ledger_test.c -- the life of every wait, from events made by hand.
 *
 * Each test is a short run (tale.h) in which one waker goes one way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/explain/ledger.h"
#include "sim/tests/explain/tale.h"

#define PENDING 0
#define READY 1

/* A run, read. */
struct reading {
    struct tale *tale;
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    struct sim_page page;
};

static void
reading_begin(struct reading *reading)
{
    *reading = (struct reading){.tale = tale_new()};
}

static void
reading_make(struct reading *reading)
{
    sim_actor_table_make(&reading->actor_table, &reading->tale->recorder);
    sim_ledger_make(&reading->ledger, &reading->actor_table);
}

static void
reading_end(struct reading *reading)
{
    sim_page_fini(&reading->page);
    sim_ledger_free(&reading->ledger);
    sim_actor_table_free(&reading->actor_table);
    tale_free(reading->tale);
}

static const struct sim_wait *
wait_at(const struct reading *reading, uint32_t index)
{
    ck_assert_uint_lt(index, reading->ledger.count);
    return &reading->ledger.waits[index];
}

/*
 * Goal: a wait is described from its store to its wake.
 * Method: a task stores, another one fires; every field is looked at.
 */
TEST(ledger_follows_a_wait_from_store_to_fire)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t reader = tale_task(tale, "reader");
    uint32_t writer = tale_task(tale, "writer");
    uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    tale_poll(tale, reader, 100, 0);
    tale_store(tale, reader, slot, "a line", tale_site(0));
    tale_polled(tale, reader, PENDING);
    tale_poll(tale, writer, 200, 0);
    tale_do_at(tale, RT_PROBE_FIRE, slot, tale_object_of(tale, reader), 0, tale_site(1));
    tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, reader), 0);
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 1);
    const struct sim_wait *wait = wait_at(&reading, 0);
    EXPECT_EQ(wait->part, sim_actor_table_actor(&reading.actor_table, reader));
    EXPECT_EQ(wait->number, 1);
    EXPECT_EQ(wait->object, slot);
    EXPECT_EQ(wait->whose, tale_object_of(tale, reader));
    EXPECT_EQ(wait->await, tale_site(0));
    EXPECT_STR(wait->reason, "a line");
    EXPECT_EQ(wait->store_step, 1);
    EXPECT_EQ(wait->end, SIM_WAIT_FIRED);
    EXPECT_EQ(wait->end_step, 2);
    EXPECT_EQ(wait->ender, sim_actor_table_actor(&reading.actor_table, writer));
    EXPECT_EQ(wait->wake, SIM_WAKE_QUEUED);
    EXPECT_EQ(wait->keep_event, SIM_EVENT_NONE);
    reading_end(&reading);
}

/*
 * Goal: each way in which a place becomes empty is another end.
 * Method: one task stores in six places, and each is emptied differently; one more stays.
 */
TEST(ledger_each_way_out_of_a_place_is_an_end_of_its_own)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t task = tale_task(tale, "task");
    uint32_t thief = tale_task(tale, "thief");
    uint32_t self = tale_object_of(tale, task);
    uint32_t slots[6];
    tale_poll(tale, task, 0, 0);
    for (uint32_t i = 0; i < 6; i++) {
        slots[i] = SIM_OBJECT(RT_OBJECT_SLOT, task, i + 1);
        tale_store(tale, task, slots[i], NULL, tale_site(i));
    }
    tale_polled(tale, task, PENDING);
    tale_poll(tale, thief, 100, 0);
    tale_do(tale, RT_PROBE_REPLACE, slots[0], self);
    tale_store(tale, thief, slots[0], NULL, tale_site(6));
    tale_do(tale, RT_PROBE_ERASE, slots[1], self);
    tale_do(tale, SIM_EVENT_FREE, slots[5], self);
    tale_do(tale, RT_PROBE_FIRE, slots[2], self);
    tale_do(tale, RT_PROBE_WAKE, self, 0);
    tale_polled(tale, thief, PENDING);
    tale_poll(tale, task, 200, 2);
    tale_do(tale, RT_PROBE_POLLED, self, READY);
    tale_do(tale, RT_PROBE_ERASE, slots[3], self);
    tale_do(tale, RT_PROBE_COMPLETE, self, 0);
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 7);
    EXPECT_EQ(wait_at(&reading, 0)->end, SIM_WAIT_REPLACED);
    EXPECT_EQ(wait_at(&reading, 1)->end, SIM_WAIT_ERASED);
    EXPECT_EQ(wait_at(&reading, 2)->end, SIM_WAIT_FIRED);
    EXPECT_EQ(wait_at(&reading, 3)->end, SIM_WAIT_ENDED);
    EXPECT_EQ(wait_at(&reading, 4)->end, SIM_WAIT_OPEN);
    EXPECT_EQ(wait_at(&reading, 5)->end, SIM_WAIT_FREED);
    EXPECT_EQ(wait_at(&reading, 6)->end, SIM_WAIT_OPEN);
    EXPECT_EQ(wait_at(&reading, 6)->number, 1);
    uint32_t part = sim_actor_table_actor(&reading.actor_table, task);
    const struct sim_wait *open = sim_ledger_open_of(&reading.ledger, part, NULL);
    EXPECT(open == wait_at(&reading, 4));
    EXPECT(sim_ledger_open_of(&reading.ledger, part, open) == NULL);
    reading_end(&reading);
}

/*
 * Goal: a task that stores again what is there goes on with the same wait, and a future that moved
 * with its waker takes the wait along.
 */
TEST(ledger_keep_goes_on_with_the_wait_for_who_keeps)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t first = tale_task(tale, "first");
    uint32_t second = tale_task(tale, "second");
    uint32_t slot = SIM_OBJECT(RT_OBJECT_TIMER, first, 1);
    tale_poll(tale, first, 0, 0);
    tale_store(tale, first, slot, NULL, tale_site(0));
    tale_polled(tale, first, PENDING);
    tale_poll(tale, first, 100, 0);
    tale_do(tale, RT_PROBE_KEEP, slot, tale_object_of(tale, first));
    tale_polled(tale, first, PENDING);
    tale_poll(tale, second, 200, 0);
    tale_do(tale, RT_PROBE_KEEP, slot, tale_object_of(tale, first));
    tale_polled(tale, second, PENDING);
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 1);
    EXPECT_EQ(wait_at(&reading, 0)->kept, 2);
    EXPECT_EQ(wait_at(&reading, 0)->end, SIM_WAIT_OPEN);
    EXPECT_EQ(wait_at(&reading, 0)->part, sim_actor_table_actor(&reading.actor_table, second));
    reading_end(&reading);
}

/*
 * Goal: what came of a fired waker stands beside it.
 * Method: five fires, each followed by another kind of wake, and one by nothing of its own.
 */
TEST(ledger_fired_wait_says_what_the_wake_came_to)
{
    static const struct {
        uint32_t kind;
        uint64_t argument;
        enum sim_wake wake;
    } wakes[] = {
            {RT_PROBE_WAKE, 0, SIM_WAKE_QUEUED},
            {RT_PROBE_WAKE, 1, SIM_WAKE_COALESCED},
            {RT_PROBE_WAKE, 2, SIM_WAKE_POLLING},
            {RT_PROBE_WAKE_DEAD, 0, SIM_WAKE_DEAD},
            {RT_PROBE_SUBWAKE, 0, SIM_WAKE_CHILD},
            {RT_PROBE_CONSUME, 0, SIM_WAKE_NONE},
    };
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t task = tale_task(tale, "task");
    uint32_t self = tale_object_of(tale, task);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, i + 1);
        tale_poll(tale, task, 100 * i, 0);
        tale_store(tale, task, slot, NULL, 0);
        tale_do(tale, RT_PROBE_FIRE, slot, self);
        tale_do(tale, wakes[i].kind, self, wakes[i].argument);
        tale_polled(tale, task, PENDING);
    }
    reading_make(&reading);
    for (uint32_t i = 0; i < 6; i++) {
        EXPECT_EQ(wait_at(&reading, i)->end, SIM_WAIT_FIRED);
        EXPECT_EQ(wait_at(&reading, i)->wake, wakes[i].wake);
    }
    reading_end(&reading);
}

/*
 * Goal: a join's child has the join's waker; the ledger connects it with the task that sleeps.
 */
TEST(ledger_waker_of_a_join_belongs_to_the_task_that_sleeps)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t parent = tale_task(tale, "parent");
    uint32_t other = tale_task(tale, "other");
    uint32_t self = tale_object_of(tale, parent);
    uint32_t join = SIM_OBJECT(RT_OBJECT_JOIN, 0, 1);
    uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    tale_poll(tale, parent, 0, 0);
    tale_store(tale, parent, join, "join", tale_site(0));
    tale_do_at(tale, RT_PROBE_STORE, slot, join, 0, tale_site(1));
    tale_polled(tale, parent, PENDING);
    tale_poll(tale, other, 100, 0);
    tale_do(tale, RT_PROBE_FIRE, slot, join);
    tale_do(tale, RT_PROBE_SUBWAKE, join, 0);
    tale_do(tale, RT_PROBE_FIRE, join, self);
    tale_do(tale, RT_PROBE_WAKE, self, 0);
    reading_make(&reading);
    uint32_t part = sim_actor_table_actor(&reading.actor_table, parent);
    EXPECT_EQ(reading.ledger.count, 2);
    EXPECT_EQ(wait_at(&reading, 0)->part, part);
    EXPECT_EQ(wait_at(&reading, 0)->wake, SIM_WAKE_QUEUED);
    EXPECT_EQ(wait_at(&reading, 1)->part, part);
    EXPECT_EQ(wait_at(&reading, 1)->whose, join);
    EXPECT_EQ(wait_at(&reading, 1)->wake, SIM_WAKE_CHILD);
    reading_end(&reading);
}

/*
 * Goal: a clone that is held is a wait: it ends with a wake that no place fired, or a drop.
 */
TEST(ledger_clone_ends_with_its_wake_or_its_drop)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t task = tale_task(tale, "task");
    uint32_t self = tale_object_of(tale, task);
    tale_poll(tale, task, 0, 0);
    tale_do(tale, RT_PROBE_CLONE, self, self);
    tale_do(tale, RT_PROBE_CLONE, self, self);
    tale_polled(tale, task, PENDING);
    tale_do(tale, RT_PROBE_SUBWAKE, self, 0); /* Some combinator's, of another waker: no end. */
    tale_do(tale, RT_PROBE_WAKE, self, 0);
    tale_do(tale, RT_PROBE_DROP, self, self);
    tale_do(tale, RT_PROBE_DROP, self, self); /* One more than there were: nothing ends. */
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 2);
    EXPECT_EQ(wait_at(&reading, 0)->kind, SIM_WAIT_CLONE);
    EXPECT_EQ(wait_at(&reading, 0)->end, SIM_WAIT_FIRED);
    EXPECT_EQ(wait_at(&reading, 0)->wake, SIM_WAKE_QUEUED);
    EXPECT_EQ(wait_at(&reading, 1)->end, SIM_WAIT_DROPPED);
    reading_end(&reading);
}

/*
 * Goal: what the host is asked is a wait of its own; a report answers all that asked, and who
 * takes a question back takes back his own.
 */
TEST(ledger_host_questions_end_by_report_or_are_taken_back)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t a = tale_task(tale, "a");
    uint32_t b = tale_task(tale, "b");
    uint32_t source = tale_object_of(tale, tale_actor(tale, SIM_ACTOR_SOURCE, "source"));
    tale_poll(tale, a, 0, 0);
    tale_do(tale, RT_PROBE_WAIT, source, 0);
    tale_poll(tale, b, 100, 0);
    tale_do(tale, RT_PROBE_WAIT, source, 0);
    tale_do(tale, RT_PROBE_UNWAIT, source, 0);
    tale_do(tale, RT_PROBE_WAIT, source, 0);
    tale_do(tale, SIM_EVENT_REPORT, source, 0);
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 3);
    EXPECT_EQ(wait_at(&reading, 0)->end, SIM_WAIT_REPORTED);
    EXPECT_EQ(wait_at(&reading, 1)->end, SIM_WAIT_TAKEN_BACK);
    EXPECT_EQ(wait_at(&reading, 2)->end, SIM_WAIT_REPORTED);
    reading_end(&reading);
}

/*
 * Goal: where one actor polls many tasks (a loop of the reader's own), each wait is its task's.
 */
TEST(ledger_tasks_polled_by_one_loop_have_waits_of_their_own)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "main");
    uint32_t objects[2] = {SIM_OBJECT(RT_OBJECT_TASK, 0, 1), SIM_OBJECT(RT_OBJECT_TASK, 0, 2)};
    tale_name(tale, objects[0], "left");
    tale_name(tale, objects[1], "right");
    for (uint32_t i = 0; i < 2; i++) {
        tale_step(tale, loop, 100 * i);
        tale_do(tale, RT_PROBE_POLL, objects[i], 0);
        tale_do(tale, RT_PROBE_STORE, SIM_OBJECT(RT_OBJECT_SLOT, 0, i + 1), objects[i]);
        tale_do(tale, RT_PROBE_POLLED, objects[i], PENDING);
    }
    /* After the poll the loop is itself again. */
    tale_do(tale, RT_PROBE_FIRE, SIM_OBJECT(RT_OBJECT_SLOT, 0, 2), objects[1]);
    reading_make(&reading);
    EXPECT_EQ(wait_at(&reading, 1)->ender, sim_actor_table_actor(&reading.actor_table, loop));
    sim_actor_table_put_part(&reading.actor_table, &reading.page, wait_at(&reading, 0)->part);
    sim_page_put(&reading.page, " ");
    sim_actor_table_put_part(&reading.actor_table, &reading.page, wait_at(&reading, 1)->part);
    EXPECT_STR(sim_page_text(&reading.page), "left right");
    EXPECT_EQ(wait_at(&reading, 1)->number, 1);
    reading_end(&reading);
}

/*
 * Goal: a ring that has lost the start of the run still tells the end of a wait.
 * Method: a store, then more events than the ring holds, then the fire.
 */
TEST(ledger_wait_stored_before_the_record_is_marked)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t task = tale_task(tale, "task");
    uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    tale_poll(tale, task, 0, 0);
    tale_store(tale, task, slot, "long ago", 0);
    tale_polled(tale, task, PENDING);
    for (uint32_t i = 0; i < 5000; i++) {
        tale_do(tale, SIM_EVENT_PROGRESS, 0, 0);
    }
    tale_step(tale, 0, 100);
    tale_do(tale, RT_PROBE_FIRE, slot, tale_object_of(tale, task));
    tale_do(tale, RT_PROBE_POLL, tale_object_of(tale, task), 0);
    reading_make(&reading);
    EXPECT_EQ(reading.ledger.count, 1);
    EXPECT_EQ(wait_at(&reading, 0)->unknown, 1);
    EXPECT_EQ(wait_at(&reading, 0)->end, SIM_WAIT_FIRED);
    reading_end(&reading);
}

/*
 * Goal: the table is what a reader sees, and is no wider than a page.
 * Method: one wait of each kind, one with names that are far too long.
 */
TEST(ledger_table_reads_as_one_line_a_wait)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t client = tale_task(tale, "client");
    uint32_t server = tale_task(tale, "a server with a name that is too long for any table");
    uint32_t self = tale_object_of(tale, client);
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, client, 2);
    uint32_t source = tale_object_of(tale, tale_actor(tale, SIM_ACTOR_SOURCE, "response B"));
    tale_poll(tale, client, 0, 0);
    tale_store(tale, client, timer, "sleep", tale_site(0));
    tale_do_at(tale, RT_PROBE_WAIT, source, 0, tale_site(1), 0);
    tale_store(tale, client, source, "headers", tale_site(2));
    tale_do(tale, RT_PROBE_CLONE, self, self);
    tale_polled(tale, client, PENDING);
    tale_poll(tale, server, 100, 0);
    tale_do(tale, RT_PROBE_FIRE, timer, self);
    tale_do(tale, RT_PROBE_WAKE, self, 1);
    tale_do(tale, RT_PROBE_ERASE, source, self);
    tale_store(tale, server, SIM_OBJECT(RT_OBJECT_QUEUE, client, 7),
            "an item of which there are never enough for all tasks", tale_site(3));
    reading_make(&reading);
    sim_ledger_put(&reading.ledger, &reading.page, SIM_PART_NONE, 0);
    EXPECT_STR(sim_page_text(&reading.page),
            /* clang-format off */
"who                        nth waits for                  stored at  step and then\n"
"client                       1 sleep (timer 2)            story.c:10    1 fired at 2 (coalesced)\n"
"client                       2 host: response B           story.c:20    1 open\n"
"client                       3 headers (response B)       story.c:30    1 erased at 2 by a server...\n"
"client                       4 (a clone)                  -             1 open\n"
"a server with a name th...   1 an item of which there ... story.c:40    2 open\n");
    /* clang-format on */
    ck_assert_uint_le(tale_width(sim_page_text(&reading.page)), SIM_PAGE_WIDTH);
    sim_page_clear(&reading.page);
    sim_ledger_put(
            &reading.ledger, &reading.page, sim_actor_table_actor(&reading.actor_table, client), 1);
    EXPECT_STR(sim_page_text(&reading.page),
            /* clang-format off */
"who    nth waits for            stored at  step and then\n"
"... 1 more that have ended ...\n"
"client   2 host: response B     story.c:20    1 open\n"
"client   3 headers (response B) story.c:30    1 erased at 2 by a server with a name that is too l...\n"
"client   4 (a clone)            -             1 open\n");
    /* clang-format on */
    reading_end(&reading);
}

/*
 * Goal: what does not fit is cut with a mark, and a name is not cut while another column has room
 * to give.
 */
TEST(ledger_table_gives_room_where_it_is_needed)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t producer = tale_task(tale, "producer");
    uint32_t consumer = tale_task(tale, "consumer A");
    uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    tale_poll(tale, producer, 0, 0);
    tale_store(tale, producer, slot, "room in the queue", tale_site(0));
    tale_polled(tale, producer, PENDING);
    tale_poll(tale, consumer, 100, 0);
    tale_do(tale, RT_PROBE_FIRE, slot, tale_object_of(tale, producer));
    tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, producer), 0);
    tale_polled(tale, consumer, READY);
    reading_make(&reading);
    sim_ledger_put(&reading.ledger, &reading.page, SIM_PART_NONE, 0);
    EXPECT_STR(sim_page_text(&reading.page),
            /* clang-format off */
"who      nth waits for         stored at              step and then\n"
"producer   1 room in the queue story.c:10 in step_0()    1 fired at 2 by consumer A\n");
    /* clang-format on */
    reading_end(&reading);
}

/* Waits of a loop that comes round again and again are folded, as its steps are; an open one is
 * shown. */
TEST(ledger_table_folds_what_repeats)
{
    struct reading reading;
    reading_begin(&reading);
    struct tale *tale = reading.tale;
    uint32_t reader = tale_task(tale, "reader");
    uint32_t writer = tale_task(tale, "writer");
    uint32_t slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    for (uint32_t i = 0; i < 40; i++) {
        tale_poll(tale, reader, i * 200, 0);
        tale_store(tale, reader, slot, "mail", tale_site(i == 20 ? 1 : 0));
        tale_polled(tale, reader, PENDING);
        if (i < 39) {
            tale_poll(tale, writer, i * 200 + 100, 0);
            tale_do(tale, RT_PROBE_FIRE, slot, tale_object_of(tale, reader));
            tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, reader), 0);
            tale_polled(tale, writer, PENDING);
        }
    }
    reading_make(&reading);
    sim_ledger_put(&reading.ledger, &reading.page, SIM_PART_NONE, 100);
    EXPECT_STR(sim_page_text(&reading.page),
            /* clang-format off */
"who    nth waits for stored at              step and then\n"
"reader   1 mail      story.c:10 in step_0()    1 fired at 2 by writer\n"
"... 19 waits like the one above, until step 39 ...\n"
"reader  21 mail      story.c:20 in step_1()   41 fired at 42 by writer\n"
"reader  22 mail      story.c:10 in step_0()   43 fired at 44 by writer\n"
"... 17 waits like the one above, until step 77 ...\n"
"reader  40 mail      story.c:10 in step_0()   79 open\n");
    /* clang-format on */
    sim_page_clear(&reading.page);
    sim_ledger_put(&reading.ledger, &reading.page, SIM_PART_NONE, 1);
    EXPECT_STR(sim_page_text(&reading.page),
            /* clang-format off */
"who    nth waits for stored at              step and then\n"
"... 39 more that have ended ...\n"
"reader  40 mail      story.c:10 in step_0()   79 open\n");
    /* clang-format on */
    reading_end(&reading);
}
