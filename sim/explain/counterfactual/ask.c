/*
 * ask.c -- the questions of a counterfactual replay, each a replay of its own.
 *
 * A blocked task is polled once more; a loop gets a report of nothing, and makes one turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/counterfactual/priv.h"
#include "sim/program/program.h"

/* Bounds of it all: questions (SIM__COUNTERFACTUAL_TRIES), and the steps that they take. */
#define STEPS_MAX UINT64_C(400000)

/* Steps before the end in which a waker may have turned away. */
#define AWAY_MAX 40u

/* Words that may have arrived before the task blocked. */
#define ARRIVED_MAX 60u

/* Words that the step of a wake changes more than once, and its instructions. */
#define WITHIN_MAX 96u
#define WALK_MOST UINT64_C(200000)

#define WAITERS_MAX 4u
#define SILENT_MAX 24u
#define REARMED_STEPS 2000u
#define WAITS_MAX 16u

struct waiter {
    uint32_t index;
    uint32_t id;
    uint64_t blocked_step; /* Its last step. */
    bool loop;             /* Can get a report of nothing … */
    bool pretends;         /* … or, where that is not enough, of all that it asks for. */
    struct sim_waiting waits;
};

struct asking {
    struct sim_experiment experiment; /* Remembers the arena at the end. */
    struct sim__counterfactual_shared *shared;
    struct waiter waiters[WAITERS_MAX];
    uint32_t waiter_count;
    uint32_t task;       /* The index of the task that was woken and is not polled; 0: none. */
    uint32_t foreground; /* Actors that are waited for at the end. */
    uint32_t number;     /* Of the question; 0: it is none that may be put. */
};

/* ---- One question. --------------------------------------------------------------------------- */

enum answer { NOT_PUT, NO_PROGRESS, PROGRESS }; /* NOT_PUT: or it could not be asked there. */

static bool
may_ask(struct asking *asking, uint64_t steps)
{
    rt_assert(asking->shared->hit_count <= SIM__COUNTERFACTUAL_HITS);
    uint32_t before = asking->experiment.numbered;
    asking->number = 0;
    if (asking->shared->hit_count == SIM__COUNTERFACTUAL_HITS) {
        return false;
    }
    bool may = sim_experiment_next(&asking->experiment, steps);
    asking->number = asking->experiment.numbered > before ? asking->experiment.numbered : 0;
    return may;
}

/* The answer to the question with this number. A process that takes the place of one that died of a
 * later question knows it, too. */
static uint8_t *
answer_of(const struct asking *asking)
{
    static uint8_t none;
    none = NOT_PUT;
    return asking->number != 0 && asking->number <= SIM__COUNTERFACTUAL_TRIES
                   ? &asking->shared->answers[asking->number - 1]
                   : &none;
}

static enum answer
answer_of_reaction(enum sim_reaction reaction)
{
    return reaction == SIM_REACTION_PROGRESS  ? PROGRESS
           : reaction == SIM_REACTION_BLOCKED ? NO_PROGRESS
                                              : NOT_PUT;
}

/* It was woken, and no poll has followed. */
static bool
is_woken(const struct sim_actor *task)
{
    struct sim_waiting waited;
    return task != NULL && !task->done && task->ops->waited != NULL &&
           task->ops->waited(task, &waited);
}

/* Whether the loop polls the task that was woken, when it is asked. */
static bool
is_polled(const struct asking *asking, const struct sim_question *question)
{
    rt_assert(asking->task > 0 && asking->task != question->actor);
    struct sim_world *world = asking->experiment.world;
    struct sim_answer answer;
    bool polled = false;
    if (sim_judge_replay(world, asking->experiment.what, question->stop)) {
        const struct sim_actor *task = sim_world_actor(world, asking->task);
        bool woken = is_woken(task);
        sim_put(world, question, &answer);
        polled = woken && answer.asked && !answer.failed && !is_woken(task);
    }
    sim_world_drop(world);
    return polled;
}

static enum answer
ask(struct asking *asking, const struct sim_question *question)
{
    rt_assert(question->actor > 0);
    bool may = may_ask(asking, question->stop.step);
    uint8_t *answer = answer_of(asking);
    if (may && asking->task != 0) {
        struct sim_question reports = *question; /* Some hosts' polls end with a report only. */
        reports.nth = 1;
        *answer =
                is_polled(asking, question) || is_polled(asking, &reports) ? PROGRESS : NO_PROGRESS;
    } else if (may) {
        *answer = (uint8_t)answer_of_reaction(sim_experiment_ask(&asking->experiment, question));
    }
    return *answer;
}

/* The blocked task at `stop`, with one word another; NULL: as it is. */
static enum answer
ask_waiter(struct asking *asking, const struct waiter *waiter, struct sim_stop stop,
        const struct sim_patch *patch)
{
    rt_assert(waiter->index > 0);
    const struct sim_question question = {
            .stop = stop,
            .actor = waiter->index,
            .stage = waiter->pretends ? SIM_ORACLE_STAGE_PRETEND
                     : waiter->loop   ? SIM_ORACLE_STAGE_INTERRUPT
                                      : SIM_ORACLE_STAGE_POLL,
            .patch = patch,
    };
    return ask(asking, &question);
}

