/*
 * judge.c -- from a stall to a verdict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/judge.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/strategies.h"
#include "sim/judge/effect.h"
#include "sim/judge/liveness.h"
#include "sim/judge/progress.h"
#include "sim/judge/rounds.h"
#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

/* The actors that are blocked at the end of the run: found in one replay, asked in others. */
struct waiters {
    uint32_t indices[SIM_ACTORS_MAX + 1];
    bool in_host[SIM_ACTORS_MAX + 1];   /* A loop that is blocked there. */
    bool unreached[SIM_ACTORS_MAX + 1]; /* A task that no wake would have polled yet. */
    uint32_t count;
    uint32_t foreground; /* So many of them, first in the list, are waited for. */
};

static bool
is_in_host(const struct sim_actor *actor)
{
    struct sim_in_host in_host;
    return actor->ops->in_host != NULL && actor->ops->in_host(actor, &in_host);
}

/* The loop that polls it sleeps by its own clock, and nothing wakes it before. */
static bool
is_unreached(const struct sim_actor *actor)
{
    const struct sim_actor *loop = actor->parent;
    return loop->hosts && loop->ops->kind == SIM_ACTOR_LOOP && loop->due_ns != SIM_NEVER &&
           !is_in_host(loop);
}

/* Those that poll others, or do not. */
static void
collect_some(const struct sim_world *world, bool waited_for, bool hosts, struct waiters *ret)
{
    rt_assert(ret->count <= SIM_ACTORS_MAX);
    rt_assert(world->actor_count <= SIM_ACTORS_MAX + 1);
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        bool can_block = actor->ops->kind == SIM_ACTOR_TASK || actor->ops->kind == SIM_ACTOR_LOOP ||
                         actor->ops->spurious_poll != NULL;
        if (!actor->done && can_block && actor->foreground == waited_for && !actor->enabled &&
                actor->hosts == hosts) {
            ret->in_host[ret->count] = is_in_host(actor);
            ret->unreached[ret->count] = is_unreached(actor);
            ret->indices[ret->count++] = i;
        }
    }
}

/* An actor that polls others is blocked because they are, and is listed after them. */
static void
collect(const struct sim_world *world, bool waited_for, struct waiters *ret)
{
    collect_some(world, waited_for, false, ret);
    collect_some(world, waited_for, true, ret);
}

/* ---- Words. ---------------------------------------------------------------------------------- */

static const char *
reason_of(const struct sim_answer *answer)
{
    return answer->waits && answer->waiting.reason != NULL ? answer->waiting.reason
                                                           : "something it did not name";
}

