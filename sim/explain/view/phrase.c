/*
 * phrase.c -- words for each kind of event, from a table.
 *
 * In a template, %o is the object, %n the argument, %i the same with a sign, %t as a time, %b as
 * bytes, %w whose waker it is, %r what is waited for (reason and object), %x what was said, %y the
 * same in brackets where there is something.
 * A kind may have other words where the object (or the waker) is the actor's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/phrase.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/time/timers.h"
#include "sim/core/decide/options.h"
#include "sim/core/record/call.h"
#include "sim/core/record/call_fault.h"

struct words {
    const char *words; /* NULL: none. */
    const char *own;   /* NULL: the same. */
    bool by_whose;     /* `own` is about whose waker it is, not about the object. */
};

static const struct words table[SIM_EVENT_END_OF_KINDS] = {
        [RT_PROBE_CANCEL] = {"cancels %o", "cancels itself", false},
        [RT_PROBE_PARK] = {"%o parks", "parks", false},
        [RT_PROBE_CLEANUP] = {"cleans %o up", "cleans up", false},
        [RT_PROBE_KEEP] = {"keeps the waker of %w for %r", "keeps waker for %r", true},
        [RT_PROBE_FIRE_EMPTY] = {"wakes %o: no waiter registered", NULL, false},
        [RT_PROBE_CLONE] = {"clones the waker of %w", "clones its waker", true},
        [RT_PROBE_DROP] = {"drops a waker of %w", "drops one of its own wakers", true},
        [RT_PROBE_SUBWAKE] = {"%o: child %n woken", NULL, false},
        [RT_PROBE_EXPIRE] = {"%o comes due", NULL, false},
        [RT_PROBE_DISARM] = {"stops %o", NULL, false},
        [RT_PROBE_UNWAIT] = {"stops watching %o", NULL, false},
        [RT_PROBE_TURN] = {"asks the host", NULL, false},
        [RT_PROBE_PUT] = {"puts %n into %o", NULL, false},
        [RT_PROBE_GRANT] = {"grants %n of %o", NULL, false},
        [RT_PROBE_UNGRANT] = {"takes a grant of %n of %o back", NULL, false},
        [RT_PROBE_SHUT] = {"closes %o", NULL, false},
        [RT_PROBE_YIELD] = {"gives way", NULL, false},
        [RT_PROBE_SUSPEND] = {"%o suspends", NULL, false},
        [RT_PROBE_RESUME] = {"%o resumes", NULL, false},
        [RT_PROBE_SUBMIT] = {"submits %o", NULL, false},
        [RT_PROBE_DONE] = {"%o is done", NULL, false},
        [RT_PROBE_DESTROY] = {"destroys what is left in %o", NULL, false},
        [RT_PROBE_REFUSE] = {"gets nothing of %o, and does not wait", NULL, false},
        [RT_PROBE_MERGE] = {"which is one with what is in %o already", NULL, false},
        [RT_PROBE_UNHEARD] = {"finds no subscriber for it", NULL, false},
        [RT_PROBE_LISTEN] = {"subscribes to %o", NULL, false},
        [RT_PROBE_UNLISTEN] = {"ends its subscription to %o", NULL, false},
        [SIM_EVENT_SLOW] = {"takes %t longer", NULL, false},
        [SIM_EVENT_UNREADY] = {"%o is not ready any more", "is not ready any more", false},
        [SIM_EVENT_REPORT] = {"%o is reported", "is reported", false},
        [SIM_EVENT_SPURIOUS] = {"false alarm for %o", "is woken for nothing", false},
        [SIM_EVENT_READ] = {"reads %b of %o", NULL, false},
        [SIM_EVENT_WRITE] = {"writes %b to %o", NULL, false},
        [SIM_EVENT_BLOCK] = {"blocks in poll of %n", NULL, false},
        [SIM_EVENT_UNBLOCK] = {"poll returns, %n ready", NULL, false},
        [SIM_EVENT_OPEN] = {"opens %o as %n", NULL, false},
        [SIM_EVENT_CLOSE] = {"closes %n (%o)", NULL, false},
        [SIM_EVENT_LOG] = {"says \"%x\"", NULL, false},
        [SIM_EVENT_OUT] = {"prints \"%x\"", NULL, false},
        [SIM_EVENT_PROGRESS] = {"makes progress", NULL, false},
        [SIM_EVENT_GOAL] = {"reaches a goal", NULL, false},
        [SIM_EVENT_DONE] = {"has finished", NULL, false},
        [SIM_EVENT_GET] = {"reads %o: %i", NULL, false},
        [SIM_EVENT_SET] = {"sets %o to %i", NULL, false},
        [SIM_EVENT_ASSIGN] = {"writes %o", NULL, false},
        [SIM_EVENT_FREE] = {"frees the memory of %o with the waker of %w in it",
                "frees the memory of %o with its own waker in it", true},
        [SIM_EVENT_WANTED] = {"waits for %o", NULL, false},
        [SIM_EVENT_GRANTED] = {"%o is granted", NULL, false},
        [SIM_EVENT_RELEASED] = {"gives %o back", NULL, false},
        [SIM_EVENT_FAULT_FREE] = {"(no faults from here on)", NULL, false},
        [SIM_EVENT_SWITCH] = {"gives way before %x()", NULL, false},
};

