/*
 * judge.c -- from "nothing goes on" to a verdict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/judge.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/decide/strategies.h"
#include "sim/judge/liveness.h"
#include "sim/judge/nudge.h"
#include "sim/judge/rounds.h"

/* Who slept when the run came to its end: looked up in one replay, asked in others. */
struct sleepers {
    uint32_t indices[SIM_ACTORS_MAX + 1];
    uint32_t count;
    uint32_t foreground; /* So many of them, first in the list, are waited for. */
};

/* Those who poll others, or not. */
static void
collect_some(const struct sim_world *world, bool waited_for, bool hosts, struct sleepers *ret)
{
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        bool can_sleep = actor->ops->kind == SIM_ACTOR_TASK || actor->ops->kind == SIM_ACTOR_LOOP ||
                         actor->ops->nudge != NULL;
        if (!actor->done && can_sleep && actor->foreground == waited_for && !actor->enabled &&
                actor->hosts == hosts) {
            ret->indices[ret->count++] = i;
        }
    }
}

/* Who polls others sleeps because they do, and comes after them. */
static void
collect(const struct sim_world *world, bool waited_for, struct sleepers *ret)
{
    collect_some(world, waited_for, false, ret);
    collect_some(world, waited_for, true, ret);
}

static bool
find_sleepers(struct sim_world *world, const struct sim_case *what, struct sim_stop stop,
        struct sleepers *ret)
{
    struct sim_recording nothing = {false, false};
    ret->count = 0;
    bool reached = sim_world_run_to(
            world, what->scenario, &what->options, what->seed, what->strategy, nothing, stop);
    if (reached) {
        collect(world, true, ret);
        ret->foreground = ret->count;
        collect(world, false, ret);
    }
    sim_world_drop(world);
    return reached;
}

/* ---- Words. ---------------------------------------------------------------------------------- */

static const char *
reason_of(const struct sim_answer *answer)
{
    return answer->waits && answer->waiting.reason != NULL ? answer->waiting.reason
                                                           : "something it did not name";
}

static void
blame(struct sim_outcome *outcome, enum sim_verdict verdict, enum sim_oracle oracle,
        const struct sim_actor *actor, const struct sim_answer *answer)
{
    outcome->verdict = (uint8_t)verdict;
    outcome->oracle = (uint8_t)oracle;
    outcome->actor = actor->index;
    outcome->object = answer->waiting.object;
    outcome->site = answer->waiting.site;
    (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", actor->name);
}

/* ---- One question after the other. ----------------------------------------------------------- */

struct inquest {
    struct sim_world *world;
    const struct sim_case *what;
    struct sim_stop stop;
    struct sim_outcome *outcome;
    bool settle;
    bool stalled; /* Nothing is due. */
    struct sleepers sleepers;
    uint64_t audit_steps[SIM_AUDITS_MAX]; /* Of the run itself; replays draw their own. */
    uint32_t audits;
};

/* The name must outlive the replay: scenarios keep names in static memory or in the arena, so it is
 * copied while the replay's world still stands as it was left. */
static const struct sim_actor *
actor_at(const struct inquest *inquest, uint32_t index)
{
    const struct sim_actor *actor = sim_world_actor(inquest->world, index);
    rt_assert(actor != NULL);
    return actor;
}

static void
say_lost(struct sim_outcome *outcome, const struct sim_answer *answer, enum sim_rung rung)
{
    (void)snprintf(outcome->message, sizeof(outcome->message),
            "'%s' sleeps for ever, waiting for: %s; %s", outcome->actor_name, reason_of(answer),
            rung == SIM_RUNG_POLL
                    ? "polled once more, it goes on: its wake-up was lost"
                    : "reported once more, what it waits for lets it go on: a report was lost");
}

static bool
is_waited_for(const struct inquest *inquest, uint32_t index)
{
    for (uint32_t i = 0; i < inquest->sleepers.foreground; i++) {
        if (inquest->sleepers.indices[i] == index) {
            return true;
        }
    }
    return false;
}

/* Of somebody in the background it matters whom that frees in the end: a reply takes its time. */
static bool
ask_one(struct inquest *inquest, uint32_t index, enum sim_rung rung, struct sim_answer *ret)
{
    const struct sim_question question = {.stop = inquest->stop,
            .actor = index,
            .rung = rung,
            .settle = inquest->settle,
            .clock_moves = inquest->stalled && !is_waited_for(inquest, index)};
    sim_nudge(inquest->world, inquest->what, &question, ret);
    return ret->asked && (ret->moved || ret->failed);
}

/* Who was woken and then forgotten waits for nothing any more: what it lay down with, at the end of
 * its last step, says what the wake was for. */
static void
recall(struct inquest *inquest, uint32_t index, struct sim_answer *answer)
{
    if (answer->waits || answer->sleeps_since_step == 0) {
        return;
    }
    struct sim_answer then;
    sim_look(inquest->world, inquest->what, (struct sim_stop){answer->sleeps_since_step, false},
            index, &then);
    answer->waits = then.waits;
    answer->waiting = then.waiting;
}

/* A question that ended in a verdict of its own (an assertion of the task's, say) is that
 * verdict. */
static void
take_over(struct sim_outcome *outcome, const struct sim_answer *answer)
{
    outcome->verdict = answer->outcome.verdict;
    outcome->oracle = answer->outcome.oracle;
    outcome->actor = answer->outcome.actor;
    outcome->site = answer->outcome.site;
    outcome->stack = answer->outcome.stack;
    memcpy(outcome->actor_name, answer->outcome.actor_name, sizeof(outcome->actor_name));
    (void)snprintf(outcome->message, sizeof(outcome->message), SIM_OUTCOME_ASKED "%.200s",
            answer->outcome.message);
}

/* Asks the sleepers [from, to). True when one of them settles the matter. */
static bool
ask_all(struct inquest *inquest, uint32_t from, uint32_t to, enum sim_rung rung,
        enum sim_verdict verdict, enum sim_oracle oracle)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t index = inquest->sleepers.indices[i];
        struct sim_answer answer;
        if (!ask_one(inquest, index, rung, &answer)) {
            continue;
        }
        /* A background task that could go on is nobody's loss, unless somebody waits for it. */
        if (i >= inquest->sleepers.foreground && !answer.freed) {
            continue;
        }
        if (answer.failed) {
            take_over(inquest->outcome, &answer);
            return true;
        }
        recall(inquest, index, &answer);
        blame(inquest->outcome, verdict, oracle, actor_at(inquest, index), &answer);
        say_lost(inquest->outcome, &answer, rung);
        return true;
    }
    return false;
}

