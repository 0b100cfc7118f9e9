/*
 * tell_verdict.c -- for each verdict a first sentence, a reason, and what it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/trace/phrase.h"
#include "sim/trace/tell_priv.h"

#define NAMED_IN_HEADLINE 3u
#define LISTED 12u
#define WAITS_LISTED 4u
#define BUSY_NAMED 4u

/* ---- Words. ---------------------------------------------------------------------------------- */

static void
put_message(struct sim__telling *telling)
{
    struct sim_page *line = &telling->line;
    char message[SIM_MESSAGE_MAX + 1] = {0};
    memcpy(message, telling->outcome->message, SIM_MESSAGE_MAX);
    sim_page_clean(line, message[0] != '\0' ? message : "it did not say why");
}

static void
put_place(struct sim__telling *telling)
{
    sim__put_at(telling, telling->outcome->site, 0);
}

/* "it waits for the reply (response) since step 17 (1.2ms)" */
static void
put_sleep(struct sim__telling *telling)
{
    const struct sim_wait *wait = telling->fate.wait;
    const struct sim_outcome *outcome = telling->outcome;
    sim_page_put(&telling->line, "it waits for ");
    if (wait != NULL && wait->kind != SIM_WAIT_CLONE) {
        sim_cast_put_wanted(&telling->cast, &telling->line, wait->object, wait->reason, wait->part);
    } else {
        sim_cast_put_wanted(
                &telling->cast, &telling->line, outcome->object, NULL, telling->fate.part);
    }
    if (telling->fate.poll != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, " since ");
        sim__put_step(telling, sim_cast_event(&telling->cast, telling->fate.poll)->step);
    }
}

static void
put_could_go_on(struct sim__telling *telling)
{
    uint64_t step = telling->outcome->owed_step;
    if (step != 0 && sim_phrase_whose_step(&telling->cast, step) == telling->fate.part) {
        sim_page_put(&telling->line, ", which had come by then,");
    } else if (step != 0) {
        sim_page_put(&telling->line, ", could have gone on after ");
        sim__put_step(telling, step);
        sim_page_put(&telling->line, ",");
    }
}

/* ---- Who took the steps. --------------------------------------------------------------------- */

struct busy {
    uint32_t part;
    uint32_t steps;
};

/* Counts the steps of each part in [from, horizon), and puts the BUSY_NAMED busiest first. Returns
 * how many there are of these. */
static uint32_t
find_busiest(const struct sim__telling *telling, uint64_t from, struct busy *ret_busy)
{
    const struct sim_cast *cast = &telling->cast;
    uint32_t count = 0;
    for (uint32_t part = 1; part < cast->count; part++) {
        struct busy busy = {part, 0};
        for (uint64_t i = from; i < telling->fate.horizon; i++) {
            const struct sim_event *event = sim_cast_event(cast, i);
            bool turn = event->kind == RT_PROBE_POLL ||
                        (event->kind == SIM_EVENT_STEP && cast->parts[part].kind != SIM_ACTOR_TASK);
            busy.steps += turn && sim_cast_part_of(cast, i) == part;
        }
        uint32_t place = count;
        while (place > 0 && ret_busy[place - 1].steps < busy.steps) {
            place--;
        }
        if (busy.steps == 0 || place >= BUSY_NAMED) {
            continue;
        }
        count += count < BUSY_NAMED ? 1 : 0;
        memmove(&ret_busy[place + 1], &ret_busy[place], (count - 1 - place) * sizeof(*ret_busy));
        ret_busy[place] = busy;
    }
    return count;
}

/* "`a` (5000), `b` (5000)" */
static void
put_busiest(struct sim__telling *telling, uint64_t from)
{
    struct busy busy[BUSY_NAMED + 1];
    uint32_t count = find_busiest(telling, from, busy);
    for (uint32_t i = 0; i < count; i++) {
        sim_page_put(&telling->line, i == 0 ? "" : ", ");
        sim__put_who(telling, busy[i].part);
        sim_page_printf(&telling->line, " (%u)", busy[i].steps);
    }
    sim_page_put(&telling->line, count == 0 ? "nobody on record" : "");
}