static void
set_verdict(struct sim_outcome *outcome, enum sim_verdict verdict, enum sim_oracle oracle,
        const struct sim_actor *actor, const struct sim_answer *answer)
{
    rt_assert(actor->index > 0);
    outcome->verdict = (uint8_t)verdict;
    outcome->oracle = (uint8_t)oracle;
    outcome->actor = actor->index;
    outcome->object = answer->waiting.object;
    outcome->site = answer->waiting.site;
    (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", actor->name);
}

/* ---- One question after the other. ----------------------------------------------------------- */

struct inquest {
    struct sim_stand stand;
    const struct sim_case *what;
    struct sim_stop stop;
    struct sim_outcome *outcome;
    struct waiters waiters;
    bool has_audits;                      /* Primitives at `stop` audit themselves. */
    uint64_t audit_steps[SIM_AUDITS_MAX]; /* Of the run itself; replays draw their own. */
    uint32_t audits;
    struct sim_timeouts timeouts;
    uint64_t quiet_ns;  /* When it is at `stop`. */
    uint64_t news_step; /* As in the world, of the run itself. */
    uint64_t news_ns;
    bool moves;                    /* A livelock that has an end. */
    struct sim_recorder *recorder; /* The run's own, set aside. */
};

static bool
have_audits(const struct sim_world *world)
{
    rt_assert(world->stopped);
    sim_bindings_each(binding, world, audit)
    {
        return true;
    }
    return false;
}

static bool
find_waiters(struct inquest *inquest)
{
    rt_assert(inquest->outcome != NULL);
    struct waiters *waiters = &inquest->waiters;
    waiters->count = 0;
    if (!sim_stand_look(&inquest->stand, inquest->stop)) {
        return false;
    }
    collect(inquest->stand.world, true, waiters);
    waiters->foreground = waiters->count;
    collect(inquest->stand.world, false, waiters);
    inquest->quiet_ns = inquest->stand.world->now_ns;
    inquest->has_audits = have_audits(inquest->stand.world);
    return true;
}

/* The name must outlive the replay: scenarios keep names in static memory or in the arena, so it is
 * copied while the replay's world still stands as it was left. */
static const struct sim_actor *
actor_at(struct inquest *inquest, uint32_t index)
{
    bool stands = sim_stand_look(&inquest->stand, inquest->stop);
    rt_assert(stands);
    const struct sim_actor *actor = sim_world_actor(inquest->stand.world, index);
    rt_assert(actor != NULL);
    return actor;
}

static const char *
lost_by(enum sim_oracle_stage stage)
{
    return stage == SIM_ORACLE_STAGE_POLL
                   ? "polled once more, it makes progress: its wake-up was lost"
           : stage == SIM_ORACLE_STAGE_SOURCES
                   ? "when what it waits for is reported once more, it makes progress: a report "
                     "was lost"
                   : "woken for nothing, as its host may do at any time, it makes progress: it was "
                     "not woken for what had arrived";
}

static void
say_lost(struct sim_outcome *outcome, const struct sim_answer *answer, enum sim_oracle_stage stage)
{
    rt_assert(outcome->verdict == SIM_VERDICT_LOST_WAKEUP);
    sim_outcome_say(outcome, "'%s' is blocked forever, waiting for: %s; %s", outcome->actor_name,
            reason_of(answer), lost_by(stage));
}

static void
say_late(struct inquest *inquest, const struct sim_answer *answer)
{
    rt_assert(inquest->outcome->verdict == SIM_VERDICT_LATE_WAKEUP);
    sim_outcome_say(inquest->outcome,
            "'%s' was still blocked at %llu ns although it could make progress, waiting for: %s; "
            "nothing could run and the clock was about to move",
            inquest->outcome->actor_name, (unsigned long long)inquest->quiet_ns, reason_of(answer));
}

/* A task that was woken and then forgotten waits for nothing any more: what it waited for at the
 * end of its last step says what the wake was for. */
static void
recall(struct inquest *inquest, uint32_t index, struct sim_answer *answer)
{
    rt_assert(index > 0);
    if (answer->waits || answer->blocked_since_step == 0) {
        return;
    }
    const struct sim_stop then = {answer->blocked_since_step, false};
    if (sim_stand_look(&inquest->stand, then)) {
        const struct sim_actor *actor = sim_world_actor(inquest->stand.world, index);
        struct sim_answer before = {0};
        if (actor != NULL) {
            sim_describe(actor, &before);
        }
        answer->waits = before.waits;
        answer->waiting = before.waiting;
    }
}

/* A wait that the program limited itself. One that lasts for several quiescences is one. */
static void
note_timeout(struct inquest *inquest, uint32_t index, struct sim_answer *answer)
{
    rt_assert(index > 0);
    struct sim_timeouts *timeouts = &inquest->timeouts;
    for (uint32_t i = 0; i < timeouts->count; i++) {
        if (timeouts->all[i].actor == index &&
                timeouts->all[i].since_step == answer->blocked_since_step) {
            return;
        }
    }
    if (timeouts->count < SIM_TIMEOUTS_MAX) {
        recall(inquest, index, answer);
        timeouts->all[timeouts->count++] = (struct sim_timeout){
                answer->waits ? answer->waiting.site : 0, index, answer->blocked_since_step};
    }
}

/* A question that ended in a verdict of its own (an assertion of the task's, say) is that
 * verdict. */
static void
take_over(struct sim_outcome *outcome, const struct sim_answer *answer)
{
    rt_assert(answer->failed);
    rt_assert(answer->outcome.verdict != SIM_VERDICT_PASS);
    outcome->verdict = answer->outcome.verdict;
    outcome->oracle = answer->outcome.oracle;
    outcome->actor = answer->outcome.actor;
    outcome->site = answer->outcome.site;
    outcome->stack = answer->outcome.stack;
    memcpy(outcome->actor_name, answer->outcome.actor_name, sizeof(outcome->actor_name));
    outcome->reason = answer->outcome.reason;
    outcome->asked = 1;
    sim_outcome_say(outcome, "%s", answer->outcome.message);
}

static enum sim_oracle
oracle_of(enum sim_oracle_stage stage, bool audit)
{
    return audit                                 ? SIM_ORACLE_QUIET_AUDIT
           : stage == SIM_ORACLE_STAGE_POLL      ? SIM_ORACLE_REWAKE
           : stage == SIM_ORACLE_STAGE_INTERRUPT ? SIM_ORACLE_REWAKE_LOOP
                                                 : SIM_ORACLE_REWAKE_SOURCES;
}

/* Asks waiters [from, to). True when the answer of one is a verdict. */
static bool
ask_all(struct inquest *inquest, uint32_t from, uint32_t to, enum sim_oracle_stage stage,
        bool audit)
{
    rt_assert(from <= to);
    rt_assert(to <= inquest->waiters.count);
    for (uint32_t i = from; i < to; i++) {
        if (audit && stage == SIM_ORACLE_STAGE_POLL) {
            i = sim_progress_first_to_move(
                    &inquest->stand, inquest->stop, inquest->waiters.indices, i, to);
            if (i == to) {
                return false;
            }
        }
        if ((stage == SIM_ORACLE_STAGE_INTERRUPT && !inquest->waiters.in_host[i]) ||
                (audit && inquest->waiters.unreached[i])) {
            continue;
        }
        uint32_t index = inquest->waiters.indices[i];
        bool waited_for = i < inquest->waiters.foreground;
        struct sim_progress progress;
        if (audit) {
            sim_progress_at_quiet(
                    &inquest->stand, inquest->stop, index, stage, waited_for, &progress);
        } else {
            sim_progress_in_stall(
                    &inquest->stand, inquest->stop, index, stage, waited_for, &progress);
        }
        /* What a background task dies of when it is asked concerns the run as little. */
        if (progress.failed && (waited_for || progress.answer.freed)) {
            take_over(inquest->outcome, &progress.answer);
            return true;
        }
        if (progress.chosen) {
            note_timeout(inquest, index, &progress.answer);
        }
        if (!progress.could) {
            continue;
        }
        recall(inquest, index, &progress.answer);
        set_verdict(inquest->outcome, audit ? SIM_VERDICT_LATE_WAKEUP : SIM_VERDICT_LOST_WAKEUP,
                oracle_of(stage, audit), actor_at(inquest, index), &progress.answer);
        if (audit) {
            say_late(inquest, &progress.answer);
        } else {
            say_lost(inquest->outcome, &progress.answer, stage);
        }
        return true;
    }
    return false;
}

static bool
ask_stages(struct inquest *inquest, bool audit)
{
    rt_assert(inquest->waiters.foreground <= inquest->waiters.count);
    uint32_t foreground = inquest->waiters.foreground;
    uint32_t all = inquest->waiters.count;
    return ask_all(inquest, 0, foreground, SIM_ORACLE_STAGE_POLL, audit) ||
           (!audit && ask_all(inquest, 0, foreground, SIM_ORACLE_STAGE_SOURCES, audit)) ||
           ask_all(inquest, foreground, all, SIM_ORACLE_STAGE_POLL, audit) ||
           (!audit && ask_all(inquest, foreground, all, SIM_ORACLE_STAGE_SOURCES, audit)) ||
           ask_all(inquest, 0, foreground, SIM_ORACLE_STAGE_INTERRUPT, audit) ||
           ask_all(inquest, foreground, all, SIM_ORACLE_STAGE_INTERRUPT, audit);
}

/* What it waits for at the stop, or waited for last. */
static void
describe_waiter(struct inquest *inquest, uint32_t index, struct sim_answer *ret)
{
    rt_assert(index > 0);
    *ret = (struct sim_answer){0};
    if (sim_stand_look(&inquest->stand, inquest->stop)) {
        sim_describe(actor_at(inquest, index), ret);
        recall(inquest, index, ret);
    }
}

/* Of those who wait [0, count) the first that would do something else than right after its own last
 * step: another has done something for it since, and did not wake it; where there are such, one
 * whose poll others would see: a wait alone writes memory too. 0: there is none. */
static uint32_t
first_with_more_to_do(struct inquest *inquest, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_effect effect;
        const struct sim_question question = {
                .stop = inquest->stop, .actor = inquest->waiters.indices[i]};
        if (!sim_effect_differs(&inquest->stand, &question, &effect)) {
            continue;
        }
        first = first == 0 ? question.actor : first;
        if (sim_effect_of(&inquest->stand, &question, &effect) && effect.moved) {
            return question.actor;
        }
    }
    return first;
}