static bool
ask_rungs(struct inquest *inquest, enum sim_verdict verdict, bool audit)
{
    uint32_t foreground = inquest->sleepers.foreground;
    uint32_t all = inquest->sleepers.count;
    enum sim_oracle first = audit ? SIM_ORACLE_QUIET_AUDIT : SIM_ORACLE_REWAKE;
    return ask_all(inquest, 0, foreground, SIM_RUNG_POLL, verdict, first) ||
           (!audit && ask_all(inquest, 0, foreground, SIM_RUNG_SOURCES, verdict,
                              SIM_ORACLE_REWAKE_SOURCES)) ||
           ask_all(inquest, foreground, all, SIM_RUNG_POLL, verdict, first) ||
           (!audit && ask_all(inquest, foreground, all, SIM_RUNG_SOURCES, verdict,
                              SIM_ORACLE_REWAKE_SOURCES));
}

/* ---- First rung, once more: everybody, round after round. ------------------------------------ */

static bool
ask_everybody(struct inquest *inquest)
{
    const struct sleepers *sleepers = &inquest->sleepers;
    uint32_t index = sim_nudge_rounds(inquest->world, inquest->what, inquest->stop,
            sleepers->indices, sleepers->foreground, false);
    if (index == 0 && sleepers->count > sleepers->foreground) {
        index = sim_nudge_rounds(inquest->world, inquest->what, inquest->stop, sleepers->indices,
                sleepers->count, true);
    }
    if (index == 0) {
        return false;
    }
    struct sim_answer answer;
    (void)ask_one(inquest, index, SIM_RUNG_POLL, &answer);
    recall(inquest, index, &answer);
    blame(inquest->outcome, SIM_VERDICT_LOST_WAKEUP, SIM_ORACLE_REWAKE, actor_at(inquest, index),
            &answer);
    (void)snprintf(inquest->outcome->message, sizeof(inquest->outcome->message),
            "'%s' sleeps for ever, waiting for: %s; polled again and again, all that sleep, "
            "it comes to its end: only wake-ups were missing",
            inquest->outcome->actor_name, reason_of(&answer));
    return true;
}

/* ---- Third rung: what the primitives say of themselves. -------------------------------------- */

static void
audit_primitives(void *argument)
{
    struct sim_world *world = argument;
    rt_list_each(link, &world->audits)
    {
        struct sim_audit *audit = rt_container_of(link, struct sim_audit, link);
        const char *wrong = audit->audit(audit->argument);
        if (wrong != NULL) {
            sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_PRIMITIVE_AUDIT, NULL, 0, "%s: %s",
                    audit->name, wrong);
        }
    }
}

