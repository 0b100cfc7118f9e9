/*
 * follow.c -- leads the model along a recorded run, and compares the verdicts.
 *
 * What the run decided (which task runs, when a timer is checked, what a wait reports, how long a
 * step takes) is read from its events. What follows from it is the model's; where the two differ
 * (a poll that ended otherwise, a clock that moved while something could run) the run is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/follow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/record/recorder.h"
#include "sim/tests/truth/play.h"

#define BIT(verdict) (1u << SIM_VERDICT_##verdict)
#define OTHER TRUTH_ACTORS

struct truth_planted truth_planted;

const char *
truth_kind_about(uint32_t kind)
{
#define TRUTH_KIND_ABOUT(name, about) about,
    static const char *const abouts[] = {TRUTH_KIND_LIST(TRUTH_KIND_ABOUT)};
#undef TRUTH_KIND_ABOUT
    return kind < TRUTH_KINDS ? abouts[kind] : "?";
}

void
truth_run_options(struct truth_run *run, const struct truth_program *program, uint32_t nth)
{
    static const uint64_t orders[] = {SIM_ORDER_ANY, SIM_ORDER_ANY, SIM_ORDER_ANY, SIM_ORDER_FIFO,
            SIM_ORDER_FAIR, SIM_ORDER_LIFO_SLOT, SIM_ORDER_PRIORITY, SIM_ORDER_EDF};
    static const uint64_t audits[] = {1, 1, 1, 1, 1, 0, 4, 32};
    uint64_t state = program->number * UINT64_C(0x9fb21c651e98df25) + nth;
    memset(run, 0, sizeof(*run));
    sim_options_init(&run->options, &truth_scenario);
    run->seed = nth + 1;
    run->options.faults = 0;
    run->options.audit_one_in = audits[truth_draw(&state, 8)];
    run->options.order = orders[truth_draw(&state, 8)];
    run->options.spurious_one_in = truth_draw(&state, 2) == 0 ? 0 : 4;
    run->options.slow_one_in = truth_draw(&state, 2) == 0 ? 0 : 4;
    run->options.profile = truth_draw(&state, 2) == 0 ? SIM_PROFILE_HOSTILE : SIM_PROFILE_FD;
}

/* ---- Following. ------------------------------------------------------------------------------ */

struct following {
    const struct sim_world *world;
    const struct truth_program *program;
    struct truth_run *run;
    struct truth_state state;
    struct truth_gains gains;
    uint64_t step_ns; /* Where the last step began, … */
    uint64_t slow_ns;
    uint32_t audits;
    bool stepped;
    bool done; /* The last poll was the task's end. */
};

__attribute__((format(printf, 2, 3))) static void
refuse(struct following *following, const char *format, ...)
{
    struct truth_run *run = following->run;
    if (run->kind != TRUTH_KIND_AGREED) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(run->why, sizeof(run->why), format, arguments);
    va_end(arguments);
    run->kind = TRUTH_KIND_SCHEDULE;
}

/* Which actor of the program an event is of; OTHER: none. */
static uint32_t
actor_of(const struct following *following, const struct sim_event *event)
{
    const struct sim_actor *actor = sim_world_actor(following->world, event->actor);
    const char *name = actor != NULL && actor->name != NULL ? actor->name : "";
    if (strncmp(name, "watcher", 7) == 0) {
        return 0; /* The loop's. */
    }
    bool ours =
            name[0] == 't' && name[1] >= '0' && name[1] < '0' + (char)TRUTH_ACTORS && name[2] == 0;
    return ours ? (uint32_t)(name[1] - '0') : OTHER;
}

static bool
is_runtime_loop(const struct following *following, const struct sim_event *event)
{
    const struct sim_actor *actor = sim_world_actor(following->world, event->actor);
    return actor != NULL && strcmp(actor->name, "rt") == 0;
}

static void
on_step(struct following *following, const struct sim_event *event)
{
    struct truth_state *state = &following->state;
    state->now_ns = event->argument;
    following->step_ns = event->argument;
    following->slow_ns = 0;
    following->stepped = true;
    if (following->program->family == TRUTH_TASKS && is_runtime_loop(following, event)) {
        truth_timers(state, following->program);
    } else if (following->program->family == TRUTH_LOOPS && actor_of(following, event) == 0 &&
               state->actor[0].status == TRUTH_WOKEN && state->actor[0].stage == 0) {
        truth_operate(state, following->program, 0, &following->gains);
    }
}