/* … without the change. */
static enum answer
ask_without(struct asking *asking, const struct waiter *waiter, struct sim_stop stop,
        const struct sim_change *change)
{
    rt_assert(change->step > 0);
    const struct sim_patch patch = {change->offset, change->before};
    return ask_waiter(asking, waiter, stop, &patch);
}

static struct sim_stop
end_of(const struct asking *asking)
{
    return sim_experiment_end_stop(&asking->experiment);
}

static uint64_t
fail_step(const struct asking *asking)
{
    return asking->experiment.outcome->fail_step;
}

/* The word as it is at the end. */
static uint64_t
word_at_end(const struct asking *asking, const struct sim_change *change)
{
    size_t at = change->offset / sizeof(uint64_t);
    rt_assert(at < asking->experiment.word_count);
    return asking->experiment.words[at];
}

/* The same answer, of an earlier process; NULL: none. */
static struct sim__counterfactual_hit *
known_hit(const struct asking *asking, uint32_t kind, const struct waiter *waiter,
        const struct sim_change *change)
{
    struct sim__counterfactual_shared *shared = asking->shared;
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        struct sim__counterfactual_hit *hit = &shared->hits[i];
        bool of = hit->found.kind == kind && hit->waiter_id == waiter->id &&
                  hit->found.pretended == waiter->pretends;
        if (of && (change == NULL || (hit->change.step == change->step &&
                                             hit->change.offset == change->offset))) {
            return hit;
        }
    }
    return NULL;
}

/* `change` NULL: no word. */
static struct sim_counterfactual *
add_hit(struct asking *asking, uint32_t kind, const struct waiter *waiter,
        const struct sim_change *change)
{
    struct sim__counterfactual_shared *shared = asking->shared;
    struct sim__counterfactual_hit *hit = known_hit(asking, kind, waiter, change);
    if (hit != NULL) {
        return &hit->found;
    }
    rt_assert(shared->hit_count < SIM__COUNTERFACTUAL_HITS);
    hit = &shared->hits[shared->hit_count++];
    *hit = (struct sim__counterfactual_hit){
            .found = {.kind = kind,
                    .actor = waiter->index,
                    .pretended = waiter->pretends,
                    .step = waiter->blocked_step},
            .waiter_id = waiter->id,
            .waits = waiter->waits,
    };
    if (change != NULL) {
        hit->change = *change;
        hit->found.step = change->step;
        hit->found.writer_id = change->actor_id;
    }
    return &hit->found;
}

/* ---- A loop that asks its host again. -------------------------------------------------------- */

/* The `nth` thing that is not reported at the end. False: there are fewer. */
static bool
find_silence(const struct asking *asking, uint32_t nth, struct sim_silence *ret)
{
    struct sim_world *world = asking->experiment.world;
    bool silent = sim_experiment_at_end(&asking->experiment) && sim_world_silence(world, nth, ret);
    sim_world_drop(world);
    return silent;
}

/* Reading what was reported for nothing is no progress. */
static bool
gains_other(const struct sim_gains *gains, uint32_t object)
{
    for (uint32_t i = 0; i < gains->count; i++) {
        if (gains->all[i].kind != SIM_GAIN_CONSUMED || gains->all[i].of != object) {
            return true;
        }
    }
    return false;
}

/* A timer expires, whether or not there is anything to do then. */
static bool
progresses_armed(struct asking *asking, const struct sim_question *question)
{
    struct sim_gains *gains = &asking->experiment.world->journals[0];
    if (!may_ask(asking, question->stop.step)) {
        return false;
    }
    sim_gains_clear(gains);
    asking->experiment.world->gains = gains;
    enum sim_reaction reaction = sim_experiment_ask(&asking->experiment, question);
    asking->experiment.world->gains = NULL;
    return reaction == SIM_REACTION_PROGRESS && gains_other(gains, question->silence->object);
}

/* With one more report of what it has read already, of a run whose judge found that a report alone
 * is missing. */
static bool
progresses_reported(struct asking *asking, const struct sim_silence *silence)
{
    const struct sim_question question = {.stop = end_of(asking),
            .actor = silence->waiter,
            .stage = SIM_ORACLE_STAGE_INTERRUPT,
            .nth = silence->nth};
    return asking->experiment.outcome->verdict == SIM_VERDICT_LOST_WAKEUP &&
           silence->waiter == asking->waiters[0].index && ask(asking, &question) == PROGRESS;
}

/* What is ready and not waited for; and what the first that is asked has read and waits for again,
 * where one more report of that is enough. */