static bool
ask_primitives(struct inquest *inquest)
{
    struct sim_recording nothing = {false, false};
    struct sim_world *world = inquest->world;
    const struct sim_case *what = inquest->what;
    bool wrong = false;
    if (sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy, nothing,
                inquest->stop)) {
        wrong = !sim_world_call(world, &world->self, audit_primitives, world);
    }
    struct sim_outcome said = world->outcome;
    sim_world_drop(world);
    if (wrong) {
        inquest->outcome->verdict = said.verdict;
        inquest->outcome->oracle = said.oracle;
        inquest->outcome->site = said.site;
        memcpy(inquest->outcome->message, said.message, sizeof(said.message));
    }
    return wrong;
}

/* ---- A stall. -------------------------------------------------------------------------------- */

/* "t1 waits for: the end of a task; t2 waits for: a message" */
static void
say_deadlock(struct inquest *inquest)
{
    char *text = inquest->outcome->message;
    size_t size = sizeof(inquest->outcome->message);
    size_t used = (size_t)snprintf(text, size, "nothing can go on, and nobody could: ");
    for (uint32_t i = 0; i < inquest->sleepers.foreground && used < size; i++) {
        struct sim_answer answer;
        uint32_t index = inquest->sleepers.indices[i];
        (void)ask_one(inquest, index, SIM_RUNG_POLL, &answer);
        recall(inquest, index, &answer);
        const struct sim_actor *actor = actor_at(inquest, index);
        used += (size_t)snprintf(text + used, size - used, "%s'%s' waits for: %s",
                i == 0 ? "" : "; ", actor->name, reason_of(&answer));
        if (i == 0) {
            blame(inquest->outcome, SIM_VERDICT_DEADLOCK, SIM_ORACLE_STALL, actor, &answer);
        }
    }
}

static void
judge_stall(struct inquest *inquest)
{
    inquest->stop = (struct sim_stop){inquest->outcome->fail_step, true};
    inquest->settle = true;
    inquest->stalled = true;
    if (!find_sleepers(inquest->world, inquest->what, inquest->stop, &inquest->sleepers)) {
        return;
    }
    if (!ask_rungs(inquest, SIM_VERDICT_LOST_WAKEUP, false) && !ask_primitives(inquest) &&
            !ask_everybody(inquest)) {
        say_deadlock(inquest);
    }
}

/* ---- A limit: somebody may have slept through it who should not have. ------------------------ */

/* Asleep, and able to go on, for so long: it is no wake on its way. */
static bool
lost_long_ago(const struct inquest *inquest)
{
    const struct sim_outcome *outcome = inquest->outcome;
    return outcome->owed_step != 0 &&
           outcome->fail_step - outcome->owed_step >= inquest->what->options.starvation_steps;
}

static void
judge_limit(struct inquest *inquest)
{
    struct sim_outcome said = *inquest->outcome;
    inquest->stop = (struct sim_stop){said.fail_step, false};
    inquest->settle = false;
    if (!find_sleepers(inquest->world, inquest->what, inquest->stop, &inquest->sleepers)) {
        return;
    }
    bool moved = ask_all(inquest, 0, inquest->sleepers.foreground, SIM_RUNG_POLL,
            SIM_VERDICT_LOST_WAKEUP, SIM_ORACLE_REWAKE);
    if (!moved || inquest->outcome->verdict != SIM_VERDICT_LOST_WAKEUP) {
        *inquest->outcome = said;
        return;
    }
    (void)sim_judge_owed(inquest->world, inquest->what, inquest->outcome);
    if (!lost_long_ago(inquest)) {
        *inquest->outcome = said;
    }
}

/* ---- A quiescence that was drawn. ------------------------------------------------------------ */

/* It was polled by `limit_ns`, when the poll began and not when it was paid for; or it was
 * cancelled by then, and nobody can say how late it would have been. */
static bool
went_on(const struct sim_actor *actor, uint64_t polls, uint64_t now_ns, uint64_t limit_ns)
{
    if (actor == NULL) {
        return false;
    }
    bool polled = actor->polls > polls;
    return (polled && actor->stopped_ns <= limit_ns) ||
           (!polled && actor->done && now_ns <= limit_ns);
}

/* It stands ready to be polled since a step that began by `limit_ns`. How long that step took, and
 * who is polled before it, is nothing that a wake could change. */
