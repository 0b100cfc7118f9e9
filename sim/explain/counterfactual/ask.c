/*
 * ask.c -- the questions, each a replay of its own.
 *
 * A sleeping task is polled once more; a loop is told that nothing came, and goes round once. Each
 * question may kill the process, since a word is changed behind the program's back. So the
 * questions come in a fixed order and are counted before they are put, and who comes after a death
 * passes over as many as were begun.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/explain/counterfactual/priv.h"
#include "sim/judge/spurious_poll.h"

/* Instructions of a step that is walked. */
#define WALK_MOST UINT64_C(200000)

/* Bounds of it all: questions, and the steps that they take. */
#define ASKED_MAX 800u
#define STEPS_MAX UINT64_C(400000)

/* Steps before the end in which somebody may have been turned away. */
#define AWAY_MAX 40u

/* Words that may have come before the blocked task slept. */
#define ARRIVED_MAX 60u

#define WAITERS_MAX 5u
#define WAITS_MAX 16u
#define STACK_NEAR (UINT64_C(1) << 20)

struct waiter {
    uint32_t index;
    uint32_t id;
    uint64_t blocked_step; /* Its last step. */
    bool loop;             /* Can be told that nothing came … */
    bool pretends; /* … or, where that is not enough, of what it asks for, ready or not. */
    struct sim_waiting waits;
};

struct asking {
    struct sim_world *world;
    const struct sim_case *what;
    const struct sim_outcome *outcome;
    struct sim__counterfactual_shared *shared;
    struct waiter waiters[WAITERS_MAX];
    uint32_t waiter_count;
    uint32_t numbered;    /* Questions so far, the answered ones included. */
    const uint64_t *ends; /* The arena at the end; as many words. */
    size_t words;
};

/* ---- Replays. -------------------------------------------------------------------------------- */

static const struct sim_recording nothing = {false, false};

static bool
run_to(const struct asking *asking, struct sim_stop stop)
{
    const struct sim_case *what = asking->what;
    return sim_world_run_to(asking->world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, stop);
}

static uint64_t
word_at(const struct sim_world *world, uint64_t offset)
{
    uint64_t value;
    sim_words_copy(world, offset, &value, 1);
    return value;
}

/* False: this one was put already, or there were enough. */
static bool
next_question(struct asking *asking, uint64_t steps)
{
    struct sim__counterfactual_shared *shared = asking->shared;
    if (shared->asked >= ASKED_MAX || shared->steps > STEPS_MAX ||
            shared->hit_count == SIM__COUNTERFACTUAL_HITS || ++asking->numbered <= shared->asked ||
            !sim_world_may_replay(asking->world)) {
        return false;
    }
    shared->asked++;
    shared->steps += steps;
    return true;
}

static void
add_hit(struct asking *asking, uint32_t kind, const struct waiter *waiter,
        const struct sim_change *change, uint64_t lost_step)
{
    struct sim__counterfactual_shared *shared = asking->shared;
    struct sim__counterfactual_hit *hit = &shared->hits[shared->hit_count];
    *hit = (struct sim__counterfactual_hit){
            .counterfactual = {.kind = kind, .actor = waiter->index}};
    hit->counterfactual.step = change != NULL ? change->step : waiter->blocked_step;
    hit->counterfactual.lost_step = lost_step;
    hit->waiter_id = waiter->id;
    hit->waits = waiter->waits;
    if (change != NULL) {
        hit->change = *change;
        hit->counterfactual.writer_id = change->actor_id;
    }
    shared->hit_count++;
}

/* Whether the blocked task goes on at `stop`, with one word another; NULL: as it is. */
static bool
makes_progress(struct asking *asking, const struct waiter *waiter, struct sim_stop stop,
        const struct sim_patch *patch)
{
    struct sim_answer answer;
    const struct sim_question question = {
            .stop = stop,
            .actor = waiter->index,
            .stage = waiter->pretends ? SIM_ORACLE_STAGE_PRETEND
                     : waiter->loop   ? SIM_ORACLE_STAGE_INTERRUPT
                                      : SIM_ORACLE_STAGE_POLL,
            .patch = patch,
    };
    if (!next_question(asking, stop.step)) {
        return false;
    }
    sim_spurious_poll(asking->world, asking->what, &question, &answer);
    return answer.asked && answer.moved && !answer.failed;
}

