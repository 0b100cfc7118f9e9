/*
 * programs.c -- what a random program does, and how it is drawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/programs.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/time/sleep.h"

#define TASKS_MAX 3u
#define OPERATIONS_MAX 4u
#define OBJECTS 2u /* Cells, and slots. */
/* Orders that a program is drawn for; waits that are asked twice add some. */
#define ORDERS_MAX 6500u

/* word, family, polls, what it is */
#define OPERATION_LIST(X) \
    X(SET, "set", CELLS, 1, "writes a cell") \
    X(ADD, "add", CELLS, 1, "adds to a cell in one poll") \
    X(READ, "read", CELLS, 1, "reads a cell into what the task knows") \
    X(COPY, "copy", CELLS, 2, "reads one cell, and a poll later writes the other") \
    X(CAS, "cas", CELLS, 1, "writes a cell where it is 0") \
    X(CHECK, "check", CELLS, 1, "asserts that a cell is not what it may be") \
    X(PARK, "park", SLOTS, 2, "sleeps in a slot until it is woken") \
    X(WAKE, "wake", SLOTS, 1, "wakes who sleeps in a slot") \
    X(AWAIT, "await", SLOTS, 2, "sleeps in a slot until a cell is not 0") \
    X(SEND, "send", CHANNEL, 2, "sends into the channel, waits for room") \
    X(RECEIVE, "receive", CHANNEL, 2, "receives from the channel, waits for an item") \
    X(TRY_SEND, "try-send", CHANNEL, 1, "sends where there is room") \
    X(NOTIFY, "notify", NOTIFY, 1, "notifies one, or leaves a permit") \
    X(NOTIFIED, "notified", NOTIFY, 2, "waits for that") \
    X(SLEEP, "sleep", TIMERS, 2, "sleeps for some milliseconds")

enum family { FAMILY_CELLS, FAMILY_SLOTS, FAMILY_CHANNEL, FAMILY_NOTIFY, FAMILY_TIMERS, FAMILIES };

enum verb {
#define OPERATION_ENUM(name, word, family, polls, about) VERB_##name,
    OPERATION_LIST(OPERATION_ENUM)
#undef OPERATION_ENUM
            VERBS
};

static const struct {
    const char *word;
    enum family family;
    uint32_t polls; /* At most, as a rule. */
} verbs[VERBS] = {
#define OPERATION_ROW(name, word, family, polls, about) \
    [VERB_##name] = {word, FAMILY_##family, polls},
        OPERATION_LIST(OPERATION_ROW)
#undef OPERATION_ROW
};

struct operation {
    enum verb verb;
    uint32_t object;
    int64_t value; /* 1 .. 3 */
};

struct plan {
    struct {
        struct operation operations[OPERATIONS_MAX];
        uint32_t count;
    } tasks[TASKS_MAX];
    uint32_t count;
    uint64_t ways; /* The end is wrong in one of so many ways. */
};

struct shared {
    struct plan plan;
    struct sim_cell cells[OBJECTS];
    struct rt_slot slots[OBJECTS];
    struct rt_channel channel;
    struct rt_notify notify;
    int64_t ring[1];
    struct member *members[TASKS_MAX];
    uint64_t salt;
};

/* Only it, and the check at the end, read this. */
struct member {
    struct rt_task task;
    struct shared *shared;
    uint32_t number;
    uint32_t done;  /* Operations. */
    uint32_t phase; /* Of the one in progress. */
    uint64_t knows;
    int64_t read;
    int64_t item;
    struct rt_send send;
    struct rt_recv recv;
    struct rt_notified notified;
    struct rt_sleep sleep;
};

/* ---- Drawing one. ---------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* Below `n`. */
static uint32_t
draw(uint64_t *state, uint32_t n)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((mix(*state) >> 32) * n >> 32);
}