static bool
was_woken(const struct sim_world *world, const struct sim_actor *actor, uint64_t limit_ns)
{
    const struct sim_actor *by = world->stepping;
    return actor != NULL && actor->enabled && by != NULL && by->stopped_ns <= limit_ns;
}

/* Within the declared slack, the run itself woke the sleeper: it was not late. Time in which
 * everything stood still (fault `clock`) counts against nobody. */
static bool
woken_in_time(struct inquest *inquest, uint64_t quiet_ns)
{
    struct sim_recording nothing = {false, false};
    struct sim_world *world = inquest->world;
    const struct sim_case *what = inquest->what;
    uint64_t slack_ns = what->options.slack_ns;
    uint64_t still_ns = 0;
    bool in_time = false;
    uint64_t step = inquest->stop.step;
    uint64_t polls = 0;
    bool reached = true;
    while (reached && !in_time) {
        reached = sim_world_run_to(world, what->scenario, &what->options, what->seed,
                what->strategy, nothing, (struct sim_stop){step, false});
        const struct sim_actor *actor = sim_world_actor(world, inquest->outcome->actor);
        slack_ns = world->options.slack_ns > slack_ns ? world->options.slack_ns : slack_ns;
        if (step == inquest->stop.step) {
            polls = actor != NULL ? actor->polls : 0;
            still_ns = world->stood_still_ns;
        }
        uint64_t limit_ns = quiet_ns + slack_ns + (world->stood_still_ns - still_ns);
        in_time = reached && (went_on(actor, polls, world->now_ns, limit_ns) ||
                                     was_woken(world, actor, limit_ns));
        reached = reached && world->now_ns <= limit_ns;
        sim_world_drop(world);
        step++;
    }
    return in_time && slack_ns > 0;
}

static uint64_t
time_at(struct inquest *inquest)
{
    struct sim_recording nothing = {false, false};
    const struct sim_case *what = inquest->what;
    (void)sim_world_run_to(inquest->world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, inquest->stop);
    uint64_t now_ns = inquest->world->now_ns;
    sim_world_drop(inquest->world);
    return now_ns;
}

static void
say_late(struct sim_outcome *outcome, uint64_t quiet_ns)
{
    char waits[96];
    const char *colon = strstr(outcome->message, "waiting for: ");
    (void)snprintf(waits, sizeof(waits), "%s", colon != NULL ? colon + 13 : "something");
    char *end = strchr(waits, ';');
    if (end != NULL) {
        *end = '\0';
    }
    (void)snprintf(outcome->message, sizeof(outcome->message),
            "'%s' slept on at %llu ns although it could go on, waiting for: %s; "
            "everything was quiet and the clock was about to move",
            outcome->actor_name, (unsigned long long)quiet_ns, waits);
}

/* Asks at one quiescence. True when somebody was woken late, or a primitive contradicts itself. */
static bool
judge_quiet_at(struct inquest *inquest, uint64_t step)
{
    const struct sim_outcome passed = *inquest->outcome;
    inquest->stop = (struct sim_stop){step, true};
    inquest->settle = true;
    if (!find_sleepers(inquest->world, inquest->what, inquest->stop, &inquest->sleepers)) {
        return false;
    }
    bool moved = ask_rungs(inquest, SIM_VERDICT_LATE_WAKEUP, true);
    uint64_t quiet_ns = time_at(inquest);
    if (moved && inquest->outcome->verdict == SIM_VERDICT_LATE_WAKEUP &&
            woken_in_time(inquest, quiet_ns)) {
        *inquest->outcome = passed;
        moved = false;
    }
    if (!moved && !ask_primitives(inquest)) {
        return false;
    }
    inquest->outcome->audit_step = step;
    inquest->outcome->fail_step = step;
    inquest->outcome->fail_ns = quiet_ns;
    if (inquest->outcome->verdict == SIM_VERDICT_LATE_WAKEUP) {
        say_late(inquest->outcome, quiet_ns);
    }
    return true;
}

/* The first of the drawn quiescences at which something is wrong tells the story. */
static void
judge_quiet(struct inquest *inquest)
{
    for (uint32_t i = 0; i < inquest->audits; i++) {
        if (judge_quiet_at(inquest, inquest->audit_steps[i])) {
            return;
        }
    }
}

/* ---- The door. ------------------------------------------------------------------------------- */