static void
find_left(struct asking *asking)
{
    struct sim__counterfactual_shared *shared = asking->shared;
    bool silent = sim_program_is(asking->experiment.what->scenario) && asking->waiter_count > 0;
    /* What another process has asked here is not asked again, but its numbers are taken. */
    asking->experiment.numbered = shared->left_known ? shared->left_tries : shared->tries.begun;
    for (uint32_t nth = shared->left_next;
            silent && nth < SILENT_MAX && shared->left_count < SIM_LEFT_MAX; nth++) {
        struct sim_silence silence = {.object = 0};
        silent = find_silence(asking, nth, &silence);
        shared->left_next = nth + 1;
        if (silent && (silence.kind == SIM_SILENT_UNWATCHED ||
                              (silence.kind == SIM_SILENT_TAKEN &&
                                      progresses_reported(asking, &silence)))) {
            shared->left[shared->left_count++] = silence;
        }
    }
    shared->left_tries = asking->experiment.numbered;
    shared->left_known = true;
}

/* What is asked within the run: fewer actors are left in the end than without it. */
static bool
fewer_are_left(struct asking *asking, const struct sim_question *question)
{
    struct sim_world *world = asking->experiment.world;
    struct sim_answer answer = {.asked = false};
    if (!may_ask(asking, fail_step(asking))) {
        return false;
    }
    if (sim_judge_replay(world, asking->experiment.what, question->stop)) {
        sim_put(world, question, &answer);
    }
    bool fewer = answer.asked && !answer.failed && world->foreground < asking->foreground;
    sim_world_drop(world);
    return fewer;
}

/* Whether the waiter makes progress once that is reported. */
static bool
progresses_with(
        struct asking *asking, const struct waiter *waiter, const struct sim_silence *silence)
{
    bool counted = silence->kind == SIM_SILENT_COUNTED;
    bool timer = silence->kind == SIM_SILENT_TIMER;
    const struct sim_question question = {
            .stop = counted ? (struct sim_stop){silence->step, false} : end_of(asking),
            .actor = waiter->index,
            .stage = SIM_ORACLE_STAGE_ASK_AGAIN,
            .silence = silence,
            /* What an arming is for may come later only. */
            .settling = {.steps = counted ? fail_step(asking) + REARMED_STEPS
                                  : timer ? REARMED_STEPS
                                          : 0,
                    .until_ns = SIM_NEVER}};
    return counted ? fewer_are_left(asking, &question)
           : timer ? progresses_armed(asking, &question)
                   : ask(asking, &question) == PROGRESS;
}

/* In a livelock nothing is gained, until what its host does not report is put right. */
static bool
gains_with(struct asking *asking, const struct sim_silence *silence, uint32_t actor)
{
    const struct sim_question question = {.stop = {fail_step(asking), false},
            .actor = actor,
            .stage = SIM_ORACLE_STAGE_ASK_AGAIN,
            .silence = silence,
            .settling = {.steps = REARMED_STEPS, .until_ns = SIM_NEVER}};
    struct sim_gains *gains = &asking->experiment.world->journals[0];
    if (silence->kind == SIM_SILENT_COUNTED || !may_ask(asking, question.stop.step)) {
        return false;
    }
    sim_gains_clear(gains);
    asking->experiment.world->gains = gains;
    (void)sim_experiment_ask(&asking->experiment, &question);
    asking->experiment.world->gains = NULL;
    return gains_other(gains, silence->kind == SIM_SILENT_TIMER ? silence->object : 0);
}

static void
ask_livelock(struct asking *asking)
{
    struct sim_world *world = asking->experiment.world;
    struct waiter waiter = {.index = 0};
    bool silent = true;
    for (uint32_t nth = 0; nth < SILENT_MAX && silent && asking->shared->hit_count == 0; nth++) {
        struct sim_silence silence = {.object = 0};
        silent = sim_experiment_at(&asking->experiment, fail_step(asking)) &&
                 sim_world_silence(world, nth, &silence);
        for (uint32_t i = world->actor_count; i-- > 1 && waiter.index == 0;) {
            const struct sim_actor *actor = world->actors[i];
            bool runs = actor->foreground && !actor->done;
            waiter = runs ? (struct waiter){.index = actor->index, .id = actor->id} : waiter;
        }
        sim_world_drop(world);
        if (silent && silence.kind < SIM_SILENT_UNWATCHED && waiter.index != 0 &&
                gains_with(asking, &silence, waiter.index)) {
            add_hit(asking, SIM_COUNTERFACTUAL_NOT_REARMED, &waiter, NULL)->silence = silence;
        }
    }
}