/* ---- Last: all waiters, round after round. --------------------------------------------------- */

static bool
ask_in_rounds(struct inquest *inquest)
{
    rt_assert(inquest->waiters.foreground <= inquest->waiters.count);
    const struct waiters *waiters = &inquest->waiters;
    uint32_t index = sim_spurious_poll_rounds(
            &inquest->stand, inquest->stop, waiters->indices, waiters->foreground, false);
    if (index == 0 && waiters->count > waiters->foreground) {
        index = sim_spurious_poll_rounds(
                &inquest->stand, inquest->stop, waiters->indices, waiters->count, true);
    }
    if (index == 0) {
        return false;
    }
    struct sim_answer answer;
    uint32_t waiter = first_with_more_to_do(inquest, waiters->foreground);
    index = waiter != 0 ? waiter : index;
    describe_waiter(inquest, index, &answer);
    set_verdict(inquest->outcome, SIM_VERDICT_LOST_WAKEUP, SIM_ORACLE_REWAKE,
            actor_at(inquest, index), &answer);
    inquest->outcome->reason = SIM_REASON_ROUNDS;
    sim_outcome_say(inquest->outcome,
            "'%s' is blocked forever, waiting for: %s; when all blocked tasks are polled in turn "
            "a task finishes: only wake-ups were missing",
            inquest->outcome->actor_name, reason_of(&answer));
    return true;
}

