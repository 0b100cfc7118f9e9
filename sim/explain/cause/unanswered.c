/*
 * unanswered.c -- refusals, events without subscribers, notifications that are one, things left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/unanswered.h"

#include "runtime/base/assert.h"
#include "runtime/io/completion.h"
#include "sim/explain/cause/priv.h"

/* The first such event after `after`; no call: there is none. */
static struct sim_noted_call
first_after(
        const struct sim_actor_table *actor_table, uint32_t object, uint32_t kind, uint64_t after)
{
    for (uint64_t i = after + 1; i < actor_table->end; i++) {
        if (sim__is_event(actor_table, i, kind, object)) {
            return sim__noted(actor_table, i);
        }
    }
    return sim__no_call;
}

/* ---- One event each: how many there are, and the last one. ----------------------------------- */

/* The last event `kind` (push, complete) of a ring before `before`, or the first after it, about
 * the operation of `event`, or, `cancel`, about one that cancels that. */
static uint64_t
find_operation(const struct sim_actor_table *actor_table, uint64_t event, uint32_t number,
        bool cancel, bool after)
{
    const struct sim_event *of = sim_actor_table_event(actor_table, event);
    for (uint64_t i = event; after ? ++i < actor_table->end : i-- > actor_table->first;) {
        const struct sim_event *other = sim_actor_table_event(actor_table, i);
        const struct sim_call call = sim_call_of(other);
        if (call.number == number && other->object == of->object && call.value == of->argument &&
                (call.second == RT_OPCODE_CANCEL) == cancel) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* A call that was refused, and is not made again with what it was about. */
static bool
is_refusal(const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    const struct sim_call call = sim_call_of(event);
    if (call.number == SIM_CALL_push && call.error != 0) {
        return find_operation(actor_table, index, SIM_CALL_push, call.second == RT_OPCODE_CANCEL,
                       true) == SIM_EVENT_NONE;
    }
    uint32_t kind = SIM_OBJECT_KIND(event->object);
    if (event->kind != RT_PROBE_REFUSE ||
            (kind != RT_OBJECT_OPERATION && kind != RT_OBJECT_CHANNEL)) {
        return false;
    }
    uint32_t repeats = kind == RT_OBJECT_OPERATION ? RT_PROBE_SUBMIT : RT_PROBE_PUT;
    return first_after(actor_table, event->object, repeats, index).event == SIM_EVENT_NONE;
}

static bool
is_unheard(const struct sim_actor_table *actor_table, uint64_t index)
{
    return sim_actor_table_event(actor_table, index)->kind == RT_PROBE_UNHEARD;
}

/* What was done last to the waker in a slot, before `before`; SIM_EVENT_NONE: nothing. */
static uint64_t
last_of_slot(const struct sim_actor_table *actor_table, uint64_t before)
{
    uint32_t object = sim_actor_table_event(actor_table, before)->object;
    for (uint64_t i = before; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->object == object && event->kind >= RT_PROBE_STORE &&
                event->kind <= RT_PROBE_ERASE && event->kind != RT_PROBE_FIRE_EMPTY) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* A wake for which there would be a waiter, had its waker not been erased. */
static bool
is_empty(const struct sim_actor_table *actor_table, uint64_t index)
{
    if (sim_actor_table_event(actor_table, index)->kind != RT_PROBE_FIRE_EMPTY) {
        return false;
    }
    uint64_t last = last_of_slot(actor_table, index);
    return last != SIM_EVENT_NONE &&
           sim_actor_table_event(actor_table, last)->kind == RT_PROBE_ERASE;
}

static bool
is_merge(const struct sim_actor_table *actor_table, uint64_t index)
{
    return sim_actor_table_event(actor_table, index)->kind == RT_PROBE_MERGE;
}

/* An operation that does not end, and for which a cancel was pushed before it was itself. */
static bool
is_uncancelled(const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, index));
    return call.number == SIM_CALL_push && call.error == 0 && call.second != RT_OPCODE_CANCEL &&
           find_operation(actor_table, index, SIM_CALL_complete, false, true) == SIM_EVENT_NONE &&
           find_operation(actor_table, index, SIM_CALL_push, true, true) == SIM_EVENT_NONE &&
           find_operation(actor_table, index, SIM_CALL_push, true, false) != SIM_EVENT_NONE;
}

/* How many there are; *ret_last is the last one. */
static uint32_t
count(const struct sim_ledger *ledger,
        bool (*is)(const struct sim_actor_table *actor_table, uint64_t index), uint64_t *ret_last)
{
    uint32_t found = 0;
    for (uint64_t i = ledger->actor_table->first; i < ledger->actor_table->end; i++) {
        if (is(ledger->actor_table, i)) {
            *ret_last = i;
            found++;
        }
    }
    return found;
}

/* ---- What is left in a channel. -------------------------------------------------------------- */

/* What was put into `object` and not taken. */
static uint64_t
left_in(const struct sim_actor_table *actor_table, uint32_t object)
{
    uint64_t put = 0;
    uint64_t taken = 0;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        uint64_t amount = sim_actor_table_event(actor_table, i)->argument;
        put += sim__is_event(actor_table, i, RT_PROBE_PUT, object) ? amount : 0;
        taken += sim__is_event(actor_table, i, RT_PROBE_CONSUME, object) ? amount : 0;
    }
    return put > taken ? put - taken : 0;
}

