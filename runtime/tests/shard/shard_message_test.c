/*
 * shard_message_test.c -- messages between shards: order, fullness, the waiter, the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/shard/house.h"

#define MANY 40 /* More than a lane holds, and than two batches. */

/* Goal: what one shard sends to one other arrives in the order of sending, and returns in the
 * order of answering. Method: far more than the lane holds, in turns of both. Holds X2. */
TEST(shard_messages_of_one_pair_arrive_in_order)
{
    struct house house;
    struct letter letters[MANY];
    uint32_t arrivals = 0;
    uint32_t answers = 0;
    house_init(&house);
    for (uint32_t i = 0; i < MANY; i++) {
        letter_init(&letters[i], &house, &arrivals, &answers);
        letter_send(&letters[i], 0, 1);
        if (i % 7 == 0) {
            (void)house_turn(&house, i % 2);
        }
    }
    house_turns(&house, 4 * MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        EXPECT_EQ(letters[i].arrived_at, i + 1);
        EXPECT_EQ(letters[i].answered_at, i + 1);
    }
    house_close(&house);
    house_fini(&house);
}

/* Goal: a full lane makes the queue longer and loses nothing. Method: nothing is taken while far
 * more are sent than fit; each send is accepted, and all return, once. Holds X3. */
TEST(shard_full_ring_keeps_the_rest_in_line)
{
    struct house house;
    struct letter letters[MANY];
    uint32_t arrivals = 0;
    uint32_t answers = 0;
    house_init(&house);
    for (uint32_t i = 0; i < MANY; i++) {
        letter_init(&letters[i], &house, &arrivals, &answers);
        letter_send(&letters[i], 0, 1);
        (void)house_turn(&house, 0);
    }
    EXPECT_EQ(arrivals, 0);
    EXPECT_EQ(rt_lane_count(&house.pipes[1].lane), HOUSE_LANE);
    house_turns(&house, 4 * MANY);
    EXPECT_EQ(arrivals, MANY);
    EXPECT_EQ(answers, MANY);
    house_close(&house);
    house_fini(&house);
}

/* Goal: a sender that sleeps with messages queued is notified when the lane has capacity again.
 * Method: fill lane and queue, let it sleep until the receiver takes. Holds X3, X4. */
static void
receiver_turns(struct dumb_host *host)
{
    struct house *house = host->argument;
    (void)house_turn(house, 1);
}

TEST(shard_asleep_with_queued_messages_is_notified_of_capacity)
{
    struct house house;
    struct letter letters[MANY];
    uint32_t arrivals = 0;
    uint32_t answers = 0;
    house_init(&house);
    for (uint32_t i = 0; i < MANY; i++) {
        letter_init(&letters[i], &house, &arrivals, &answers);
        letters[i].kept = true;
        letter_send(&letters[i], 0, 1);
    }
    house.units[0].dumb.host.blocked = receiver_turns;
    house.units[0].dumb.host.argument = &house;
    for (uint32_t i = 0; i < 3 * MANY && arrivals < MANY - HOUSE_LANE; i++) {
        (void)house_turn_in(&house, 0, RT_TURN_BLOCK);
    }
    house_turns(&house, 4);
    EXPECT_EQ(arrivals, MANY);
    EXPECT_EQ(house.units[0].shard.under_way, MANY);
    house.current = 1;
    for (uint32_t i = 0; i < MANY; i++) {
        rt_message_answer(&letters[i].message, house_shard(&house, 1), RT_OK);
    }
    house_close(&house);
    EXPECT_EQ(answers, MANY);
    house_fini(&house);
}

/* Goal: an alien is refused when as many wait as the shard takes, and accepted again after a turn.
 * It is answered on the target's thread, and has its message back. Holds X3. */