static void
ask_rearming(struct asking *asking, const struct waiter *waiter)
{
    rt_assert(!waiter->pretends);
    struct sim_silence silence;
    for (uint32_t nth = 0; nth < SILENT_MAX && waiter->loop; nth++) {
        if (!find_silence(asking, nth, &silence)) {
            return;
        }
        bool its = silence.waiter == 0 || silence.waiter == waiter->index;
        /* What the loop of a scenario does with one report is seen in its memory, and says more. */
        its = its && silence.kind < SIM_SILENT_UNWATCHED &&
              (silence.kind != SIM_SILENT_COUNTED ||
                      sim_program_is(asking->experiment.what->scenario));
        if (its && progresses_with(asking, waiter, &silence)) {
            add_hit(asking, SIM_COUNTERFACTUAL_NOT_REARMED, waiter, NULL)->silence = silence;
            return;
        }
    }
}

/* ---- A loop that gets a report of nothing. --------------------------------------------------- */

/* The word that a step of others changed since `since`, and without which it would stay blocked. */
static void
find_unnotified_word(
        struct asking *asking, const struct waiter *waiter, uint64_t since, uint64_t to)
{
    rt_assert(since < to);
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0;) {
        const struct sim_change *change = &here->all[i];
        if (change->step > since && change->step <= to && change->actor_id != waiter->id &&
                ask_without(asking, waiter, (struct sim_stop){to, true}, change) == NO_PROGRESS) {
            (void)add_hit(asking, SIM_COUNTERFACTUAL_NOT_NOTIFIED, waiter, change);
        }
    }
}

/* The word that another actor changed before the task blocked, and without which it would make no
 * progress now: what it waits for had arrived. */
static void
find_arrived_word(struct asking *asking, const struct waiter *waiter)
{
    const struct sim_changes *here = &asking->shared->here;
    struct sim__counterfactual_hit *hit =
            known_hit(asking, SIM_COUNTERFACTUAL_DROPPED, waiter, NULL);
    rt_assert(hit != NULL);
    uint32_t tried = 0;
    for (uint32_t i = here->count;
            i-- > 0 && tried < ARRIVED_MAX && hit->found.arrival_step == 0;) {
        const struct sim_change *change = &here->all[i];
        if (change->step > waiter->blocked_step || change->actor_id == waiter->id) {
            continue;
        }
        tried++;
        if (ask_without(asking, waiter, end_of(asking), change) == NO_PROGRESS) {
            hit->change = *change;
            hit->found.arrival_step = change->step;
            hit->found.writer_id = change->actor_id;
            return;
        }
    }
}

/* It makes progress at the end: since when? It can be asked at quiescences only, where no other
 * actor runs: what others have done since the one before, or since it blocked, may be what counts.
 */
static void
ask_loop(struct asking *asking, const struct waiter *waiter)
{
    uint64_t still = waiter->blocked_step;
    if (!waiter->loop || ask_waiter(asking, waiter, end_of(asking), NULL) != PROGRESS) {
        return;
    }
    for (uint64_t step = waiter->blocked_step; step <= fail_step(asking); step++) {
        enum answer answer = ask_waiter(asking, waiter, (struct sim_stop){step, true}, NULL);
        if (answer != PROGRESS) {
            still = answer == NO_PROGRESS ? step : still;
            continue;
        }
        if (step == waiter->blocked_step) {
            (void)add_hit(asking, SIM_COUNTERFACTUAL_DROPPED, waiter, NULL);
            /* Of a program's loop any word that it rests on is one, since it was made. */
            if (!sim_program_is(asking->experiment.what->scenario)) {
                find_arrived_word(asking, waiter);
            }
        } else {
            find_unnotified_word(asking, waiter, still, step);
        }
        return;
    }
}

/* A loop that checks only what is reported to it. */
static void
ask_pretending(struct asking *asking, const struct waiter *waiter)
{
    rt_assert(!waiter->pretends);
    struct waiter pretends = *waiter;
    pretends.pretends = true;
    ask_loop(asking, &pretends);
}

/* ---- A loop that takes its last step later. -------------------------------------------------- */

static bool
is_blocked_as_before(const struct asking *asking, const struct waiter *waiter)
{
    rt_assert(waiter->blocked_step > 0);
    const struct sim_actor *actor = sim_world_actor(asking->experiment.world, waiter->index);
    struct sim_waiting waits;
    return actor != NULL && !actor->done && !actor->enabled && actor->due_ns == SIM_NEVER &&
           actor->ops->waiting(actor, &waits, 1) > 0 && waits.object == waiter->waits.object &&
           waits.site == waiter->waits.site;
}

/* Whether it blocks in the same way when it finds the word as it will be. */
static bool
still_blocks(
        const struct asking *asking, const struct waiter *waiter, const struct sim_change *change)
{
    rt_assert(change->step > waiter->blocked_step);
    const struct sim_change early = sim_change_reversed(change);
    const struct sim_stop blocked = {waiter->blocked_step, false};
    bool reached =
            sim_experiment_undo(&asking->experiment, waiter->blocked_step - 1, &early, blocked);
    bool same = !reached || is_blocked_as_before(asking, waiter);
    sim_world_drop(asking->experiment.world);
    return same;
}