void
sim_phrase_put_due(struct sim_page *page, uint64_t deadline_ns)
{
    if (deadline_ns == RT_NEVER) {
        sim_page_put(page, "never");
    } else {
        sim_page_time(page, deadline_ns);
    }
}

/* One event, and what is asked of it again and again. */
struct subject {
    const struct sim_actor_table *actor_table;
    const struct sim_event *event;
    uint64_t index;
    uint32_t part;
};

static uint32_t
object_part(const struct subject *subject)
{
    return sim_actor_table_object(subject->actor_table, subject->event->object);
}

/* Number of a waker's owner, as an object; 0 for one that is none. */
static uint32_t
whose(const struct sim_event *event)
{
    return event->argument <= UINT32_MAX ? (uint32_t)event->argument : 0;
}

static void
put_whose(const struct subject *subject, struct sim_page *page)
{
    uint32_t owner = whose(subject->event);
    if (owner == 0) {
        sim_page_put(page, "another task");
    } else {
        sim_actor_table_put_object(subject->actor_table, page, owner, subject->part);
    }
}

static void
put_field(const struct subject *subject, struct sim_page *page, char field)
{
    const struct sim_event *event = subject->event;
    switch (field) {
    case 'o':
        sim_actor_table_put_object(subject->actor_table, page, event->object, subject->part);
        return;
    case 'n':
        sim_page_printf(page, "%llu", (unsigned long long)event->argument);
        return;
    case 'i':
        sim_page_printf(page, "%lld", (long long)event->argument);
        return;
    case 't':
        sim_page_time(page, event->argument);
        return;
    case 'b':
        sim_page_printf(page, "%llu byte%s", (unsigned long long)event->argument,
                event->argument == 1 ? "" : "s");
        return;
    case 'w':
        put_whose(subject, page);
        return;
    case 'r':
        sim_actor_table_put_wanted(subject->actor_table, page, event->object,
                sim_actor_table_text(subject->actor_table, subject->index), subject->part);
        return;
    case 'y':
        if (sim_actor_table_text(subject->actor_table, subject->index) != NULL) {
            sim_page_put(page, " (");
            sim_page_clean(page, sim_actor_table_text(subject->actor_table, subject->index));
            sim_page_put(page, ")");
        }
        return;
    case 'x':
        sim_page_clean(page, sim_actor_table_text(subject->actor_table, subject->index));
        return;
    default:
        rt_unreached("a field that no template has");
    }
}

static void
put_template(const struct subject *subject, struct sim_page *page, const char *template)
{
    for (const char *c = template; *c != '\0'; c++) {
        if (*c == '%') {
            c++;
            put_field(subject, page, *c);
        } else {
            sim_page_add(page, c, 1);
        }
    }
}

static bool
is_own(const struct subject *subject, const struct words *words)
{
    uint32_t owner = words->by_whose ? whose(subject->event) : subject->event->object;
    uint32_t part = sim_actor_table_object(subject->actor_table, owner);
    return subject->part != 0 &&
           (part == subject->part ||
                   sim_actor_table_same_name(subject->actor_table, subject->part, owner));
}

/* The event `back` places before (or, negative, after) this one, when it is of the same step. */
static const struct sim_event *
neighbour(const struct subject *subject, int back)
{
    uint64_t index = back > 0 ? subject->index - (uint64_t)back : subject->index + (uint64_t)-back;
    if (index < subject->actor_table->first || index >= subject->actor_table->end) {
        return NULL;
    }
    const struct sim_event *event = sim_actor_table_event(subject->actor_table, index);
    return event->step == subject->event->step ? event : NULL;
}

static bool
is_of(const struct sim_event *event, uint32_t kind, uint32_t object)
{
    return event != NULL && event->kind == kind && event->object == object;
}

