/*
 * unnotified.c -- the calls on a descriptor that is not reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/unnotified.h"

#include <errno.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"
#include "sim/host/fd.h"

typedef bool fits_fn(const struct sim_call *call);

static bool
asks(const struct sim_call *call)
{
    return (call->number == SIM_CALL_epoll_ctl_add || call->number == SIM_CALL_epoll_ctl_mod) &&
           call->error == 0;
}

static bool
arms(const struct sim_call *call)
{
    return call->number == SIM_CALL_timerfd_settime && call->error == 0;
}

static bool
reads(const struct sim_call *call)
{
    return call->number == SIM_CALL_read || call->number == SIM_CALL_readv ||
           (call->number >= SIM_CALL_recv && call->number <= SIM_CALL_recvmmsg) ||
           call->number == SIM_CALL_eventfd_read || call->number == SIM_CALL_accept ||
           call->number == SIM_CALL_accept4;
}

static bool
writes(const struct sim_call *call)
{
    return call->number == SIM_CALL_write || call->number == SIM_CALL_writev ||
           (call->number >= SIM_CALL_send && call->number <= SIM_CALL_sendfile) ||
           call->number == SIM_CALL_eventfd_write;
}

static bool
waits(const struct sim_call *call)
{
    return call->number == SIM_CALL_epoll_wait || call->number == SIM_CALL_epoll_pwait;
}

static struct sim_noted_call
noted(const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    struct sim_noted_call call = {.event = index};
    sim__location_set(&call.at, sim_actor_table_place(event->await, event->site), event->step,
            sim_actor_table_part_of(actor_table, index));
    return call;
}

/* The last such call on `object` (0: on any) before the event `before`. */
static struct sim_noted_call
last_call(
        const struct sim_actor_table *actor_table, uint32_t object, fits_fn *fits, uint64_t before)
{
    for (uint64_t i = before; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct sim_call call = sim_call_of(event);
        if ((object == 0 || event->object == object) && fits(&call)) {
            return noted(actor_table, i);
        }
    }
    return (struct sim_noted_call){.at = {.part = SIM_PART_NONE}, .event = SIM_EVENT_NONE};
}

/* The wait that returned the last report of `object`. */
static struct sim_noted_call
last_report(const struct sim_actor_table *actor_table, uint32_t object)
{
    struct sim_noted_call none = {.at = {.part = SIM_PART_NONE}, .event = SIM_EVENT_NONE};
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *report = sim_actor_table_event(actor_table, i);
        if (report->kind != SIM_EVENT_REPORT || report->object != object) {
            continue;
        }
        for (; i < actor_table->end; i++) {
            const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, i));
            if (waits(&call) && sim_actor_table_event(actor_table, i)->step == report->step) {
                return noted(actor_table, i);
            }
        }
        return none;
    }
    return none;
}

static uint64_t
value_of(const struct sim_actor_table *actor_table, const struct sim_noted_call *call)
{
    return sim_actor_table_event(actor_table, call->event)->argument;
}

/* What an arming undoes: another one that has not expired since. */
static void
find_undone(const struct sim_actor_table *actor_table, uint32_t object, struct sim_unnotified *ret)
{
    ret->undone = last_call(actor_table, object, arms, ret->asked.event);
    bool armed = ret->undone.event != SIM_EVENT_NONE &&
                 value_of(actor_table, &ret->undone) != UINT64_MAX;
    for (uint64_t i = ret->undone.event; armed && i < ret->asked.event; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        armed = event->kind != SIM_EVENT_READY || event->object != object;
    }
    if (!armed) {
        ret->undone.event = SIM_EVENT_NONE;
    }
}

bool
sim_unnotified_find(const struct sim_ledger *ledger,
        const struct sim_counterfactual *counterfactual, struct sim_unnotified *ret)
{
    const struct sim_actor_table *actor_table = ledger->actor_table;
    const struct sim_silence *silence = &counterfactual->silence;
    bool timer = silence->kind == SIM_SILENT_TIMER;
    bool space = silence->kind == SIM_SILENT_UNASKED && (silence->events & SIM_FD_IN) == 0;
    rt_assert(counterfactual->kind == SIM_COUNTERFACTUAL_NOT_REARMED);
    *ret = (struct sim_unnotified){.known = true,
            .silence = *silence,
            .part = sim_actor_table_actor(actor_table, counterfactual->actor)};
    ret->undone.event = SIM_EVENT_NONE;
    ret->asked = last_call(actor_table, silence->object, timer ? arms : asks, actor_table->end);
    ret->reported = last_report(actor_table, silence->object);
    ret->moved = last_call(actor_table, silence->object, space ? writes : reads, actor_table->end);
    if (timer && ret->asked.event != SIM_EVENT_NONE) {
        find_undone(actor_table, silence->object, ret);
    }
    ret->after = ret->moved.event != SIM_EVENT_NONE &&
                 (ret->reported.event == SIM_EVENT_NONE || ret->moved.event > ret->reported.event);
    ret->full = space && ret->moved.event != SIM_EVENT_NONE &&
                sim_call_of(sim_actor_table_event(actor_table, ret->moved.event)).error == EAGAIN;
    ret->known = ret->asked.event != SIM_EVENT_NONE;
    return ret->known;
}