TEST(shard_alien_is_refused_when_full)
{
    struct house house;
    struct letter letters[HOUSE_ALIENS + 1];
    uint32_t arrivals = 0;
    uint32_t answers = 0;
    house_init(&house);
    struct rt_shard *shard = house_shard(&house, 2);
    for (uint32_t i = 0; i < HOUSE_ALIENS; i++) {
        letter_init(&letters[i], &house, &arrivals, &answers);
        EXPECT_EQ(rt_alien_submit(&letters[i].message, shard), RT_OK);
        EXPECT_EQ(rt_alien_submit(&letters[i].message, shard), RT_E_IN_USE);
    }
    struct letter *last = &letters[HOUSE_ALIENS];
    letter_init(last, &house, &arrivals, &answers);
    EXPECT_EQ(rt_alien_submit(&last->message, shard), RT_E_FULL);
    EXPECT(rt_message_is_idle(&last->message));
    (void)house_turn(&house, 2);
    EXPECT_EQ(answers, HOUSE_ALIENS);
    EXPECT_EQ(letters[0].answered_at, 1);
    EXPECT(rt_message_is_idle(&letters[0].message));
    EXPECT_EQ(rt_alien_submit(&last->message, shard), RT_OK);
    house_close(&house);
    EXPECT_EQ(last->answered_on, 2);
    house_fini(&house);
}

/* ---- The waiter. ---------------------------------------------------------------------------- */

struct interruption {
    struct house house;
    struct letter letter;
    uint32_t arrivals;
    uint32_t answers;
};

/* Shard 0 sends when shard 1 calls `between` for the `countdown`-th time. */
static void
send_at_the_countdown(struct house *house, uint32_t number)
{
    struct interruption *interruption = rt_container_of(house, struct interruption, house);
    if (number != 1 || house->countdown-- != 0) {
        return;
    }
    house->between = NULL;
    letter_send(&interruption->letter, 0, 1);
    (void)house_turn(house, 0);
}

/* Goal: a message that arrives while its receiver falls asleep ends the sleep. Method: at each step
 * of falling asleep at which another thread could run, let it run; a host that is blocked without
 * a notification fails the test. Holds X4. */
TEST(shard_message_at_any_step_of_falling_asleep_ends_the_sleep)
{
    for (uint32_t at = 0; at < 2; at++) {
        struct interruption interruption = {.arrivals = 0};
        house_init(&interruption.house);
        letter_init(&interruption.letter, &interruption.house, &interruption.arrivals,
                &interruption.answers);
        interruption.house.between = send_at_the_countdown;
        interruption.house.countdown = at;
        (void)house_turn_in(&interruption.house, 1, RT_TURN_BLOCK);
        EXPECT(interruption.house.between == NULL);
        (void)house_turn(&interruption.house, 1);
        EXPECT_EQ(interruption.arrivals, 1);
        house_close(&interruption.house);
        house_fini(&interruption.house);
    }
}

static void
letters_come(struct dumb_host *host)
{
    struct interruption *interruption = host->argument;
    struct house *house = &interruption->house;
    letter_send(&interruption->letter, 0, 1);
    (void)house_turn(house, 0);
    rt_shards_close(&house->shards);
}

/* Goal: a waiter is notified once, however much comes. Method: while it is blocked a message
 * comes, and the closing; its host counts. Holds X4. */
TEST(shard_asleep_is_notified_once)
{
    struct interruption interruption = {.arrivals = 0};
    house_init(&interruption.house);
    struct dumb_host *host = &interruption.house.units[1].dumb.host;
    letter_init(&interruption.letter, &interruption.house, &interruption.arrivals,
            &interruption.answers);
    host->blocked = letters_come;
    host->argument = &interruption;
    (void)house_turn_in(&interruption.house, 1, RT_TURN_BLOCK);
    EXPECT_EQ(host->notifies, 1);
    house_close(&interruption.house);
    EXPECT_EQ(interruption.arrivals, 1);
    house_fini(&interruption.house);
}

/* ---- The call. ------------------------------------------------------------------------------- */

