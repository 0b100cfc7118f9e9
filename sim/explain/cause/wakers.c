/*
 * wakers.c -- calls that end waits, in runs that pass and in the one that fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/wakers.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/explain/cause/guard.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/cause/unusual.h"

#define WAITS_MAX 6u
#define CALLS_MAX 12u
#define LEADS_MAX 8u
#define CALLERS_MAX 3u /* Calls above the one that wakes, whose conditions count. */
#define WAYS_SIZE 4096u
#define WAY_LONG 400u  /* Conditions that one who was woken decides. */
#define WOKEN_LEAST 5u /* So many are needed to call another way unusual. */

/* A condition, and which way it goes. */
struct way {
    uintptr_t pc; /* 0: none. */
    bool taken;
};

/* A call that ends such waits. */
struct waker {
    uintptr_t pc;
    uint32_t own;    /* So many waits of that actor it has ended, … */
    uint32_t alike;  /* … and so many of others at that line; */
    uint32_t before; /* both, before the run that is learned from. */
    uint32_t least;  /* So often each run has made it in which it does. */
    struct way leads[LEADS_MAX];
    uint32_t lead_count;
};

/* Waits like one of the failing run. */
struct waits {
    const struct sim_wait *wait; /* Of its ledger. */
    uint32_t actor_id;
    struct waker all[CALLS_MAX];
    uint32_t count;
    struct way ways[WAYS_SIZE]; /* Of those who were woken: a hash table. */
    uint32_t woken;
};

struct sim_wakers {
    struct waits all[WAITS_MAX];
    uint32_t count;
};

/* For a mutex, or the end of another, it waits as that other one waits. */
static bool
is_wait(const struct sim_wait *wait)
{
    return wait->unknown == 0 && wait->kind == SIM_WAIT_SLOT &&
           SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TASK &&
           SIM_OBJECT_KIND(wait->object) != RT_OBJECT_MUTEX;
}

struct sim_wakers *
sim_wakers_new(const struct sim_fate_evidence *evidence)
{
    const struct sim_ledger *ledger = evidence->failing;
    struct sim_wakers *wakers = sim_heap_new(1, sizeof(*wakers));
    for (uint32_t i = 0; i < ledger->count && wakers->count < WAITS_MAX; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool open = wait->end == SIM_WAIT_OPEN
                            ? !ledger->actor_table->parts[wait->part].finished
                            : evidence->late && wait->store_event < evidence->horizon &&
                                      wait->end_event >= evidence->horizon;
        bool only = evidence->lost || evidence->late;
        if (open && is_wait(wait) && (!only || wait->part == evidence->part)) {
            struct waits *waits = &wakers->all[wakers->count++];
            waits->wait = wait;
            waits->actor_id = sim_actor_table_id(ledger->actor_table, wait->part);
        }
    }
    return wakers;
}

void
sim_wakers_free(struct sim_wakers *wakers)
{
    free(wakers);
}

/* ---- A run that passes. ---------------------------------------------------------------------- */

/* The call of the reader's that ends the wait, by another; UINT32_MAX: none. */
static uint32_t
call_of(const struct sim_ledger *ledger, const struct sim_executed *executed,
        const struct sim_wait *wait)
{
    const struct sim_actor_table *actor_table = ledger->actor_table;
    if (wait->end != SIM_WAIT_FIRED || wait->end_event == SIM_EVENT_NONE) {
        return UINT32_MAX;
    }
    const struct sim_event *event = sim_actor_table_event(actor_table, wait->end_event);
    uint32_t part = sim_actor_table_actor(actor_table, event->actor);
    if (event->actor == 0 || part == SIM_PART_NONE ||
            event->actor == actor_table->parts[wait->part].actor) {
        return UINT32_MAX;
    }
    uint32_t index =
            sim_executed_of_event(executed, sim_actor_table_id(actor_table, part), wait->end_event);
    return index != UINT32_MAX && executed->all[index].leaves ? index : UINT32_MAX;
}

