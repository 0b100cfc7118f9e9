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
    return (call->number == SIM_CALL_epoll_ctl_add || call->number == SIM_CALL_epoll_ctl_mod ||
                   call->number == SIM_CALL_sim_fd_add || call->number == SIM_CALL_sim_fd_modify) &&
           call->error == 0;
}

static bool
drops(const struct sim_call *call)
{
    return call->number == SIM_CALL_epoll_ctl_del && call->error == 0;
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
           call->number == SIM_CALL_eventfd_write || call->number == SIM_CALL_sim_fd_notify ||
           call->number >= SIM_CALL_OF_SIGNAL;
}

static bool
enters(const struct sim_call *call)
{
    return call->number == SIM_CALL_enter;
}

static bool
reaps(const struct sim_call *call)
{
    return call->number == SIM_CALL_reap;
}

static bool
pushes(const struct sim_call *call)
{
    return call->number == SIM_CALL_push && call->error == 0;
}

static bool
completes(const struct sim_call *call)
{
    return call->number == SIM_CALL_complete;
}

static bool
waits(const struct sim_call *call)
{
    return call->number == SIM_CALL_epoll_wait || call->number == SIM_CALL_epoll_pwait;
}

/* The `nth` such call on `object` before the event `before`, backwards from 0 on. */
static struct sim_noted_call
nth_call(const struct sim_actor_table *actor_table, uint32_t object, fits_fn *fits, uint64_t before,
        uint32_t nth)
{
    for (uint64_t i = before; i-- > actor_table->first;) {
        const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, i));
        if (sim_actor_table_event(actor_table, i)->object == object && fits(&call) && nth-- == 0) {
            return sim__noted(actor_table, i);
        }
    }
    return sim__no_call;
}

static struct sim_noted_call
last_call(const struct sim_actor_table *actor_table, uint32_t object, fits_fn *fits)
{
    return nth_call(actor_table, object, fits, actor_table->end, 0);
}

/* The wait that returned the last report of `object`; of a scenario, the report. */
static struct sim_noted_call
last_report(const struct sim_actor_table *actor_table, uint32_t object)
{
    struct sim_noted_call report =
            sim__last_noted(actor_table, object, SIM_EVENT_REPORT, actor_table->end);
    for (uint64_t i = report.event; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct sim_call call = sim_call_of(event);
        if (event->step != report.at[0].step) {
            break;
        }
        if (waits(&call)) {
            return sim__noted(actor_table, i);
        }
    }
    return report;
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
    ret->undone = nth_call(actor_table, object, arms, ret->asked.event, 0);
    bool armed = ret->undone.event != SIM_EVENT_NONE &&
                 value_of(actor_table, &ret->undone) != UINT64_MAX;
    for (uint64_t i = ret->undone.event; armed && i < ret->asked.event; i++) {
        armed = !sim__is_event(actor_table, i, SIM_EVENT_READY, object);
    }
    ret->undone = armed ? ret->undone : sim__no_call;
}

/* What was asked for before, and is no more. */
static void
find_dropped(const struct sim_actor_table *actor_table, uint32_t object, uint32_t events,
        struct sim_unnotified *ret)
{
    ret->undone = nth_call(actor_table, object, asks, ret->asked.event, 0);
    bool dropped = ret->undone.event != SIM_EVENT_NONE &&
                   (value_of(actor_table, &ret->undone) & events) != 0;
    ret->undone = dropped ? ret->undone : sim__no_call;
}

static bool
find_timer(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    ret->asked = last_call(actor_table, silence->object, arms);
    if (ret->asked.event != SIM_EVENT_NONE) {
        find_undone(actor_table, silence->object, ret);
    }
    return ret->asked.event != SIM_EVENT_NONE;
}

/* The read that took several writes, and the last two of these. */
static bool
find_counted(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    uint32_t object = silence->object;
    uint64_t read = sim_actor_table_step_first(actor_table, silence->step);
    while (read < actor_table->end && !sim__is_event(actor_table, read, SIM_EVENT_READ, object)) {
        read++;
    }
    if (read >= actor_table->end) {
        return false;
    }
    ret->moved = sim__noted(actor_table, read);
    ret->asked = nth_call(actor_table, object, writes, read, 0);
    ret->undone = nth_call(actor_table, object, writes, read, 1);
    return ret->undone.event != SIM_EVENT_NONE;
}

static bool
find_pushed(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    ret->asked =
            nth_call(actor_table, silence->object, pushes, actor_table->end, silence->left - 1);
    ret->moved = last_call(actor_table, silence->object, enters);
    return ret->asked.event != SIM_EVENT_NONE;
}

