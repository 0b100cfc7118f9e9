/*
 * judge_test.c -- verdicts: what must be found, what must not be, and where the blame goes.
 *
 * The file opens with the story that the whole project is about, stepped to its report; then
 * the traps: programs in order that look broken, and broken ones that look idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/tests/lab.h"

/* ---- A mailbox of the scenario's own, and two tasks. ----------------------------------------- */

struct mailbox {
    struct rt_slot reader;
    uint32_t items;
    bool forgetful; /* Puts without waking every second time. */
    uint32_t puts;
};

struct player {
    struct rt_task task;
    struct sim_world *world;
    struct mailbox *in;
    struct mailbox *out;
    uint32_t wanted;
    uint32_t got;
    uint32_t stage;
    struct rt_slot slot;
    struct rt_sleep sleep;
};

static void
mailbox_put(struct mailbox *box)
{
    box->items++;
    box->puts++;
    if (!box->forgetful || box->puts % 2 == 1) {
        rt_slot_wake(&box->reader);
    }
}

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    while (player->in->items > 0 && player->got < player->wanted) {
        player->in->items--;
        player->got++;
    }
    if (player->got == player->wanted) {
        return RT_READY;
    }
    rt_slot_replace(&player->in->reader, cx, "an item in the mailbox");
    return RT_PENDING;
}

/* Puts one item a poll, and yields in between. */
static rt_poll
putter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->got == player->wanted) {
        return RT_READY;
    }
    player->got++;
    mailbox_put(player->out);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static struct player *
player_new(struct sim_world *world, rt_poll_fn poll, const char *name)
{
    struct player *player = sim_new(world, struct player);
    player->world = world;
    rt_task_init(&player->task, poll, NULL, name);
    rt_slot_init(&player->slot);
    return player;
}

static struct mailbox *
mailbox_new(struct sim_world *world, bool forgetful)
{
    struct mailbox *box = sim_new(world, struct mailbox);
    rt_slot_init(&box->reader);
    box->forgetful = forgetful;
    return box;
}

static void
mail(struct sim_world *world, bool forgetful)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mailbox *box = mailbox_new(world, forgetful);
    struct player *taker = player_new(world, taker_poll, "taker");
    struct player *putter = player_new(world, putter_poll, "putter");
    taker->in = box;
    taker->wanted = 4;
    putter->out = box;
    putter->wanted = 4;
    sim_spawn(rt, &taker->task);
    sim_spawn(rt, &putter->task);
}

static void
mail_setup(struct sim_world *world)
{
    mail(world, false);
}

static void
forgetful_setup(struct sim_world *world)
{
    mail(world, true);
}

static const struct sim_scenario mail_good = {.name = "test/mail", .setup = mail_setup};
static const struct sim_scenario mail_bad = {.name = "test/forgetful", .setup = forgetful_setup};

/* Goal: a lost wake-up is called one, its blocked task is named, and the step that owed the wake is
 * found. Method: a mailbox that forgets to wake; many seeds; at the owed step, the putter ran. */
TEST(lost_wake_is_found_and_the_owed_step_is_the_putters)
{
    struct lab lab;
    uint32_t lost = 0;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &mail_bad, seed, false);
        if (outcome.verdict == SIM_VERDICT_PASS) {
            continue;
        }
        lost++;
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
        EXPECT_EQ(outcome.oracle, SIM_ORACLE_REWAKE);
        EXPECT_STR(outcome.actor_name, "taker");
        EXPECT(outcome.missing_wake_step > 0);
        EXPECT(outcome.site != 0);
        bool putter = false;
        for (uint64_t i = 0; i < lab.world.recorder.count; i++) {
            const struct sim_event *event = sim_recorder_event(&lab.world.recorder, i);
            putter = putter ||
                     (event->kind == SIM_EVENT_STEP && event->step == outcome.missing_wake_step &&
                             strcmp(sim_recorder_text(
                                            &lab.world.recorder, SIM_TEXT_ACTOR, event->actor),
                                     "putter") == 0);
        }
        EXPECT(putter);
    }
    EXPECT(lost > 10);
    lab_fini(&lab);
}