static struct sim_stop
end_of(const struct asking *asking)
{
    return (struct sim_stop){asking->outcome->fail_step, true};
}

/* ---- A loop that asks its host again. -------------------------------------------------------- */

static bool
is_silent(struct asking *asking, const struct waiter *waiter, struct sim_silence *ret)
{
    struct sim_world *world = asking->world;
    bool silent = false;
    if (run_to(asking, end_of(asking))) {
        sim_bindings_each(host, world, silent)
        {
            silent = silent ||
                     (host->ops->silent(host->argument, ret) && ret->reported_to == waiter->index);
        }
    }
    sim_world_drop(world);
    return silent;
}

static void
ask_rearming(struct asking *asking, const struct waiter *waiter)
{
    struct sim_silence silence;
    struct sim_answer answer;
    const struct sim_question question = {
            .stop = end_of(asking), .actor = waiter->index, .stage = SIM_ORACLE_STAGE_ASK_AGAIN};
    if (!waiter->loop || !is_silent(asking, waiter, &silence) ||
            !next_question(asking, asking->outcome->fail_step)) {
        return;
    }
    sim_spurious_poll(asking->world, asking->what, &question, &answer);
    if (answer.asked && answer.moved && !answer.failed) {
        add_hit(asking, SIM_COUNTERFACTUAL_NOT_REARMED, waiter, NULL, 0);
        asking->shared->hits[asking->shared->hit_count - 1].counterfactual.object = silence.object;
    }
}

/* ---- A loop that is told that nothing came. -------------------------------------------------- */

/* The word that a step of others changed since `since`, and without which it would sleep on. */
static void
find_unnotified_word(
        struct asking *asking, const struct waiter *waiter, uint64_t since, uint64_t to)
{
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0;) {
        const struct sim_change *change = &here->all[i];
        const struct sim_patch back = {change->offset, change->before};
        if (change->step > since && change->step <= to && change->actor_id != waiter->id) {
            uint32_t before = asking->shared->asked;
            bool moves = makes_progress(asking, waiter, (struct sim_stop){to, true}, &back);
            if (asking->shared->asked > before && !moves) {
                add_hit(asking, SIM_COUNTERFACTUAL_NOT_NOTIFIED, waiter, change, 0);
            }
        }
    }
}

/* The word that somebody else changed before the blocked task fell blocked, and without which it
 * would not go on now: what it waits for had come. */
static void
find_arrived_word(struct asking *asking, const struct waiter *waiter)
{
    const struct sim_changes *here = &asking->shared->here;
    struct sim__counterfactual_hit *hit = &asking->shared->hits[asking->shared->hit_count - 1];
    uint32_t tried = 0;
    for (uint32_t i = here->count; i-- > 0 && tried < ARRIVED_MAX;) {
        const struct sim_change *change = &here->all[i];
        const struct sim_patch back = {change->offset, change->before};
        if (change->step <= waiter->blocked_step && change->actor_id != waiter->id) {
            uint32_t before = asking->shared->asked;
            bool moves = makes_progress(asking, waiter, end_of(asking), &back);
            tried++;
            if (asking->shared->asked > before && !moves) {
                hit->change = *change;
                hit->counterfactual.arrival_step = change->step;
                hit->counterfactual.writer_id = change->actor_id;
                return;
            }
        }
    }
}

/* It goes on at the end: since when? Asked where all is quiet, so that only it moves. */
static void
ask_loop(struct asking *asking, const struct waiter *waiter)
{
    uint64_t still = 0;
    if (!waiter->loop || !makes_progress(asking, waiter, end_of(asking), NULL)) {
        return;
    }
    for (uint64_t step = waiter->blocked_step; step <= asking->outcome->fail_step; step++) {
        if (!makes_progress(asking, waiter, (struct sim_stop){step, true}, NULL)) {
            still = step;
            continue;
        }
        if (step == waiter->blocked_step) {
            add_hit(asking, SIM_COUNTERFACTUAL_DROPPED, waiter, NULL, 0);
            find_arrived_word(asking, waiter);
        } else {
            find_unnotified_word(asking, waiter, still, step);
        }
        return;
    }
}

