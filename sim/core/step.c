/*
 * step.c -- the step rule, line by line as in sim/README.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* A choice has at most this many alternatives; more actors are first narrowed to a block. */
#define BLOCK SIM_ALTERNATIVES_MAX

static struct sim_actor *
earliest(const struct sim_world *world)
{
    struct sim_actor *best = NULL;
    for (uint32_t i = 0; i < world->timed_count; i++) {
        struct sim_actor *actor = world->actors[world->timed[i]];
        if (best == NULL || actor->due_ns < best->due_ns ||
                (actor->due_ns == best->due_ns && actor->index < best->index)) {
            best = actor;
        }
    }
    return best;
}

/* ---- What takes longer. ---------------------------------------------------------------------- */

#define QUOTA_NS 500000u

static uint64_t
later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* How much longer something may take now. No slow step ends after half of the run's time limit, so
 * that none reaches a timer of hours; a program's are short (SIM_LOST_NS). */
static uint64_t
slow_most_ns(const struct sim_world *world)
{
    if (world->loses_little) {
        uint64_t owed_ns = later(world->lost_until_ns, world->now_ns) - world->now_ns;
        return SIM_LOST_NS - owed_ns / SIM_LOST_SHARE;
    }
    uint64_t latest_ns = world->options.time_ns_max / 2;
    return later(latest_ns, world->now_ns) - world->now_ns;
}

/* The first deadline later than `from_ns`; SIM_NEVER: there is none. */
static uint64_t
deadline_after(const struct sim_world *world, uint64_t from_ns)
{
    uint64_t first_ns = SIM_NEVER;
    for (uint32_t i = 0; i < world->timed_count; i++) {
        uint64_t due_ns = world->actors[world->timed[i]]->due_ns;
        first_ns = due_ns > from_ns && due_ns < first_ns ? due_ns : first_ns;
    }
    return first_ns;
}

static uint64_t
slow_to(const struct sim_world *world, uint64_t deadline_ns, uint32_t alternative)
{
    switch (alternative) {
    case 1: /* Just before the next deadline, … */
        return deadline_ns > 0 ? deadline_ns - 1 : 0;
    case 2: /* … exactly to it, … */
        return deadline_ns;
    case 3: /* … past it, … */
        return deadline_ns + 1 + world->options.step_ns;
    case 4: /* … one quota of a task, … */
        return world->now_ns + QUOTA_NS;
    case 5: /* … or more: programs compute deadlines that the world does not know. */
        return world->now_ns + 8 * QUOTA_NS;
    default:
        return world->now_ns + 32 * QUOTA_NS;
    }
}

/* Until when a step of `actor`, or its sleep, lasts longer; now: it does not. What is due next is
 * later than `from_ns`. */
static uint64_t
draw_slow(struct sim_world *world, struct sim_actor *actor, uint64_t from_ns)
{
    uint32_t n = world->program ? 7 : 5;
    uint32_t alternative = sim__perturb(actor, SIM_KIND_SLOW, n, world->options.slow_one_in);
    if (alternative == 0) {
        return world->now_ns;
    }
    uint64_t to_ns = slow_to(world, deadline_after(world, from_ns), alternative);
    if (to_ns <= world->now_ns || to_ns - world->now_ns > slow_most_ns(world)) {
        return world->now_ns;
    }
    uint64_t lost_ns = to_ns - world->now_ns;
    world->lost_until_ns = later(world->lost_until_ns, world->now_ns) + lost_ns * SIM_LOST_SHARE;
    return to_ns;
}

/* ---- Rule 1: actors that are due become enabled, in order of time, then of index. ------------ */

/* In a program an actor that sleeps may sleep longer, while others continue. */
static bool
oversleeps(struct sim_world *world, struct sim_actor *actor)
{
    if (!world->program || actor->enabled) {
        return false;
    }
    uint64_t to_ns = draw_slow(world, actor, world->now_ns);
    if (to_ns > world->now_ns) {
        sim_actor_due(actor, to_ns);
        actor->oversleeps = true;
    }
    return to_ns > world->now_ns;
}

void
sim__enable_due(struct sim_world *world)
{
    struct sim_actor *actor = earliest(world);
    while (actor != NULL && actor->due_ns <= world->now_ns) {
        if (!oversleeps(world, actor)) {
            sim_actor_due(actor, SIM_NEVER);
            sim_actor_enable(actor);
        }
        actor = earliest(world);
    }
    world->next_due_ns = actor != NULL ? actor->due_ns : SIM_NEVER;
}

