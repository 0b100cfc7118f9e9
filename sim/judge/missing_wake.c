/*
 * missing_wake.c -- the step that should have woken the actor, without knowing any object.
 *
 * The run is replayed up to a step and the actor is asked there, with all others held back: would
 * it gain something? Right after its own last step it would not; at the failure it would; in
 * between lies the first step after which it would: that step should have woken it.
 *
 * Where its gain takes more than a question with all others held back can show (time must pass,
 * say) it is asked instead whether it would do something else than before (effect.h).
 *
 * Where it would gain right after its own last step there are two cases. Either the event happened
 * before it blocked: it checked first and stored afterwards; the step is its own. Or it waits for a
 * time, which was reached while that step was still being paid for: with the clock put back it
 * would wait. Then the step that should have woken it is the one in which the next deadline was
 * checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/judge/effect.h"
#include "sim/judge/judge.h"
#include "sim/judge/progress.h"
#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

/* The replays that answer for one actor. */
struct asking {
    struct sim_stand stand;
    const struct sim_outcome *outcome;
    const struct sim_recorder *recorder; /* Of the run itself. */
    enum sim_oracle_stage stage;
    uint32_t nth;
    /* Asked is whether it would do something else than right after its last step; or, where it does
     * not move after that and does at the end, whether it moves. */
    bool by_effect;
    bool by_move;
    struct sim_effect before;
};

static bool
would_make_progress(struct asking *asking, uint64_t step, bool clock_back)
{
    rt_assert(asking->outcome->verdict != SIM_VERDICT_PASS);
    const struct sim_question question = {
            .stop = {step, false},
            .actor = asking->outcome->actor,
            .stage = asking->stage,
            .nth = asking->nth,
            .clock_back = clock_back,
    };
    struct sim_effect effect;
    if (!asking->by_effect) {
        return sim_progress_alone(&asking->stand, &question);
    }
    return sim_effect_of(&asking->stand, &question, &effect) &&
           (asking->by_move ? effect.moved : sim_effect_distance(&effect, &asking->before) > 0);
}

/* The step of the actor's last poll before the failure; from there on it is blocked. */
static uint64_t
last_poll(struct asking *asking)
{
    rt_assert(asking->outcome->actor > 0);
    const struct sim_stop stop = {asking->outcome->fail_step, false};
    const struct sim_actor *actor = NULL;
    if (sim_stand_look(&asking->stand, stop)) {
        actor = sim_world_actor(asking->stand.world, asking->outcome->actor);
    }
    return actor != NULL ? actor->stopped_step : 0;
}

/* The first step after `step` in which a deadline was checked; `step` when none is on record. */
static uint64_t
next_expiry(const struct sim_recorder *recorder, uint64_t step)
{
    rt_assert(recorder != NULL);
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->step > step &&
                (event->kind == RT_PROBE_EXPIRE || event->kind == SIM_EVENT_REPORT)) {
            return event->step;
        }
    }
    return step;
}

/* The first step after which it would make progress; after `not_yet` it would not. */
static uint64_t
first_after(struct asking *asking, uint64_t not_yet, uint64_t would)
{
    rt_assert(not_yet < would);
    while (would - not_yet > 1) {
        uint64_t middle = not_yet + (would - not_yet) / 2;
        if (would_make_progress(asking, middle, false)) {
            would = middle;
        } else {
            not_yet = middle;
        }
    }
    return would;
}

/* Its gain may take more than a question with all others held back can show. */
static bool
would_at_the_end(struct asking *asking)
{
    rt_assert(asking->outcome->fail_step > 0);
    uint64_t end = asking->outcome->fail_step;
    const struct sim_question question = {.stop = {end, false},
            .actor = asking->outcome->actor,
            .stage = asking->stage,
            .nth = asking->nth};
    asking->by_effect = false;
    if (!would_make_progress(asking, end, false)) {
        struct sim_effect effect;
        asking->by_effect = true;
        bool differs = sim_effect_differs(&asking->stand, &question, &asking->before);
        asking->by_move = differs && !asking->before.moved &&
                          sim_effect_of(&asking->stand, &question, &effect) && effect.moved;
        return differs;
    }
    return true;
}

/* Whether a poll right after its last step would make it wait for something else: it had not done
 * all that it had to do. */