/* The first event of the last `steps` steps. */
static uint64_t
last_steps(const struct sim__telling *telling, uint32_t steps)
{
    const struct sim_cast *cast = &telling->cast;
    uint64_t i = telling->fate.horizon;
    uint32_t seen = 0;
    while (i > cast->first && seen < steps) {
        i--;
        seen += sim_cast_event(cast, i)->kind == SIM_EVENT_STEP;
    }
    return i;
}

/* The last thing on record before the end, with its line. */
static void
put_last(struct sim__telling *telling)
{
    struct sim_page words;
    sim_page_init(&words, false);
    for (uint64_t i = telling->fate.horizon; i-- > telling->cast.first && words.length == 0;) {
        if (sim_phrase_put(&telling->cast, &words, i)) {
            sim_page_put(&telling->line, " The last thing on record is of ");
            sim__put_step(telling, sim_cast_event(&telling->cast, i)->step);
            sim_page_put(&telling->line, ", by ");
            sim__put_who(telling, sim_cast_part_of(&telling->cast, i));
            sim_page_printf(&telling->line, ": %s", sim_page_text(&words));
            sim__put_at_event(telling, i);
            sim_page_put(&telling->line, ".");
        }
    }
    sim_page_fini(&words);
}

/* ---- First sentences. ------------------------------------------------------------------------ */

static void
head_lost(struct sim__telling *telling)
{
    sim__put_who(telling, telling->fate.part);
    sim_page_put(&telling->line, " sleeps for ever although it could go on: ");
    put_sleep(telling);
    put_could_go_on(telling);
    sim_page_put(&telling->line, " and was never woken.");
}

static void
head_late(struct sim__telling *telling)
{
    if (telling->outcome->oracle == SIM_ORACLE_TIMER) {
        put_message(telling);
        sim_page_put(&telling->line, ".");
        return;
    }
    sim__put_who(telling, telling->fate.part);
    sim_page_put(&telling->line, " was woken too late: ");
    put_sleep(telling);
    put_could_go_on(telling);
    sim_page_put(&telling->line, " and still slept when everything had come to rest at ");
    sim__put_step(telling, telling->outcome->fail_step);
    sim_page_put(&telling->line, ".");
}

static void
head_deadlock(struct sim__telling *telling)
{
    uint32_t named = 0;
    uint32_t left = 0;
    sim_page_put(&telling->line, "nobody can go on: ");
    for (uint32_t part = 1; part < telling->cast.count; part++) {
        const struct sim_wait *wait = NULL;
        if (!sim__is_left(telling, part) ||
                sim_ledger_open_of(&telling->ledger, part, NULL) == NULL) {
            continue;
        }
        if (named == NAMED_IN_HEADLINE) {
            left++;
            continue;
        }
        sim_page_put(&telling->line, named++ == 0 ? "" : "; ");
        sim__put_who(telling, part);
        sim_page_put(&telling->line, " waits for ");
        if (!sim__put_waiting(telling, part, &wait)) {
            sim_page_put(&telling->line, "the host");
        }
    }
    if (named == 0) {
        put_message(telling);
    } else if (left > 0) {
        sim_page_printf(&telling->line, "; and %u more", left);
    }
    sim_page_put(&telling->line, ".");
}

static void
head_livelock(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "the run goes round in circles: ");
    put_message(telling);
    sim_page_put(&telling->line, ".");
}

