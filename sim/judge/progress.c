/*
 * progress.c -- could a blocked actor make progress? Decided by experiment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/progress.h"

#include <string.h>

#include "runtime/base/assert.h"

/* Steps of one replay after the question. A replay that needs more is no answer. */
#define STEPS_MAX 20000u

/* The consequences of a question to one actor while all others are held back. */
#define STEPS_ALONE 1000u

/* Hosts count the time-out of a poll in milliseconds, so a loop may be late by one; in a program
 * also by what its threads have just lost (SIM_LOST_NS). */
#define LOOP_SLACK_NS UINT64_C(1000000)

/* So often who gained is asked again: more than may be there for it, where it takes one each
 * time. */
#define ASKED_AGAIN 8u

/* A loop may ask its host for many things; each report for nothing is a separate question. */
#define REPORTS_MAX 16u

/* ---- Replays. -------------------------------------------------------------------------------- */

/* With the question. The gains are in `journal`. False: it could not be asked. */
static bool
with(struct sim_stand *stand, uint32_t journal, const struct sim_question *question,
        struct sim_answer *ret)
{
    rt_assert(journal < SIM_JOURNALS);
    memset(ret, 0, sizeof(*ret));
    if (!sim_stand_at(stand, question->stop)) {
        return false;
    }
    stand->world->gains = &stand->world->journals[journal];
    sim_gains_clear(stand->world->gains);
    sim_put(stand->world, question, ret);
    return ret->asked;
}

/* Without it. False: a limit or a verdict came first, or a journal was too short. */
static bool
without(struct sim_stand *stand, uint32_t journal, struct sim_stop stop,
        const struct sim_settling *settling)
{
    rt_assert(journal < SIM_JOURNALS);
    if (!sim_stand_at(stand, stop)) {
        return false;
    }
    stand->world->gains = &stand->world->journals[journal];
    sim_gains_clear(stand->world->gains);
    return sim_world_settle(stand->world, settling) == SIM_SETTLED && !stand->world->gains->full;
}

/* ---- Loops. ---------------------------------------------------------------------------------- */

/*
 * What a loop is asked: what it is blocked in returns, as it may at any time. Out of a wait with a
 * time-out, with nothing (EINTR). Out of an endless one, where nothing is no answer, with one thing
 * reported for nothing, each in turn.
 */
bool
sim_progress_reports(struct sim_stand *stand, struct sim_stop stop, uint32_t index,
        struct sim_reports *ret_reports)
{
    rt_assert(index > 0);
    rt_assert(ret_reports != NULL);
    struct sim_in_host in_host;
    if (!sim_stand_look(stand, stop)) {
        return false;
    }
    const struct sim_actor *actor = sim_world_actor(stand->world, index);
    if (actor == NULL || actor->done || actor->ops->in_host == NULL ||
            !actor->ops->in_host(actor, &in_host)) {
        return false;
    }
    bool endless = actor->due_ns == SIM_NEVER;
    uint32_t most = in_host.reports < REPORTS_MAX ? in_host.reports : REPORTS_MAX;
    *ret_reports = (struct sim_reports){.from = endless, .to = endless ? most : 0};
    return true;
}

/* The first wait of an actor in its host at some line: since when the actor is there, and the line.
 */
struct first_wait {
    uint32_t actor;
    uint32_t site;
    uint64_t made_step;
    uint64_t last_step; /* Of the run, in which it is looked for. */
};

/* How many reports it may get there; 0: it does not wait there. */
static uint32_t
reports_there(const struct sim_world *world, const struct first_wait *wait)
{
    const struct sim_actor *actor = sim_world_actor(world, wait->actor);
    struct sim_in_host in_host;
    struct sim_answer answer = {0};
    if (actor == NULL || actor->done || actor->ops->in_host == NULL ||
            !actor->ops->in_host(actor, &in_host)) {
        return 0;
    }
    sim_describe(actor, &answer);
    return answer.waiting.site == wait->site ? in_host.reports : 0;
}