/* One that looks only when it is told of something. */
static void
ask_pretending(struct asking *asking, const struct waiter *waiter)
{
    struct waiter pretends = *waiter;
    uint32_t before = asking->shared->hit_count;
    pretends.pretends = true;
    ask_loop(asking, &pretends);
    for (uint32_t i = before; i < asking->shared->hit_count; i++) {
        asking->shared->hits[i].counterfactual.pretended = true;
    }
}

/* ---- A loop that takes its last step later. -------------------------------------------------- */

static bool
is_blocked_as_before(const struct asking *asking, const struct waiter *waiter)
{
    const struct sim_actor *actor = sim_world_actor(asking->world, waiter->index);
    struct sim_waiting waits;
    if (actor == NULL || actor->done || actor->enabled || actor->due_ns != SIM_NEVER ||
            actor->ops->waiting(actor, &waits, 1) == 0) {
        return false;
    }
    return waits.object == waiter->waits.object && waits.site == waiter->waits.site;
}

/* Whether it falls asleep just so when it finds the word as it will be. */
static bool
still_blocks(struct asking *asking, const struct waiter *waiter, const struct sim_change *change)
{
    struct sim_world *world = asking->world;
    bool blocked = true;
    if (run_to(asking, (struct sim_stop){waiter->blocked_step - 1, false}) &&
            change->offset + sizeof(uint64_t) <= world->arena.used) {
        sim_word_put(world, change->offset, change->after);
        if (sim_world_continue(world, (struct sim_stop){waiter->blocked_step, false})) {
            blocked = is_blocked_as_before(asking, waiter);
        }
    }
    sim_world_drop(world);
    return blocked;
}

static void
ask_later(struct asking *asking, const struct waiter *waiter)
{
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0 && waiter->loop && waiter->blocked_step > 0;) {
        const struct sim_change *change = &here->all[i];
        bool later = change->step > waiter->blocked_step && change->actor_id != waiter->id &&
                     asking->ends[change->offset / sizeof(uint64_t)] == change->after;
        if (later && next_question(asking, waiter->blocked_step) &&
                !still_blocks(asking, waiter, change)) {
            add_hit(asking, SIM_COUNTERFACTUAL_NOT_NOTIFIED, waiter, change, 0);
        }
    }
}

/* ---- What was written over. ------------------------------------------------------------------ */

/* The next step that changes the word; 0: none. */
static uint64_t
changed_next(const struct sim_changes *here, uint32_t index)
{
    for (uint32_t i = index + 1; i < here->count; i++) {
        if (here->all[i].offset == here->all[index].offset) {
            return here->all[i].step;
        }
    }
    return 0;
}

/* An address on the stack that a replay runs on: where that is depends on who replays. */
static bool
is_of_stack(uint64_t value)
{
    const char here = 0;
    uint64_t distance = value - (uint64_t)(uintptr_t)&here;
    return distance + STACK_NEAR < 2 * STACK_NEAR;
}

static bool
ends_the_same(const struct asking *asking)
{
    bool same = asking->world->arena.used / sizeof(uint64_t) == asking->words;
    sim_world_spend(asking->world, asking->words / SIM_CHANGES_WORDS_A_STEP);
    for (size_t i = 0; i < asking->words && same; i++) {
        uint64_t now = word_at(asking->world, i * sizeof(now));
        same = now == asking->ends[i] || (is_of_stack(now) && is_of_stack(asking->ends[i]));
    }
    return same;
}

/* The run is the same to its end when the word is at once after `step` as it was before it was
 * written: nobody has looked. */
static bool
is_unread(struct asking *asking, const struct sim_change *change, uint64_t step)
{
    bool same = false;
    if (step < asking->outcome->fail_step && next_question(asking, asking->outcome->fail_step) &&
            run_to(asking, (struct sim_stop){step, false})) {
        sim_word_put(asking->world, change->offset, change->before);
        same = sim_world_continue(asking->world, end_of(asking)) && ends_the_same(asking);
    }
    sim_world_drop(asking->world);
    return same;
}

