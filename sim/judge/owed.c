/*
 * owed.c -- the step that should have woken the sleeper, without knowing any object.
 *
 * The run is replayed up to a step and the sleeper is asked there. Right after its own
 * last step it would still wait; at the failure it would go on; in between lies the
 * first step after which it would: that one owed the wake.
 *
 * Where it would go on right after its own last step, there are two stories. Either the event
 * came before it lay down: it looked first and stored afterwards; the step is its own.
 * Or it waits for a moment, and the moment came while that step was still being paid
 * for: with the clock put back it would wait. Then the step that owed the wake is the one in
 * which the next deadline was seen to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/judge.h"
#include "sim/judge/nudge.h"

static bool
would_move(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        uint64_t step, bool clock_back)
{
    struct sim_answer answer;
    const struct sim_question question = {
            .stop = {step, false},
            .actor = outcome->actor,
            .rung = outcome->oracle == SIM_ORACLE_REWAKE_SOURCES ? SIM_RUNG_SOURCES : SIM_RUNG_POLL,
            .clock_back = clock_back,
    };
    sim_nudge(world, what, &question, &answer);
    return answer.asked && answer.moved && !answer.failed;
}

/* The step of the sleeper's last poll before the failure; from there on it sleeps. */
static uint64_t
last_poll(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome)
{
    struct sim_recording nothing = {false, false};
    (void)sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
            nothing, (struct sim_stop){outcome->fail_step, false});
    const struct sim_actor *actor = sim_world_actor(world, outcome->actor);
    uint64_t step = actor != NULL ? actor->stopped_step : 0;
    sim_world_drop(world);
    return step;
}

/* The first step after `step` in which a deadline was seen to; `step` when none is on record. */
static uint64_t
next_expiry(const struct sim_recorder *recorder, uint64_t step)
{
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->step > step &&
                (event->kind == RT_PROBE_EXPIRE || event->kind == SIM_EVENT_REPORT)) {
            return event->step;
        }
    }
    return step;
}

static uint64_t
bisect(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        const struct sim_recorder *recorder)
{
    uint64_t still = last_poll(world, what, outcome);
    uint64_t moves = outcome->fail_step;
    if (!would_move(world, what, outcome, moves, false)) {
        return 0;
    }
    if (still >= moves || would_move(world, what, outcome, still, false)) {
        bool by_time = !would_move(world, what, outcome, still, true);
        return by_time ? next_expiry(recorder, still) : still;
    }
    while (moves - still > 1) {
        uint64_t middle = still + (moves - still) / 2;
        if (would_move(world, what, outcome, middle, false)) {
            moves = middle;
        } else {
            still = middle;
        }
    }
    return moves;
}

uint64_t
sim_judge_owed(struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome)
{
    if (outcome->verdict != SIM_VERDICT_LOST_WAKEUP &&
            outcome->verdict != SIM_VERDICT_LATE_WAKEUP) {
        return 0;
    }
    struct sim_aside kept;
    sim_keep(world, &kept);
    outcome->owed_step = bisect(world, what, outcome, &kept.recorder);
    sim_restore(world, &kept);
    return outcome->owed_step;
}