/* All others held back since it was made. */
static uint32_t
stand_alone(struct sim_stand *stand, const struct first_wait *wait)
{
    rt_assert(wait->actor > 0);
    const struct sim_settling one_step = {.steps = 1, .free_steps = true};
    if (!sim_stand_at(stand, (struct sim_stop){wait->made_step, false})) {
        return 0;
    }
    struct sim_world *world = stand->world;
    const struct sim_actor *actor = sim_world_actor(world, wait->actor);
    bool runs = true;
    for (uint32_t i = 0; i < STEPS_ALONE && runs && reports_there(world, wait) == 0; i++) {
        sim_hold_others(world, actor, SIM_ORACLE_STAGE_INTERRUPT); /* Those, too, that it makes. */
        runs = actor->enabled && sim_world_settle(world, &one_step) != SIM_SETTLED_VERDICT;
    }
    return reports_there(world, wait);
}

/* As the run has it. */
static uint32_t
stand_in_run(struct sim_stand *stand, const struct first_wait *wait)
{
    rt_assert(wait->made_step <= wait->last_step);
    uint64_t step = wait->made_step;
    bool stands = sim_stand_at(stand, (struct sim_stop){step, false});
    while (stands && step < wait->last_step && reports_there(stand->world, wait) == 0) {
        stands = sim_world_continue(stand->world, (struct sim_stop){++step, false});
    }
    return stands ? reports_there(stand->world, wait) : 0;
}

/* Makes it stand there, alone if it comes there so. As reports_there. */
static uint32_t
stand_there(struct sim_stand *stand, const struct first_wait *wait)
{
    uint32_t reports = stand_alone(stand, wait);
    return reports > 0 ? reports : stand_in_run(stand, wait);
}

static struct first_wait
first_wait_of(struct sim_stand *stand, const struct sim_question *question)
{
    struct sim_answer answer = {0};
    bool stands = sim_stand_look(stand, question->stop);
    rt_assert(stands);
    const struct sim_actor *actor = sim_world_actor(stand->world, question->actor);
    rt_assert(actor != NULL);
    sim_describe(actor, &answer);
    return (struct first_wait){
            actor->index, answer.waiting.site, actor->made_step, actor->stopped_step};
}

/* Whether each gain of journal 0 is in `other`, too. */
static bool
are_gained_too(const struct sim_gains *journals, const struct sim_gains *other)
{
    for (uint32_t i = 0; i < journals[0].count; i++) {
        const struct sim_gain *gain = &journals[0].all[i];
        if (sim_gains_count(other, gain->kind, gain->of) == 0) {
            return false;
        }
    }
    return true;
}

/*
 * A loop that believes whatever is reported gains by any report at any time, and has missed none:
 * so each report is tried where it waits first. Where it comes there with all others held back, no
 * other has done anything for it yet. What it gained is in journal 0.
 */