/* Each program uses some of the families, so that operations meet: cells, and one or two more. */
static uint32_t
draw_families(uint64_t *state)
{
    uint32_t families = 1u << FAMILY_CELLS;
    families |= 1u << (FAMILY_SLOTS + draw(state, FAMILIES - FAMILY_SLOTS));
    if (draw(state, 2) == 0) {
        families |= 1u << (FAMILY_SLOTS + draw(state, FAMILIES - FAMILY_SLOTS));
    }
    return families;
}

static struct operation
draw_operation(uint64_t *state, uint32_t families)
{
    struct operation operation;
    do {
        operation.verb = (enum verb)draw(state, VERBS);
    } while ((families >> verbs[operation.verb].family & 1) == 0);
    operation.object = draw(state, OBJECTS);
    operation.value = 1 + (int64_t)draw(state, 3);
    return operation;
}

static uint32_t
polls_of(const struct plan *plan, uint32_t task)
{
    uint32_t polls = 0;
    for (uint32_t i = 0; i < plan->tasks[task].count; i++) {
        polls += verbs[plan->tasks[task].operations[i].verb].polls;
    }
    return polls;
}

/* The orders of its polls if none ever waited: the multinomial coefficient. */
static uint64_t
orders_of(const struct plan *plan)
{
    uint64_t orders = 1;
    uint64_t placed = 0;
    for (uint32_t task = 0; task < plan->count; task++) {
        uint32_t polls = polls_of(plan, task);
        for (uint64_t i = 1; i <= polls; i++) {
            placed++;
            orders = orders * placed / i;
        }
    }
    return orders;
}

/* The longest task loses its last operation until there are few enough orders. */
static void
shorten(struct plan *plan)
{
    while (orders_of(plan) > ORDERS_MAX) {
        uint32_t longest = 0;
        for (uint32_t task = 1; task < plan->count; task++) {
            longest = polls_of(plan, task) > polls_of(plan, longest) ? task : longest;
        }
        plan->tasks[longest].count--;
    }
}

static struct plan
plan_of(int64_t program)
{
    struct plan plan = {0};
    uint64_t state = mix((uint64_t)program + 1);
    uint32_t families = draw_families(&state);
    plan.count = draw(&state, 3) == 0 ? 2 : 3;
    for (uint32_t task = 0; task < plan.count; task++) {
        plan.tasks[task].count = plan.count == 2 ? OPERATIONS_MAX : 3 + draw(&state, 2);
        for (uint32_t i = 0; i < plan.tasks[task].count; i++) {
            plan.tasks[task].operations[i] = draw_operation(&state, families);
        }
    }
    plan.ways = 2 + draw(&state, 5);
    shorten(&plan);
    return plan;
}

/* ---- What the operations do. ----------------------------------------------------------------- */

/* What became of an operation in one poll. */
enum step { STEP_DONE, STEP_AGAIN, STEP_ASLEEP };

static void
learn(struct member *member, int64_t value)
{
    member->knows = mix(member->knows + (uint64_t)value + 1);
}

static enum step
on_cells(struct member *member, const struct operation *operation)
{
    struct sim_cell *cell = &member->shared->cells[operation->object];
    struct sim_cell *other = &member->shared->cells[1 - operation->object];
    switch ((int)operation->verb) {
    case VERB_SET:
        sim_cell_set(cell, operation->value);
        break;
    case VERB_ADD:
        (void)sim_cell_add(cell, operation->value);
        break;
    case VERB_READ:
        learn(member, sim_cell_get(cell));
        break;
    case VERB_CAS:
        learn(member, sim_cell_cas(cell, 0, operation->value));
        break;
    case VERB_CHECK:
        SIM_ALWAYS(sim_cell_get(cell) != operation->value);
        break;
    default: /* COPY */
        if (member->phase++ == 0) {
            member->read = sim_cell_get(cell);
            return STEP_AGAIN;
        }
        sim_cell_set(other, member->read + operation->value);
        break;
    }
    return STEP_DONE;
}