static void
ask_later(struct asking *asking, const struct waiter *waiter)
{
    rt_assert(!waiter->pretends);
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0 && waiter->loop && waiter->blocked_step > 0;) {
        const struct sim_change *change = &here->all[i];
        if (change->step > waiter->blocked_step && change->actor_id != waiter->id &&
                word_at_end(asking, change) == change->after &&
                may_ask(asking, waiter->blocked_step) && !still_blocks(asking, waiter, change)) {
            (void)add_hit(asking, SIM_COUNTERFACTUAL_NOT_NOTIFIED, waiter, change);
        }
    }
}

/* ---- What was overwritten. ------------------------------------------------------------------- */

/* The run is the same to its end when the word is after `step` as it was before it was written: no
 * step has read it. */
static bool
is_unread(struct asking *asking, const struct sim_change *change, uint64_t step)
{
    rt_assert(step >= change->step);
    struct sim_world *world = asking->experiment.world;
    bool same = false;
    if (step < fail_step(asking) && may_ask(asking, fail_step(asking))) {
        same = sim_experiment_undo(&asking->experiment, step, change, end_of(asking));
        sim_world_spend(world, same ? asking->experiment.word_count / SIM_CHANGES_WORDS_A_STEP : 0);
        same = same && sim_experiment_is_same(&asking->experiment, NULL);
        sim_world_drop(world);
    }
    return same;
}

/* Whether `step` writes the value, as it may where the word has it already. Returns the id of its
 * actor; 0: it does not. */
static uint32_t
writes_again(struct asking *asking, const struct sim_change *change, uint64_t step)
{
    rt_assert(step > change->step);
    struct sim_world *world = asking->experiment.world;
    uint32_t writer = 0;
    if (may_ask(asking, step)) {
        if (sim_experiment_undo(
                    &asking->experiment, step - 1, change, (struct sim_stop){step, false}) &&
                ((sim_word_at(world, change->offset) ^ change->after) & sim_change_bytes(change)) ==
                        0) {
            writer = world->stepping->id;
        }
        sim_world_drop(world);
    }
    return writer;
}

/* The last step before `lost` that wrote the value, by another actor, unread; 0: none. */
static uint64_t
written_unread(struct asking *asking, const struct waiter *waiter, const struct sim_change *change,
        uint64_t lost)
{
    rt_assert(lost > change->step);
    uint64_t step = lost - 1;
    uint32_t writer = 0;
    while (step > change->step && (writer = writes_again(asking, change, step)) == 0) {
        step--;
    }
    if (step <= change->step) {
        step = change->step;
        writer = change->actor_id;
    }
    return writer != waiter->id && is_unread(asking, change, step) ? step : 0;
}

/* The bytes of `change` that `over` overwrites, put back at the end. */
static void
ask_overwritten(struct asking *asking, const struct waiter *waiter, struct sim_change change,
        const struct sim_change *over)
{
    rt_assert(change.offset == over->offset);
    const struct sim_change done = sim_change_reversed(&change);
    uint64_t end = word_at_end(asking, &change);
    const struct sim_patch again = {change.offset, sim_change_undone(&done, end)};
    if (again.value != end && ask_waiter(asking, waiter, end_of(asking), &again) == PROGRESS) {
        change.step = written_unread(asking, waiter, &change, over->step);
        if (change.step != 0) {
            add_hit(asking, SIM_COUNTERFACTUAL_LOST, waiter, &change)->lost_step = over->step;
        }
    }
}

/* A word may be several variables: of each byte the next change of it counts. */
static void
ask_lost(struct asking *asking, const struct waiter *waiter)
{
    rt_assert(!waiter->pretends);
    const struct sim_changes *here = &asking->shared->here;
    for (uint32_t i = here->count; i-- > 0;) {
        uint64_t bytes = sim_change_bytes(&here->all[i]);
        for (uint32_t k = i + 1; k < here->count && bytes != 0; k++) {
            struct sim_change change = here->all[i];
            uint64_t over = bytes & sim_change_bytes(&here->all[k]);
            if (here->all[k].offset == change.offset && over != 0) {
                change.before = (change.before & over) | (change.after & ~over);
                ask_overwritten(asking, waiter, change, &here->all[k]);
                bytes &= ~over;
            }
        }
    }
}

/* ---- What is overwritten in the step of the wake itself. ------------------------------------- */

struct within {
    struct sim_watch watches[WITHIN_MAX];
    struct sim_walk_stop writers[WITHIN_MAX];
    struct sim_walk_stop earlier[WITHIN_MAX];
    struct sim_change changes[WITHIN_MAX]; /* What the step makes of the words. */
    uint32_t count;
};