static void
on_poll(struct following *following, const struct sim_event *event)
{
    uint32_t actor = actor_of(following, event);
    if (following->program->family == TRUTH_LOOPS) {
        return; /* A callback: its operations say what it does. */
    }
    if (actor == OTHER) {
        refuse(following, "step %u: a poll of no task of the program", event->step);
        return;
    }
    uint8_t status = following->state.actor[actor].status;
    if (status != TRUTH_WOKEN &&
            (status != TRUTH_BLOCKED || following->run->options.spurious_one_in == 0)) {
        refuse(following, "step %u: t%u is polled, and nothing has woken it", event->step, actor);
    }
    following->done = truth_poll(&following->state, following->program, actor, &following->gains);
    if (truth_planted.model_forgets_joiners) {
        memset(following->state.joiner, 0, sizeof(following->state.joiner));
    }
}

static void
on_polled(struct following *following, const struct sim_event *event)
{
    bool ready = event->argument == RT_READY;
    if (following->program->family == TRUTH_TASKS && ready != following->done) {
        refuse(following, "step %u: the poll is %s, in the model it is %s", event->step,
                ready ? "ready" : "pending", following->done ? "ready" : "pending");
    }
}

static void
on_wait(struct following *following, const struct sim_event *event, uint32_t list)
{
    struct truth_state *state = &following->state;
    uint32_t first = list / 4;
    uint32_t second = list % 4;
    bool lies = following->run->options.profile == SIM_PROFILE_HOSTILE &&
                following->run->options.spurious_one_in != 0;
    bool ready = (first == 0 || lies || state->fd[first - 1] > 0) &&
                 (second == 0 || lies || state->fd[second - 1] > 0);
    bool in_time =
            first != 0 || (state->actor[0].timed && state->actor[0].deadline_ns <= state->now_ns);
    if (!truth_in_wait(state) || !ready || !in_time) {
        refuse(following, "step %u: the wait returns %u, %u", event->step, first, second);
    }
    truth_wait_returns(state, following->program, first, second);
}

static void
on_mark(struct following *following, const struct sim_event *event)
{
    uint32_t actor = actor_of(following, event);
    int64_t mark = (int64_t)event->argument;
    if (following->program->family != TRUTH_LOOPS || actor == OTHER) {
        return;
    }
    if (mark >= TRUTH_MARK_WAIT && mark < TRUTH_MARK_END) {
        on_wait(following, event, (uint32_t)(mark - TRUTH_MARK_WAIT));
        return;
    }
    if ((truth_enabled(&following->state, following->program) >> actor & 1u) == 0) {
        refuse(following, "step %u: t%u cannot run", event->step, actor);
    }
    truth_operate(&following->state, following->program, actor, &following->gains);
}

/* Which quiescences are audited is drawn, where not each is: then what is late may pass. */
static void
audit(struct following *following)
{
    uint64_t one_in = following->run->options.audit_one_in;
    struct truth_state *state = &following->state;
    if (one_in == 0) {
        return;
    }
    following->audits++;
    uint8_t late = truth_late(state, following->program);
    state->late |= one_in > 1 && late != 0 ? TRUTH_LATE_OPEN : late;
}

/* Nothing can run, says the simulator: what could be had by one more poll? */
static void
on_clock(struct following *following, const struct sim_event *event)
{
    struct truth_state *state = &following->state;
    const struct truth_program *program = following->program;
    uint64_t step_ns = following->run->options.step_ns;
    if (following->stepped) {
        state->now_ns = following->step_ns + step_ns + following->slow_ns;
    }
    uint64_t due_ns = truth_next_deadline(state, program);
    if (truth_enabled(state, program) != 0) {
        refuse(following, "step %u: the clock moves, and actors %x can run", event->step,
                truth_enabled(state, program));
    } else if (program->family == TRUTH_TASKS && due_ns != event->argument) {
        refuse(following, "step %u: the clock moves to %llu, the next deadline is %llu",
                event->step, (unsigned long long)event->argument, (unsigned long long)due_ns);
    }
    if (event->step > 0) {
        audit(following);
    }
    state->now_ns = event->argument;
    following->step_ns = event->argument;
    following->stepped = false;
}

static void
follow_event(struct following *following, const struct sim_event *event)
{
    switch (event->kind) {
    case SIM_EVENT_STEP:
        on_step(following, event);
        break;
    case RT_PROBE_POLL:
        on_poll(following, event);
        break;
    case RT_PROBE_POLLED:
        on_polled(following, event);
        break;
    case SIM_EVENT_SET:
        on_mark(following, event);
        break;
    case SIM_EVENT_SLOW:
        following->slow_ns = event->argument;
        break;
    case SIM_EVENT_CLOCK:
        on_clock(following, event);
        break;
    default:
        break;
    }
}

