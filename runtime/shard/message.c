/*
 * message.c -- a message's way out, and back.
 *
 * Orders. `state` is written by the current holder of the message, and passed on with
 * it by the lane or the inbox, so it is read and written relaxed; except for the last
 * write of an alien's, which itself returns the message, with release.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/message.h"

#include "runtime/shard/internal.h"

#include "runtime/base/banned.h"

static void
check_message(const struct rt_message *message)
{
    rt_assert(message != NULL);
    if (__builtin_expect(message->object.magic != RT__MESSAGE_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a message was used that rt_message_init never made");
    }
}

static enum rt_message_state
state_of(const struct rt_message *message)
{
    return (enum rt_message_state)atomic_load_explicit(&message->state, memory_order_relaxed);
}

static void
set_state(struct rt_message *message, enum rt_message_state state)
{
    atomic_store_explicit(&message->state, (unsigned)state, memory_order_relaxed);
}

void
rt_message_init(struct rt_message *message, rt_message_fn arrive, rt_message_fn answered)
{
    rt_assert(message != NULL);
    rt_assert(arrive != NULL);
    message->object = (struct rt_object){RT__MESSAGE_MAGIC, RT_PROBE_OBJECT(OPERATION)};
    atomic_init(&message->state, RT_MESSAGE_IDLE);
    message->from = 0;
    message->to = 0;
    message->result = RT_OK;
    rt_list_init(&message->link);
    message->inbox_link.next = NULL;
    message->arrive = arrive;
    message->answered = answered;
}

bool
rt_message_is_idle(const struct rt_message *message)
{
    check_message(message);
    /* Acquire: what the target's thread did with an alien's message. */
    return atomic_load_explicit(&message->state, memory_order_acquire) == RT_MESSAGE_IDLE;
}

/* Into the queue of its current sender; the loop moves it on (shard.h, 3). */
static void
enqueue(struct rt_message *message, struct rt_shard *sender, uint32_t receiver)
{
    struct rt_pipe *pipe = rt__pipe(sender->shards, sender->number, receiver);
    rt_list_push_back(&pipe->waiting, &message->link);
}

rt_err
rt_message_send_at(struct rt_message *message, struct rt_shard *origin, uint32_t to,
        const struct rt_site *await)
{
    check_message(message);
    rt__shard_check_here(origin, "a message was sent from a thread that is not its origin's");
    if (!rt_message_is_idle(message)) {
        return RT_E_IN_USE;
    }
    if (to >= origin->shards->count) {
        return RT_E_INVALID;
    }
    if (origin->closed) {
        return RT_E_CLOSED;
    }
    message->from = origin->number;
    message->to = to;
    message->result = RT_OK;
    set_state(message, RT_MESSAGE_SENT);
    origin->under_way++;
    enqueue(message, origin, to);
    RT_PROBE(SUBMIT, message->object.id, RT_HERE, await, to);
    return RT_OK;
}

/* An alien's message is returned by its state alone. */
static void
release_alien(struct rt_message *message, struct rt_shard *shard)
{
    rt_assert(shard->in_hand > 0);
    shard->in_hand--;
    if (message->answered != NULL) {
        message->answered(message, shard);
    }
    /* Release: the last access of this thread; the alien may free it now. */
    atomic_store_explicit(&message->state, RT_MESSAGE_IDLE, memory_order_release);
}

void
rt_message_answer_at(struct rt_message *message, struct rt_shard *shard, rt_err result,
        const struct rt_site *await)
{
    check_message(message);
    rt__shard_check_here(shard, "a message was answered on a thread where it never arrived");
    if (state_of(message) != RT_MESSAGE_ARRIVED) {
        rt_fault(RT_E_INVALID, NULL, "a message was answered that is not waiting for an answer");
    }
    if (message->to != shard->number) {
        rt_fault(RT_E_FOREIGN, NULL, "a message was answered by a shard that it was not sent to");
    }
    message->result = result;
    set_state(message, RT_MESSAGE_ANSWERED);
    RT_PROBE(DONE, message->object.id, RT_HERE, await, (uint64_t)(int64_t)result);
    if (message->from == RT_MESSAGE_ALIEN) {
        release_alien(message, shard);
    } else {
        enqueue(message, shard, message->from);
    }
}

static void
come_home(struct rt_message *message, struct rt_shard *origin)
{
    rt_assert(message->from == origin->number);
    rt_assert(origin->under_way > 0);
    origin->under_way--;
    set_state(message, RT_MESSAGE_IDLE);
    if (message->answered != NULL) {
        message->answered(message, origin);
    }
}

void
rt__message_taken(struct rt_message *message, struct rt_shard *shard)
{
    check_message(message);
    if (state_of(message) == RT_MESSAGE_ANSWERED) {
        come_home(message, shard);
        return;
    }
    rt_assert(state_of(message) == RT_MESSAGE_SENT);
    rt_assert(message->to == shard->number);
    set_state(message, RT_MESSAGE_ARRIVED);
    message->arrive(message, shard);
}

/* Takes capacity for one waiting alien; false when none is left. */
static bool
take_capacity(struct rt_shard *shard)
{
    /* Relaxed: a number that guards no memory. */
    unsigned left = atomic_load_explicit(&shard->aliens_free, memory_order_relaxed);
    do {
        if (left == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(
            &shard->aliens_free, &left, left - 1, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static rt_err
refuse_alien(struct rt_message *message, rt_err err)
{
    set_state(message, RT_MESSAGE_IDLE);
    return err;
}

rt_err
rt_alien_submit_at(struct rt_message *message, struct rt_shard *shard, const struct rt_site *await)
{
    check_message(message);
    rt_check(&shard->object, RT__SHARD_MAGIC);
    if (!rt_message_is_idle(message)) {
        return RT_E_IN_USE;
    }
    if (!take_capacity(shard)) {
        RT_PROBE(REFUSE, message->object.id, RT_HERE, await, shard->number);
        return RT_E_FULL;
    }
    message->from = RT_MESSAGE_ALIEN;
    message->to = shard->number;
    message->result = RT_OK;
    set_state(message, RT_MESSAGE_SENT);
    RT_PROBE(SUBMIT, message->object.id, RT_HERE, await, shard->number);
    if (!rt_inbox_push(&shard->aliens, &message->inbox_link)) {
        (void)atomic_fetch_add_explicit(&shard->aliens_free, 1, memory_order_relaxed);
        return refuse_alien(message, RT_E_CLOSED);
    }
    /* It may be answered and freed from here on. */
    if (shard->between != NULL) {
        shard->between(shard->argument);
    }
    rt__shard_tell(shard);
    return RT_OK;
}