/* Time alone, or its spawn, is no waker. */
static bool
was_woken(const struct subject *subject)
{
    const struct sim_actor_table *actor_table = subject->actor_table;
    uint64_t step = subject->event->cause;
    uint64_t i = step != 0 ? sim_actor_table_step_first(actor_table, step) : actor_table->end;
    for (; i < actor_table->end && sim_actor_table_event(actor_table, i)->step == step; i++) {
        if (is_of(sim_actor_table_event(actor_table, i), RT_PROBE_WAKE, subject->event->object)) {
            return true;
        }
    }
    return false;
}

static bool
put_poll(const struct subject *subject, struct sim_page *page)
{
    sim_page_put(page, "poll");
    if (was_woken(subject)) {
        sim_page_put(page, " (");
        size_t from = page->length;
        sim_page_printf(page, "woken at %u", subject->event->cause);
        sim_page_refer(page, SIM_REF_STEP, from, subject->event->cause);
        sim_page_put(page, ")");
    }
    return true;
}

const char *
sim_phrase_answer(uint64_t answer)
{
    static const char *const answers[] = {"pending", "ready", "parked"};
    return answer < 3 ? answers[answer] : "an answer that is none";
}

static bool
put_polled(const struct subject *subject, struct sim_page *page)
{
    sim_page_printf(page, "-> %s", sim_phrase_answer(subject->event->argument));
    return true;
}

static bool
put_store(const struct subject *subject, struct sim_page *page)
{
    static const struct words words = {
            "stores the waker of %w for %r", "stores waker for %r", true};
    if (whose(subject->event) == 0) {
        put_template(subject, page, "stores a waker for %r");
    } else {
        put_template(subject, page, is_own(subject, &words) ? words.own : words.words);
    }
    const struct sim_event *before = neighbour(subject, 1);
    if (is_of(before, RT_PROBE_REPLACE, subject->event->object)) {
        struct subject replaced = *subject;
        replaced.event = before;
        put_template(&replaced, page, " in place of that of %w");
    }
    return true;
}

/* The store that follows says it. */
static bool
put_replace(const struct subject *subject, struct sim_page *page)
{
    if (is_of(neighbour(subject, -1), RT_PROBE_STORE, subject->event->object)) {
        return false;
    }
    put_template(subject, page, "replaces the waker of %w for %o");
    return true;
}

/* After the poll that ended its task a slot is emptied by that end. */
static bool
put_erase(const struct subject *subject, struct sim_page *page)
{
    static const struct words words = {
            "erases the waker of %w for %o", "takes waker back from %o", true};
    const struct sim_event *before = neighbour(subject, 1);
    for (int back = 2; before != NULL && before->kind == RT_PROBE_ERASE; back++) {
        before = neighbour(subject, back);
    }
    if (before != NULL && before->kind == RT_PROBE_POLLED && before->argument != 0) {
        put_template(subject, page, "its end empties %o");
    } else {
        put_template(subject, page, is_own(subject, &words) ? words.own : words.words);
    }
    return true;
}

/* The answer "ready" has said it already, unless it is a child that was polled by hand. */
static bool
put_complete(const struct subject *subject, struct sim_page *page)
{
    const struct sim_event *before = neighbour(subject, 1);
    for (int back = 2; before != NULL && before->kind == RT_PROBE_ERASE; back++) {
        before = neighbour(subject, back);
    }
    if (subject->part == object_part(subject) ||
            is_of(before, RT_PROBE_POLLED, subject->event->object)) {
        return false;
    }
    put_template(subject, page, "%o has finished");
    return true;
}

/* A timer that comes due fires, and wakes: "comes due, wakes" is enough. */
static bool
put_fire(const struct subject *subject, struct sim_page *page)
{
    const struct sim_event *after = neighbour(subject, -1);
    bool wakes = after != NULL && (after->kind == RT_PROBE_WAKE || after->kind == RT_PROBE_SUBWAKE);
    if (wakes && is_of(neighbour(subject, 1), RT_PROBE_EXPIRE, subject->event->object)) {
        return false;
    }
    put_template(subject, page, "fires %o");
    return true;
}

/* What was read or written has been said. */
static bool
put_consume(const struct subject *subject, struct sim_page *page)
{
    const struct sim_event *before = neighbour(subject, 1);
    uint32_t object = subject->event->object;
    if ((is_of(before, SIM_EVENT_READ, object) || is_of(before, SIM_EVENT_WRITE, object)) &&
            before->argument == subject->event->argument) {
        return false;
    }
    put_template(subject, page, object != 0 ? "takes %n from %o" : "takes %n");
    return true;
}