static void
follow_end(struct following *following, uint32_t verdict)
{
    struct truth_state *state = &following->state;
    const struct truth_program *program = following->program;
    if (following->stepped) {
        state->now_ns = following->step_ns + following->run->options.step_ns + following->slow_ns;
    }
    if (verdict == SIM_VERDICT_PASS && !truth_over(state, program)) {
        refuse(following, "the run is over, in the model it is not");
    } else if (verdict == SIM_VERDICT_DEADLOCK &&
               (truth_over(state, program) || truth_enabled(state, program) != 0 ||
                       truth_next_deadline(state, program) != TRUTH_NEVER)) {
        refuse(following, "the run stalls, in the model it does not");
    }
    if (following->audits > SIM_AUDITS_MAX && state->late != 0) {
        state->late = TRUTH_LATE_OPEN; /* Of so many not each is audited. */
    }
    if (verdict == SIM_VERDICT_LIVELOCK && truth_spins(state, program)) {
        following->run->expected.possible = BIT(LIVELOCK);
    } else {
        truth_verdicts(state, program, &following->run->expected);
    }
}

static void
follow(struct truth_run *run, const struct sim_world *world, const struct truth_program *program)
{
    struct following following = {.world = world, .program = program, .run = run};
    const struct sim_recorder *recorder = &world->recorder;
    uint64_t end = sim_recorder_run_end(recorder);
    truth_state_init(&following.state, program);
    for (uint64_t i = 0; i < end && run->kind == TRUTH_KIND_AGREED; i++) {
        follow_event(&following, sim_recorder_event(recorder, i));
    }
    follow_end(&following, run->outcome.verdict);
}

/* ---- Comparing. ------------------------------------------------------------------------------ */

static enum truth_kind
kind_of_difference(uint32_t verdict, uint32_t possible)
{
    switch (verdict) {
    case SIM_VERDICT_LATE_WAKEUP:
        return TRUTH_KIND_FALSE_LATE;
    case SIM_VERDICT_LOST_WAKEUP:
        return TRUTH_KIND_FALSE_LOST;
    case SIM_VERDICT_PASS:
        return possible == BIT(LATE_WAKEUP) ? TRUTH_KIND_MISSED_LATE : TRUTH_KIND_OTHER;
    case SIM_VERDICT_DEADLOCK:
        return possible == BIT(LOST_WAKEUP) ? TRUTH_KIND_MISSED_LOST : TRUTH_KIND_OTHER;
    default:
        return TRUTH_KIND_OTHER;
    }
}

static void
plant(struct sim_outcome *outcome)
{
    if (truth_planted.judge_calls_deadlock_lost && outcome->verdict == SIM_VERDICT_DEADLOCK) {
        outcome->verdict = SIM_VERDICT_LOST_WAKEUP;
    }
    if (truth_planted.judge_calls_late_pass && outcome->verdict == SIM_VERDICT_LATE_WAKEUP) {
        outcome->verdict = SIM_VERDICT_PASS;
    }
}

static void
compare(struct truth_run *run, const struct truth_program *program)
{
    bool correct = program->mutation == TRUTH_MUTATION_NOTHING;
    uint32_t possible = correct ? BIT(PASS) : run->expected.possible;
    run->open = (possible & (possible - 1)) != 0 && run->options.audit_one_in <= 1;
    if (run->kind == TRUTH_KIND_AGREED && (possible >> run->outcome.verdict & 1u) == 0) {
        run->kind = kind_of_difference(run->outcome.verdict, possible);
        (void)snprintf(run->why, sizeof(run->why), "verdict %s, possible are %x: %.80s",
                sim_verdict_name(run->outcome.verdict), possible, run->outcome.message);
    }
}

void
truth_run_play(struct lab *lab, const struct truth_program *program, struct truth_run *run)
{
    struct sim_world *world = &lab->world;
    struct sim_strategy *strategy = run->strategy != NULL ? run->strategy : &lab->random.strategy;
    struct sim_case what = {&truth_scenario, run->options, run->seed, strategy, false};
    truth_play_program(program);
    sim_world_run(world, what.scenario, &what.options, what.seed, strategy,
            (struct sim_recording){true, false}, &run->outcome);
    follow(run, world, program);
    sim_judge_ended(world, &what, &run->outcome);
    plant(&run->outcome);
    compare(run, program);
}