/* Where the message does not begin with the name itself. */
static void
head_message(struct sim__telling *telling)
{
    const char *name = telling->outcome->actor_name;
    size_t length = strnlen(name, sizeof(telling->outcome->actor_name));
    if (telling->fate.part != SIM_PART_NONE &&
            (length == 0 || memmem(telling->outcome->message,
                                    strnlen(telling->outcome->message, SIM_MESSAGE_MAX), name,
                                    length) == NULL)) {
        sim_page_put(&telling->line, "in ");
        sim__put_who(telling, telling->fate.part);
        sim_page_put(&telling->line, ", ");
    }
    put_message(telling);
    if (telling->outcome->fail_step != 0) {
        sim_page_put(&telling->line, ", at ");
        sim__put_step(telling, telling->outcome->fail_step);
    }
    sim_page_put(&telling->line, ".");
}

static void
head_pass(struct sim__telling *telling)
{
    sim_page_printf(&telling->line, "everything that was to be done was done, in %llu steps and ",
            (unsigned long long)telling->outcome->steps);
    sim_page_time(&telling->line, telling->outcome->sim_ns);
    sim_page_put(&telling->line, ".");
}

/* ---- Reasons. -------------------------------------------------------------------------------- */

static void
why_fate(struct sim__telling *telling)
{
    if (telling->outcome->oracle == SIM_ORACLE_TIMER) {
        sim_page_put(&telling->line, "the clock moved while everybody waited, and it moved past a "
                                     "deadline: whoever named the next deadline to the host named "
                                     "a later one.");
        sim__end_line(telling, 0);
        return;
    }
    sim__tell_fate(telling);
}

/* A loop that the world drives has no wait of its own: it is there for others. */
static bool
is_idle_loop(const struct sim__telling *telling, uint32_t part)
{
    return telling->cast.parts[part].kind == SIM_ACTOR_LOOP &&
           sim_ledger_open_of(&telling->ledger, part, NULL) == NULL;
}

/* "the reply since step 3 (2us) at …, and for a timer since …, and more" */
static void
put_waits(struct sim__telling *telling, uint32_t part)
{
    const struct sim_wait *wait = NULL;
    uint32_t count = 0;
    if (!sim__put_waiting(telling, part, &wait)) {
        sim_page_put(&telling->line, "nothing that is on record");
        return;
    }
    do {
        sim__put_at(telling, wait->await, wait->site);
        count++;
        if (sim_ledger_open_of(&telling->ledger, part, wait) == NULL) {
            return;
        }
        sim_page_put(&telling->line, count == WAITS_LISTED ? ", and for more" : ", and for ");
    } while (count < WAITS_LISTED && sim__put_waiting(telling, part, &wait));
}

/* "- `a` waits for …" for everybody who is left. */
static void
list_waits(struct sim__telling *telling)
{
    uint32_t listed = 0;
    uint32_t more = 0;
    for (uint32_t part = 1; part < telling->cast.count; part++) {
        if (!sim__is_left(telling, part) || is_idle_loop(telling, part)) {
            continue;
        }
        if (listed == LISTED) {
            more++;
            continue;
        }
        sim_page_put(&telling->line, "- ");
        sim__put_who(telling, part);
        sim_page_put(&telling->line, " waits for ");
        put_waits(telling, part);
        sim__end_line(telling, 2);
        listed++;
    }
    if (more > 0) {
        sim_page_printf(&telling->line, "- and %u more", more);
        sim__end_line(telling, 2);
    }
}

/* Whom `part` waits for to finish; SIM_PART_NONE. */
static uint32_t
joins(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&telling->ledger, part, wait);
        uint32_t joined =
                wait != NULL ? sim_cast_object(&telling->cast, wait->object) : SIM_PART_NONE;
        if (joined != SIM_PART_NONE && sim__is_left(telling, joined)) {
            return joined;
        }
    } while (wait != NULL);
    return SIM_PART_NONE;
}