/* Whether `step` writes the value, as it may where the word has it already. Returns whose step it
 * is; 0: it does not. */
static uint32_t
writes_again(struct asking *asking, const struct sim_change *change, uint64_t step)
{
    struct sim_world *world = asking->world;
    uint32_t writer = 0;
    if (next_question(asking, step) && run_to(asking, (struct sim_stop){step - 1, false})) {
        sim_word_put(world, change->offset, change->before);
        if (sim_world_continue(world, (struct sim_stop){step, false}) &&
                word_at(world, change->offset) == change->after) {
            writer = world->stepping->id;
        }
    }
    sim_world_drop(world);
    return writer;
}

/* The last step before `lost` that wrote the value, by somebody else, unseen; 0: none. */
static uint64_t
written_unseen(struct asking *asking, const struct waiter *waiter, const struct sim_change *change,
        uint64_t lost)
{
    for (uint64_t step = lost - 1; step > change->step; step--) {
        uint32_t writer = writes_again(asking, change, step);
        if (writer != 0) {
            bool unseen = writer != waiter->id && is_unread(asking, change, step);
            return unseen ? step : 0;
        }
    }
    bool unseen = change->actor_id != waiter->id && is_unread(asking, change, change->step);
    return unseen ? change->step : 0;
}

static void
ask_lost(struct asking *asking, const struct waiter *waiter)
{
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0;) {
        struct sim_change change = here->all[i];
        const struct sim_patch again = {change.offset, change.after};
        uint64_t lost = changed_next(here, i);
        bool worth = lost != 0 && asking->ends[change.offset / sizeof(uint64_t)] != change.after;
        if (worth && makes_progress(asking, waiter, end_of(asking), &again)) {
            change.step = written_unseen(asking, waiter, &change, lost);
            if (change.step != 0) {
                add_hit(asking, SIM_COUNTERFACTUAL_LOST, waiter, &change, lost);
            }
        }
    }
}

/* ---- What only the run that passes has. ------------------------------------------------------ */

static uint64_t
last_step_there(const struct sim_changes *there, uint32_t id)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < there->count; i++) {
        if (there->all[i].actor_id == id) {
            last = there->all[i].step;
        }
    }
    return last;
}

/* Whether the blocked task goes on by itself when the word is so before `step`, a step of somebody
 * else. Returns whose step that is; 0: it does not. */
static uint32_t
wakes_then(struct asking *asking, const struct waiter *waiter, const struct sim_change *change,
        uint64_t step)
{
    struct sim_world *world = asking->world;
    uint64_t mask = sim_change_bytes(change);
    uint32_t id = 0;
    if (next_question(asking, asking->outcome->fail_step) &&
            run_to(asking, (struct sim_stop){step - 1, false})) {
        uint64_t word = word_at(world, change->offset);
        sim_word_put(world, change->offset, (word & ~mask) | (change->after & mask));
        bool same = sim_world_continue(world, (struct sim_stop){step, false});
        uint32_t whose = same ? world->stepping->id : 0;
        same = same && sim_world_continue(world, end_of(asking));
        const struct sim_actor *actor = sim_world_actor(world, waiter->index);
        bool went = !same || actor == NULL || actor->stopped_step > waiter->blocked_step;
        id = went && whose != waiter->id ? whose : 0;
    }
    sim_world_drop(world);
    return id;
}

/* A flag that the blocked task takes down, and others look at before they wake it: the last step in
 * which one of them was turned away. */
static void
find_turned_away(struct asking *asking, const struct waiter *waiter,
        const struct sim_change *change, struct sim_counterfactual *counterfactual)
{
    uint64_t least =
            asking->outcome->fail_step > AWAY_MAX ? asking->outcome->fail_step - AWAY_MAX : 0;
    for (uint64_t step = asking->outcome->fail_step; step > least && counterfactual->away_step == 0;
            step--) {
        counterfactual->away_id = wakes_then(asking, waiter, change, step);
        counterfactual->away_step = counterfactual->away_id != 0 ? step : 0;
    }
}