/* ---- Rule 2: no actor is enabled. ------------------------------------------------------------ */

/* Spreads the audited quiescences over a long run: when the list is full, every second one is
 * removed, and from then on half as many are added. */
static void
thin_audits(struct sim_world *world)
{
    world->audits_drawn /= 2;
    world->audit_stride *= 2;
    for (uint32_t i = 0; i < world->audits_drawn; i++) {
        world->audit_steps[i] = world->audit_steps[2 * i];
    }
}

static void
note_audit(struct sim_world *world)
{
    if (world->audits_seen++ % world->audit_stride != 0) {
        return;
    }
    if (world->audits_drawn == SIM_AUDITS_MAX) {
        thin_audits(world);
    }
    world->audit_steps[world->audits_drawn++] = world->step;
}

/* One in one is no choice. */
static void
draw_audit(struct sim_world *world)
{
    uint64_t one_in = world->options.audit_one_in;
    if (one_in == 0 || world->step == 0) {
        return;
    }
    if (one_in == 1 ||
            sim_actor_choose(&world->self, SIM_KIND_AUDIT, 2, sim_odds_once_in(one_in)) != 0) {
        note_audit(world);
    }
}

static void
check_time(struct sim_world *world, uint64_t now_ns)
{
    if (now_ns <= world->time_limit_ns) {
        return;
    }
    if (now_ns > world->options.time_ns_max) {
        sim_fail(world, SIM_VERDICT_TIME_LIMIT, SIM_ORACLE_LIMIT, NULL, 0,
                "the run is not over after %llu ms of virtual time",
                (unsigned long long)(world->options.time_ns_max / 1000000));
    }
    sim__not_converged(world);
}

static void
move_clock(struct sim_world *world, uint64_t to_ns)
{
    rt_assert(to_ns > world->now_ns);
    check_time(world, to_ns);
    world->jumped_from_ns = world->now_ns;
    world->jumped_to_ns = to_ns;
    world->quiet_ns += to_ns - world->now_ns;
    world->now_ns = to_ns;
    sim_world_event(world, SIM_EVENT_CLOCK, 0, 0, 0, to_ns);
}

static enum sim_idle
idle_of(const struct sim_actor *actor)
{
    return actor->ops->idle != NULL ? actor->ops->idle(actor) : SIM_IDLE_NEVER;
}

const struct sim_actor *
sim_world_idle(const struct sim_world *world)
{
    const struct sim_actor *idle = NULL;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (!actor->foreground) {
            continue;
        }
        enum sim_idle how = idle_of(actor);
        if (how == SIM_IDLE_NEVER) {
            return NULL;
        }
        idle = idle == NULL && how == SIM_IDLE_OUTSIDE ? actor : idle;
    }
    return idle;
}

static void
end_idle(struct sim_world *world, const struct sim_actor *actor)
{
    struct sim_waiting waiting = {.reason = NULL};
    uint32_t count = actor->ops->waiting(actor, &waiting, 1);
    rt_assert(count == 1 && waiting.reason != NULL);
    sim_fail(world, SIM_VERDICT_PASS, SIM_ORACLE_IDLE, actor, waiting.site,
            "idle: nothing is left to do until something comes from outside: '%s' waits for %s",
            actor->name, waiting.reason);
}

/* The first that the run waits for; rather one that the outside cannot wake. */
static const struct sim_actor *
first_waiter(const struct sim_world *world)
{
    const struct sim_actor *first = NULL;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (actor->foreground && idle_of(actor) != SIM_IDLE_OUTSIDE) {
            return actor;
        }
        first = first == NULL && actor->foreground ? actor : first;
    }
    return first;
}

static void
stalled(struct sim_world *world)
{
    const struct sim_actor *idle = sim_world_idle(world);
    if (idle != NULL) {
        end_idle(world, idle);
    }
    const struct sim_actor *waiter = first_waiter(world);
    sim_fail(world, SIM_VERDICT_DEADLOCK, SIM_ORACLE_STALL, waiter, 0,
            "nothing can make progress: %u waited-for task%s or loop%s and nothing is left to wake",
            world->foreground, world->foreground == 1 ? "" : "s",
            world->foreground == 1 ? " sleeps" : "s sleep");
}

uint64_t
sim__world_next_due(const struct sim_world *world)
{
    const struct sim_actor *next = earliest(world);
    return next != NULL ? next->due_ns : SIM_NEVER;
}

bool
sim__world_wait(struct sim_world *world)
{
    const struct sim_actor *next = earliest(world);
    if (next != NULL) {
        move_clock(world, next->due_ns);
    }
    return next != NULL;
}

