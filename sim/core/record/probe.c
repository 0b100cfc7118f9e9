/*
 * probe.c -- the runtime's probes, and the world's own events, on their way to the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/probe.h"

#include <string.h>

#include "sim/core/record/event.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

uint64_t rt_probe_wanted;
void (*rt_probe_moves)(void *to, const void *from, size_t size, bool sends);

/* Kinds that the world itself needs, recorded or not. */
#define MEANT \
    (UINT64_C(1) << RT_PROBE_EXPIRE | UINT64_C(1) << RT_PROBE_TURN | \
            UINT64_C(1) << RT_PROBE_CONSUME | UINT64_C(1) << RT_PROBE_COMPLETE | \
            UINT64_C(1) << RT_PROBE_ASK)

/* Where the runtime calls code of its user: wakes, drops, cleanups. */
#define REENTRANCY \
    (UINT64_C(1) << RT_PROBE_FIRE | UINT64_C(1) << RT_PROBE_DROP | \
            UINT64_C(1) << RT_PROBE_CLEANUP | UINT64_C(1) << RT_PROBE_DESTROY)

/* Those of this run: MEANT, and POLLED and TURNED where a loop polls. */
static uint64_t meant;

void
sim__probes_begin(struct sim_world *world)
{
    meant = MEANT;
    if (world->gains != NULL) {
        meant |= UINT64_C(1) << RT_PROBE_PUT;
    }
    if ((world->faults & SIM_FAULT_REENTRANCY) != 0) {
        meant |= REENTRANCY;
    }
    rt_probe_wanted = world->recorder.events_on ? UINT64_MAX : meant;
}

uint64_t
sim__probes_meant(void)
{
    return meant;
}

void
sim__probes_resume(const struct sim_world *world, uint64_t kinds)
{
    meant = kinds;
    rt_probe_wanted = world->recorder.events_on ? UINT64_MAX : meant;
}

void
sim_world_loop_polls(struct sim_world *world)
{
    (void)world;
    meant |= UINT64_C(1) << RT_PROBE_POLLED | UINT64_C(1) << RT_PROBE_TURNED;
    rt_probe_wanted |= meant;
}

void
sim_world_event(struct sim_world *world, uint32_t kind, uint32_t object, uint32_t site,
        uint32_t await, uint64_t argument)
{
    sim__event(world, kind, object, site, await, argument);
}

/* Of the process: it explains a run. */
static struct sim_call_watch *watched;
static uint32_t watched_count;

void
sim_world_watch_calls(struct sim_call_watch *watches, uint32_t count)
{
    watched = watches;
    watched_count = watches != NULL ? count : 0;
}

static void
take_stacks(const struct sim_world *world)
{
    for (uint32_t i = 0; i < watched_count; i++) {
        struct sim_call_watch *watch = &watched[i];
        if (watch->step == world->step && ++watch->seen == watch->nth) {
            watch->take(&watch->stack);
        }
    }
}

void
sim_world_called(
        struct sim_world *world, const struct sim_call *call, uint32_t object, uint32_t site)
{
    struct sim_recorder *recorder = &world->recorder;
    if (__builtin_expect(watched_count > 0, 0)) {
        take_stacks(world);
    }
    if (recorder->events_on) {
        struct sim_event *event =
                sim__event_fill(world, SIM_EVENT_CALL, object, site, 0, call->value);
        event->cause = sim_call_pack(call);
        event->flags = (uint8_t)call->number;
        if (sim_recorder_full(recorder)) {
            sim_recorder_chunk(recorder);
        }
    }
}

/* Whether the timers that are being fired run on the world's clock. */
static bool
is_on_our_clock(const struct sim_world *world)
{
    sim_bindings_each(clocked, world, firing)
    {
        if (clocked->ops->firing(clocked->argument)) {
            return true;
        }
    }
    return false;
}

/* Readings of the clock may lag under fault `clock`, but they never lead: a timer that is not due
 * by the world's clock must not fire (M1). */
static void
check_early(struct sim_world *world, uint64_t deadline_ns)
{
    if (deadline_ns > sim_now(world) && is_on_our_clock(world)) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_TIMER, world->current, 0,
                "a timer that is due at %llu ns fired already at %llu ns",
                (unsigned long long)deadline_ns, (unsigned long long)sim_now(world));
    }
}

/* A deadline that the clock passed while no actor was enabled is a late wake: the runtime reported
 * a later next deadline (M12). */
static void
check_late(struct sim_world *world, uint64_t deadline_ns)
{
    if (deadline_ns > world->jumped_from_ns && deadline_ns < world->jumped_to_ns &&
            world->jumped_to_ns - deadline_ns > world->options.slack_ns) {
        sim_fail(world, SIM_VERDICT_LATE_WAKEUP, SIM_ORACLE_TIMER, world->current, 0,
                "a timer that was due at %llu ns fired only at %llu ns; no actor ran in between",
                (unsigned long long)deadline_ns, (unsigned long long)world->now_ns);
    }
}

/* No lock may be held where a waker is woken or dropped, a cleanup or a destructor called, so any
 * of these may call back into the runtime. */
static void
let_reentrancy_act(struct sim_world *world)
{
    if (world->in_reentrancy || world->spurious_polling || world->closing) {
        return;
    }
    world->in_reentrancy = true;
    sim_bindings_each(binding, world, reenter)
    {
        binding->ops->reenter(binding->argument);
    }
    world->in_reentrancy = false;
}