/* Goal: no false alarm: the same program with every wake in place passes for every seed.
 * Method: 500 seeds and the baseline run, every quiescence audited. */
TEST(program_in_order_passes_every_seed)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &mail_good);
    options.audit_one_in = 1;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &mail_good, &options, seed, seed == 0);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

/* ---- Deadlock. ------------------------------------------------------------------------------- */

static rt_poll
swap_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->in->items == 0) {
        rt_slot_replace(&player->in->reader, cx, "the other one's item");
        return RT_PENDING;
    }
    mailbox_put(player->out);
    return RT_READY;
}

static void
deadlock_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mailbox *one = mailbox_new(world, false);
    struct mailbox *two = mailbox_new(world, false);
    struct player *a = player_new(world, swap_poll, "a");
    struct player *b = player_new(world, swap_poll, "b");
    a->in = b->out = one;
    b->in = a->out = two;
    sim_spawn(rt, &a->task);
    sim_spawn(rt, &b->task);
}

/* Goal: a stall in which no task moves is a deadlock, and the report says what both wait for.
 * Method: two tasks that each wait for the other. Holds D5. */
TEST(circle_of_waits_is_a_deadlock_and_not_a_lost_wake)
{
    static const struct sim_scenario scenario = {.name = "test/deadlock", .setup = deadlock_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_DEADLOCK);
        EXPECT(strstr(outcome.message, "2 blocked") != NULL);
        EXPECT(strstr(outcome.message, "'a' waits for: the other one's item") != NULL);
    }
    lab_fini(&lab);
}

static void
reader_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_block(world, 0, "a letter", RT_HERE);
}

static void
blocked_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "reader", reader_main, NULL);
}

/* Goal: a loop that cannot be polled for a question still says what it waits for.
 * Method: a loop that blocks, and no actor to wake it. */
TEST(blocked_loop_is_told_with_what_it_waits_for)
{
    static const struct sim_scenario scenario = {.name = "test/blocked", .setup = blocked_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(&lab, &scenario, 1, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_DEADLOCK);
    EXPECT(strstr(outcome.message, "'reader' waits for: a letter") != NULL);
    EXPECT(outcome.site != 0);
    lab_fini(&lab);
}

/* ---- False-alarm traps. ---------------------------------------------------------------------- */

static void
release(struct rt_task *task)
{
    struct player *player = rt_container_of(task, struct player, task);
    rt_slot_clear(&player->slot);
}

static rt_poll
accept_loop_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    rt_slot_replace(&player->slot, cx, "a connection");
    return RT_PENDING;
}

static void
accept_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *loop = player_new(world, accept_loop_poll, "accept loop");
    struct player *client = player_new(world, putter_poll, "client");
    loop->task.cleanup = release;
    client->out = mailbox_new(world, false);
    client->wanted = 2;
    sim_spawn_background(rt, &loop->task);
    sim_spawn(rt, &client->task);
}

/* Goal: who is never waited for may sleep forever.
 * Method: a background accept loop, beside a client that ends. */
TEST(background_accept_loop_is_no_lost_wake)
{
    static const struct sim_scenario scenario = {.name = "test/accept", .setup = accept_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 1;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

/* Makes a new slot, and arms a new timer, at each poll: another object in the same place. */
static rt_poll
anew_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (sim_now(player->world) >= 50 * RT_MS) {
        rt_sleep_cancel(&player->sleep);
        rt_slot_clear(&player->slot);
        return RT_READY;
    }
    if (player->got++ > 0) {
        rt_sleep_cancel(&player->sleep);
        rt_slot_clear(&player->slot);
    }
    rt_slot_init(&player->slot);
    rt_slot_replace(&player->slot, cx, "a sign");
    rt_sleep_until(&player->sleep, 50 * RT_MS);
    return rt_sleep_poll(&player->sleep, cx);
}

static void
anew_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *again = player_new(world, anew_poll, "subscribes again");
    struct player *stuck = player_new(world, swap_poll, "stuck");
    stuck->in = mailbox_new(world, false);
    stuck->out = stuck->in;
    sim_spawn(rt, &again->task);
    (void)stuck;
}