static enum step
on_slots(struct member *member, const struct operation *operation, struct rt_cx *cx)
{
    struct rt_slot *slot = &member->shared->slots[operation->object];
    if (operation->verb == VERB_WAKE) {
        (void)rt_slot_wake(slot);
        return STEP_DONE;
    }
    if (operation->verb == VERB_PARK) {
        if (member->phase++ != 0) {
            return STEP_DONE;
        }
        rt_slot_replace(slot, cx, "a wake");
        return STEP_ASLEEP;
    }
    if (sim_cell_get(&member->shared->cells[operation->object]) != 0) {
        return STEP_DONE;
    }
    rt_slot_replace(slot, cx, "a number");
    return STEP_ASLEEP;
}

static enum step
on_channel(struct member *member, const struct operation *operation, struct rt_cx *cx)
{
    struct rt_channel *channel = &member->shared->channel;
    bool first = member->phase++ == 0;
    if (operation->verb == VERB_TRY_SEND) {
        learn(member, rt_channel_try_send(channel, &operation->value));
        return STEP_DONE;
    }
    if (operation->verb == VERB_SEND) {
        if (first) {
            rt_send_init(&member->send, channel, &operation->value);
        }
        return rt_send_poll(&member->send, cx) == RT_READY ? STEP_DONE : STEP_ASLEEP;
    }
    if (first) {
        rt_recv_init(&member->recv, channel, &member->item);
    }
    if (rt_recv_poll(&member->recv, cx) != RT_READY) {
        return STEP_ASLEEP;
    }
    learn(member, member->item);
    return STEP_DONE;
}

static enum step
on_notify(struct member *member, const struct operation *operation, struct rt_cx *cx)
{
    if (operation->verb == VERB_NOTIFY) {
        rt_notify_one(&member->shared->notify);
        return STEP_DONE;
    }
    if (member->phase++ == 0) {
        rt_notified_init(&member->notified, &member->shared->notify);
    }
    return rt_notified_poll(&member->notified, cx) == RT_READY ? STEP_DONE : STEP_ASLEEP;
}

static enum step
on_timers(struct member *member, const struct operation *operation, struct rt_cx *cx)
{
    if (member->phase++ == 0) {
        rt_sleep_init(&member->sleep, (uint64_t)operation->value * RT_MS);
    }
    return rt_sleep_poll(&member->sleep, cx) == RT_READY ? STEP_DONE : STEP_ASLEEP;
}

static enum step
operate(struct member *member, const struct operation *operation, struct rt_cx *cx)
{
    switch (verbs[operation->verb].family) {
    case FAMILY_CELLS:
        return on_cells(member, operation);
    case FAMILY_SLOTS:
        return on_slots(member, operation, cx);
    case FAMILY_CHANNEL:
        return on_channel(member, operation, cx);
    case FAMILY_NOTIFY:
        return on_notify(member, operation, cx);
    case FAMILY_TIMERS:
    case FAMILIES:
        break;
    }
    return on_timers(member, operation, cx);
}