/* ---- The primitives' own audits. ------------------------------------------------------------- */

static void
audit_primitives(void *argument)
{
    sim_world_audit(argument);
}

static bool
ask_primitives(struct inquest *inquest)
{
    struct sim_world *world = inquest->stand.world;
    if (!inquest->has_audits || !sim_stand_at(&inquest->stand, inquest->stop) ||
            sim_world_call(world, &world->self, audit_primitives, world)) {
        return false;
    }
    const struct sim_outcome *said = &world->outcome;
    rt_assert(said->verdict != SIM_VERDICT_PASS);
    inquest->outcome->verdict = said->verdict;
    inquest->outcome->oracle = said->oracle;
    inquest->outcome->site = said->site;
    memcpy(inquest->outcome->actor_name, said->actor_name, sizeof(said->actor_name));
    memcpy(inquest->outcome->message, said->message, sizeof(said->message));
    return true;
}

/* ---- A stall. -------------------------------------------------------------------------------- */

/* Each one's reason goes to the record, the first one's to the outcome. */
static void
say_deadlock(struct inquest *inquest)
{
    rt_assert(inquest->recorder != NULL);
    rt_assert(inquest->waiters.foreground <= inquest->waiters.count);
    uint32_t count = inquest->waiters.foreground;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_answer answer;
        uint32_t index = inquest->waiters.indices[i];
        describe_waiter(inquest, index, &answer);
        const char *reason = reason_of(&answer);
        sim_record_text(inquest->recorder, SIM_TEXT_WAITER, index, reason, strlen(reason));
        if (i == 0) {
            set_verdict(inquest->outcome, SIM_VERDICT_DEADLOCK, SIM_ORACLE_STALL,
                    actor_at(inquest, index), &answer);
            sim_outcome_say(inquest->outcome,
                    "%u blocked, and none can make progress: '%s' waits for: %s%s", count,
                    inquest->outcome->actor_name, reason, count > 1 ? ", …" : "");
        }
    }
}