/* The words that `step` changes. */
static void
find_within(struct asking *asking, uint64_t step, struct within *within)
{
    rt_assert(step > 0 && within->count == 0);
    struct sim_experiment *experiment = &asking->experiment;
    if (sim_experiment_at(experiment, step - 1) && sim_experiment_remember(experiment) &&
            sim_world_continue(experiment->world, (struct sim_stop){step, false})) {
        for (size_t i = 0; i < experiment->word_count && within->count < WITHIN_MAX; i++) {
            const struct sim_change change = {.step = step,
                    .offset = i * sizeof(uint64_t),
                    .before = experiment->words[i],
                    .after = sim_word_at(experiment->world, i * sizeof(uint64_t))};
            if (change.before != change.after) {
                within->changes[within->count++] = change;
            }
        }
    }
    sim_world_drop(experiment->world);
}

static void
walk_within(struct asking *asking, uint64_t step, struct within *within)
{
    rt_assert(within->count <= WITHIN_MAX);
    struct sim_world *world = asking->experiment.world;
    if (sim_experiment_at(&asking->experiment, step - 1)) {
        for (uint32_t i = 0; i < within->count; i++) {
            within->watches[i] =
                    sim_word_watch(world, within->changes[i].offset, &within->writers[i]);
            within->watches[i].earlier = &within->earlier[i];
        }
        if (sim_walk_begin(within->watches, within->count, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}

/* The bytes of a word that were `between` when the step had written them, and that it has written
 * over; 0: none, as neighbours in a word are not those of each other. */
static uint64_t
bytes_between(const struct sim_change *step, uint64_t between)
{
    const struct sim_change first = {.before = step->before, .after = between};
    const struct sim_change over = {.before = between, .after = step->after};
    uint64_t bytes = sim_change_bytes(&first);
    return (bytes & sim_change_bytes(&over)) != 0 ? bytes | sim_change_bytes(&over) : 0;
}

/* What the step wrote first, and overwrote: with that at the end the loop polls the task. */
static void
ask_within(struct asking *asking, const struct waiter *waiter)
{
    rt_assert(asking->task != 0);
    uint64_t step = asking->shared->wake_step;
    struct within within = {.count = 0};
    find_within(asking, step, &within);
    walk_within(asking, step, &within);
    bool ends = sim_experiment_at_end(&asking->experiment) &&
                sim_experiment_remember(&asking->experiment);
    sim_world_drop(asking->experiment.world);
    for (uint32_t i = 0; i < within.count && ends; i++) {
        struct sim_change change = within.changes[i];
        uint64_t bytes = bytes_between(&change, within.watches[i].value);
        uint64_t end = word_at_end(asking, &change);
        change.after = (end & ~bytes) | (within.watches[i].value & bytes);
        const struct sim_patch patch = {change.offset, change.after};
        if (within.earlier[i].frame_count == 0 || bytes == 0 || change.after == end ||
                ask_waiter(asking, waiter, end_of(asking), &patch) != PROGRESS) {
            continue;
        }
        struct sim_counterfactual *found =
                add_hit(asking, SIM_COUNTERFACTUAL_LOST, waiter, &change);
        found->lost_step = step;
        found->writer = within.earlier[i];
        found->eraser = within.writers[i];
        asking->shared->hits[asking->shared->hit_count - 1].walked = true;
    }
}

/* ---- What only the passing run has. ---------------------------------------------------------- */

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

/* Whether the blocked task makes progress by itself when the word is so before `step`, a step of
 * another actor. Returns the id of that one; 0: it does not. */
static uint32_t
wakes_then(struct asking *asking, const struct waiter *waiter, const struct sim_change *change,
        uint64_t step)
{
    rt_assert(step > 0);
    struct sim_world *world = asking->experiment.world;
    const struct sim_change done = sim_change_reversed(change);
    if (!may_ask(asking, fail_step(asking))) {
        return 0;
    }
    bool same = sim_experiment_undo(
            &asking->experiment, step - 1, &done, (struct sim_stop){step, false});
    uint32_t by_id = same ? world->stepping->id : 0;
    same = same && sim_world_continue(world, end_of(asking));
    const struct sim_actor *actor = sim_world_actor(world, waiter->index);
    bool progress = !same || actor == NULL || actor->stopped_step > waiter->blocked_step;
    sim_world_drop(world);
    return progress && by_id != waiter->id ? by_id : 0;
}

/* A flag that the blocked task clears, and others check before they wake it: the last step in which
 * one of them was turned away. */
static void
find_turned_away(struct asking *asking, const struct waiter *waiter,
        const struct sim_change *change, struct sim_counterfactual *found)
{
    rt_assert(found->away_step == 0);
    uint64_t least = fail_step(asking) > AWAY_MAX ? fail_step(asking) - AWAY_MAX : 0;
    for (uint64_t step = fail_step(asking); step > least && found->away_step == 0; step--) {
        found->away_id = wakes_then(asking, waiter, change, step);
        found->away_step = found->away_id != 0 ? step : 0;
    }
}

static void
ask_elsewhere(struct asking *asking, const struct waiter *waiter, const struct sim_change *change)
{
    rt_assert(change->step > 0);
    const struct sim_patch patch = {change->offset, change->after};
    for (uint32_t i = 0; i < asking->waiter_count; i++) {
        /* Another task that is blocked here cannot write it: why it is blocked is the question. */
        if (asking->waiters[i].id == change->actor_id && change->actor_id != waiter->id) {
            return;
        }
    }
    if (change->offset / sizeof(uint64_t) < asking->experiment.word_count &&
            word_at_end(asking, change) != change->after &&
            ask_waiter(asking, waiter, end_of(asking), &patch) == PROGRESS) {
        struct sim_counterfactual *found =
                add_hit(asking, SIM_COUNTERFACTUAL_ELSEWHERE, waiter, change);
        if (change->actor_id == waiter->id && waiter->loop) {
            find_turned_away(asking, waiter, change, found);
        }
    }
}

/*
 * What comes last before the blocked task makes progress there for the last time, by others; then
 * by itself; then what it writes itself in that step, where it does not block there at all. What it
 * writes as it makes progress is a consequence, and not what it waits for.
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
                ask_elsewhere(asking, waiter, change);
            }
        }
    }
    for (uint32_t i = 0; i < there->count; i++) {
        if (there->all[i].step >= last) {
            ask_elsewhere(asking, waiter, &there->all[i]);
        }
    }
}

/* ---- All of it. ------------------------------------------------------------------------------ */

/* In this order; a question is put unless an answer of a kind before `least` is there. */
#define OF(kind) (1u << SIM_COUNTERFACTUAL_OF_##kind)
static const struct question {
    void (*ask)(struct asking *asking, const struct waiter *waiter);
    uint32_t least;
    uint32_t of; /* Where it is put: bits of enum sim_counterfactual_of. */
} questions[] = {
        {ask_rearming, SIM_COUNTERFACTUAL_NOT_REARMED, OF(RESTS) | OF(LOST)},
        {ask_loop, SIM_COUNTERFACTUAL_DROPPED, OF(RESTS) | OF(UNPOLLED)},
        {ask_pretending, SIM_COUNTERFACTUAL_DROPPED, OF(RESTS)},
        {ask_later, SIM_COUNTERFACTUAL_DROPPED, OF(RESTS)},
        {ask_lost, SIM_COUNTERFACTUAL_DROPPED, OF(RESTS) | OF(UNPOLLED)},
        {ask_within, SIM_COUNTERFACTUAL_DROPPED, OF(UNPOLLED)},
        {ask_all_elsewhere, SIM_COUNTERFACTUAL_ELSEWHERE, OF(RESTS)},
};

static void
add_waiter(struct asking *asking, const struct sim_actor *actor)
{
    rt_assert(actor->index > 0);
    rt_assert(asking->waiter_count <= WAITERS_MAX);
    struct waiter waiter = {.index = actor->index,
            .id = actor->id,
            .blocked_step = actor->stopped_step,
            .loop = actor->ops->interrupt != NULL};
    bool blocked = !actor->done && !actor->enabled && actor->ops->waiting != NULL &&
                   actor->ops->waiting(actor, &waiter.waits, 1) > 0;
    if (blocked && asking->waiter_count < WAITERS_MAX) {
        asking->waiters[asking->waiter_count++] = waiter;
    }
}

/* The loop that polls a task that was woken and is not polled. */
static void
add_loop(struct asking *asking, const struct sim_actor *task)
{
    rt_assert(asking->task == 0);
    const struct sim_actor *loop = task;
    while (loop != NULL && loop->ops->kind != SIM_ACTOR_LOOP) {
        loop = loop->parent;
    }
    if (loop != NULL && loop != task) {
        asking->task = task->index;
        add_waiter(asking, loop);
    }
}

/* The task that the verdict names first, then others that are waited for. */
static void
add_waiters(struct asking *asking, const struct sim_actor *first)
{
    const struct sim_world *world = asking->experiment.world;
    rt_assert(asking->shared->of != SIM_COUNTERFACTUAL_OF_UNPOLLED);
    if (first != NULL) {
        add_waiter(asking, first);
    }
    for (uint32_t i = 1; i < world->actor_count; i++) {
        if (world->actors[i] != first && world->actors[i]->foreground) {
            add_waiter(asking, world->actors[i]);
        }
    }
}

/* Who is asked; and the arena. */
static bool
find_end(struct asking *asking)
{
    rt_assert(asking->waiter_count == 0);
    struct sim_world *world = asking->experiment.world;
    bool remembered = false;
    if (sim_experiment_at_end(&asking->experiment)) {
        const struct sim_actor *first = sim_world_actor(world, asking->experiment.outcome->actor);
        if (asking->shared->of != SIM_COUNTERFACTUAL_OF_UNPOLLED) {
            add_waiters(asking, first);
        } else if (is_woken(first)) {
            add_loop(asking, first);
        }
        asking->foreground = world->foreground;
        remembered = sim_experiment_remember(&asking->experiment);
    }
    sim_world_drop(world);
    return remembered;
}

/* Of the first answer that does not rest on a pretended report, which is the weakest. */
static uint32_t
first_kind(const struct sim__counterfactual_shared *shared)
{
    rt_assert(shared->hit_count <= SIM__COUNTERFACTUAL_HITS);
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        if (!shared->hits[i].found.pretended) {
            return shared->hits[i].found.kind;
        }
    }
    return SIM_COUNTERFACTUAL_NONE;
}

void
sim__counterfactual_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(argument != NULL);
    struct asking asking = {.shared = argument};
    struct sim__counterfactual_shared *shared = asking.shared;
    if (!shared->listed && shared->of < SIM_COUNTERFACTUAL_OF_LOST) {
        sim_changes_run(world, what, outcome, &shared->here);
        shared->listed = true;
    }
    sim_experiment_begin(&asking.experiment, world, what, outcome);
    asking.experiment.tries = &shared->tries;
    asking.experiment.tries_max = SIM__COUNTERFACTUAL_TRIES;
    asking.experiment.steps_max = STEPS_MAX;
    bool livelock = shared->of == SIM_COUNTERFACTUAL_OF_LIVELOCK;
    bool remembered = !livelock && find_end(&asking);
    if (livelock) {
        ask_livelock(&asking);
    }
    if (remembered && shared->of != SIM_COUNTERFACTUAL_OF_UNPOLLED) {
        find_left(&asking);
    }
    for (uint32_t k = 0; remembered && k < sizeof(questions) / sizeof(*questions); k++) {
        uint32_t kind = first_kind(shared);
        bool asks = (kind == SIM_COUNTERFACTUAL_NONE || kind >= questions[k].least) &&
                    (questions[k].of >> shared->of & 1) != 0;
        for (uint32_t i = 0; asks && i < asking.waiter_count; i++) {
            questions[k].ask(&asking, &asking.waiters[i]);
        }
    }
    sim_experiment_end(&asking.experiment);
    shared->done = true;
}

/* ---- What wrote it. -------------------------------------------------------------------------- */

/* A reason may be the same words at another place, in a library that was loaded again. */
static bool
waits_for(const struct sim_actor *actor, const struct sim_waiting *wanted)
{
    rt_assert(wanted != NULL);
    struct sim_waiting waits[WAITS_MAX];
    bool blocked = !actor->done && !actor->enabled && actor->ops->waiting != NULL;
    uint32_t count = blocked ? actor->ops->waiting(actor, waits, WAITS_MAX) : 0;
    bool found = false;
    for (uint32_t i = 0; i < count && i < WAITS_MAX && !found; i++) {
        found = waits[i].site == wanted->site &&
                (waits[i].reason == NULL || wanted->reason == NULL ||
                        strcmp(waits[i].reason, wanted->reason) == 0);
    }
    return found;
}

static void
find_same_wait(const struct sim_experiment *experiment, struct sim__counterfactual_hit *hit)
{
    rt_assert(hit->change.step > 0);
    const struct sim_world *world = experiment->world;
    bool reached = sim_experiment_at(experiment, hit->change.step - 1);
    for (uint32_t i = 1; reached && i < world->actor_count; i++) {
        if (world->actors[i]->id == hit->waiter_id) {
            hit->same_wait = waits_for(world->actors[i], &hit->waits);
        }
    }
    sim_world_drop(experiment->world);
}

static void
walk_hit(const struct sim_experiment *experiment, struct sim__counterfactual_hit *hit)
{
    rt_assert(hit->change.step > 0);
    hit->walked = true;
    sim_experiment_find_writer(
            experiment, &hit->change, hit->change.step, false, &hit->found.writer);
    if (hit->found.kind == SIM_COUNTERFACTUAL_ELSEWHERE) {
        find_same_wait(experiment, hit);
    }
    if (hit->found.lost_step != 0) {
        const struct sim_change over = {.step = hit->found.lost_step,
                .offset = hit->change.offset,
                .before = hit->change.after,
                .after = hit->change.before};
        sim_experiment_find_writer(experiment, &over, over.step, true, &hit->found.eraser);
    }
}

static void
walk_hits(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        struct sim__counterfactual_shared *shared, bool there)
{
    rt_assert(shared->hit_count <= SIM__COUNTERFACTUAL_HITS);
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        struct sim__counterfactual_hit *hit = &shared->hits[i];
        bool of_there = hit->found.kind == SIM_COUNTERFACTUAL_ELSEWHERE;
        bool has_word =
                hit->found.kind > SIM_COUNTERFACTUAL_DROPPED || hit->found.arrival_step != 0;
        if (!hit->walked && has_word && of_there == there) {
            walk_hit(&experiment, hit);
        }
    }
    sim_experiment_end(&experiment);
}

void
sim__counterfactual_walk_here(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared)
{
    walk_hits(world, what, outcome, shared, false);
}

void
sim__counterfactual_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared)
{
    walk_hits(world, what, outcome, shared, true);
}