static void
ask_elsewhere(struct asking *asking, const struct waiter *waiter, uint32_t index)
{
    const struct sim_change *change = &asking->shared->there.all[index];
    const struct sim_patch patch = {change->offset, change->after};
    for (uint32_t i = 0; i < asking->waiter_count; i++) {
        /* Somebody who sleeps here cannot write it: it is their own sleep that is to be told. */
        if (asking->waiters[i].id == change->actor_id && change->actor_id != waiter->id) {
            return;
        }
    }
    if (change->offset / sizeof(uint64_t) < asking->words &&
            asking->ends[change->offset / sizeof(uint64_t)] != change->after &&
            makes_progress(asking, waiter, end_of(asking), &patch)) {
        add_hit(asking, SIM_COUNTERFACTUAL_ELSEWHERE, waiter, change, 0);
        if (change->actor_id == waiter->id && waiter->loop) {
            find_turned_away(asking, waiter, change,
                    &asking->shared->hits[asking->shared->hit_count - 1].counterfactual);
        }
    }
}

/*
 * What comes last before the blocked task goes on there for the last time, by others; then by
 * itself; then what it writes itself in that step, where it does not fall asleep there at all. What
 * it writes when it goes on is what comes of it, and not what it waits for.
 */
static void
ask_all_elsewhere(struct asking *asking, const struct waiter *waiter)
{
    const struct sim_changes *there = &asking->shared->there;
    uint64_t last = last_step_there(there, waiter->id);
    for (uint32_t own = 0; own < 2; own++) {
        for (uint32_t i = there->count; i-- > 0;) {
            const struct sim_change *change = &there->all[i];
            if (change->step < last && (change->actor_id == waiter->id) == (own == 1)) {
                ask_elsewhere(asking, waiter, i);
            }
        }
    }
    for (uint32_t i = 0; i < there->count; i++) {
        if (there->all[i].step >= last) {
            ask_elsewhere(asking, waiter, i);
        }
    }
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static void
add_waiter(struct asking *asking, const struct sim_actor *actor)
{
    struct waiter *waiter = &asking->waiters[asking->waiter_count];
    bool blocked = !actor->done && !actor->enabled && actor->ops->waiting != NULL &&
                   actor->ops->waiting(actor, &waiter->waits, 1) > 0;
    if (blocked && asking->waiter_count < WAITERS_MAX - 1) {
        waiter->index = actor->index;
        waiter->id = actor->id;
        waiter->blocked_step = actor->stopped_step;
        waiter->loop = actor->ops->interrupt != NULL;
        asking->waiter_count++;
    }
}

/* Whom the verdict names first, then others who are waited for. Copies the arena as it is. */
static bool
look_at_the_end(struct asking *asking)
{
    struct sim_world *world = asking->world;
    uint64_t *copy = MAP_FAILED;
    if (run_to(asking, end_of(asking))) {
        const struct sim_actor *first = sim_world_actor(world, asking->outcome->actor);
        if (first != NULL) {
            add_waiter(asking, first);
        }
        for (uint32_t i = 1; i < world->actor_count; i++) {
            if (world->actors[i] != first && world->actors[i]->foreground) {
                add_waiter(asking, world->actors[i]);
            }
        }
        asking->words = world->arena.used / sizeof(*copy);
        copy = mmap(NULL, world->arena.used + 1, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy != MAP_FAILED) {
            sim_words_copy(world, 0, copy, asking->words);
        }
    }
    sim_world_drop(world);
    asking->ends = copy;
    return copy != MAP_FAILED;
}

/* Of the first answer that does not rest on a report for nothing, which is the weakest. */
static uint32_t
first_kind(const struct sim__counterfactual_shared *shared)
{
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        if (!shared->hits[i].counterfactual.pretended) {
            return shared->hits[i].counterfactual.kind;
        }
    }
    return SIM_COUNTERFACTUAL_NONE;
}