static void
judge_stall(struct inquest *inquest)
{
    bool idle = inquest->outcome->oracle == SIM_ORACLE_IDLE;
    rt_assert(idle || inquest->outcome->oracle == SIM_ORACLE_STALL);
    inquest->stop = (struct sim_stop){inquest->outcome->fail_step, true};
    if (find_waiters(inquest) && !ask_stages(inquest, false) && !ask_primitives(inquest) &&
            !ask_in_rounds(inquest) && !idle) {
        say_deadlock(inquest);
    }
}

/* ---- A limit: a wake may have been lost before it. ------------------------------------------- */

/* Blocked, and able to make progress, for so long: no wake is on its way. */
static bool
lost_long_ago(const struct inquest *inquest)
{
    const struct sim_outcome *outcome = inquest->outcome;
    return outcome->missing_wake_step != 0 && outcome->fail_step - outcome->missing_wake_step >=
                                                      inquest->what->options.starvation_steps;
}

/* The first that would have gained something in one poll. */
static bool
ask_at_limit(struct inquest *inquest)
{
    rt_assert(!inquest->stop.at_quiet);
    rt_assert(inquest->waiters.foreground <= inquest->waiters.count);
    for (uint32_t i = 0; i < inquest->waiters.foreground; i++) {
        uint32_t index = inquest->waiters.indices[i];
        struct sim_progress progress;
        sim_progress_at_limit(&inquest->stand, inquest->stop, index, &progress);
        /* One that has stored its waker nowhere may have woken itself: its loop does not rest. */
        if (progress.could && progress.answer.waits) {
            recall(inquest, index, &progress.answer);
            set_verdict(inquest->outcome, SIM_VERDICT_LOST_WAKEUP, SIM_ORACLE_REWAKE,
                    actor_at(inquest, index), &progress.answer);
            say_lost(inquest->outcome, &progress.answer, SIM_ORACLE_STAGE_POLL);
            return true;
        }
    }
    return false;
}

/* ---- Only timers go by. ---------------------------------------------------------------------- */

/* A run that stands still but for its timers is continued for so many steps: 100,000 ticks of a
 * clock, of which a program may count each in its own memory; or what a timer has begun is, until
 * it ends. One that looks for something in vain is a livelock before. */
#define STILL_STEPS 400000u

/* All that is waited for are threads, which say what is news. */
static bool
has_threads_only(const struct sim_world *world)
{
    for (uint32_t i = 1; i < world->actor_count; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (actor->foreground && !actor->done && !actor->ops->own_timeouts) {
            return false;
        }
    }
    return true;
}

/* Continues the run from its stop, without its limits on steps and time. */
static enum sim_settled
settle_on(struct inquest *inquest, const struct sim_settling *how)
{
    struct sim_world *world = inquest->stand.world;
    const struct sim_options options = world->options;
    const uint64_t time_limit_ns = world->time_limit_ns;
    const uint64_t limit_step = world->limit_step;
    world->options.time_ns_max = SIM_NS_LAST;
    world->time_limit_ns = SIM_NS_LAST;
    world->options.steps_max = UINT64_MAX;
    world->limit_step = world->step + world->options.livelock_steps;
    enum sim_settled settled = sim_world_settle(world, how);
    world->options = options;
    world->time_limit_ns = time_limit_ns;
    world->limit_step = limit_step;
    return settled;
}

/* No thread has done anything for half of the time that another may see. */
static bool
is_old_news(const struct inquest *inquest)
{
    return inquest->news_ns < inquest->outcome->fail_ns / 2;
}

/* At the limit of time: what a thread does is old news, and none does anything, without that limit,
 * in many more steps. */
static bool
stands_still(struct inquest *inquest)
{
    if (inquest->outcome->verdict != SIM_VERDICT_TIME_LIMIT || inquest->news_step == 0 ||
            !is_old_news(inquest) || !sim_stand_at(&inquest->stand, inquest->stop)) {
        return false;
    }
    struct sim_world *world = inquest->stand.world;
    const struct sim_settling settling = {.steps = STILL_STEPS, .until_ns = SIM_NS_LAST};
    return has_threads_only(world) && settle_on(inquest, &settling) != SIM_SETTLED_VERDICT &&
           !world->over && world->news_step == inquest->news_step;
}

/* ---- Steps without progress. ----------------------------------------------------------------- */