static bool
is_gained_by_any_report(struct sim_stand *stand, const struct sim_question *question)
{
    rt_assert(question->stage == SIM_ORACLE_STAGE_INTERRUPT);
    rt_assert(question->actor > 0);
    const struct first_wait wait = first_wait_of(stand, question);
    struct sim_question placebo = *question;
    placebo.alone = true;
    placebo.settling = (struct sim_settling){.steps = STEPS_ALONE, .free_steps = true};
    uint32_t last = question->nth == 0 ? 0 : REPORTS_MAX;
    for (placebo.nth = question->nth == 0 ? 0 : 1; placebo.nth <= last; placebo.nth++) {
        struct sim_answer answer;
        uint32_t reports = stand_there(stand, &wait);
        if (reports == 0 || placebo.nth > reports) {
            return false;
        }
        stand->world->gains = &stand->world->journals[2];
        sim_gains_clear(stand->world->gains);
        sim_put(stand->world, &placebo, &answer);
        if (are_gained_too(stand->world->journals, stand->world->gains)) {
            return true;
        }
    }
    return false;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

/* So many of its steps before it waits: it looks, takes the mutex, waits. */
#define STEPS_UNHELPED 2u

/* The step of its own that was so many of its steps before `step`; that in which it was made, where
 * there are not so many. */
static uint64_t
steps_before(struct sim_stand *stand, uint32_t index, uint64_t step, uint32_t count)
{
    for (uint32_t i = 0; i < count && step > 1; i++) {
        bool stands = sim_stand_look(stand, (struct sim_stop){step - 1, false});
        const struct sim_actor *actor = stands ? sim_world_actor(stand->world, index) : NULL;
        if (actor == NULL) {
            return 0;
        }
        step = actor->polls > 0 ? actor->stopped_step : actor->made_step;
    }
    return step;
}

/* Makes it stand in a wait at `site`, with all others held back for `steps` of its steps: no other
 * has done anything for it since. False: it does not come there so. */
static bool
stand_unhelped(struct sim_stand *stand, const struct first_wait *wait, uint32_t steps)
{
    const struct sim_settling one_step = {.steps = 1, .free_steps = true};
    struct sim_answer answer = {0};
    uint64_t from = steps_before(stand, wait->actor, wait->last_step, steps);
    if (from == 0 || !sim_stand_at(stand, (struct sim_stop){from, false})) {
        return false;
    }
    struct sim_actor *actor = sim_world_actor(stand->world, wait->actor);
    rt_assert(actor != NULL);
    sim_hold_others(stand->world, actor, SIM_ORACLE_STAGE_POLL);
    for (uint32_t i = 0; i < steps && actor->enabled; i++) {
        if (sim_world_settle(stand->world, &one_step) == SIM_SETTLED_VERDICT) {
            return false;
        }
    }
    sim_describe(actor, &answer);
    return !actor->done && !actor->enabled && answer.waits && answer.waiting.site == wait->site;
}

/* Whether a gain of journal 2 is its own. */
static bool
gains_itself(const struct sim_gains *journals, const struct sim_actor *actor)
{
    for (uint32_t i = 0; i < journals[2].count; i++) {
        const struct sim_gain *gain = &journals[2].all[i];
        if (gain->actor == actor->index ||
                (gain->kind == SIM_GAIN_COMPLETED && gain->of == actor->object)) {
            return true;
        }
    }
    return false;
}

/*
 * A thread that takes whatever ends its wait for what it waits for continues at any time, also
 * where no other has done anything for it since it looked: it has missed nothing. It gains there,
 * or comes to a wait of another kind (for a lock that one of those has who are held back).
 */
static bool
continues_in_any_case(struct sim_stand *stand, const struct sim_question *question)
{
    rt_assert(question->stage == SIM_ORACLE_STAGE_POLL);
    struct sim_question placebo = *question;
    struct sim_answer answer;
    struct sim_answer after = {0};
    const struct first_wait wait = first_wait_of(stand, question);
    const struct sim_actor *actor = sim_world_actor(stand->world, question->actor);
    rt_assert(actor != NULL);
    if (!actor->ops->own_timeouts ||
            (!stand_unhelped(stand, &wait, STEPS_UNHELPED) && !stand_unhelped(stand, &wait, 1))) {
        return false; /* One step: before it a lock may be needed that one has who is held back. */
    }
    placebo.alone = true;
    placebo.settling = (struct sim_settling){.steps = STEPS_ALONE, .free_steps = true};
    stand->world->gains = &stand->world->journals[2];
    sim_gains_clear(stand->world->gains);
    sim_put(stand->world, &placebo, &answer);
    actor = sim_world_actor(stand->world, question->actor);
    rt_assert(actor != NULL);
    sim_describe(actor, &after);
    return answer.asked && (gains_itself(stand->world->journals, actor) ||
                                   (after.waits && SIM_OBJECT_KIND(after.waiting.object) !=
                                                           SIM_OBJECT_KIND(answer.waiting.object)));
}

/* ---- A changed wait is a reason to look further. --------------------------------------------- */

/* Both replays to their end: with the question in journal `first`, without it in the next one.
 * False: one of them has no answer. */
static bool
run_to_the_end(struct sim_stand *stand, uint32_t first, const struct sim_question *question)
{
    rt_assert(first + 1 < SIM_JOURNALS);
    struct sim_answer answer;
    return with(stand, first, question, &answer) && !answer.limit && !answer.failed &&
           !stand->world->journals[first].full &&
           without(stand, first + 1, question->stop, &question->settling);
}

/* A poll that only stores again what the actor's own last poll stored has changed nothing: another
 * waker may have taken the place since. */
static bool
waits_for_other_than_its_last_poll(
        struct sim_stand *stand, const struct sim_question *asked, uint64_t last_step)
{
    rt_assert(asked->actor > 0);
    rt_assert(last_step <= asked->stop.step);
    struct sim_waits waited;
    struct sim_question question = *asked;
    struct sim_answer answer;
    const struct sim_actor *actor = NULL;
    if (sim_stand_look(stand, (struct sim_stop){last_step, false})) {
        actor = sim_world_actor(stand->world, asked->actor);
    }
    if (actor == NULL) {
        return false;
    }
    sim_waits_of(actor, &waited);
    question.waited = &waited;
    return with(stand, 0, &question, &answer) && answer.moved;
}

/* What the steps up to the stop have cost. */
static uint64_t
spent_ns(struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->what != NULL);
    return sim_stand_look(stand, stop) ? stand->world->now_ns - stand->world->quiet_ns : 0;
}