/* The conditions of its function that come before it, then those of who called that. */
static void
note_leads(const struct sim_executed *executed, uint32_t index, struct waker *waker)
{
    uint32_t callers = 0;
    const struct sim_instruction *at = &executed->all[index];
    uint32_t i = index;
    while ((i = sim__before_of(executed, i)) != UINT32_MAX && waker->lead_count < LEADS_MAX) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->stack > at->stack) {
            if (++callers > CALLERS_MAX || one->step != at->step) {
                return;
            }
            at = one;
        } else if (one->jump && one->stack == at->stack) {
            waker->leads[waker->lead_count++] = (struct way){one->pc, one->taken};
        }
    }
}

/* NULL: there is no room for one more. */
static struct waker *
waker_of(struct waits *waits, const struct sim_executed *executed, uint32_t index)
{
    const struct sim_instruction *call = &executed->all[index];
    for (uint32_t k = 0; k < waits->count; k++) {
        if (waits->all[k].pc == call->pc) {
            return &waits->all[k];
        }
    }
    if (waits->count == CALLS_MAX) {
        return NULL;
    }
    struct waker *waker = &waits->all[waits->count++];
    *waker = (struct waker){.pc = call->pc, .least = UINT32_MAX};
    note_leads(executed, index, waker);
    return waker;
}

/* The slot of that way, or the free one in which it would be; WAYS_SIZE: all are taken. */
static uint32_t
slot_of(const struct waits *waits, const struct sim_instruction *jump)
{
    uint64_t hash = ((uint64_t)jump->pc * 2 + jump->taken) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < WAYS_SIZE; i++) {
        uint32_t slot = ((uint32_t)(hash >> 40) + i) % WAYS_SIZE;
        const struct way *way = &waits->ways[slot];
        if (way->pc == 0 || (way->pc == jump->pc && way->taken == jump->taken)) {
            return slot;
        }
    }
    return WAYS_SIZE;
}

/* The next condition that the actor decides after the `index`-th instruction; UINT32_MAX. */
static uint32_t
next_jump(const struct sim_executed *executed, uint32_t actor_id, uint32_t index)
{
    for (uint32_t i = index + 1; i < executed->count; i++) {
        if (executed->all[i].jump && executed->all[i].actor_id == actor_id) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* What the one does that was woken. */
static void
note_ways(
        struct waits *waits, const struct sim_executed *executed, uint32_t actor_id, uint32_t index)
{
    waits->woken++;
    for (uint32_t n = 0; n < WAY_LONG && index != UINT32_MAX; n++) {
        index = next_jump(executed, actor_id, index);
        uint32_t slot = index != UINT32_MAX ? slot_of(waits, &executed->all[index]) : WAYS_SIZE;
        if (slot < WAYS_SIZE) {
            waits->ways[slot] = (struct way){executed->all[index].pc, executed->all[index].taken};
        }
    }
}

static uint32_t
times_of(const struct sim_executed *executed, uintptr_t pc)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < executed->count; i++) {
        times += executed->all[i].pc == pc;
    }
    return times;
}

void
sim_wakers_learn(struct sim_wakers *wakers, const struct sim_ledger *ledger,
        const struct sim_executed *executed)
{
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        uint32_t index = is_wait(wait) ? call_of(ledger, executed, wait) : UINT32_MAX;
        for (uint32_t k = 0; k < wakers->count && index != UINT32_MAX; k++) {
            struct waits *waits = &wakers->all[k];
            bool like = waits->wait->site == wait->site && waits->wait->await == wait->await;
            struct waker *waker = like ? waker_of(waits, executed, index) : NULL;
            if (waker != NULL) {
                uint32_t actor_id = sim_actor_table_id(ledger->actor_table, wait->part);
                waker->own += actor_id == waits->actor_id;
                waker->alike += actor_id != waits->actor_id;
                note_ways(waits, executed, actor_id, index);
            }
        }
    }
    for (uint32_t k = 0; k < wakers->count; k++) {
        for (uint32_t w = 0; w < wakers->all[k].count; w++) {
            struct waker *waker = &wakers->all[k].all[w];
            uint32_t times = times_of(executed, waker->pc);
            bool wakes = waker->own + waker->alike > waker->before;
            waker->least = wakes && times < waker->least ? times : waker->least;
            waker->before = waker->own + waker->alike;
        }
    }
}