/* Goal: registering again at the same place is no move.
 * Method: a task that makes its slot and its timer again at each poll, all quiescences audited. */
TEST(task_that_subscribes_anew_at_each_poll_has_not_moved)
{
    static const struct sim_scenario scenario = {.name = "test/again", .setup = anew_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 1;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

/* ---- Misses that must not be. ---------------------------------------------------------------- */

struct child {
    struct rt_future future;
    struct mailbox *box;
};

struct parent {
    struct rt_task task;
    struct rt_join join;
    struct rt_child children[2];
    struct child futures[2];
};

static rt_poll
child_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct child *child = rt_container_of(future, struct child, future);
    if (child->box->items > 0) {
        child->box->items--;
        return RT_READY;
    }
    rt_slot_replace(&child->box->reader, cx, "an item for the child");
    return RT_PENDING;
}

static rt_poll
parent_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct parent *parent = rt_container_of(task, struct parent, task);
    return rt_join_poll(&parent->join, cx);
}

/* Puts one item into each box: two polls, the second without a wake. */
static rt_poll
two_boxes_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->stage++ == 0) {
        mailbox_put(player->out);
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    player->in->items++; /* And no wake. */
    return RT_READY;
}

static void
join_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct parent *parent = sim_new(world, struct parent);
    struct player *player = player_new(world, two_boxes_poll, "two boxes");
    player->out = mailbox_new(world, false);
    player->in = mailbox_new(world, false);
    for (uint32_t i = 0; i < 2; i++) {
        rt_future_init(&parent->futures[i].future, child_poll, NULL, i == 0 ? "left" : "right");
        parent->futures[i].box = i == 0 ? player->out : player->in;
        parent->children[i].future = &parent->futures[i].future;
    }
    rt_join_init(&parent->join, parent->children, 2);
    rt_task_init(&parent->task, parent_poll, NULL, "parent");
    sim_spawn(rt, &parent->task);
    sim_spawn(rt, &player->task);
}

/* Goal: a wake lost inside a join is seen from outside.
 * Method: one child's box is filled without a wake; the parent is the blocked task. */
TEST(wake_lost_inside_a_join_is_not_missed)
{
    static const struct sim_scenario scenario = {.name = "test/join", .setup = join_setup};
    struct lab lab;
    uint32_t lost = 0;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        lost += outcome.verdict == SIM_VERDICT_LOST_WAKEUP;
        EXPECT(outcome.verdict == SIM_VERDICT_LOST_WAKEUP || outcome.verdict == SIM_VERDICT_PASS);
    }
    EXPECT(lost > 10);
    lab_fini(&lab);
}

/* Takes an item, then waits at another line for a go-ahead that comes only with the last item. */
static rt_poll
two_waits_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->stage == 0) {
        if (player->in->items == 0) {
            rt_slot_replace(&player->in->reader, cx, "an item");
            return RT_PENDING;
        }
        player->in->items--;
        SIM_PROGRESS();
        player->stage = 1;
    }
    rt_slot_replace(&player->slot, cx, "a go-ahead that is never given");
    return RT_PENDING;
}

static rt_poll
silent_putter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    (void)cx;
    player->out->items++; /* And no wake. */
    return RT_READY;
}

static void
second_wait_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *taker = player_new(world, two_waits_poll, "taker");
    struct player *putter = player_new(world, silent_putter_poll, "putter");
    taker->in = mailbox_new(world, false);
    putter->out = taker->in;
    sim_spawn(rt, &taker->task);
    sim_spawn(rt, &putter->task);
}