static bool
waits_otherwise(struct asking *asking, uint64_t last)
{
    rt_assert(asking->outcome->actor > 0);
    struct sim_answer answer;
    const struct sim_question question = {.stop = {last, false},
            .actor = asking->outcome->actor,
            .stage = asking->stage,
            .nth = asking->nth};
    if (!sim_stand_at(&asking->stand, question.stop)) {
        return false;
    }
    sim_put(asking->stand.world, &question, &answer);
    return answer.asked && answer.moved && !answer.failed;
}

static uint64_t
bisect(struct asking *asking)
{
    rt_assert(asking->outcome->actor > 0);
    uint64_t last = last_poll(asking);
    uint64_t end = asking->outcome->fail_step;
    if (!would_at_the_end(asking)) {
        return waits_otherwise(asking, last) ? last : 0;
    }
    if (last >= end || would_make_progress(asking, last, false)) {
        bool by_time = !would_make_progress(asking, last, true);
        return by_time ? next_expiry(asking->recorder, last) : last;
    }
    return first_after(asking, last, end);
}

/* The question to which the actor answered when it was judged. */
static enum sim_oracle_stage
find_stage(struct asking *asking)
{
    rt_assert(asking->outcome->actor > 0);
    const struct sim_stop end = {asking->outcome->fail_step, false};
    const struct sim_actor *actor = NULL;
    if (asking->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        return SIM_ORACLE_STAGE_SOURCES;
    }
    if (sim_stand_look(&asking->stand, end)) {
        actor = sim_world_actor(asking->stand.world, asking->outcome->actor);
    }
    return actor != NULL && actor->ops->spurious_poll == NULL ? SIM_ORACLE_STAGE_INTERRUPT
                                                              : SIM_ORACLE_STAGE_POLL;
}

/* Which report for nothing it was, only the judge knows: the first with which it would make
 * progress at the end. */
static uint64_t
bisect_loop(struct asking *asking)
{
    rt_assert(asking->stage == SIM_ORACLE_STAGE_INTERRUPT);
    const struct sim_stop end = {asking->outcome->fail_step, false};
    struct sim_reports reports;
    uint64_t step = 0;
    if (!sim_progress_reports(&asking->stand, end, asking->outcome->actor, &reports)) {
        return 0;
    }
    for (asking->nth = reports.from; step == 0 && asking->nth <= reports.to; asking->nth++) {
        step = bisect(asking);
    }
    return step;
}

uint64_t
sim_judge_missing_wake(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome)
{
    rt_assert(what->strategy != NULL);
    if (outcome->verdict != SIM_VERDICT_LOST_WAKEUP &&
            outcome->verdict != SIM_VERDICT_LATE_WAKEUP) {
        return 0;
    }
    struct sim_aside kept;
    sim_keep(world, &kept);
    struct asking asking = {.outcome = outcome, .recorder = &kept.recorder};
    sim_stand_init(&asking.stand, world, what);
    asking.stage = find_stage(&asking);
    outcome->missing_wake_step =
            asking.stage == SIM_ORACLE_STAGE_INTERRUPT ? bisect_loop(&asking) : bisect(&asking);
    sim_stand_leave(&asking.stand);
    sim_restore(world, &kept);
    return outcome->missing_wake_step;
}

bool
sim_judge_question(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, struct sim_question *ret_question)
{
    rt_assert(what->strategy != NULL);
    rt_assert(ret_question != NULL);
    struct asking asking = {.outcome = outcome};
    struct sim_reports reports = {0};
    struct sim_effect before;
    const struct sim_stop stop = {outcome->missing_wake_step, false};
    bool found = false;
    sim_stand_init(&asking.stand, world, what);
    *ret_question = (struct sim_question){
            .stop = stop, .actor = outcome->actor, .stage = find_stage(&asking)};
    if (ret_question->stage != SIM_ORACLE_STAGE_INTERRUPT ||
            sim_progress_reports(&asking.stand, stop, outcome->actor, &reports)) {
        for (uint32_t nth = reports.from; nth <= reports.to && !found; nth++) {
            ret_question->nth = nth;
            found = sim_effect_differs(&asking.stand, ret_question, &before);
        }
    }
    sim_stand_leave(&asking.stand);
    return found;
}