/* Threads that yield between two pieces of work, or wait so for what takes long, make no progress
 * that can be seen before they end. So without any in so many steps they are a livelock, and in
 * `livelock_steps` only where the default schedule shows none in the others either. */
#define LIVELOCK_STEPS_MOST 200000u

static bool
moves_later(struct inquest *inquest)
{
    uint64_t steps = inquest->what->options.livelock_steps;
    bool asked = inquest->stand.world->program && !inquest->what->hasty;
    if (!asked || steps >= LIVELOCK_STEPS_MOST || !sim_stand_at(&inquest->stand, inquest->stop) ||
            !has_threads_only(inquest->stand.world)) {
        return false;
    }
    const struct sim_settling settling = {
            .steps = LIVELOCK_STEPS_MOST - steps, .until_ns = SIM_NS_LAST, .first_gain = true};
    inquest->stand.world->options.livelock_steps = SIM_STEPS_LAST / 2;
    enum sim_settled settled = settle_on(inquest, &settling);
    inquest->stand.world->options.livelock_steps = steps;
    return settled != SIM_SETTLED_LIMIT;
}

/* ---- At a limit. ----------------------------------------------------------------------------- */

/* A server whose threads wake each other so rarely only keeps itself in order. */
#define CHORES_NS 60000000000u

/* At a limit: between two timers the run is idle. Before a limit on steps it must have stood still,
 * as a retry that never succeeds comes there, too. */
static const struct sim_actor *
idle_at_limit(struct inquest *inquest)
{
    const struct sim_outcome *outcome = inquest->outcome;
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    bool asked = outcome->verdict == SIM_VERDICT_TIME_LIMIT || is_old_news(inquest) ||
                 outcome->fail_ns - inquest->news_ns >= CHORES_NS;
    if (!asked || !sim_stand_at(&inquest->stand, inquest->stop)) {
        return NULL;
    }
    const struct sim_settling settling = {
            .steps = STILL_STEPS, .until_ns = inquest->stand.world->now_ns};
    return settle_on(inquest, &settling) == SIM_SETTLED ? sim_world_idle(inquest->stand.world)
                                                        : NULL;
}

static void
say_idle(struct inquest *inquest, const struct sim_actor *actor)
{
    struct sim_answer answer = {0};
    sim_describe(actor, &answer);
    set_verdict(inquest->outcome, SIM_VERDICT_PASS, SIM_ORACLE_IDLE, actor, &answer);
    sim_outcome_say(inquest->outcome,
            "idle: beside timers nothing is left to do until something comes from outside: '%s' "
            "waits for %s",
            inquest->outcome->actor_name, reason_of(&answer));
}

/* Of those that are waited for the first without a time-out of its own, or the first. */
static uint32_t
stuck_longest(struct inquest *inquest)
{
    const struct waiters *waiters = &inquest->waiters;
    for (uint32_t i = 0; i < waiters->foreground; i++) {
        if (actor_at(inquest, waiters->indices[i])->due_ns == SIM_NEVER) {
            return waiters->indices[i];
        }
    }
    return waiters->indices[0];
}

static void
say_still(struct inquest *inquest)
{
    struct sim_answer answer;
    uint32_t index = stuck_longest(inquest);
    uint64_t still_ns = inquest->outcome->fail_ns - inquest->news_ns;
    describe_waiter(inquest, index, &answer);
    set_verdict(inquest->outcome, SIM_VERDICT_DEADLOCK, SIM_ORACLE_LIMIT, actor_at(inquest, index),
            &answer);
    sim_outcome_say(inquest->outcome,
            "since step %llu, for %llu s, nothing but timers has happened: each thread that they "
            "woke waits again; '%s' waits for: %s",
            (unsigned long long)inquest->news_step, (unsigned long long)(still_ns / 1000000000),
            inquest->outcome->actor_name, reason_of(&answer));
}

/* A wake-up was lost for long, or before all stood still. */
static bool
judge_lost_at_limit(struct inquest *inquest, bool still)
{
    const struct sim_outcome said = *inquest->outcome;
    if (!find_waiters(inquest) || !ask_at_limit(inquest)) {
        return false;
    }
    sim_stand_leave(&inquest->stand);
    (void)sim_judge_missing_wake(inquest->stand.world, inquest->what, inquest->outcome);
    uint64_t since = inquest->outcome->missing_wake_step;
    bool lost = lost_long_ago(inquest) || (still && since != 0 && since <= inquest->news_step + 1);
    if (!lost) {
        *inquest->outcome = said;
    }
    return lost;
}