/* Goal: a blocked task that takes an item when spuriously polled has moved, although it sleeps
 * again at once. Method: the item is there, the wake was not; after it comes a second wait. */
TEST(item_taken_by_the_spurious_poll_before_a_second_wait_is_not_missed)
{
    static const struct sim_scenario scenario = {.name = "test/second", .setup = second_wait_setup};
    struct lab lab;
    uint32_t lost = 0;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        /* When the putter came first, the taker waits for the go-ahead alone: a deadlock. */
        EXPECT(outcome.verdict == SIM_VERDICT_LOST_WAKEUP ||
                outcome.verdict == SIM_VERDICT_DEADLOCK);
        lost += outcome.verdict == SIM_VERDICT_LOST_WAKEUP;
    }
    EXPECT(lost > 10);
    EXPECT(lost < 60);
    lab_fini(&lab);
}

/* ---- Late. ----------------------------------------------------------------------------------- */

static rt_poll
late_putter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->stage == 0) {
        player->out->items++; /* No wake: it comes after a nap. */
        rt_sleep_init(&player->sleep, 50 * RT_MS);
        player->stage = 1;
    }
    RT_AWAIT(rt_sleep_poll(&player->sleep, cx));
    rt_slot_wake(&player->out->reader);
    return RT_READY;
}

static void
late_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *taker = player_new(world, taker_poll, "taker");
    struct player *putter = player_new(world, late_putter_poll, "putter");
    taker->in = mailbox_new(world, false);
    taker->wanted = 1;
    putter->out = taker->in;
    sim_spawn(rt, &taker->task);
    sim_spawn(rt, &putter->task);
}

/* Goal: a wake that comes, but 50 ms after it could have, is late.
 * Method: every quiescence is audited; the step that owed the wake is the putter's first. */
TEST(wake_50_ms_after_the_item_is_late)
{
    static const struct sim_scenario scenario = {.name = "test/late", .setup = late_setup};
    struct lab lab;
    struct sim_options options;
    uint32_t late = 0;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 1;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, seed, false);
        if (outcome.verdict != SIM_VERDICT_PASS) {
            EXPECT_EQ(outcome.verdict, SIM_VERDICT_LATE_WAKEUP);
            EXPECT_STR(outcome.actor_name, "taker");
            EXPECT(outcome.missing_wake_step > 0);
            late++;
        }
    }
    EXPECT(late > 10);
    /* Declared slack is no lateness. */
    options.slack_ns = 100 * RT_MS;
    for (uint64_t seed = 0; seed < 60; seed++) {
        EXPECT_EQ(lab_judge_with(&lab, &scenario, &options, seed, false).verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

struct napper {
    struct rt_task task;
    struct rt_sleep nap;
    struct sim_world *world;
    bool asleep;
};

static rt_poll
napper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct napper *napper = rt_container_of(task, struct napper, task);
    if (!napper->asleep) {
        sim_work(napper->world, 300 * RT_US);
        rt_sleep_init(&napper->nap, 2 * RT_MS);
        napper->asleep = true;
    }
    return rt_sleep_poll(&napper->nap, cx);
}

static void
lingerer_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_sleep(world, 50 * RT_MS);
}

static void
napper_setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {.tick_ns = RT_MS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct napper *napper = sim_new(world, struct napper);
    napper->world = world;
    rt_task_init(&napper->task, napper_poll, NULL, "napper");
    sim_spawn(rt, &napper->task);
    (void)sim_loop_new(world, "lingerer", lingerer_main, NULL);
}

/* Goal: who is woken within the tick was not woken late, however long the waking step took.
 * Method: a sleep that ends between two ticks, audited, while every other step is slow. */