/* ---- The run that fails. --------------------------------------------------------------------- */

/* What is known of one call: the better the higher. */
enum rank { NOTHING, EARLY, MERGED, TURNED, IDLE, TAKEN };

struct candidate {
    enum rank rank;
    uint32_t index; /* The call here; TURNED: the condition. */
    const struct waits *waits;
    const struct waker *waker;
    const struct sim_wait *taken;
};

/* The first instruction after that event. */
static uint32_t
first_after(const struct sim_executed *executed, uint64_t event)
{
    uint32_t i = 0;
    while (i < executed->count && executed->all[i].events <= event) {
        i++;
    }
    return i;
}

/* The event after those of a call. */
static uint64_t
end_of(const struct sim_actor_table *actor_table, const struct sim_executed *executed,
        uint32_t index)
{
    for (uint32_t i = index + 1; i < executed->count; i++) {
        if (executed->all[i].actor_id == executed->all[index].actor_id) {
            return executed->all[i].events;
        }
    }
    return actor_table->end;
}

static bool
notifies(const struct sim_event *event)
{
    return event->kind == RT_PROBE_FIRE || event->kind == RT_PROBE_FIRE_EMPTY ||
           event->kind == RT_PROBE_WAKE || event->kind == RT_PROBE_POST ||
           event->kind == SIM_EVENT_WRITE || event->kind == SIM_EVENT_READY ||
           event->kind == SIM_EVENT_CALL;
}

/* Whether the call has done anything that is on record. */
static bool
has_effect(const struct sim_actor_table *actor_table, const struct sim_executed *executed,
        uint32_t index)
{
    uint64_t end = end_of(actor_table, executed, index);
    uint32_t part = sim_actor_table_of_id(actor_table, executed->all[index].actor_id);
    bool does = part == SIM_PART_NONE; /* That is not known. */
    for (uint64_t i = executed->all[index].events; i < end && i < actor_table->end && !does; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        does = notifies(event) && event->actor == actor_table->parts[part].actor;
    }
    return does;
}

/* Of another, the wait that the call ends; NULL: none. */
static const struct sim_wait *
ended_by(const struct sim_ledger *ledger, const struct sim_executed *executed, uint32_t index,
        uint32_t part)
{
    uint64_t end = end_of(ledger->actor_table, executed, index);
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end == SIM_WAIT_FIRED && wait->end_event >= executed->all[index].events &&
                wait->end_event < end && wait->part != part) {
            return wait;
        }
    }
    return NULL;
}

/* Since when it has not been woken before that wait. */
static uint32_t
active_since(const struct sim_fate_evidence *evidence, const struct sim_wait *wait)
{
    uint64_t since = 0;
    for (const struct sim_wait *one = evidence->failing->waits; one < wait; one++) {
        bool ended = one->part == wait->part && is_wait(one) && one->end_event != SIM_EVENT_NONE &&
                     one->end_event < wait->store_event;
        since = ended && one->end_event > since ? one->end_event : since;
    }
    return since != 0 ? first_after(evidence->here, since) : 0;
}

/* The call of the reader's in which the actor waits, which may call others of the reader's before;
 * `from`: not known. */
static uint32_t
entered(const struct sim_executed *here, uint32_t actor_id, uint32_t from)
{
    uintptr_t above = 0;
    for (uint32_t i = from; i-- > 0;) {
        const struct sim_instruction *one = &here->all[i];
        if (one->actor_id == actor_id && one->leaves && one->stack > above) {
            return i;
        }
        above = one->actor_id == actor_id && one->stack > above ? one->stack : above;
    }
    return from;
}