/* Of that gain's kind and object, by the replays whose journals are `first` and the next one. */
static bool
is_earlier(const struct sim_stand *stand, uint32_t first, const struct sim_gain *gain,
        uint64_t slack_ns)
{
    rt_assert(first + 1 < SIM_JOURNALS);
    const struct sim_gains *with = &stand->world->journals[first];
    return sim_gains_earlier(with, with + 1, slack_ns, gain->kind, gain->of);
}

/*
 * Something must come earlier with the question, by more than the slack, and by more than was spent
 * in steps since the actor's own last one: these cost nothing in the placebo, so what they put off
 * comes earlier there or not by chance.
 *
 * The placebo is the same poll right after that step. What comes earlier by it as well comes
 * earlier by any poll at any time, and no wake was lost.
 */
static bool
comes_earlier(struct sim_stand *stand, const struct sim_question *asked, uint64_t last_step,
        uint64_t slack_ns)
{
    rt_assert(last_step <= asked->stop.step);
    const struct sim_gains *gains = &stand->world->journals[0];
    struct sim_question question = *asked;
    struct sim_question placebo;
    bool compared = false;
    question.settling =
            (struct sim_settling){.steps = STEPS_MAX, .until_ns = SIM_NEVER, .free_steps = true};
    placebo = question;
    placebo.stop = (struct sim_stop){last_step, false};
    slack_ns += spent_ns(stand, question.stop) - spent_ns(stand, placebo.stop);
    if (!run_to_the_end(stand, 0, &question)) {
        return false;
    }
    for (uint32_t i = 0; i < gains->count; i++) {
        if (!sim_gains_is_first(gains, i) || !is_earlier(stand, 0, &gains->all[i], slack_ns)) {
            continue;
        }
        if (!compared && !run_to_the_end(stand, 2, &placebo)) {
            return false;
        }
        compared = true;
        if (!is_earlier(stand, 2, &gains->all[i], slack_ns)) {
            return true;
        }
    }
    return false;
}

/* ---- At a quiescence. ------------------------------------------------------------------------ */

/* Its own time-out is when it chose to look again; 0: it has none, or chose nothing by it. */
static uint64_t
chosen_ns(const struct sim_actor *actor, bool loop)
{
    bool chose = (loop || actor->ops->own_timeouts) && !actor->world->late_timeouts;
    return chose && actor->due_ns != SIM_NEVER ? actor->due_ns : 0;
}

/* Until when the run may have the same gain by itself, and is then not late; 0: not at all. A loop,
 * and who waits for one, gets what comes of its time-out. */