TEST(wake_within_the_tick_is_not_late_when_the_poll_is)
{
    static const struct sim_scenario scenario = {.name = "test/nap", .setup = napper_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 1;
    options.slow_one_in = 2;
    for (uint64_t seed = 0; seed < 500; seed++) {
        EXPECT_EQ(lab_judge_with(&lab, &scenario, &options, seed, false).verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

/* ---- Behind noise, and between plain variables. ---------------------------------------------- */

static rt_poll
busy_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
noisy_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *taker = player_new(world, taker_poll, "taker");
    struct player *putter = player_new(world, silent_putter_poll, "putter");
    struct player *busy = player_new(world, busy_poll, "busy");
    taker->in = mailbox_new(world, false);
    taker->wanted = 1;
    putter->out = taker->in;
    sim_spawn(rt, &taker->task);
    sim_spawn(rt, &putter->task);
    sim_spawn_background(rt, &busy->task);
}

/* Goal: an actor that keeps the world busy does not hide a lost wake.
 * Method: a background task that never rests; the run ends at the livelock limit. */
TEST(lost_wake_beside_a_task_that_never_rests_is_not_missed)
{
    static const struct sim_scenario scenario = {.name = "test/noisy", .setup = noisy_setup};
    struct lab lab;
    uint32_t lost = 0;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        EXPECT(outcome.verdict == SIM_VERDICT_LOST_WAKEUP || outcome.verdict == SIM_VERDICT_PASS);
        lost += outcome.verdict == SIM_VERDICT_LOST_WAKEUP;
        if (outcome.verdict == SIM_VERDICT_LOST_WAKEUP) {
            EXPECT_STR(outcome.actor_name, "taker");
        }
    }
    EXPECT(lost > 5);
    lab_fini(&lab);
}

/* Each waits for its turn, counts, passes the turn on, and forgets to wake the other. */
static rt_poll
turn_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->in->items == player->stage) {
        player->in->items = 1 - player->stage;
        player->got++;
    }
    if (player->got == player->wanted) {
        return RT_READY;
    }
    rt_slot_replace(&player->slot, cx, "its turn");
    return RT_PENDING;
}

static void
turns_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mailbox *turn = mailbox_new(world, false);
    for (uint32_t i = 0; i < 2; i++) {
        struct player *player = player_new(world, turn_poll, i == 0 ? "ping" : "pong");
        player->in = turn;
        player->stage = i;
        player->wanted = 5;
        sim_spawn(rt, &player->task);
    }
}

/* Goal: wakes that are lost again and again between plain variables are no deadlock.
 * Method: two that take turns and never wake each other: one poll moves neither, many move both. */
TEST(forgotten_wakes_between_two_that_take_turns_are_not_a_deadlock)
{
    static const struct sim_scenario scenario = {.name = "test/turns", .setup = turns_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
        EXPECT_EQ(outcome.reason, SIM_REASON_ROUNDS);
    }
    lab_fini(&lab);
}

/* A server in the background: takes what is asked, works for a while, and only then answers. */
static rt_poll
slow_server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    for (;;) {
        if (player->stage == 1) {
            RT_AWAIT(rt_sleep_poll(&player->sleep, cx));
            player->stage = 0;
            mailbox_put(player->out);
        }
        if (player->in->items == 0) {
            rt_slot_replace(&player->in->reader, cx, "a question");
            return RT_PENDING;
        }
        player->in->items--;
        player->stage = 1;
        rt_sleep_init(&player->sleep, RT_MS);
    }
}

/* Asks without a wake, each time but the first. */
static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    while (player->got < player->wanted) {
        if (player->in->items == 0) {
            if (player->stage == player->got) {
                player->stage++;
                player->out->items++;
                if (player->got == 0) {
                    rt_slot_wake(&player->out->reader);
                }
            }
            rt_slot_replace(&player->in->reader, cx, "an answer");
            return RT_PENDING;
        }
        player->in->items--;
        player->got++;
    }
    return RT_READY;
}

static void
slow_server_setup(struct sim_world *world, uint32_t questions)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *asker = player_new(world, asker_poll, "asker");
    struct player *server = player_new(world, slow_server_poll, "server");
    asker->out = server->in = mailbox_new(world, false);
    asker->in = server->out = mailbox_new(world, false);
    asker->wanted = questions;
    sim_spawn(rt, &asker->task);
    sim_spawn_background(rt, &server->task);
}