static void
judge_limit(struct inquest *inquest)
{
    rt_assert(inquest->outcome->verdict != SIM_VERDICT_PASS);
    inquest->stop = (struct sim_stop){inquest->outcome->fail_step, false};
    bool idles = idle_at_limit(inquest) != NULL;
    bool still = idles || stands_still(inquest);
    if (judge_lost_at_limit(inquest, still)) {
        return;
    }
    if (idles) {
        say_idle(inquest, idle_at_limit(inquest));
    } else if (still && find_waiters(inquest) && inquest->waiters.foreground > 0) {
        say_still(inquest);
    } else if (inquest->outcome->verdict == SIM_VERDICT_LIVELOCK &&
               inquest->outcome->oracle == SIM_ORACLE_LIMIT) {
        inquest->moves = moves_later(inquest);
    }
}

/* ---- A quiescence that was noted. ------------------------------------------------------------ */

/* Asks at one quiescence. True when a task was woken late, or a primitive contradicts itself. */
static bool
judge_quiet_at(struct inquest *inquest, uint64_t step)
{
    rt_assert(inquest->outcome->verdict == SIM_VERDICT_PASS);
    inquest->stop = (struct sim_stop){step, true};
    if (!find_waiters(inquest)) {
        return false;
    }
    if (!ask_stages(inquest, true) && !ask_primitives(inquest)) {
        return false;
    }
    inquest->outcome->audit_step = step;
    inquest->outcome->fail_step = step;
    inquest->outcome->fail_ns = inquest->quiet_ns;
    return true;
}

/* The first of the noted quiescences at which something is wrong is the verdict. */
static void
judge_quiet(struct inquest *inquest)
{
    rt_assert(inquest->audits <= SIM_AUDITS_MAX);
    for (uint32_t i = 0; i < inquest->audits; i++) {
        if (judge_quiet_at(inquest, inquest->audit_steps[i])) {
            return;
        }
    }
}

/* ---- The interface. -------------------------------------------------------------------------- */

static void
judge(struct inquest *inquest)
{
    rt_assert(inquest->what != NULL);
    rt_assert(inquest->outcome != NULL);
    const struct sim_outcome *outcome = inquest->outcome;
    bool limit = outcome->verdict == SIM_VERDICT_LIVELOCK ||
                 outcome->verdict == SIM_VERDICT_STEP_LIMIT ||
                 outcome->verdict == SIM_VERDICT_TIME_LIMIT;
    if (outcome->oracle == SIM_ORACLE_IDLE ||
            (outcome->verdict == SIM_VERDICT_DEADLOCK && outcome->oracle == SIM_ORACLE_STALL)) {
        judge_stall(inquest);
    } else if (limit &&
               (outcome->oracle == SIM_ORACLE_LIMIT || outcome->oracle == SIM_ORACLE_LIVENESS)) {
        judge_limit(inquest);
    } else if (outcome->verdict == SIM_VERDICT_PASS && outcome->audited) {
        judge_quiet(inquest);
    }
    sim_stand_leave(&inquest->stand);
}

/* The run as its replays will make it: by its own strategy, where that repeats without knowing what
 * happens, else by the tape that it has just written, `tape`, which is borrowed. */
static struct sim_case
repeatable(const struct sim_case *what, const struct sim_tape *tape, struct sim_replay *replay)
{
    rt_assert(tape != NULL);
    rt_assert(replay != NULL);
    struct sim_case again = *what;
    if (!what->strategy->ops->repeats) {
        sim_replay_init(replay, tape, false, NULL);
        again.strategy = &replay->strategy;
    }
    return again;
}

/* The run was cut off, and no wake was lost before. True: that was too soon, the run is excused and
 * must continue. */