static void
judge(struct inquest *inquest)
{
    const struct sim_outcome *outcome = inquest->outcome;
    bool limit = outcome->verdict == SIM_VERDICT_LIVELOCK ||
                 outcome->verdict == SIM_VERDICT_STEP_LIMIT ||
                 outcome->verdict == SIM_VERDICT_TIME_LIMIT;
    if (outcome->verdict == SIM_VERDICT_DEADLOCK && outcome->oracle == SIM_ORACLE_STALL) {
        judge_stall(inquest);
    } else if (limit &&
               (outcome->oracle == SIM_ORACLE_LIMIT || outcome->oracle == SIM_ORACLE_LIVENESS)) {
        judge_limit(inquest);
    } else if (outcome->verdict == SIM_VERDICT_PASS && outcome->audited) {
        judge_quiet(inquest);
    }
}

/* The run as its replays will make it: by its own strategy, where that repeats without hearing what
 * happens, else by the tape that it has just written, which `tape` lends on. */
static struct sim_case
repeatable(const struct sim_case *what, const struct sim_tape *tape, struct sim_replay *replay)
{
    struct sim_case again = *what;
    if (!what->strategy->ops->repeats) {
        sim_replay_init(replay, tape, false, NULL);
        again.strategy = &replay->strategy;
    }
    return again;
}

/* The run was cut off, and nobody slept through it who should not have. True: that was too soon, it
 * is excused and must be let go on. */
static bool
cut_too_soon(struct inquest *inquest, const struct sim_tape *tape, const struct sim_health *health)
{
    struct sim_outcome *outcome = inquest->outcome;
    bool early = outcome->oracle == SIM_ORACLE_LIVENESS;
    if (!early && outcome->verdict != SIM_VERDICT_STEP_LIMIT &&
            outcome->verdict != SIM_VERDICT_TIME_LIMIT) {
        return false;
    }
    return !sim_judge_liveness(inquest->world, inquest->what, tape, health, outcome) && early;
}

/* From here on the world is a replay's; who buries the process finds the run in `ended`. */
static void
begin_asking(struct sim_world *world, const struct sim_outcome *outcome,
        const struct sim_recorder *recorder)
{
    world->ended.outcome = *outcome;
    world->ended.recorder = *recorder;
    atomic_signal_fence(memory_order_release);
    world->ended.asking = true;
}

/* Judges a run that has ended. False when what it came to is not the end of it; `unbounded` is then
 * the case that comes to it, by `replay` where its strategy does not repeat. */
static bool
judge_end(struct sim_world *world, const struct sim_case *what, struct sim_replay *replay,
        struct sim_aside *kept, struct sim_case *ret_unbounded, struct sim_outcome *outcome)
{
    struct inquest inquest = {.world = world, .outcome = outcome};
    inquest.audits = world->audits_drawn;
    memcpy(inquest.audit_steps, world->audit_steps, sizeof(inquest.audit_steps));
    const struct sim_health health = sim_health_of(world);
    sim_keep(world, kept);
    begin_asking(world, outcome, &kept->recorder);
    *ret_unbounded = repeatable(what, &kept->tape, replay);
    inquest.what = ret_unbounded;
    judge(&inquest);
    bool whole = !cut_too_soon(&inquest, &kept->tape, &health);
    sim_restore(world, kept);
    world->ended.asking = false;
    ret_unbounded->options.settle_steps = sim_option_max(SIM_OPTION_settle_steps);
    ret_unbounded->options.settle_ns = sim_option_max(SIM_OPTION_settle_ns);
    return whole;
}

void
sim_judge_ended(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *ret_outcome)
{
    struct sim_aside kept;
    struct sim_replay replay;
    struct sim_case unbounded;
    if (ret_outcome->verdict == SIM_VERDICT_PASS && !ret_outcome->audited) {
        return;
    }
    if (judge_end(world, what, &replay, &kept, &unbounded, ret_outcome)) {
        return;
    }
    /* Recorded as before. By the tape, that is written again where it is read, each entry after it
     * was followed. */
    const struct sim_recording recording = {ret_outcome->digest != 0, world->recorder.texts_on};
    sim_world_run(world, what->scenario, &unbounded.options, what->seed, unbounded.strategy,
            recording, ret_outcome);
    if (ret_outcome->verdict != SIM_VERDICT_PASS || ret_outcome->audited) {
        struct sim_replay again;
        struct sim_case as_it_is = unbounded;
        struct sim_aside written;
        (void)judge_end(world, &as_it_is, &again, &written, &unbounded, ret_outcome);
    }
}

void
sim_judge(struct sim_world *world, const struct sim_case *what, struct sim_recording recording,
        struct sim_outcome *ret_outcome)
{
    sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy, recording,
            ret_outcome);
    sim_judge_ended(world, what, ret_outcome);
}