static bool
find_set_aside(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    ret->asked =
            nth_call(actor_table, silence->object, completes, actor_table->end, silence->left - 1);
    ret->moved = last_call(actor_table, silence->object, reaps);
    ret->reported = last_call(actor_table, silence->object, enters);
    return ret->asked.event != SIM_EVENT_NONE;
}

/* Of a descriptor that is ready. */
static bool
find_ready(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    bool space = silence->kind == SIM_SILENT_UNASKED && (silence->events & SIM_FD_IN) == 0;
    ret->asked = last_call(actor_table, silence->object, asks);
    ret->reported = last_report(actor_table, silence->object);
    ret->moved = last_call(actor_table, silence->object, space ? writes : reads);
    if (ret->moved.event == SIM_EVENT_NONE) {
        ret->moved = sim__last_noted(actor_table, silence->object,
                space ? SIM_EVENT_WRITE : SIM_EVENT_READ, actor_table->end);
    }
    if (ret->asked.event != SIM_EVENT_NONE && silence->kind == SIM_SILENT_UNASKED) {
        find_dropped(actor_table, silence->object, silence->events, ret);
    }
    ret->after = ret->moved.event != SIM_EVENT_NONE &&
                 (ret->reported.event == SIM_EVENT_NONE || ret->moved.event > ret->reported.event);
    ret->full = space && ret->moved.event != SIM_EVENT_NONE &&
                sim_call_of(sim_actor_table_event(actor_table, ret->moved.event)).error == EAGAIN;
    return ret->asked.event != SIM_EVENT_NONE;
}

/* Who reads it, else who asked for it; SIM_PART_NONE: no one has. */
static uint32_t
reader_of(const struct sim_unnotified *unnotified)
{
    const struct sim_noted_call *const calls[] = {
            &unnotified->moved, &unnotified->reported, &unnotified->asked};
    uint32_t part = SIM_PART_NONE;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls) && part == SIM_PART_NONE; i++) {
        part = calls[i]->event != SIM_EVENT_NONE ? calls[i]->at[0].part : SIM_PART_NONE;
    }
    return part;
}

/* Something is left in a descriptor, and no actor waits for it: its reader waits for something
 * else. Or nothing is, and its reader waits for it. */
static bool
find_unwatched(const struct sim_actor_table *actor_table, const struct sim_silence *silence,
        struct sim_unnotified *ret)
{
    (void)find_ready(actor_table, silence, ret);
    ret->undone = last_call(actor_table, silence->object, drops);
    if (ret->undone.event != SIM_EVENT_NONE && ret->undone.event < ret->asked.event) {
        ret->undone = sim__no_call;
    }
    ret->part = reader_of(ret);
    return ret->part != SIM_PART_NONE;
}

bool
sim_unnotified_find(const struct sim_ledger *ledger, const struct sim_silence *silence,
        uint32_t part, struct sim_unnotified *ret)
{
    static bool (*const finders[SIM_SILENTS])(const struct sim_actor_table *actor_table,
            const struct sim_silence *silence, struct sim_unnotified *ret) = {
            [SIM_SILENT_SPENT] = find_ready,
            [SIM_SILENT_EDGE] = find_ready,
            [SIM_SILENT_TIMER] = find_timer,
            [SIM_SILENT_COUNTED] = find_counted,
            [SIM_SILENT_PUSHED] = find_pushed,
            [SIM_SILENT_SET_ASIDE] = find_set_aside,
            [SIM_SILENT_UNASKED] = find_ready,
            [SIM_SILENT_UNWATCHED] = find_unwatched,
            [SIM_SILENT_TAKEN] = find_unwatched,
    };
    const struct sim_actor_table *actor_table = ledger->actor_table;
    rt_assert(silence->kind < SIM_SILENTS);
    *ret = (struct sim_unnotified){.silence = *silence,
            .part = part,
            .asked = sim__no_call,
            .undone = sim__no_call,
            .reported = sim__no_call,
            .moved = sim__no_call};
    ret->known = finders[silence->kind](actor_table, silence, ret);
    return ret->known;
}

uint32_t
sim_unnotified_reads(const struct sim_ledger *ledger, uint32_t object, uint32_t part,
        struct sim_noted_call *ret, uint32_t max)
{
    const struct sim_actor_table *actor_table = ledger->actor_table;
    uint32_t count = 0;
    for (uint64_t i = actor_table->end; i-- > actor_table->first && count < max;) {
        const struct sim_call call = sim_call_of(sim_actor_table_event(actor_table, i));
        if (sim_actor_table_event(actor_table, i)->object == object && reads(&call) &&
                call.error == 0 && sim_actor_table_part_of(actor_table, i) == part) {
            ret[count++] = sim__noted(actor_table, i);
        }
    }
    return count;
}