static uint64_t
slack_until(const struct sim_world *world, bool loop)
{
    uint64_t slack_ns = world->options.slack_ns;
    uint64_t lost_until_ns = world->loses_little ? world->lost_until_ns : 0;
    uint64_t owed_ns = lost_until_ns > world->now_ns ? lost_until_ns - world->now_ns : 0;
    uint64_t loop_ns = LOOP_SLACK_NS + owed_ns / SIM_LOST_SHARE;
    slack_ns = loop && slack_ns < loop_ns ? loop_ns : slack_ns;
    return slack_ns == 0 ? 0 : world->now_ns + slack_ns;
}

/* Whether the control gains the same by `until_ns` (0: it has no time), or has no answer, or the
 * actor is gone then. */
static bool
is_in_time(struct sim_stand *stand, const struct sim_question *question, uint64_t until_ns)
{
    rt_assert(question->stop.at_quiet);
    if (until_ns == 0) {
        return false;
    }
    const struct sim_gains *journals = stand->world->journals;
    const struct sim_settling settling = {
            .steps = STEPS_MAX, .until_ns = until_ns, .free_steps = true};
    if (!without(stand, 1, question->stop, &settling)) {
        return true;
    }
    const struct sim_actor *actor = sim_world_actor(stand->world, question->actor);
    return actor == NULL || actor->done || !sim_gains_more(&journals[0], &journals[1]);
}

/*
 * What was sent before the stop and has not arrived: how long the host takes is its own decision,
 * so a gain that comes with it, and with nothing else that is due, is no late one.
 */
static bool
is_on_its_way(struct sim_stand *stand, const struct sim_question *question)
{
    rt_assert(question->stop.at_quiet);
    const struct sim_gains *journals = stand->world->journals;
    struct sim_settling settling = {.steps = STEPS_MAX, .free_steps = true};
    if (!sim_stand_at(stand, question->stop)) {
        return false;
    }
    struct sim_world *world = stand->world;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        struct sim_actor *actor = world->actors[i];
        if (actor->ops->kind != SIM_ACTOR_SOURCE) {
            sim_actor_due(actor, SIM_NEVER);
        } else if (actor->due_ns != SIM_NEVER && actor->due_ns > settling.until_ns) {
            settling.until_ns = actor->due_ns;
        }
    }
    world->gains = &world->journals[1];
    sim_gains_clear(world->gains);
    return settling.until_ns != 0 && sim_world_settle(world, &settling) == SIM_SETTLED &&
           !world->gains->full && !sim_gains_more(&journals[0], &journals[1]);
}

/* Whether the control has one of those gains of the asked actor itself; after is_in_time. */
static bool
has_an_own_gain(const struct sim_stand *stand, uint32_t actor_id)
{
    const struct sim_gains *journals = stand->world->journals;
    for (uint32_t i = 0; i < journals[0].count; i++) {
        const struct sim_gain *gain = &journals[0].all[i];
        if (gain->actor == actor_id && sim_gains_count(&journals[1], gain->kind, gain->of) > 0) {
            return true;
        }
    }
    return false;
}

/* It gained by the question: is it late, or does its own time-out at `own_ns` bring the same? A
 * part is enough there: who waits for the rest may have left by then. */
static void
judge_gain(struct sim_stand *stand, const struct sim_question *question, uint64_t slack_until_ns,
        uint64_t own_ns, struct sim_progress *ret)
{
    rt_assert(ret->answer.gained);
    if (is_in_time(stand, question, slack_until_ns) || is_on_its_way(stand, question)) {
        return;
    }
    ret->chosen = is_in_time(stand, question, own_ns) ||
                  (own_ns != 0 && has_an_own_gain(stand, question->actor));
    ret->could = !ret->chosen;
}