static void
quiet(struct sim_world *world)
{
    if (world->step == world->stop.step && world->stop.at_quiet) {
        world->stopped = true;
        return;
    }
    world->quiet++;
    draw_audit(world);
    if (!sim__world_wait(world)) {
        stalled(world);
    }
}

/* ---- Rule 3: who runs. ----------------------------------------------------------------------- */

static struct sim_actor *
standing_at(const struct sim_world *world, uint32_t place)
{
    return world->actors[world->enabled.ring[world->enabled.head + place]];
}

static void
describe_at(const struct sim_world *world, uint32_t place, struct sim_alternative *ret)
{
    const struct sim_actor *actor = standing_at(world, place);
    ret->id = actor->id;
    ret->actor = actor->index;
}

static void
describe_front(const struct sim_choice *choice, uint32_t index, struct sim_alternative *ret)
{
    describe_at(choice->context, index, ret);
}

/* A range of the queue: alternative i is at `base` + i. */
struct block {
    const struct sim_world *world;
    uint32_t base;
};

static void
describe_block(const struct sim_choice *choice, uint32_t index, struct sim_alternative *ret)
{
    const struct block *block = choice->context;
    describe_at(block->world, block->base + index, ret);
}

/* The queue, for a strategy whose choices are built. */
static void
show_queue(struct sim_world *world, uint32_t base, uint32_t stride)
{
    const struct sim_enabled *enabled = &world->enabled;
    world->decider.queue =
            (struct sim_queue){enabled->ring + enabled->head, enabled->count, base, stride};
}

/* More than 64: first a block of 64, oldest first, then one of the block. */
static uint32_t
choose_wide(struct sim_world *world, uint32_t n)
{
    uint32_t blocks = (n + BLOCK - 1) / BLOCK;
    show_queue(world, 0, BLOCK);
    uint32_t base = sim_actor_choose(&world->self, SIM_KIND_RUN, blocks, SIM_ODDS_EVEN) * BLOCK;
    show_queue(world, base, 1);
    const struct block block = {world, base};
    return base + sim_actor_choose_of(standing_at(world, base), SIM_KIND_RUN,
                          n - base < BLOCK ? n - base : BLOCK, SIM_ODDS_EVEN, describe_block,
                          &block);
}

/* So often it is asked who waits longest, where the head does not tell. */
#define FAIR_EVERY 32u

/* The place of the one that was enabled first, if it was passed over for too long; 0: the head. */
__attribute__((noinline)) static uint32_t
find_starving(const struct sim_world *world, uint64_t limit)
{
    uint32_t found = 0;
    uint64_t longest = limit;
    for (uint32_t i = 1; i < world->enabled.count; i++) {
        uint64_t waited = world->step - standing_at(world, i)->enabled_step;
        found = waited > longest ? i : found;
        longest = waited > longest ? waited : longest;
    }
    return found;
}

/* The choice belongs to the actor of alternative 0: "at its m-th step t2 yields to t5". */
__attribute__((always_inline)) static inline uint32_t
choose_actor(struct sim_world *world)
{
    uint32_t n = world->enabled.count;
    struct sim_actor *front = standing_at(world, 0);
    uint64_t waited = world->step - front->enabled_step;
    uint64_t limit = world->options.fair_steps + 8 * (uint64_t)n;
    if (n > 1 && waited > limit) {
        return 0; /* The simulator itself starves no actor. */
    }
    if (world->enabled.fronted && world->step % FAIR_EVERY == 0) {
        uint32_t starving = find_starving(world, limit);
        if (starving > 0) {
            return starving;
        }
    }
    if (n > BLOCK) {
        return choose_wide(world, n);
    }
    if (world->decider.draw == NULL && !world->decider.walks) {
        show_queue(world, 0, 1);
    }
    return sim_decide(&world->decider, &front->streams[SIM_KIND_RUN],
            sim__stream_id(front, SIM_KIND_RUN), SIM_KIND_RUN, n, SIM_ODDS_EVEN, describe_front,
            world);
}

/* ---- Rule 5: what the step cost. ------------------------------------------------------------- */

/* A task may yield until some time: with steps that cost little or nothing the livelock limit would
 * be reached before. */
void
sim__busy_begin(struct sim_world *world)
{
    const struct sim_options *options = &world->options;
    uint64_t limit = options->livelock_steps;
    world->busy_steps = limit / 2;
    if (options->step_ns * limit < SIM_BUSY_NS) {
        world->busy_ns = (2 * SIM_BUSY_NS + limit - 1) / limit; /* At least 1. */
    }
}