/* "`a` waits for `b`, which waits for `a`", where tasks wait for each other's end. */
static void
tell_circle(struct sim__telling *telling)
{
    for (uint32_t start = 1; start < telling->cast.count; start++) {
        uint32_t length = 0;
        uint32_t part = start;
        do {
            part = sim__is_left(telling, part) ? joins(telling, part) : SIM_PART_NONE;
            length++;
        } while (part != SIM_PART_NONE && part != start && length < LISTED);
        if (part != start) {
            continue;
        }
        sim_page_put(&telling->line, "They wait in a circle: ");
        sim__put_who(telling, start);
        for (uint32_t i = 0; i < length; i++) {
            part = joins(telling, part);
            sim_page_put(&telling->line, i == 0 ? " waits for " : ", which waits for ");
            sim__put_who(telling, part);
        }
        sim_page_put(&telling->line, ".");
        sim__end_line(telling, 0);
        return;
    }
}

static void
why_deadlock(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "nothing is enabled, no timer is running, no event of the host is "
                                 "on its way, and everybody who is left sleeps:");
    sim__end_line(telling, 0);
    list_waits(telling);
    tell_circle(telling);
    sim_page_put(&telling->line, "Each sleeper was polled once more for nothing, and none of them "
                                 "could go on: no wake is missing, something was never done.");
    sim__end_line(telling, 0);
}

static void
why_livelock(struct sim__telling *telling)
{
    sim_page_put(&telling->line,
            "in that time no task finished, nothing was taken from a place, no "
            "byte moved, and nobody said that it got on. The last 1000 steps "
            "went to ");
    put_busiest(telling, last_steps(telling, 1000));
    sim_page_put(&telling->line, ". Somebody is waiting for something by asking again and again.");
    sim__end_line(telling, 0);
}

/* Since when, and who ran instead. */
static void
why_starvation(struct sim__telling *telling)
{
    const struct sim_fate *fate = &telling->fate;
    uint64_t since = fate->culprit != SIM_EVENT_NONE ? fate->culprit : fate->poll;
    if (fate->kind == SIM_FATE_NOT_POLLED && fate->culprit != SIM_EVENT_NONE) {
        sim__put_who(telling, fate->part);
        sim_page_put(&telling->line, " was woken at ");
        sim__put_step(telling, sim_cast_event(&telling->cast, fate->culprit)->step);
        sim__put_at_event(telling, fate->culprit);
        sim_page_put(&telling->line, " and has not had a turn since. ");
    }
    sim_page_put(&telling->line, "Meanwhile the steps went to ");
    put_busiest(telling, since != SIM_EVENT_NONE ? since : last_steps(telling, 1000));
    sim_page_put(&telling->line, ". The simulator itself passes nobody over for so long: it is the "
                                 "order of the runtime, or of the loop, that does.");
    sim__end_line(telling, 0);
}

static void
why_step(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "it happened in ");
    sim__put_deed(telling, telling->outcome->fail_step);
    sim_page_put(&telling->line, ".");
    if (telling->outcome->site != 0) {
        sim_page_put(&telling->line, " The line is");
        put_place(telling);
        sim_page_put(&telling->line, ".");
    }
    sim__end_line(telling, 0);
}

static void
why_leak(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "it was counted after the run was over and everything in the "
                                 "background had been cancelled.");
    if (telling->outcome->site != 0) {
        sim_page_put(&telling->line, " It was taken");
        put_place(telling);
        sim_page_put(&telling->line, ".");
    }
    put_last(telling);
    sim__end_line(telling, 0);
}

static void
why_process(struct sim__telling *telling)
{
    uint64_t last = telling->fate.horizon;
    uint32_t step = last > telling->cast.first ? sim_cast_event(&telling->cast, last - 1)->step : 0;
    sim_page_put(&telling->line, telling->outcome->verdict == SIM_VERDICT_HANG
                                         ? "the step that never returned is "
                                         : "the step in which it died is ");
    sim__put_deed(telling, step);
    sim_page_put(&telling->line, ".");
    put_last(telling);
    sim__end_line(telling, 0);
}