static void
ask_at_quiet(struct sim_stand *stand, const struct sim_question *question, bool waited_for,
        struct sim_progress *ret)
{
    rt_assert(question->stop.at_quiet);
    rt_assert(question->settling.free_steps);
    ret->could = false;
    ret->chosen = false;
    ret->failed = false;
    if (!sim_stand_look(stand, question->stop)) {
        return;
    }
    const struct sim_world *world = stand->world;
    uint64_t slack_ns = world->options.slack_ns;
    bool loop = question->stage == SIM_ORACLE_STAGE_INTERRUPT;
    const struct sim_actor *actor = sim_world_actor(world, question->actor);
    uint64_t until_ns = slack_until(world, loop || actor->ops->own_timeouts);
    uint64_t own_ns = chosen_ns(actor, loop);
    /* It looks by itself before it could be late; what others do until then may change the gain. */
    if (own_ns != 0 && (actor->oversleeps || (loop && own_ns <= world->now_ns + LOOP_SLACK_NS))) {
        return;
    }
    slack_ns += own_ns > world->now_ns ? own_ns - world->now_ns : 0;
    if (!with(stand, 0, question, &ret->answer) || ret->answer.limit) {
        return;
    }
    if (ret->answer.failed) {
        ret->failed = !loop;
        return;
    }
    if (!waited_for && !ret->answer.freed) {
        return;
    }
    if (ret->answer.gained) {
        judge_gain(stand, question, until_ns, own_ns, ret);
    } else if (!loop && ret->answer.moved) {
        uint64_t last_step = ret->answer.blocked_since_step;
        ret->could = waits_for_other_than_its_last_poll(stand, question, last_step) &&
                     comes_earlier(stand, question, last_step, slack_ns);
    }
}

/* ---- The questions. -------------------------------------------------------------------------- */

static void
ask_in_stall(struct sim_stand *stand, const struct sim_question *question, bool waited_for,
        struct sim_progress *ret)
{
    rt_assert(question->settling.until_ns == SIM_NEVER);
    ret->could = false;
    ret->failed = false;
    if (!with(stand, 0, question, &ret->answer)) {
        return;
    }
    ret->failed = ret->answer.failed && question->stage != SIM_ORACLE_STAGE_INTERRUPT;
    ret->could = !ret->answer.failed &&
                 (waited_for ? ret->answer.gained && !ret->answer.limit : ret->answer.freed);
}

void
sim_progress_in_stall(struct sim_stand *stand, struct sim_stop stop, uint32_t actor,
        enum sim_oracle_stage stage, bool waited_for, struct sim_progress *ret)
{
    rt_assert(actor > 0);
    rt_assert(ret != NULL);
    struct sim_question question = {.stop = stop,
            .actor = actor,
            .stage = stage,
            .settling = {.steps = STEPS_MAX, .until_ns = SIM_NEVER, .first_gain = waited_for}};
    struct sim_reports reports = {0};
    memset(ret, 0, sizeof(*ret));
    if (stage == SIM_ORACLE_STAGE_INTERRUPT &&
            !sim_progress_reports(stand, stop, actor, &reports)) {
        return;
    }
    if (!waited_for && sim_stand_look(stand, stop)) {
        question.settling.foreground = stand->world->foreground;
    }
    for (question.nth = reports.from; question.nth <= reports.to; question.nth++) {
        ask_in_stall(stand, &question, waited_for, ret);
        if (ret->could && stage == SIM_ORACLE_STAGE_INTERRUPT) {
            ret->could = !is_gained_by_any_report(stand, &question);
        }
        if (ret->could || ret->failed) {
            return;
        }
    }
}

/* Whether something of journal 0 has come to its end, which it does once. */
static bool
has_an_end(const struct sim_gains *journals)
{
    for (uint32_t i = 0; i < journals[0].count; i++) {
        uint32_t kind = journals[0].all[i].kind;
        if (kind == SIM_GAIN_COMPLETED || kind == SIM_GAIN_RETURNED) {
            return true;
        }
    }
    return false;
}

/*
 * Who was asked is asked again, and again, each time when all has come to rest. What it gains each
 * time is no sign of what it missed, as it does not come to an end: it rings its own bell, say.
 */
static bool
is_gained_again(struct sim_stand *stand, const struct sim_question *question)
{
    rt_assert(question->stop.at_quiet);
    struct sim_answer answer;
    if (!with(stand, 0, question, &answer) || !answer.gained ||
            has_an_end(stand->world->journals)) {
        return false;
    }
    stand->world->gains = &stand->world->journals[2];
    for (uint32_t i = 0; i < ASKED_AGAIN; i++) {
        sim_gains_clear(stand->world->gains);
        sim_put(stand->world, question, &answer);
        if (!answer.asked || answer.failed ||
                !are_gained_too(stand->world->journals, stand->world->gains)) {
            return false;
        }
    }
    return true;
}

