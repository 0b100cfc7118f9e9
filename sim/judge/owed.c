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

/* The replays that answer for one sleeper. */
struct asking {
    struct sim_world *world;
    const struct sim_case *what;
    const struct sim_outcome *outcome;
    const struct sim_recorder *recorder; /* Of the run itself. */
    uint32_t held;                       /* Who is held back; 0: nobody. */
};

static bool
would_move(const struct asking *asking, uint64_t step, bool clock_back)
{
    bool sources = asking->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES;
    struct sim_answer answer;
    const struct sim_question question = {
            .stop = {step, false},
            .actor = asking->outcome->actor,
            .rung = sources ? SIM_RUNG_SOURCES : SIM_RUNG_POLL,
            .clock_back = clock_back,
            .held = asking->held,
    };
    sim_nudge(asking->world, asking->what, &question, &answer);
    return answer.asked && answer.moved && !answer.failed;
}

/* The step of the sleeper's last poll before the failure; from there on it sleeps. */
static uint64_t
last_poll(const struct asking *asking)
{
    struct sim_world *world = asking->world;
    const struct sim_case *what = asking->what;
    const struct sim_outcome *outcome = asking->outcome;
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

/* Whoever takes `step`; 0 when that is not on record. */
static uint32_t
actor_of(const struct sim_recorder *recorder, uint64_t step)
{
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->step == step) {
            return event->actor;
        }
    }
    return 0;
}

/* The first step after which it would move; before it, at `still`, it would not. */
static uint64_t
first_after(const struct asking *asking, uint64_t still, uint64_t moves)
{
    while (moves - still > 1) {
        uint64_t middle = still + (moves - still) / 2;
        if (would_move(asking, middle, false)) {
            moves = middle;
        } else {
            still = middle;
        }
    }
    return moves;
}

/* `found` takes away the report that is asked for before it: the step that came before it. */
static uint64_t
look_past(struct asking *asking, uint64_t still, uint64_t found)
{
    asking->held = actor_of(asking->recorder, found);
    if (asking->held == 0 || asking->held == asking->outcome->actor ||
            !would_move(asking, found - 1, false)) {
        return found;
    }
    return would_move(asking, still, false) ? still : first_after(asking, still, found - 1);
}

static uint64_t
bisect(struct asking *asking)
{
    uint64_t still = last_poll(asking);
    uint64_t moves = asking->outcome->fail_step;
    if (!would_move(asking, moves, false)) {
        return 0;
    }
    if (still >= moves || would_move(asking, still, false)) {
        bool by_time = !would_move(asking, still, true);
        return by_time ? next_expiry(asking->recorder, still) : still;
    }
    moves = first_after(asking, still, moves);
    bool sources = asking->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES;
    return sources ? look_past(asking, still, moves) : moves;
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
    struct asking asking = {world, what, outcome, &kept.recorder, 0};
    outcome->owed_step = bisect(&asking);
    sim_restore(world, &kept);
    return outcome->owed_step;
}