static void
one_question_setup(struct sim_world *world)
{
    slow_server_setup(world, 2);
}

static void
questions_setup(struct sim_world *world)
{
    slow_server_setup(world, 4);
}

static void
loss_of_the_server(const struct sim_scenario *scenario)
{
    struct lab lab;
    uint32_t lost = 0;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, scenario, seed, false);
        if (outcome.verdict == SIM_VERDICT_PASS) {
            continue; /* Polls for nothing have made up for the wakes. */
        }
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
        EXPECT_STR(outcome.actor_name, "server");
        lost++;
    }
    EXPECT(lost > 10);
    lab_fini(&lab);
}

/* Goal: the task that is waited for is freed by a background task in its own time, not at once.
 * Method: the server, polled once more, works for a millisecond before it answers. */
TEST(lost_wake_of_a_background_task_that_takes_its_time_is_no_deadlock)
{
    static const struct sim_scenario scenario = {
            .name = "test/slow", .setup = one_question_setup, .order = SIM_ORDER_FIFO};
    loss_of_the_server(&scenario);
}

/* Goal: … nor where it loses one wake after the other, and one poll of it frees none. */
TEST(lost_wakes_of_a_background_task_are_no_deadlock)
{
    static const struct sim_scenario scenario = {
            .name = "test/slower", .setup = questions_setup, .order = SIM_ORDER_FIFO};
    loss_of_the_server(&scenario);
}

/* ---- A verdict that the experiment itself brings about. -------------------------------------- */

/* Fails its own check where it is polled although its mailbox was not emptied by a wake. */
static rt_poll
strict_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->stage++ > 0) {
        sim_fail(player->world, SIM_VERDICT_INVARIANT, SIM_ORACLE_USER, NULL, 0,
                "polled without a wake");
    }
    rt_slot_replace(&player->slot, cx, "a wake that never comes");
    return RT_PENDING;
}

static void
strict_setup(struct sim_world *world)
{
    sim_spawn(sim_rt_new(world, NULL), &player_new(world, strict_poll, "strict")->task);
}

/* Goal: a verdict that falls while the judge polls a blocked task is that verdict, marked as one
 * that a replay does not meet by itself. Method: a task that fails when it is polled twice, and
 * that nothing wakes; then a failure of the run itself, which is not marked. */
TEST(verdict_in_the_answer_of_a_spurious_poll_is_marked_as_asked_for)
{
    static const struct sim_scenario scenario = {.name = "test/strict", .setup = strict_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(&lab, &scenario, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_INVARIANT);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_USER);
    EXPECT_STR(outcome.message, "polled without a wake");
    EXPECT_EQ(outcome.asked, 1);
    EXPECT_EQ(lab_run(&lab, &scenario, 1, true).asked, 0);
    lab_fini(&lab);
}

/* ---- A poll that stores no waker. ------------------------------------------------------------ */

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_PENDING;
}

static void
careless_setup(struct sim_world *world)
{
    sim_spawn(sim_rt_new(world, NULL), &player_new(world, careless_poll, "careless")->task);
}

/* Goal: what is explained as a waker that was never stored goes by a typed reason, not by words.
 * Method: a task that returns PENDING and stores nothing, against one that breaks another rule. */
TEST(poll_that_stores_no_waker_says_so_by_its_reason)
{
    static const struct sim_scenario scenario = {.name = "test/careless", .setup = careless_setup};
    static const struct sim_scenario other = {.name = "test/strict", .setup = strict_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(&lab, &scenario, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_CONTRACT);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_FAULT);
    EXPECT_STR(outcome.actor_name, "careless");
    EXPECT_EQ(outcome.reason, SIM_REASON_NO_WAKER);
    outcome = lab_judge(&lab, &other, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_INVARIANT);
    EXPECT_EQ(outcome.reason, SIM_REASON_NONE);
    lab_fini(&lab);
}