static void
call_turned(struct sim_world *world)
{
    sim_bindings_each(binding, world, turned)
    {
        binding->ops->turned(binding->argument);
    }
}

static void
gain(struct sim_world *world, enum sim_gain_kind kind, uint32_t of, uint64_t amount)
{
    if (world->gains != NULL) {
        const struct sim_gain gain = {.kind = kind,
                .of = of,
                .at_ns = world->now_ns,
                .amount = amount,
                .step = world->step,
                .actor = world->current->index};
        sim_gains_add(world->gains, &gain);
    }
}

void
sim__gain(struct sim_world *world, enum sim_gain_kind kind, uint32_t of)
{
    gain(world, kind, of, 1);
}

/* Only a permit can be taken and given back: an item that is put is another than the one taken. */
static void
put_back(struct sim_world *world, uint32_t object, uint64_t amount)
{
    uint32_t kind = SIM_OBJECT_KIND(object);
    if (world->gains != NULL && (kind == RT_OBJECT_MUTEX || kind == RT_OBJECT_SEMAPHORE)) {
        sim_gains_put_back(world->gains, object, amount, world->step, world->current->index);
    }
}

static void
consider(struct sim_world *world, enum rt_probe_kind kind, uint32_t object, uint64_t argument)
{
    if (kind == RT_PROBE_POLLED) {
        /* Where a loop polls, the loop is the current actor again. */
        world->current = world->stepping;
    } else if (kind == RT_PROBE_EXPIRE) {
        check_early(world, argument);
        check_late(world, argument);
    } else if (kind == RT_PROBE_CONSUME) {
        world->consumed++;
        gain(world, SIM_GAIN_CONSUMED, object, argument);
        sim_world_progress(world);
    } else if (kind == RT_PROBE_PUT) {
        put_back(world, object, argument);
    } else if (kind == RT_PROBE_TURN) {
        if (world->stepping != NULL) {
            world->stepping->asked_step = world->step;
        }
    } else if (kind == RT_PROBE_COMPLETE) {
        gain(world, SIM_GAIN_COMPLETED, object, 1);
        sim_world_progress(world);
    } else if (kind == RT_PROBE_ASK && argument == 0) {
        sim__allow(world);
    } else if (kind == RT_PROBE_TURNED) {
        call_turned(world);
    } else if ((REENTRANCY >> kind & 1) != 0) {
        let_reentrancy_act(world);
    }
}

/* The rare half of a probe: not inlined, so that the other half saves fewer registers. */
__attribute__((noinline)) static void
handle_probe(struct sim_world *world, enum rt_probe_kind kind, uint32_t object, uint64_t argument)
{
    if (world->recorder.events_on && sim_recorder_full(&world->recorder)) {
        sim_recorder_chunk(&world->recorder);
    }
    if ((meant >> kind & 1) != 0) {
        consider(world, kind, object, argument);
    }
}

void
rt_probe_emit(enum rt_probe_kind kind, uint32_t object, const struct rt_site *site,
        const struct rt_site *await, uint64_t argument)
{
    struct sim_world *world = sim_world_current;
    if (world == 0) {
        return;
    }
    if (world->recorder.events_on) {
        sim__event_fill(world, (uint32_t)kind, object, site != 0 ? site->id : 0,
                await != 0 ? await->id : 0, argument);
    }
    if ((meant >> kind & 1) != 0 || sim_recorder_full(&world->recorder)) {
        handle_probe(world, kind, object, argument);
    }
}

void
rt_probe_reason(const char *reason)
{
    struct sim_world *world = sim_world_current;
    if (world != 0 && world->recorder.texts_on && reason != 0) {
        sim_record_text(
                &world->recorder, SIM_TEXT_EVENT, world->recorder.count, reason, strlen(reason));
    }
}

uint32_t
rt_probe_object(enum rt_object_kind kind)
{
    struct sim_world *world = sim_world_current;
    return world != 0 ? sim_world_object(world, (uint32_t)kind) : 0;
}

/* An object of the runtime that audits itself until it ends. */
struct own_audit {
    struct sim_binding binding;
    const struct rt_object *object;
    uint32_t magic; /* Of the object: memory that was reused is not audited. */
    rt_audit_fn ask;
};

static const char *
ask(void *argument)
{
    const struct own_audit *own = argument;
    bool lives = own->object != NULL && own->object->magic == own->magic;
    return lives ? own->ask(own->object) : NULL;
}

static const struct sim_binding_ops own_ops = {.audit = ask};

static struct own_audit *
find_audit(struct sim_world *world, const struct rt_object *object)
{
    sim_bindings_each(binding, world, audit)
    {
        if (binding->ops == &own_ops && ((struct own_audit *)binding->argument)->object == object) {
            return binding->argument;
        }
    }
    return NULL;
}

void
rt_probe_audit(const struct rt_object *object, rt_audit_fn audit)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    /* The record of an ended object is reused, so that objects made and ended in a loop take the
     * memory of one. */
    struct own_audit *own = find_audit(world, audit != NULL ? NULL : object);
    if (own == NULL && audit == NULL) {
        return;
    }
    if (own == NULL) {
        own = sim_new(world, struct own_audit);
        sim_world_bind(world, &own->binding, &own_ops, own, NULL);
    }
    own->object = audit != NULL ? object : NULL;
    own->magic = object->magic;
    own->ask = audit;
    own->binding.name = sim_object_kind_name(SIM_OBJECT_KIND(object->id));
}