static void
why_diverged(struct sim__telling *telling)
{
    sim_page_put(&telling->line,
            "the same scenario, options, seed and decisions gave another run in "
            "another process. Something in it depends on an address, on "
            "memory that was not set, on a clock, or on what ran before.");
    sim__end_line(telling, 0);
}

static void
why_limit(struct sim__telling *telling)
{
    sim_page_put(&telling->line,
            "the run was cut off there; it got on until the end, so it may just "
            "be long. The last 1000 steps went to ");
    put_busiest(telling, last_steps(telling, 1000));
    sim_page_put(&telling->line, ".");
    sim__end_line(telling, 0);
}

static void
why_pass(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "nothing was found.");
    sim__end_line(telling, 0);
}

/* ---- The table. ------------------------------------------------------------------------------ */

struct teller {
    void (*head)(struct sim__telling *telling);
    void (*why)(struct sim__telling *telling);
    const char *kind;
};

static const struct teller tellers[SIM_VERDICTS] = {
        [SIM_VERDICT_PASS] = {head_pass, why_pass, ""},
        [SIM_VERDICT_LOST_WAKEUP] = {head_lost, why_fate,
                "when the run stalled, each sleeper was polled once more in a copy of the run, and "
                "this one went on; so all that was missing was somebody to wake it"},
        [SIM_VERDICT_LATE_WAKEUP] = {head_late, why_fate,
                "while everything was at rest, before the clock moved on, the sleeper was polled "
                "once more in a copy of the run, and went on; so it could have been woken earlier"},
        [SIM_VERDICT_DEADLOCK] = {head_deadlock, why_deadlock,
                "everybody sleeps, and nobody could go on even if woken"},
        [SIM_VERDICT_LIVELOCK] = {head_livelock, why_livelock,
                "steps are taken, and for so many of them nothing gets done"},
        [SIM_VERDICT_STARVATION] = {head_message, why_starvation,
                "somebody could run all the time, and others always went first"},
        [SIM_VERDICT_OVER_BUDGET] = {head_message, why_step,
                "a task kept the thread for longer than its quota in a single poll"},
        [SIM_VERDICT_CONTRACT] = {head_message, why_step,
                "a rule between task, runtime and host was broken; the message names the rule"},
        [SIM_VERDICT_LEAK] = {head_message, why_leak,
                "something that was taken during the run was not given back at its end"},
        [SIM_VERDICT_INVARIANT] = {head_message, why_step,
                "a condition that the scenario itself states did not hold"},
        [SIM_VERDICT_CRASH] = {head_message, why_process,
                "the process in which the run took place died"},
        [SIM_VERDICT_HANG] = {head_message, why_process,
                "a single step did not return in the time that the wall clock allows"},
        [SIM_VERDICT_DIVERGED] = {head_message, why_diverged,
                "a run is meant to depend on its seed only, and this one does not"},
        [SIM_VERDICT_STEP_LIMIT] = {head_message, why_limit,
                "the run was still getting on when it had used up the steps it may take"},
        [SIM_VERDICT_TIME_LIMIT] = {head_message, why_limit,
                "the run was still getting on when it had used up its virtual time"},
};

static const struct teller *
teller_of(const struct sim__telling *telling)
{
    uint32_t verdict = telling->outcome->verdict;
    return &tellers[verdict < SIM_VERDICTS ? verdict : (uint32_t)SIM_VERDICT_CONTRACT];
}

void
sim__tell_headline(struct sim__telling *telling)
{
    sim_page_printf(&telling->line, "%s: ", sim_verdict_name(telling->outcome->verdict));
    teller_of(telling)->head(telling);
    sim__end_line(telling, 0);
}

void
sim__tell_why(struct sim__telling *telling)
{
    teller_of(telling)->why(telling);
}

const char *
sim__tell_kind(uint32_t verdict)
{
    return verdict < SIM_VERDICTS ? tellers[verdict].kind : "";
}