/* The first condition before it that is decided the other way meanwhile, and not this way. */
static uint32_t
turned_at(const struct sim_executed *here, const struct waker *waker, uint32_t from)
{
    for (uint32_t l = 0; l < waker->lead_count; l++) {
        bool same = false;
        uint32_t other = UINT32_MAX;
        for (uint32_t i = from; i < here->count; i++) {
            if (here->all[i].pc == waker->leads[l].pc) {
                same = same || here->all[i].taken == waker->leads[l].taken;
                other = here->all[i].taken != waker->leads[l].taken ? i : other;
            }
        }
        if (same || other != UINT32_MAX) {
            return same ? UINT32_MAX : other;
        }
    }
    return UINT32_MAX;
}

/* Parts of a wait, as indices of instructions. */
struct times {
    uint32_t active;  /* Since when it had not been woken. */
    uint32_t entered; /* It makes the call in which it waits. */
    uint32_t from;    /* It waits. */
};

static struct times
times_of_wait(const struct sim_fate_evidence *evidence, const struct waits *waits)
{
    uint32_t from = first_after(evidence->here, waits->wait->store_event);
    return (struct times){.active = active_since(evidence, waits->wait),
            .entered = entered(evidence->here, waits->actor_id, from),
            .from = from};
}

/* What is ready stays so until it is taken. */
static bool
is_kept(const struct sim_wait *wait)
{
    return SIM_OBJECT_KIND(wait->object) == RT_OBJECT_SOURCE;
}

/* Whether the waiting actor has an event of that kind between these two instructions. */
static bool
has_between(const struct sim_fate_evidence *evidence, const struct sim_wait *wait, uint32_t kind,
        uint32_t from, uint32_t to)
{
    const struct sim_actor_table *actor_table = evidence->failing->actor_table;
    uint64_t end = to < evidence->here->count ? evidence->here->all[to].events : actor_table->end;
    for (uint64_t i = evidence->here->all[from].events; i < end && i < actor_table->end; i++) {
        if (sim_actor_table_event(actor_table, i)->kind == kind &&
                sim_actor_table_part_of(actor_table, i) == wait->part) {
            return true;
        }
    }
    return false;
}

/* Whether the actor has made the call in which it waits before, after that instruction. */
static bool
entered_since(const struct sim_executed *here, const struct times *times, uint32_t index)
{
    uint32_t i = index;
    while (i < times->entered &&
            (here->all[i].pc != here->all[times->entered].pc ||
                    here->all[i].actor_id != here->all[times->entered].actor_id)) {
        i++;
    }
    return i < times->entered;
}