struct caller {
    struct rt_task task;
    struct rt_submit submit;
    struct house *house;
    struct rt_message *arrived;
    uint32_t polled_on;
    bool sent;
};

static void
keep_call(struct rt_message *message, struct rt_shard *shard)
{
    struct caller *caller = rt_container_of(message, struct caller, submit.message);
    EXPECT_EQ(shard->number, 2);
    caller->arrived = message;
}

static rt_poll
caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct caller *caller = rt_container_of(task, struct caller, task);
    caller->polled_on = caller->house->current;
    if (!caller->sent) {
        caller->sent = true;
        rt_submit_to(&caller->submit, house_shard(caller->house, 0), 2, keep_call);
    }
    return rt_future_poll(&caller->submit.future, cx);
}

static void
caller_start(struct caller *caller, struct house *house)
{
    memset(caller, 0, sizeof(*caller));
    caller->house = house;
    rt_task_init(&caller->task, caller_poll, NULL, "caller");
    house->current = 0;
    EXPECT_EQ(rt_post(&house->units[0].dumb.runtime.executor, &caller->task), RT_OK);
}

/* Goal: a call answers its caller on the caller's shard, failures too. Method: the other shard
 * keeps the call, then fails it; the caller is polled on its own shard only. Holds X5. */
TEST(shard_submit_is_resolved_on_the_origin_with_the_callees_failure)
{
    struct house house;
    struct caller caller;
    house_init(&house);
    caller_start(&caller, &house);
    house_turns(&house, 2);
    EXPECT_EQ(caller.task.state, RT_TASK_SLEEPING);
    house.current = 2;
    rt_message_answer(caller.arrived, house_shard(&house, 2), RT_E_LIMIT);
    (void)house_turn(&house, 2);
    EXPECT_EQ(caller.task.state, RT_TASK_SLEEPING);
    (void)house_turn(&house, 0);
    EXPECT_EQ(caller.task.end, RT_TASK_DONE);
    EXPECT_EQ(caller.polled_on, 0);
    EXPECT_EQ(caller.submit.message.result, RT_E_LIMIT);
    EXPECT_FAULT(RT_E_INVALID,
            (house.current = 2, rt_message_answer(caller.arrived, house_shard(&house, 2), RT_OK)));
    house_close(&house);
    house_fini(&house);
}

/* Goal: a call that was dropped is still the other shard's, and no task is woken when it returns;
 * only then is its memory free. Holds X5. */
TEST(shard_submit_dropped_ends_when_its_message_returns)
{
    struct house house;
    struct caller caller;
    house_init(&house);
    caller_start(&caller, &house);
    house_turns(&house, 2);
    house.current = 0;
    rt_future_drop(&caller.submit.future);
    rt_task_cancel(&caller.task);
    EXPECT(!rt_submit_is_over(&caller.submit));
    EXPECT_FAULT(RT_E_IN_USE, rt_shard_fini(house_shard(&house, 0)));
    house.current = 2;
    rt_message_answer(caller.arrived, house_shard(&house, 2), RT_OK);
    house_turns(&house, 2);
    EXPECT(rt_submit_is_over(&caller.submit));
    EXPECT_EQ(caller.task.polls, 1);
    house_close(&house);
    house_fini(&house);
}

/* Goal: what cannot be sent is an answer as well. Holds X5, X7. */
TEST(shard_submit_refused_is_ready_with_the_refusal)
{
    struct house house;
    struct rt_submit submit;
    house_init(&house);
    rt_submit_to(&submit, house_shard(&house, 0), HOUSE_SHARDS, keep_call);
    EXPECT(rt_submit_is_over(&submit));
    EXPECT_EQ(submit.message.result, RT_E_INVALID);
    rt_shards_close(&house.shards);
    (void)house_turn(&house, 0);
    rt_submit_to(&submit, house_shard(&house, 0), 1, keep_call);
    EXPECT_EQ(submit.message.result, RT_E_CLOSED);
    house_close(&house);
    house_fini(&house);
}