static bool
cut_too_soon(struct inquest *inquest, const struct sim_tape *tape, const struct sim_health *health)
{
    rt_assert(inquest->what != NULL);
    struct sim_outcome *outcome = inquest->outcome;
    if (inquest->moves) {
        return true;
    }
    bool early = outcome->oracle == SIM_ORACLE_LIVENESS;
    if (!early && outcome->verdict != SIM_VERDICT_STEP_LIMIT &&
            outcome->verdict != SIM_VERDICT_TIME_LIMIT) {
        return false;
    }
    return !sim_judge_liveness(inquest->stand.world, inquest->what, tape, health, outcome) && early;
}

/* From here on the world is a replay's; when the process dies, the run is found in `ended`. */
static void
begin_asking(struct sim_world *world, const struct sim_outcome *outcome,
        const struct sim_recorder *recorder)
{
    rt_assert(recorder->count == world->recorder.count);
    world->ended.outcome = *outcome;
    world->ended.recorder = *recorder;
    atomic_signal_fence(memory_order_release);
    world->ended.asking = true;
}

/* Judges a run that has ended. False when it must continue; `unbounded` is then the case that does,
 * by `replay` where its strategy does not repeat. */
static bool
judge_end(struct sim_world *world, const struct sim_case *what, struct sim_replay *replay,
        struct sim_aside *kept, struct sim_case *ret_unbounded, struct sim_outcome *outcome)
{
    rt_assert(world->audits_drawn <= SIM_AUDITS_MAX);
    rt_assert(what->strategy != NULL);
    struct inquest inquest = {.outcome = outcome, .recorder = &kept->recorder};
    inquest.audits = world->audits_drawn;
    memcpy(inquest.audit_steps, world->audit_steps, sizeof(inquest.audit_steps));
    inquest.news_step = world->news_step;
    inquest.news_ns = world->news_ns;
    const struct sim_health health = sim_health_of(world);
    sim_keep(world, kept);
    begin_asking(world, outcome, &kept->recorder);
    *ret_unbounded = repeatable(what, &kept->tape, replay);
    inquest.what = ret_unbounded;
    sim_stand_init(&inquest.stand, world, ret_unbounded);
    judge(&inquest);
    bool whole = !cut_too_soon(&inquest, &kept->tape, &health);
    sim_restore(world, kept);
    world->timeouts = inquest.timeouts;
    world->ended.asking = false;
    if (inquest.moves) {
        ret_unbounded->options.livelock_steps = LIVELOCK_STEPS_MOST;
    } else {
        ret_unbounded->options.converge_steps = sim_option_max(SIM_OPTION_converge_steps);
        ret_unbounded->options.converge_ns = sim_option_max(SIM_OPTION_converge_ns);
    }
    return whole;
}

/* Nothing is to be asked. */
static bool
is_clear(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_PASS && !outcome->audited &&
           outcome->oracle != SIM_ORACLE_IDLE;
}

/* A livelock that had an end, and what was still busy without faults. */
#define EXCUSES_MOST 2u

void
sim_judge_ended(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *ret_outcome)
{
    rt_assert(what->strategy != NULL);
    struct sim_aside kept[EXCUSES_MOST + 1];
    struct sim_replay replay[EXCUSES_MOST + 1];
    struct sim_case as_it_is = *what;
    world->timeouts.count = 0;
    for (uint32_t i = 0; i <= EXCUSES_MOST && !is_clear(ret_outcome); i++) {
        struct sim_case unbounded;
        if (judge_end(world, &as_it_is, &replay[i], &kept[i], &unbounded, ret_outcome) ||
                i == EXCUSES_MOST) {
            return;
        }
        /* Recorded as before. By the tape, that is written again where it is read, each entry after
         * it was followed. */
        as_it_is = unbounded;
        const struct sim_recording recording = {ret_outcome->digest != 0, world->recorder.texts_on};
        sim_world_run(world, what->scenario, &as_it_is.options, what->seed, as_it_is.strategy,
                recording, ret_outcome);
    }
}

void
sim_judge(struct sim_world *world, const struct sim_case *what, struct sim_recording recording,
        struct sim_outcome *ret_outcome)
{
    rt_assert(what->scenario != NULL);
    rt_assert(what->strategy != NULL);
    sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy, recording,
            ret_outcome);
    sim_judge_ended(world, what, ret_outcome);
}