/* It sleeps since it took from a channel the last time: it has not been polled after that, also
 * where it is cancelled in the end; and it does not wait for something else that tasks pass on. */
static bool
sleeps_since(const struct sim_actor_table *actor_table, const struct sim_noted_call *taken)
{
    uint32_t part = taken->at[0].part;
    uint32_t taken_from = sim_actor_table_event(actor_table, taken->event)->object;
    bool parks = false;
    for (uint64_t i = taken->event; i < actor_table->end && part != SIM_PART_NONE; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool polled =
                event->kind == RT_PROBE_POLL && sim_actor_table_part_of(actor_table, i) == part;
        uint32_t kind = SIM_OBJECT_KIND(event->object);
        bool passes_on =
                kind == RT_OBJECT_CHANNEL || kind == RT_OBJECT_SEMAPHORE || kind == RT_OBJECT_MUTEX;
        bool stores = event->kind == RT_PROBE_STORE || event->kind == RT_PROBE_KEEP;
        if (stores && passes_on && event->object != taken_from &&
                sim_actor_table_part_of(actor_table, i) == part) {
            return false;
        }
        bool ends = event->kind == RT_PROBE_COMPLETE && event->object != 0 &&
                    sim_actor_table_object(actor_table, event->object) == part;
        if (polled || ends) {
            return false;
        }
        parks = parks || event->kind == RT_PROBE_POLLED;
    }
    return parks;
}

/* The last that an actor took from a channel, before it slept with something left in there. */
static struct sim_noted_call
last_leaving(const struct sim_actor_table *actor_table)
{
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_CONSUME &&
                SIM_OBJECT_KIND(event->object) == RT_OBJECT_CHANNEL &&
                first_after(actor_table, event->object, RT_PROBE_CONSUME, i).event ==
                        SIM_EVENT_NONE &&
                left_in(actor_table, event->object) > 0) {
            const struct sim_noted_call taken = sim__noted(actor_table, i);
            if (sleeps_since(actor_table, &taken)) {
                return taken;
            }
        }
    }
    return sim__no_call;
}

/* Two were put in before one was taken: the second of the last two such. */
static void
find_two(const struct sim_actor_table *actor_table, uint32_t object, struct sim_unanswered *ret)
{
    uint64_t before = SIM_EVENT_NONE;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        if (sim__is_event(actor_table, i, RT_PROBE_CONSUME, object)) {
            before = SIM_EVENT_NONE;
        } else if (sim__is_event(actor_table, i, RT_PROBE_PUT, object)) {
            ret->asked = before != SIM_EVENT_NONE ? sim__noted(actor_table, i) : ret->asked;
            ret->before = before != SIM_EVENT_NONE ? sim__noted(actor_table, before) : ret->before;
            before = i;
        }
    }
}

static bool
find_left(const struct sim_actor_table *actor_table, struct sim_unanswered *ret)
{
    ret->after = last_leaving(actor_table);
    if (ret->after.event == SIM_EVENT_NONE) {
        return false;
    }
    ret->object = sim_actor_table_event(actor_table, ret->after.event)->object;
    ret->left = left_in(actor_table, ret->object);
    find_two(actor_table, ret->object, ret);
    return ret->asked.event != SIM_EVENT_NONE;
}