void
sim__counterfactual_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim__counterfactual_shared *shared = argument;
    struct asking asking = {
            .world = world, .what = what, .outcome = outcome, .shared = shared, .words = 0};
    if (!shared->listed) {
        sim_changes_run(world, what, outcome, &shared->here);
        shared->listed = true;
    }
    struct sim_aside kept;
    sim_keep(world, &kept);
    if (look_at_the_end(&asking)) {
        void (*const questions[])(struct asking *, const struct waiter *) = {
                ask_rearming, ask_loop, ask_pretending, ask_later, ask_lost, ask_all_elsewhere};
        for (uint32_t k = 0; k < sizeof(questions) / sizeof(*questions); k++) {
            uint32_t least = questions[k] == ask_all_elsewhere ? SIM_COUNTERFACTUAL_ELSEWHERE
                             : questions[k] == ask_rearming    ? SIM_COUNTERFACTUAL_NOT_REARMED
                                                               : SIM_COUNTERFACTUAL_DROPPED;
            bool asks =
                    first_kind(shared) == SIM_COUNTERFACTUAL_NONE || first_kind(shared) >= least;
            for (uint32_t i = 0; asks && i < asking.waiter_count; i++) {
                questions[k](&asking, &asking.waiters[i]);
            }
        }
    }
    sim_restore(world, &kept);
    shared->done = true;
}

/* ---- Who wrote it. --------------------------------------------------------------------------- */

/* A reason may be the same words at another place, in a library that was loaded again. */
static bool
waits_for(const struct sim_actor *actor, const struct sim_waiting *wanted)
{
    struct sim_waiting waits[WAITS_MAX];
    bool blocked = !actor->done && !actor->enabled && actor->ops->waiting != NULL;
    uint32_t count = blocked ? actor->ops->waiting(actor, waits, WAITS_MAX) : 0;
    bool found = false;
    for (uint32_t i = 0; i < count && !found; i++) {
        found = waits[i].site == wanted->site &&
                (waits[i].reason == NULL || wanted->reason == NULL ||
                        strcmp(waits[i].reason, wanted->reason) == 0);
    }
    return found;
}

static void
look_whether_it_waits(
        struct sim_world *world, const struct sim_case *what, struct sim__counterfactual_hit *hit)
{
    if (sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy, nothing,
                (struct sim_stop){hit->change.step - 1, false})) {
        for (uint32_t i = 1; i < world->actor_count; i++) {
            if (world->actors[i]->id == hit->waiter_id) {
                hit->same_wait = waits_for(world->actors[i], &hit->waits);
            }
        }
    }
    sim_world_drop(world);
}

static void
walk_step(struct sim_world *world, const struct sim_case *what, const struct sim_change *change,
        bool first, struct sim_walk_stop *ret)
{
    if (sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy, nothing,
                (struct sim_stop){change->step - 1, false}) &&
            change->offset + sizeof(uint64_t) <= world->arena.used) {
        struct sim_watch watch = {
                .word = (const volatile uint64_t *)(const void *)(world->arena.base +
                                                                  change->offset),
                .first = first,
                .writer = ret};
        /* What is written may be there already, from before; so seen, it comes again. */
        sim_word_put(world, change->offset, change->before);
        if (sim_walk_begin(&watch, 1, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){change->step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}

static void
walk_hits(struct sim_world *world, const struct sim_case *what,
        struct sim__counterfactual_shared *shared, bool there)
{
    struct sim_aside kept;
    sim_keep(world, &kept);
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        struct sim__counterfactual_hit *hit = &shared->hits[i];
        bool of_there = hit->counterfactual.kind == SIM_COUNTERFACTUAL_ELSEWHERE;
        bool no_word = hit->counterfactual.kind <= SIM_COUNTERFACTUAL_DROPPED &&
                       hit->counterfactual.arrival_step == 0;
        if (hit->walked || no_word || of_there != there) {
            continue;
        }
        hit->walked = true;
        walk_step(world, what, &hit->change, false, &hit->counterfactual.writer);
        if (of_there) {
            look_whether_it_waits(world, what, hit);
        }
        if (hit->counterfactual.lost_step != 0) {
            const struct sim_change over = {.step = hit->counterfactual.lost_step,
                    .offset = hit->change.offset,
                    .before = hit->change.after};
            walk_step(world, what, &over, true, &hit->counterfactual.eraser);
        }
    }
    sim_restore(world, &kept);
}

void
sim__counterfactual_walk_here(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared)
{
    (void)outcome;
    walk_hits(world, what, shared, false);
}

void
sim__counterfactual_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared)
{
    (void)outcome;
    walk_hits(world, what, shared, true);
}