static inline uint64_t
step_cost(const struct sim_world *world)
{
    bool busy = world->busy_ns != 0 && world->step - world->progress_step > world->busy_steps;
    return busy ? world->busy_ns : world->options.step_ns;
}

/* A program's only where a deadline may be overtaken by it. */
static void
slow_step(struct sim_world *world)
{
    if (world->loses_little && (world->next_due_ns <= world->now_ns ||
                                       world->next_due_ns - world->now_ns > slow_most_ns(world))) {
        return;
    }
    world->current = world->stepping;
    uint64_t to_ns = draw_slow(world, world->stepping, 0);
    if (to_ns > world->now_ns) {
        sim_world_event(world, SIM_EVENT_SLOW, 0, 0, 0, to_ns - world->now_ns);
        world->now_ns = to_ns;
    }
}

static void
charge(struct sim_world *world)
{
    if (!world->free_steps) {
        world->now_ns += step_cost(world) + world->work_ns;
    }
    world->work_ns = 0;
    world->allowed_ns = 0;
    world->slow_ns = 0;
    if (world->timed_count > 0) {
        slow_step(world);
    }
}

/* ---- Rule 6: is it over? --------------------------------------------------------------------- */

/* A program that works until some time, and moves bytes meanwhile, comes to it before the limit on
 * steps: the steps of a run that is so long cost ten times as much, about what a call costs. */
#define LONG_RUN_STEPS 250000u
#define LONG_RUN_TIMES 10u
#define STEP_NS_MAX 10000u

static void
check_long_run(struct sim_world *world)
{
    if (world->loses_little && !world->long_run && world->step >= LONG_RUN_STEPS) {
        uint64_t step_ns = world->options.step_ns * LONG_RUN_TIMES;
        world->options.step_ns = step_ns < STEP_NS_MAX ? step_ns : STEP_NS_MAX;
        world->long_run = true;
    }
}

/* A partition holds back what would be progress, and a task that tries again meanwhile is no
 * livelock: the limit counts again, this often in a run, and not before what was sent can have
 * arrived. */
#define HELD_MAX 8u
#define HEALED_NS UINT64_C(1000000000)

/* Where the livelock limit counts from. */
static uint64_t
livelock_from(struct sim_world *world)
{
    uint64_t from =
            world->held_step > world->progress_step ? world->held_step : world->progress_step;
    bool held = world->heals_ns != 0 &&
                (world->now_ns < world->heals_ns || world->now_ns - world->heals_ns < HEALED_NS);
    if (world->step - from >= world->options.livelock_steps && held && world->held < HELD_MAX) {
        world->held++;
        world->held_step = world->step;
        return world->step;
    }
    return from;
}

/* Checks the limits on steps, and sets the step of the next check. */
static void
check_limits(struct sim_world *world)
{
    check_long_run(world);
    uint64_t from = livelock_from(world);
    if (world->step - from >= world->options.livelock_steps) {
        sim_fail(world, SIM_VERDICT_LIVELOCK, SIM_ORACLE_LIMIT, world->current, 0,
                "in %llu steps nothing was completed, consumed or moved",
                (unsigned long long)world->options.livelock_steps);
    }
    if (world->step >= world->options.steps_max) {
        sim_fail(world, SIM_VERDICT_STEP_LIMIT, SIM_ORACLE_LIMIT, world->current, 0,
                "the run is not over after %llu steps",
                (unsigned long long)world->options.steps_max);
    }
    uint64_t livelock_step = from + world->options.livelock_steps;
    uint64_t first =
            livelock_step < world->options.steps_max ? livelock_step : world->options.steps_max;
    uint64_t fault_free_step = sim__fault_free_check(world);
    world->limit_step = first < fault_free_step ? first : fault_free_step;
}

static inline bool
is_done(struct sim_world *world)
{
    if (world->scenario->done != NULL) {
        return world->scenario->done(world, world->state);
    }
    return world->foreground == 0;
}

__attribute__((always_inline)) static inline void
begin_step(struct sim_world *world, struct sim_actor *actor)
{
    actor->enabled = false;
    world->current = actor;
    world->stepping = actor;
    world->step++;
    world->clock_calls = 0;
    *world->progress = *world->progress + 1;
    sim__event(world, SIM_EVENT_STEP, 0, 0, 0, world->now_ns);
}