/* A timer that is started while it runs is moved. */
static bool
put_arm(const struct subject *subject, struct sim_page *page)
{
    const struct sim_move *move = sim_moves_find(&subject->actor_table->moves, subject->index);
    bool never = subject->event->argument == RT_NEVER;
    if (move == NULL) {
        put_template(subject, page, never ? "starts %o, never due" : "starts %o, due at %t");
    } else if (move->from_ns == subject->event->argument) {
        put_template(subject, page,
                never ? "starts %o again, never due" : "starts %o again, due at %t as before");
    } else {
        put_template(subject, page, "moves %o from ");
        sim_phrase_put_due(page, move->from_ns);
        sim_page_put(page, " to ");
        sim_phrase_put_due(page, subject->event->argument);
    }
    return true;
}

/* As a rule the waker for it is stored next to it, and that says it. */
static bool
put_wait(const struct subject *subject, struct sim_page *page)
{
    for (int back = -2; back <= 2; back++) {
        const struct sim_event *other = neighbour(subject, back);
        if (is_of(other, RT_PROBE_STORE, subject->event->object) ||
                is_of(other, RT_PROBE_KEEP, subject->event->object)) {
            return false;
        }
    }
    put_template(subject, page, "watches %o");
    return true;
}

static bool
put_wake(const struct subject *subject, struct sim_page *page)
{
    bool itself = subject->part == object_part(subject) && subject->part != 0;
    if (itself && is_of(neighbour(subject, 1), SIM_EVENT_SPURIOUS, subject->event->object)) {
        return false; /* That was said. */
    }
    put_template(subject, page, itself ? "wakes itself" : "wakes %o");
    if (subject->event->argument == 1) {
        sim_page_put(page, " (is awake already)");
    } else if (subject->event->argument == 2 && !itself) {
        sim_page_put(page, " (during its poll)");
    }
    return true;
}

/* What has been polled before is no new task. */
static bool
put_post(const struct subject *subject, struct sim_page *page)
{
    uint32_t task = object_part(subject);
    bool again =
            task != SIM_PART_NONE && subject->actor_table->parts[task].first_poll < subject->index;
    put_template(subject, page, again ? "starts %o again" : "spawns %o");
    return true;
}

/* Once in a step is enough. Of a descriptor its number is said. */
static bool
put_ready(const struct subject *subject, struct sim_page *page)
{
    static const struct words words = {"%o is ready%y", "is ready%y", false};
    bool own = is_own(subject, &words) &&
               !sim_actor_table_has_number(subject->actor_table, subject->event->object);
    const struct sim_event *before = neighbour(subject, 1);
    for (int back = 2; before != NULL; back++) {
        if (is_of(before, SIM_EVENT_READY, subject->event->object)) {
            return false;
        }
        before = neighbour(subject, back);
    }
    put_template(subject, page, own ? words.own : words.words);
    return true;
}

static bool
put_wake_dead(const struct subject *subject, struct sim_page *page)
{
    bool known = subject->event->object != 0;
    put_template(subject, page,
            known ? "wakes no task: %o has finished" : "wakes no task: that task is gone");
    return true;
}

static bool
put_fault(const struct subject *subject, struct sim_page *page)
{
    uint64_t fault = subject->event->argument;
    char call[SIM_CALL_FAULT_TEXT_MAX];
    if (sim_call_fault_text(fault, call)) {
        sim_page_printf(page, "%s (fault)", call);
        return true;
    }
    const char *name = fault == SIM_FAULT_CANCEL       ? "cancelled while blocked"
                       : fault == SIM_FAULT_CLOCK      ? "the clock steps"
                       : fault == SIM_FAULT_CAPACITY   ? "full before it is"
                       : fault == SIM_FAULT_EINTR      ? "poll interrupted"
                       : fault == SIM_FAULT_MIGRATE    ? "continues under another waker"
                       : fault == SIM_FAULT_REENTRANCY ? "acts inside a wake or a cleanup"
                       : fault == SIM_FAULT_NET        ? "the network fails"
                       : fault == SIM_FAULT_PARTITION  ? "cut off from the network"
                                                       : "of a kind unknown here";
    sim_page_printf(page, "fault: %s", name);
    return true;
}

/* What a system call has done, where the call that follows says it. */
static bool
is_said_by_call(const struct subject *subject)
{
    static const uint8_t said[] = {SIM_EVENT_READ, SIM_EVENT_WRITE, SIM_EVENT_OPEN, SIM_EVENT_CLOSE,
            SIM_EVENT_SUBSCRIBE, SIM_EVENT_UNSUBSCRIBE, SIM_EVENT_UNBLOCK, RT_PROBE_CONSUME};
    if (memchr(said, subject->event->kind, sizeof(said)) == NULL) {
        return false;
    }
    const struct sim_event *after = neighbour(subject, -1);
    for (int ahead = 2; after != NULL && after->kind != SIM_EVENT_CALL; ahead++) {
        after = neighbour(subject, -ahead);
    }
    return after != NULL && sim_call_of(after).number < SIM_CALL_OF_SCENARIO;
}