/* What was gained would be gained by any question at any time. */
static bool
is_gained_in_any_case(struct sim_stand *stand, const struct sim_question *question)
{
    bool loop = question->stage == SIM_ORACLE_STAGE_INTERRUPT;
    rt_assert(loop || question->stage == SIM_ORACLE_STAGE_POLL);
    return (loop ? is_gained_by_any_report(stand, question)
                 : continues_in_any_case(stand, question)) ||
           is_gained_again(stand, question);
}

void
sim_progress_at_quiet(struct sim_stand *stand, struct sim_stop stop, uint32_t actor,
        enum sim_oracle_stage stage, bool waited_for, struct sim_progress *ret)
{
    rt_assert(actor > 0);
    rt_assert(stop.at_quiet);
    struct sim_question question = {.stop = stop,
            .actor = actor,
            .stage = stage,
            .settling = {.steps = STEPS_MAX, .free_steps = true}};
    struct sim_reports reports = {0};
    memset(ret, 0, sizeof(*ret));
    if (stage == SIM_ORACLE_STAGE_INTERRUPT &&
            !sim_progress_reports(stand, stop, actor, &reports)) {
        return;
    }
    for (question.nth = reports.from; question.nth <= reports.to; question.nth++) {
        ask_at_quiet(stand, &question, waited_for, ret);
        if ((ret->could || ret->chosen) && is_gained_in_any_case(stand, &question)) {
            ret->could = false;
            ret->chosen = false;
        }
        if (ret->could || ret->chosen || ret->failed) {
            return;
        }
    }
}

uint32_t
sim_progress_first_to_move(struct sim_stand *stand, struct sim_stop stop, const uint32_t *actors,
        uint32_t from, uint32_t to)
{
    rt_assert(from <= to);
    rt_assert(stop.at_quiet);
    struct sim_question question = {.stop = stop,
            .stage = SIM_ORACLE_STAGE_POLL,
            .settling = {.steps = STEPS_MAX, .free_steps = true}};
    if (!sim_stand_at(stand, stop)) {
        return from;
    }
    for (uint32_t i = from; i < to; i++) {
        struct sim_answer answer;
        question.actor = actors[i];
        sim_put(stand->world, &question, &answer);
        if (answer.gained || answer.moved || answer.failed || answer.limit || answer.freed) {
            return i;
        }
    }
    return to;
}

void
sim_progress_at_limit(
        struct sim_stand *stand, struct sim_stop stop, uint32_t actor, struct sim_progress *ret)
{
    rt_assert(actor > 0);
    rt_assert(!stop.at_quiet);
    const struct sim_question question = {
            .stop = stop, .actor = actor, .stage = SIM_ORACLE_STAGE_POLL};
    memset(ret, 0, sizeof(*ret));
    if (with(stand, 0, &question, &ret->answer)) {
        ret->failed = ret->answer.failed;
        ret->could = ret->answer.gained && !ret->failed;
    }
}

bool
sim_progress_alone(struct sim_stand *stand, const struct sim_question *asked)
{
    rt_assert(asked->actor > 0);
    rt_assert(!asked->stop.at_quiet);
    struct sim_question question = *asked;
    struct sim_answer answer;
    question.alone = true;
    question.settling = (struct sim_settling){.steps = STEPS_ALONE, .free_steps = true};
    if (!with(stand, 0, &question, &answer) || answer.failed || !answer.gained) {
        return false;
    }
    if (!sim_stand_at(stand, question.stop)) {
        return false;
    }
    struct sim_world *world = stand->world;
    world->gains = &world->journals[1];
    sim_gains_clear(world->gains);
    sim_hold_others(world, sim_world_actor(world, question.actor), question.stage);
    (void)sim_world_settle(world, &question.settling);
    return sim_gains_more(&world->journals[0], &world->journals[1]);
}