/* 4. One step of `actor`, which has been taken out of the queue. */
__attribute__((always_inline)) static inline void
take_step(struct sim_world *world, struct sim_actor *actor, bool traps)
{
    begin_step(world, actor);
    if (traps) {
        sim__trap(world);
    }
    actor->ops->step(actor);
    if (world->picked == 0) {
        sim__actor_stepped(world->stepping); /* By now perhaps another one: sim__world_next. */
    }
}

static inline void
after_step(struct sim_world *world)
{
    for (struct sim_binding *at = world->stepped; at != NULL; at = at->next_stepped) {
        at->ops->after_step(at->argument);
    }
}

/* 6. */
static inline void
check_over(struct sim_world *world)
{
    if (is_done(world)) {
        world->over = true;
        return;
    }
    check_time(world, world->now_ns);
    if (world->step >= world->limit_step) {
        check_limits(world);
    }
}

/* 3. Chosen now, or by sim__world_next. */
static inline uint32_t
next_place(struct sim_world *world)
{
    uint32_t picked = world->picked;
    world->picked = 0;
    return picked != 0 ? picked - 1 : choose_actor(world);
}

/* Forced inline into the loops below, where `traps` is a constant: without a debugger there is no
 * branch for it. */
__attribute__((always_inline)) static inline void
one_step(struct sim_world *world, bool traps)
{
    /* 1. */
    if (world->now_ns >= world->next_due_ns) {
        sim__enable_due(world);
    }
    /* 2. */
    if (world->enabled.count == 0) {
        quiet(world);
        return;
    }
    /* 3. */
    uint32_t place = next_place(world);
    struct sim_actor *actor = world->actors[sim__enabled_take(&world->enabled, place)];
    /* 4. */
    take_step(world, actor, traps);
    if (world->over || world->picked != 0) {
        return;
    }
    /* 5. */
    after_step(world);
    charge(world);
    world->current = &world->self;
    if (world->step == world->stop.step && !world->stop.at_quiet) {
        world->stopped = true;
        return;
    }
    /* 6. */
    check_over(world);
}

/* Whether something other than another step may follow: a stop, a limit, no actor, a question of
 * the judge, a checkpoint. */
static inline bool
needs_world(const struct sim_world *world)
{
    return !world->direct || world->step == world->stop.step || world->step >= world->limit_step ||
           world->enabled.count == 0;
}

struct sim_actor *
sim__world_next(struct sim_world *world, const struct sim_actor_ops *ops)
{
    rt_assert(world->picked == 0);
    if (needs_world(world)) {
        return NULL;
    }
    sim__actor_stepped(world->stepping);
    /* 5. */
    charge(world);
    world->current = &world->self;
    /* 6. */
    check_time(world, world->now_ns);
    /* 1. */
    if (world->now_ns >= world->next_due_ns) {
        sim__enable_due(world);
    }
    /* 3. */
    uint32_t place = choose_actor(world);
    struct sim_actor *next = standing_at(world, place);
    if (next->ops != ops) {
        world->picked = place + 1;
        return NULL;
    }
    /* 4. */
    (void)sim__enabled_take(&world->enabled, place);
    begin_step(world, next);
    return next;
}

void
sim__world_step(struct sim_world *world)
{
    one_step(world, false);
}

/* A scenario without an actor to wait for is over before it begins. */
static inline void
check_begun(struct sim_world *world)
{
    if (!world->stopped && is_done(world)) {
        world->over = true;
    }
}

void
sim__world_steps_keeping(struct sim_world *world, const struct sim_resumption *resumption)
{
    if (resumption->resumed == 0) {
        check_begun(world);
    }
    while (!world->over && !world->stopped) {
        if (resumption->wanted && world->enabled.count > 1) {
            sim__checkpoint(world);
        }
        one_step(world, false);
    }
}

void
sim__world_steps(struct sim_world *world)
{
    check_begun(world);
    while (!world->over && !world->stopped) {
        one_step(world, false);
    }
}

/* What one_step has left out where it stopped, so that a run in pieces has the same end, by the
 * same limits. */
static void
leave_stop(struct sim_world *world, struct sim_stop stop)
{
    rt_assert(world->stopped);
    world->stopped = false;
    world->stop = stop;
    if (world->step == 0) {
        check_begun(world);
    } else {
        check_over(world);
    }
}

void
sim__world_steps_on(struct sim_world *world, struct sim_stop stop)
{
    leave_stop(world, stop);
    while (!world->over && !world->stopped) {
        one_step(world, false);
    }
}

void
sim__world_steps_trapping(struct sim_world *world)
{
    leave_stop(world, (struct sim_stop){UINT64_MAX, false});
    while (!world->over) {
        one_step(world, true);
    }
}