static rt_poll
member_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    const struct plan *plan = &member->shared->plan;
    enum step step = operate(member, &plan->tasks[member->number].operations[member->done], cx);
    if (step == STEP_DONE) {
        member->phase = 0;
        member->done++;
        if (member->done == plan->tasks[member->number].count) {
            return RT_READY;
        }
    }
    if (step != STEP_ASLEEP) {
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

/* ---- The scenario. --------------------------------------------------------------------------- */

static void
make_shared(struct sim_world *world, struct shared *shared)
{
    static const char *const names[OBJECTS] = {"x", "y"};
    struct rt_channel_config config = {
            .ring = shared->ring, .item_size = sizeof(int64_t), .capacity = 1};
    for (uint32_t i = 0; i < OBJECTS; i++) {
        sim_cell_init(world, &shared->cells[i], names[i], 0);
        rt_slot_init(&shared->slots[i]);
    }
    rt_channel_init(&shared->channel, &config);
    rt_notify_init(&shared->notify);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[TASKS_MAX] = {"ann", "bob", "cid"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct shared *shared = sim_new(world, struct shared);
    int64_t program = sim_param(world, "program");
    shared->plan = plan_of(program);
    shared->salt = mix((uint64_t)program);
    make_shared(world, shared);
    for (uint32_t i = 0; i < shared->plan.count; i++) {
        struct member *member = sim_new(world, struct member);
        member->shared = shared;
        member->number = i;
        shared->members[i] = member;
        rt_task_init(&member->task, member_poll, NULL, names[i]);
        sim_spawn(rt, &member->task);
    }
    sim_set_state(world, shared);
}

static uint64_t
end_of(const struct shared *shared)
{
    uint64_t end = shared->salt;
    for (uint32_t i = 0; i < OBJECTS; i++) {
        end = mix(end + (uint64_t)sim_cell_peek(&shared->cells[i]));
    }
    for (uint32_t i = 0; i < shared->plan.count; i++) {
        end = mix(end + shared->members[i]->knows);
        end = mix(end + shared->members[i]->done);
    }
    return end;
}

static void
check(struct sim_world *world, void *state)
{
    const struct shared *shared = state;
    (void)world;
    SIM_ALWAYS(end_of(shared) % shared->plan.ways != 0);
}

static const struct sim_param params[] = {{"program", "which", 0, 0, INT64_MAX}, {0}};

const struct sim_scenario program_scenario = {
        .name = "test/program",
        .about = "A small random program.",
        .setup = setup,
        .check = check,
        .params = params,
        .declared = true,
};

void
program_options(struct sim_options *options, int64_t program)
{
    sim_options_init(options, &program_scenario);
    options->params[0] = program;
    options->spurious_one_in = 0;
    options->slow_one_in = 0;
    options->audit_one_in = 0;
}

uint64_t
program_end_of(const struct sim_world *world)
{
    rt_assert(world->scenario == &program_scenario);
    return end_of(world->state);
}

void
program_put(int64_t program, char *text, size_t size)
{
    struct plan plan = plan_of(program);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t task = 0; task < plan.count; task++) {
        for (uint32_t i = 0; i < plan.tasks[task].count && used < size; i++) {
            const struct operation *operation = &plan.tasks[task].operations[i];
            int put = snprintf(text + used, size - used, "%s%s %u,%d",
                    i == 0 ? (task == 0 ? "" : "\n") : "; ", verbs[operation->verb].word,
                    operation->object, (int)operation->value);
            used += (size_t)put;
        }
    }
}

/* ---- Every order. ---------------------------------------------------------------------------- */

static struct every *
every_of(struct sim_strategy *strategy)
{
    return rt_container_of(strategy, struct every, strategy);
}

static void
every_begin(struct sim_strategy *strategy, uint64_t seed)
{
    (void)seed;
    every_of(strategy)->asked = 0;
}

static uint32_t
every_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct every *every = every_of(strategy);
    uint32_t place = every->asked++;
    rt_assert(place < EVERY_CHOICES_MAX);
    if (place == every->depth) {
        every->choices[place].index = 0;
        every->choices[place].n = (uint8_t)choice->n;
        every->depth++;
    }
    rt_assert(every->choices[place].n == choice->n);
    return every->choices[place].index;
}

static const struct sim_strategy_ops every_ops = {
        .repeats = true,
        .begin = every_begin,
        .choose = every_choose,
};

void
every_init(struct every *every)
{
    memset(every, 0, sizeof(*every));
    every->strategy.ops = &every_ops;
}

bool
every_next(struct every *every)
{
    while (every->depth > 0) {
        uint32_t last = every->depth - 1;
        if (++every->choices[last].index < every->choices[last].n) {
            return true;
        }
        every->depth--;
    }
    return false;
}