static bool
put_call(const struct subject *subject, struct sim_page *page)
{
    const struct sim_call call = sim_call_of(subject->event);
    if (call.number == SIM_CALL_none) {
        return false;
    }
    sim_call_put(page, &call);
    return true;
}

bool
sim_phrase_put(const struct sim_actor_table *actor_table, struct sim_page *page, uint64_t event)
{
    struct subject subject = {actor_table, sim_actor_table_event(actor_table, event), event, 0};
    subject.part = sim_actor_table_part_of(actor_table, event);
    if (is_said_by_call(&subject)) {
        return false;
    }
    switch (subject.event->kind) {
    case SIM_EVENT_CALL:
        return put_call(&subject, page);
    case RT_PROBE_POST:
        return put_post(&subject, page);
    case SIM_EVENT_READY:
        return put_ready(&subject, page);
    case RT_PROBE_POLL:
        return put_poll(&subject, page);
    case RT_PROBE_POLLED:
        return put_polled(&subject, page);
    case RT_PROBE_COMPLETE:
        return put_complete(&subject, page);
    case RT_PROBE_STORE:
        return put_store(&subject, page);
    case RT_PROBE_REPLACE:
        return put_replace(&subject, page);
    case RT_PROBE_ERASE:
        return put_erase(&subject, page);
    case RT_PROBE_ARM:
        return put_arm(&subject, page);
    case RT_PROBE_WAIT:
        return put_wait(&subject, page);
    case RT_PROBE_WAKE:
        return put_wake(&subject, page);
    case RT_PROBE_WAKE_DEAD:
        return put_wake_dead(&subject, page);
    case RT_PROBE_FIRE:
        return put_fire(&subject, page);
    case RT_PROBE_CONSUME:
        return put_consume(&subject, page);
    case SIM_EVENT_FAULT:
        return put_fault(&subject, page);
    default:
        break;
    }
    const struct words *words =
            subject.event->kind < SIM_EVENT_END_OF_KINDS ? &table[subject.event->kind] : &table[0];
    if (words->words == NULL) {
        return false;
    }
    bool own = words->own != NULL && is_own(&subject, words);
    put_template(&subject, page, own ? words->own : words->words);
    return true;
}

void
sim_phrase_join(struct sim_page *page, size_t start, const char *next)
{
    rt_assert(start <= page->length);
    if (page->length > start) {
        sim_page_put(page, strncmp(next, "->", 2) == 0 ? " " : ", ");
    }
}

bool
sim_phrase_put_step(const struct sim_actor_table *actor_table, struct sim_page *page, uint64_t step,
        uint64_t until)
{
    uint64_t end = until < actor_table->end ? until : actor_table->end;
    struct sim_page phrase;
    sim_page_init(&phrase, false);
    size_t start = page->length;
    uint64_t i = sim_actor_table_step_first(actor_table, step);
    for (; i < end && sim_actor_table_event(actor_table, i)->step == step; i++) {
        sim_page_clear(&phrase);
        if (sim_phrase_put(actor_table, &phrase, i)) {
            sim_phrase_join(page, start, sim_page_text(&phrase));
            sim_page_join(page, &phrase);
        }
    }
    sim_page_fini(&phrase);
    return page->length > start;
}

uint32_t
sim_phrase_whose_step(const struct sim_actor_table *actor_table, uint64_t step)
{
    uint64_t i = sim_actor_table_step_first(actor_table, step);
    uint32_t part = i != SIM_EVENT_NONE ? sim_actor_table_part_of(actor_table, i) : SIM_PART_NONE;
    for (; i < actor_table->end && sim_actor_table_event(actor_table, i)->step == step; i++) {
        if (sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL) {
            return sim_actor_table_part_of(actor_table, i);
        }
    }
    return part;
}

uint32_t
sim_phrase_woken(const struct sim_actor_table *actor_table, uint64_t event)
{
    const struct sim_event *wake = sim_actor_table_event(actor_table, event);
    if (wake->kind != RT_PROBE_WAKE || wake->argument == 1) {
        return SIM_PART_NONE;
    }
    uint32_t part = sim_actor_table_object(actor_table, wake->object);
    return part != sim_actor_table_part_of(actor_table, event) ? part : SIM_PART_NONE;
}