/* The last call before it that has notified; UINT32_MAX: none. */
static uint32_t
notified_before(const struct sim_fate_evidence *evidence, uint32_t index)
{
    const struct sim_executed *here = evidence->here;
    for (uint32_t i = index; i-- > 0;) {
        if (here->all[i].pc == here->all[index].pc &&
                has_effect(evidence->failing->actor_table, here, i)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Of a call before the wait: what comes of it is lost where nothing keeps it, or where it is taken
 * in the call that waits, as if it was not meant for that. What has no effect where one keeps it
 * is one with what came before. */
static enum rank
rank_before(const struct sim_fate_evidence *evidence, const struct times *times, uint32_t index,
        const struct sim_wait *wait, const struct sim_wait *taken)
{
    bool does = has_effect(evidence->failing->actor_table, evidence->here, index);
    bool active = index >= times->active;
    if (SIM_OBJECT_KIND(wait->object) == RT_OBJECT_SEMAPHORE || taken != NULL) {
        return NOTHING;
    }
    if (!is_kept(wait)) { /* One that locks looks after that. */
        bool looks = has_between(evidence, wait, SIM_EVENT_GRANTED, index, times->from);
        return (active || !does) && !looks ? EARLY : NOTHING;
    }
    if (index < times->entered && times->entered < times->from &&
            !entered_since(evidence->here, times, index) &&
            !has_between(evidence, wait, SIM_EVENT_READ, index, times->entered) &&
            !has_between(evidence, wait, SIM_EVENT_REPORT, index, times->entered)) {
        return EARLY;
    }
    return does || notified_before(evidence, index) == UINT32_MAX ? NOTHING : MERGED;
}

static void
judge_call(const struct sim_fate_evidence *evidence, const struct times *times, uint32_t index,
        struct candidate *one)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_wait *wait = one->waits->wait;
    const struct sim_wait *taken = ended_by(evidence->failing, here, index, wait->part);
    enum rank rank = NOTHING;
    if (here->all[index].actor_id == one->waits->actor_id) {
        return;
    }
    if (index >= times->from) {
        bool does = has_effect(evidence->failing->actor_table, here, index);
        rank = taken != NULL ? TAKEN : does ? NOTHING : IDLE;
    } else {
        rank = rank_before(evidence, times, index, wait, taken);
    }
    if (rank != NOTHING && rank >= one->rank) {
        one->rank = rank;
        one->index = index;
        one->taken = taken;
    }
}

static struct candidate
judge(const struct sim_fate_evidence *evidence, const struct waits *waits,
        const struct waker *waker)
{
    const struct sim_executed *here = evidence->here;
    struct candidate one = {.rank = NOTHING, .waits = waits, .waker = waker};
    const struct times times = times_of_wait(evidence, waits);
    uint32_t count = 0;
    for (uint32_t i = 0; i < here->count; i++) {
        if (here->all[i].pc == waker->pc) {
            count++;
            judge_call(evidence, &times, i, &one);
        }
    }
    uint32_t condition = one.rank < IDLE ? turned_at(here, waker, times.from) : UINT32_MAX;
    if (count < waker->least || (condition != UINT32_MAX && sim_unusual_has(evidence, condition))) {
        bool same = one.taken != NULL && one.taken->object == waits->wait->object;
        one.rank = condition != UINT32_MAX ? TURNED : same ? one.rank : NOTHING;
        one.index = condition != UINT32_MAX ? condition : one.index;
    }
    return one;
}

/* Whether that actor's own wait was ended by any of them. */
static bool
has_own(const struct waits *waits)
{
    bool own = false;
    for (uint32_t w = 0; w < waits->count; w++) {
        own = own || waits->all[w].own > 0;
    }
    return own;
}

static bool
is_better(const struct candidate *one, const struct candidate *than)
{
    if (one->rank != than->rank || one->rank == NOTHING) {
        return one->rank > than->rank;
    }
    bool more = one->waker->own > than->waker->own;
    bool apart = one->waits != than->waits || one->rank == TURNED;
    return apart && one->waker->own != than->waker->own ? more : one->index > than->index;
}

static struct candidate
best_of(const struct sim_wakers *wakers, const struct sim_fate_evidence *evidence)
{
    struct candidate best = {.rank = NOTHING};
    for (uint32_t k = 0; k < wakers->count; k++) {
        const struct waits *waits = &wakers->all[k];
        for (uint32_t w = 0; w < waits->count; w++) {
            struct candidate one = judge(evidence, waits, &waits->all[w]);
            if ((waits->all[w].own > 0 || !has_own(waits)) && is_better(&one, &best)) {
                best = one;
            }
        }
    }
    return best;
}

/* ---- As a fate. ------------------------------------------------------------------------------ */

/* The first condition by which the one that was woken goes as none does there. */
static void
find_way(const struct sim_fate_evidence *evidence, const struct candidate *best,
        struct sim_fate *fate)
{
    const struct waits *waits = best->waits;
    uint32_t actor_id = sim_actor_table_id(evidence->failing->actor_table, best->taken->part);
    uint32_t index = best->index;
    for (uint32_t n = 0; n < WAY_LONG && waits->woken >= WOKEN_LEAST && index != UINT32_MAX; n++) {
        index = next_jump(evidence->here, actor_id, index);
        uint32_t slot =
                index != UINT32_MAX ? slot_of(waits, &evidence->here->all[index]) : WAYS_SIZE;
        if (slot < WAYS_SIZE && waits->ways[slot].pc == 0) {
            fate->way = sim__located(evidence, evidence->failing, evidence->here, index);
            fate->way_line = sim__goes_to(evidence, index, &fate->way.place);
            return;
        }
    }
}

/* The call before it that has notified, and when that was taken. */
static void
find_merged(const struct sim_fate_evidence *evidence, const struct candidate *best,
        struct sim_fate *fate)
{
    const struct sim_executed *here = evidence->here;
    const struct sim_ledger *ledger = evidence->failing;
    fate->merged = sim__located(evidence, ledger, here, notified_before(evidence, best->index));
    for (uint32_t i = 0; i < ledger->count && fate->merged_step == 0; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool after = wait->part == fate->wait.part && wait->store_event != SIM_EVENT_NONE &&
                     wait->store_event > here->all[best->index].events && is_wait(wait);
        fate->merged_step = after ? wait->store_step : 0;
    }
    fate->merged.step = fate->merged_step != 0 ? fate->merged.step : 0;
}

static bool
find_condition(const struct sim_fate_evidence *evidence, const struct candidate *best,
        struct sim_fate *fate)
{
    struct sim_branches branches = {.count = 1};
    struct sim_guard guard = {.condition = {.step = 0}};
    branches.all[0] = sim_branch_at(evidence->here, best->index);
    (void)sim_guard_try(evidence, &branches, &guard);
    fate->tried = guard.condition.step != 0;
    if (!fate->tried) {
        (void)sim_guard_describe(evidence, best->index, &guard);
    }
    if (!fate->tried && !sim_unusual_has(evidence, best->index)) {
        return false;
    }
    fate->kind = SIM_FATE_TURNED;
    fate->condition = guard.condition;
    fate->read = guard.read;
    fate->wake = (struct sim_location){.part = guard.condition.part};
    return sim__reader_at(evidence, best->waker->pc, &fate->wake.place);
}

/* Whether all that are blocked wait in one line. */
static bool
wait_alike(const struct sim_wakers *wakers)
{
    bool alike = true;
    for (uint32_t k = 1; k < wakers->count; k++) {
        alike = alike && wakers->all[k].wait->site == wakers->all[0].wait->site &&
                wakers->all[k].wait->await == wakers->all[0].wait->await;
    }
    return alike;
}

bool
sim_wakers_find(const struct sim_wakers *wakers, const struct sim_fate_evidence *evidence,
        struct sim_fate *ret)
{
    const struct candidate best = best_of(wakers, evidence);
    if (best.rank == NOTHING) {
        return false;
    }
    *ret = (struct sim_fate){.wait = *best.waits->wait, .many = true};
    sim__find_sleeps(evidence, best.waits->wait, &ret->sleeps);
    if (best.rank == TURNED) {
        return find_condition(evidence, &best, ret);
    }
    ret->call = sim__located(evidence, evidence->failing, evidence->here, best.index);
    ret->kind = best.rank == EARLY ? SIM_FATE_EARLY : SIM_FATE_SWALLOWED;
    bool known = ret->call.place.line != 0;
    if (best.rank == TAKEN) {
        sim__fate_note_taken(evidence, best.taken, ret);
        find_way(evidence, &best, ret);
        return known && (best.taken->object == ret->wait.object || ret->way.step != 0);
    }
    if (best.rank == MERGED) {
        find_merged(evidence, &best, ret);
    }
    /* One that has nothing to do waits, too. */
    return known && (best.rank != EARLY || is_kept(&ret->wait) || wait_alike(wakers) ||
                            sim__fate_would_help(evidence, best.waits->wait));
}