/* ---- All of it. ------------------------------------------------------------------------------ */

/* The post of the event that found no subscriber: the sink is first in, first out. */
static struct sim_noted_call
post_of(const struct sim_actor_table *actor_table, uint64_t unheard)
{
    uint32_t object = sim_actor_table_event(actor_table, unheard)->object;
    uint64_t nth = 0;
    for (uint64_t i = actor_table->first; i < unheard; i++) {
        nth += sim__is_event(actor_table, i, RT_PROBE_CONSUME, object);
    }
    for (uint64_t i = actor_table->first; i < unheard && nth > 0; i++) {
        nth -= sim__is_event(actor_table, i, RT_PROBE_PUT, object);
        if (nth == 0) {
            return sim__noted(actor_table, i);
        }
    }
    return sim__no_call;
}

static void
fill(const struct sim_actor_table *actor_table, uint32_t kind, uint64_t event,
        struct sim_unanswered *ret)
{
    ret->kind = kind;
    ret->object = sim_actor_table_event(actor_table, event)->object;
    ret->asked = sim__noted(actor_table, event);
    if (kind == SIM_UNANSWERED_UNHEARD) {
        ret->asked = post_of(actor_table, event);
        ret->before = sim__last_noted(actor_table, ret->object, RT_PROBE_UNLISTEN, event);
        ret->after = first_after(actor_table, ret->object, RT_PROBE_LISTEN, event);
    } else if (kind == SIM_UNANSWERED_EMPTY) {
        ret->before = sim__noted(actor_table, last_of_slot(actor_table, event));
    } else if (kind == SIM_UNANSWERED_UNCANCELLED) {
        uint64_t cancel = find_operation(actor_table, event, SIM_CALL_push, true, false);
        uint64_t end = find_operation(actor_table, cancel, SIM_CALL_complete, true, true);
        ret->before = sim__noted(actor_table, cancel);
        ret->after = end != SIM_EVENT_NONE ? sim__noted(actor_table, end) : sim__no_call;
    } else if (kind == SIM_UNANSWERED_MERGED) {
        /* One that is passed on, as its owner is dropped, was not put in here. */
        uint64_t put = sim__last_noted(actor_table, ret->object, RT_PROBE_PUT, event).event;
        ret->before = put != SIM_EVENT_NONE
                              ? sim__last_noted(actor_table, ret->object, RT_PROBE_PUT, put)
                              : sim__no_call;
        ret->after = first_after(actor_table, ret->object, RT_PROBE_CONSUME, event);
    }
}

bool
sim_unanswered_find(const struct sim_ledger *failing, const struct sim_ledger *passing, bool stalls,
        struct sim_unanswered *ret)
{
    static bool (*const kinds[SIM_UNANSWERED_KINDS])(const struct sim_actor_table *, uint64_t) = {
            [SIM_UNANSWERED_REFUSED] = is_refusal,
            [SIM_UNANSWERED_UNHEARD] = is_unheard,
            [SIM_UNANSWERED_EMPTY] = is_empty,
            [SIM_UNANSWERED_MERGED] = is_merge,
            [SIM_UNANSWERED_UNCANCELLED] = is_uncancelled,
    };
    *ret = (struct sim_unanswered){
            .asked = sim__no_call, .before = sim__no_call, .after = sim__no_call};
    struct sim_unanswered there = *ret;
    if (find_left(failing->actor_table, ret) &&
            (passing == NULL || !find_left(passing->actor_table, &there))) {
        ret->kind = SIM_UNANSWERED_LEFT;
        return true;
    }
    *ret = (struct sim_unanswered){
            .asked = sim__no_call, .before = sim__no_call, .after = sim__no_call};
    for (uint32_t kind = SIM_UNANSWERED_REFUSED; kind < SIM_UNANSWERED_KINDS; kind++) {
        uint64_t last = SIM_EVENT_NONE;
        uint64_t other = SIM_EVENT_NONE;
        bool asked = kinds[kind] != NULL && (stalls || kind != SIM_UNANSWERED_MERGED);
        uint32_t here = asked ? count(failing, kinds[kind], &last) : 0;
        if (here > 0 && passing != NULL && here > count(passing, kinds[kind], &other)) {
            fill(failing->actor_table, kind, last, ret);
            return ret->asked.event != SIM_EVENT_NONE;
        }
    }
    return false;
}
