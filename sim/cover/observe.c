/*
 * observe.c -- one pass over the events of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cover/observe.h"

#include <string.h>

#include "runtime/base/assert.h"

/* What thing.memory holds, by kind of object. */
enum { WAITS /* Of a task: where it last stored a waker; of a source: where one waited for it. */ };
enum task_memory {
    TASK_WAITS = WAITS,
    TASK_GOES_ON,    /* Where it waited for what has woken it. */
    TASK_WAKE,       /* Where it was woken; 0: it has been polled since. */
    TASK_WOKEN_STEP, /* When. */
    TASK_TIMER,      /* Where it armed its last timer; 0: none, or that race is over. */
    TASK_TIMER_OBJECT,
    TASK_TIMER_CAME /* 1: that timer has expired. */
};
enum slot_memory {
    SLOT_STORED, /* Where; 0: it is empty. */
    SLOT_STORED_STEP,
    SLOT_WHOSE,       /* The object whose waker it is. */
    SLOT_FOUND_EMPTY, /* Where a wake found it so, since the last store. */
    SLOT_ARMED_BY     /* Of a timer: the task. */
};
enum cell_memory { CELL_SET, CELL_SET_BY };

/* A run on its way through. */
struct pass {
    struct sim_cover *cover;
    struct sim_cover_run *run;
    struct sim_element *elements;
    uint32_t count;
    uint32_t max;
    uint32_t task;        /* That is being polled; 0: none. */
    uint32_t *memory;     /* Of that task. */
    uint32_t fired;       /* The slot of the last FIRE in this step; 0: none. */
    uint32_t fired_site;  /* Where it had been stored … */
    uint32_t fired_whose; /* … and whose it was. */
    bool by_timer;        /* A timer fired, and whom it wakes was not woken yet. */
};

/* Its hash: by itself, and nobody has its address, so that it stays in registers. */
struct chain {
    uint64_t hash;  /* Running, of this transition. */
    uint64_t total; /* Over the transitions that are complete. */
    uint64_t quiet; /* Of the last move of the clock while all was quiet. */
    uint32_t actor; /* Whose transition it is. */
    uint32_t transitions;
};

/* ---- Mixing. --------------------------------------------------------------------------------- */

#define MIX_1 UINT64_C(0x9e3779b97f4a7c15)
#define MIX_2 UINT64_C(0xe7037ed1a0b428db)
#define MIX_3 UINT64_C(0xa0761d6478bd642f)

__extension__ typedef unsigned __int128 wide;

/* Both halves of a product, one on the other: each bit of `a` reaches each of the answer. */
static inline uint64_t
mix(uint64_t a, uint64_t b)
{
    wide product = (wide)(a ^ MIX_2) * (b ^ MIX_3);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* ---- Objects. -------------------------------------------------------------------------------- */

static uint32_t
actor_id(const struct sim_cover *cover, uint32_t index)
{
    bool known = index < SIM_COVER_ACTORS && cover->actors[index].stamp == cover->stamp;
    return known ? cover->actors[index].id : index;
}

static inline uint64_t
key_of(const struct sim_cover *cover, uint32_t object)
{
    return (uint64_t)cover->stamp << 32 | object;
}

/* Nobody has touched it: as if its maker had written it. */
static void
thing_begin(struct sim_cover *cover, struct sim_cover_thing *thing, uint32_t object)
{
    uint32_t creator = actor_id(cover, SIM_OBJECT_ACTOR(object));
    *thing = (struct sim_cover_thing){.key = key_of(cover, object), .mode = SIM_MODE_WRITE};
    thing->id = (uint32_t)mix((uint64_t)creator << 32 | (object & 0xf000ffffu), MIX_1);
}

/* A new place, or the one that all others share. */
__attribute__((noinline)) static struct sim_cover_thing *
thing_new(struct pass *pass, struct sim_cover_thing *place, uint32_t object)
{
    struct sim_cover *cover = pass->cover;
    if (cover->things_used >= SIM_COVER_OBJECTS / 4 * 3) {
        pass->run->coarse = true;
        if (cover->rest.key != key_of(cover, 0)) {
            thing_begin(cover, &cover->rest, 0);
        }
        return &cover->rest;
    }
    cover->things_used++;
    thing_begin(cover, place, object);
    return place;
}

static inline struct sim_cover_thing *
thing_of(struct pass *pass, uint32_t object)
{
    struct sim_cover *cover = pass->cover;
    uint64_t key = key_of(cover, object);
    uint32_t at = (uint32_t)(object * MIX_1 >> 40);
    for (;; at++) {
        struct sim_cover_thing *place = &cover->things[at & (SIM_COVER_OBJECTS - 1)];
        if (place->key == key) {
            return place;
        }
        if (place->key >> 32 != cover->stamp) {
            return thing_new(pass, place, object);
        }
    }
}

/* ---- The hash. ------------------------------------------------------------------------------- */

/* A new block begins where the mode changes. */
__attribute__((noinline)) static void
block_begin(struct sim_cover_thing *thing, uint32_t mode)
{
    if (thing->mode != SIM_MODE_WRITE) {
        thing->before = mix(thing->before ^ thing->mode, thing->block);
    }
    thing->block = 0;
    thing->mode = mode;
}

/* The access, and what is said about it, go in by one product: the length of this chain is what the
 * pass costs. Returns the hash with it. */
static inline uint64_t
touch(uint64_t hash, struct sim_cover_thing *thing, uint32_t mode, uint64_t what, uint64_t where)
{
    if (mode != thing->mode) {
        block_begin(thing, mode);
    }
    hash = mix(hash + what, where + thing->before);
    if (mode == SIM_MODE_WRITE) {
        thing->before = hash;
    } else {
        thing->block += mix(hash, MIX_1);
    }
    return hash;
}

static inline struct sim_cover_thing *
resource_of(struct sim_cover *cover, uint32_t resource)
{
    struct sim_cover_thing *thing = &cover->resources[resource];
    if (thing->key != key_of(cover, resource)) {
        *thing = (struct sim_cover_thing){.key = key_of(cover, resource), .mode = SIM_MODE_WRITE};
    }
    return thing;
}

/* Arguments that say what was done. Others are times, keys, or the numbers of objects. */
#define BIT(kind) (UINT64_C(1) << (kind))
#define TOLD_BY_RUNTIME \
    (BIT(RT_PROBE_WAKE) | BIT(RT_PROBE_POLLED) | BIT(RT_PROBE_CONSUME) | BIT(RT_PROBE_PUT) | \
            BIT(RT_PROBE_GRANT) | BIT(RT_PROBE_UNGRANT) | BIT(RT_PROBE_ASK))
#define TOLD_BY_WORLD \
    (BIT(SIM_EVENT_READ - SIM_EVENT_FIRST) | BIT(SIM_EVENT_WRITE - SIM_EVENT_FIRST) | \
            BIT(SIM_EVENT_READY - SIM_EVENT_FIRST) | BIT(SIM_EVENT_FAULT - SIM_EVENT_FIRST))

static bool
argument_counts(uint32_t kind)
{
    uint64_t told = kind < SIM_EVENT_FIRST ? TOLD_BY_RUNTIME : TOLD_BY_WORLD;
    return kind < SIM_EVENT_END_OF_KINDS && (told >> (kind & 63) & 1) != 0;
}

/* What touches nothing conflicts with nothing: it goes in beside the chain of products. */
static inline uint64_t
mix_alone(uint64_t hash, uint64_t what, uint64_t where)
{
    return (hash << 23 | hash >> 41) + (what ^ where * MIX_1);
}

/* The resources of an event that touches more than its object. */
__attribute__((noinline)) static uint64_t
touch_also(struct sim_cover *cover, const struct sim_footprint *footprint, uint64_t hash)
{
    for (uint32_t i = 0; i < 2 && footprint->also[i].resource != SIM_RESOURCE_NONE; i++) {
        struct sim_cover_thing *resource = resource_of(cover, footprint->also[i].resource);
        hash = touch(hash, resource, footprint->also[i].mode, i, 0);
    }
    return hash;
}

static inline uint64_t
mix_event(struct sim_cover *cover, const struct sim_event *event, struct sim_cover_thing *thing,
        uint64_t hash)
{
    const struct sim_cover_kind *kind = &cover->kinds[event->kind];
    uint64_t what = (uint64_t)event->kind << 56 ^ (event->argument & kind->told) * MIX_1;
    uint64_t where = (uint64_t)event->site << 32 | event->await;
    if (thing != NULL && kind->mode != SIM_MODE_NONE) {
        hash = touch(hash, thing, kind->mode, what ^ thing->id, where);
    } else {
        hash = mix_alone(hash, what ^ (thing != NULL ? thing->id : 0), where);
    }
    return kind->touches_more ? touch_also(cover, &sim_footprints[event->kind], hash) : hash;
}

static inline void
end_transition(struct sim_cover *cover, struct chain *chain)
{
    uint64_t hash = mix(chain->hash, MIX_1);
    chain->total += hash;
    chain->transitions++;
    cover->actors[chain->actor].hash = hash;
}

/* An actor begins with its id, so that two of the same code are told apart. */
static inline void
know_actor(struct sim_cover *cover, uint32_t index, uint32_t id)
{
    if (cover->actors[index].stamp != cover->stamp) {
        cover->actors[index].stamp = cover->stamp;
        cover->actors[index].id = id;
        cover->actors[index].hash = mix(id, MIX_1);
    }
}

/*
 * The resource QUIET, which every step READs and CLOCK WRITEs, needs no blocks: what lies before a
 * move of the clock is all that is complete, and that is the sum over it.
 */
static inline void
begin_transition(struct sim_cover *cover, struct chain *chain, const struct sim_event *event)
{
    end_transition(cover, chain);
    chain->actor = event->actor & (SIM_COVER_ACTORS - 1);
    know_actor(cover, chain->actor, chain->actor);
    chain->hash = cover->actors[chain->actor].hash + chain->quiet;
    if (event->kind == SIM_EVENT_CLOCK) {
        chain->hash = mix(chain->hash, chain->total);
        chain->quiet = chain->hash;
    }
}

/* ---- Elements. ------------------------------------------------------------------------------- */

__attribute__((noinline)) static void
element_new(struct pass *pass, uint32_t at, const struct sim_element *element)
{
    struct sim_cover *cover = pass->cover;
    if (pass->count == pass->max) {
        pass->run->cut = true;
        return;
    }
    cover->seen[at].sites = (uint64_t)element->first << 32 | element->second;
    cover->seen[at].kind = key_of(cover, element->kind);
    pass->elements[pass->count++] = *element;
}

/* Sites are hashes: no more is needed to spread them. */
static inline void
cover_element(struct pass *pass, uint32_t kind, uint32_t first, uint32_t second)
{
    const struct sim_cover *cover = pass->cover;
    uint64_t sites = (uint64_t)first << 32 | second;
    uint64_t key = key_of(cover, kind);
    for (uint32_t at = first + (second << 7 | second >> 25) + kind * 97;; at++) {
        at &= SIM_COVER_ELEMENTS - 1;
        if (cover->seen[at].sites == sites && cover->seen[at].kind == key) {
            return;
        }
        if (cover->seen[at].kind >> 32 != cover->stamp) {
            element_new(pass, at, &(struct sim_element){kind, first, second});
            return;
        }
    }
}

/* The user's line where it is known, else the runtime's. */
static inline uint32_t
where(const struct sim_event *event)
{
    return event->await != 0 ? event->await : event->site;
}

static inline bool
is_task(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_TASK;
}

static inline bool
is_timer(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_TIMER;
}

static void
see_store(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    uint32_t site = where(event);
    cover_element(pass, SIM_ELEMENT_STORED, site, 0);
    if (slot[SLOT_FOUND_EMPTY] != 0) {
        cover_element(pass, SIM_ELEMENT_TOO_EARLY, slot[SLOT_FOUND_EMPTY], site);
    }
    slot[SLOT_STORED] = site;
    slot[SLOT_STORED_STEP] = event->step;
    slot[SLOT_WHOSE] = (uint32_t)event->argument;
    slot[SLOT_FOUND_EMPTY] = 0;
    if (pass->task != 0) {
        pass->memory[TASK_WAITS] = site;
    }
}

/* It stays as it is stored, and the task waits there. */
static void
see_keep(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    if (pass->task != 0) {
        pass->memory[TASK_WAITS] = where(event);
    }
    slot[SLOT_STORED] = slot[SLOT_STORED] != 0 ? slot[SLOT_STORED] : where(event);
}

/* Who is being polled had slept while this waiter was waiting for him. */
static void
see_blocking(struct pass *pass, const uint32_t *slot)
{
    if (pass->task == 0 || slot[SLOT_WHOSE] == pass->task) {
        return;
    }
    const uint32_t *waker = pass->memory;
    if (waker[TASK_GOES_ON] != 0 && waker[TASK_WOKEN_STEP] >= slot[SLOT_STORED_STEP]) {
        cover_element(pass, SIM_ELEMENT_BLOCKED_BLOCKING, slot[SLOT_STORED], waker[TASK_GOES_ON]);
    }
}

static void
see_fire(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    pass->fired = event->object;
    pass->fired_site = slot[SLOT_STORED];
    pass->fired_whose = slot[SLOT_WHOSE];
    pass->by_timer = pass->by_timer || is_timer(event->object);
    if (slot[SLOT_STORED] != 0) {
        cover_element(pass, SIM_ELEMENT_FIRED, slot[SLOT_STORED], where(event));
        see_blocking(pass, slot);
    }
    slot[SLOT_STORED] = 0;
}

static void
see_erase(struct pass *pass, const struct sim_event *event, uint32_t *slot)
{
    uint32_t stored = slot[SLOT_STORED];
    if (stored != 0) {
        cover_element(pass, SIM_ELEMENT_ERASED, stored, where(event));
    }
    uint32_t whose = is_task(slot[SLOT_WHOSE]) ? slot[SLOT_WHOSE] : pass->task;
    if (stored != 0 && whose != 0 && !is_timer(event->object)) {
        const uint32_t *task = thing_of(pass, whose)->memory;
        if (task[TASK_TIMER] != 0 && task[TASK_TIMER_CAME] != 0) {
            cover_element(pass, SIM_ELEMENT_TIMER_FIRST, task[TASK_TIMER], stored);
        }
    }
    slot[SLOT_STORED] = 0;
}

/* The race of a task's timer with another wake of it. */
static void
see_race(struct pass *pass, const uint32_t *task, uint32_t came)
{
    if (task[TASK_TIMER] != 0) {
        uint32_t kind =
                task[TASK_TIMER_CAME] != 0 ? SIM_ELEMENT_TIMER_FIRST : SIM_ELEMENT_EVENT_FIRST;
        cover_element(pass, kind, task[TASK_TIMER], came);
    }
}

/* Arguments of WAKE. */
#define WAKE_COALESCED 1u

static void
see_wake(struct pass *pass, const struct sim_event *event, uint32_t *task)
{
    uint32_t from = where(event);
    bool by_slot = pass->fired != 0 && pass->fired_site != 0 && pass->fired_whose == event->object;
    uint32_t waited = by_slot ? pass->fired_site : task[TASK_WAITS];
    if (event->object != pass->task && !pass->by_timer) {
        see_race(pass, task, waited != 0 ? waited : from);
    }
    pass->by_timer = false;
    if (event->argument == WAKE_COALESCED) {
        cover_element(pass, SIM_ELEMENT_COALESCED, from, waited);
        return;
    }
    task[TASK_WAKE] = from;
    task[TASK_GOES_ON] = waited;
    task[TASK_WOKEN_STEP] = event->step;
}

static void
see_poll(struct pass *pass, const struct sim_event *event, uint32_t *task)
{
    pass->task = event->object;
    pass->memory = task;
    if (task[TASK_WAKE] != 0) {
        cover_element(pass, SIM_ELEMENT_WAKE_CAUSE, task[TASK_WAKE], task[TASK_GOES_ON]);
        task[TASK_WAKE] = 0;
    }
}

static void
see_arm(struct pass *pass, const struct sim_event *event, uint32_t *timer)
{
    timer[SLOT_ARMED_BY] = pass->task;
    if (pass->task != 0) {
        uint32_t *task = pass->memory;
        task[TASK_TIMER] = where(event);
        task[TASK_TIMER_OBJECT] = event->object;
        task[TASK_TIMER_CAME] = 0;
    }
}

/* It has come, or it will come no more. */
static void
see_timer_end(struct pass *pass, const struct sim_event *event, const uint32_t *timer)
{
    if (timer[SLOT_ARMED_BY] == 0) {
        return;
    }
    uint32_t *task = thing_of(pass, timer[SLOT_ARMED_BY])->memory;
    if (task[TASK_TIMER_OBJECT] == event->object) {
        task[TASK_TIMER_CAME] = 1;
        task[TASK_TIMER] = event->kind == RT_PROBE_EXPIRE ? task[TASK_TIMER] : 0;
    }
}

static void
see_cell(struct pass *pass, const struct sim_event *event, uint32_t *cell)
{
    if (event->kind == SIM_EVENT_SET) {
        cell[CELL_SET] = event->site;
        cell[CELL_SET_BY] = event->actor;
    } else if (cell[CELL_SET] != 0 && cell[CELL_SET_BY] != event->actor) {
        cover_element(pass, SIM_ELEMENT_READS_FROM, cell[CELL_SET], event->site);
    }
}

/* What an event says whose object is nobody's, or too many. */
static void
see_alone(struct pass *pass, const struct sim_event *event)
{
    switch (event->kind) {
    case RT_PROBE_POLLED:
        pass->task = 0;
        break;
    case RT_PROBE_WAKE_DEAD:
        cover_element(pass, SIM_ELEMENT_WAKE_DEAD, where(event), 0);
        break;
    case SIM_EVENT_GOAL:
        cover_element(pass, SIM_ELEMENT_GOAL, where(event), 0);
        break;
    case SIM_EVENT_ACTOR:
        know_actor(pass->cover, event->actor & (SIM_COVER_ACTORS - 1), (uint32_t)event->argument);
        break;
    default:
        break;
    }
}

/* What an event says about `memory`, which is that of its object. */
static inline void
see_object(struct pass *pass, const struct sim_event *event, uint32_t *memory)
{
    switch (event->kind) {
    case RT_PROBE_POLLED:
        pass->task = 0;
        break;
    case RT_PROBE_POLL:
        see_poll(pass, event, memory);
        break;
    case RT_PROBE_WAKE:
        see_wake(pass, event, memory);
        break;
    case RT_PROBE_STORE:
        see_store(pass, event, memory);
        break;
    case RT_PROBE_KEEP:
        see_keep(pass, event, memory);
        break;
    case RT_PROBE_REPLACE:
        if (memory[SLOT_STORED] != 0) {
            cover_element(pass, SIM_ELEMENT_REPLACED, memory[SLOT_STORED], where(event));
        }
        break;
    case RT_PROBE_FIRE:
        see_fire(pass, event, memory);
        break;
    case RT_PROBE_FIRE_EMPTY:
        cover_element(pass, SIM_ELEMENT_FIRED_EMPTY, where(event), 0);
        memory[SLOT_FOUND_EMPTY] = where(event);
        break;
    case RT_PROBE_ERASE:
        see_erase(pass, event, memory);
        break;
    case RT_PROBE_ARM:
        see_arm(pass, event, memory);
        break;
    case RT_PROBE_EXPIRE:
    case RT_PROBE_DISARM:
        see_timer_end(pass, event, memory);
        break;
    case RT_PROBE_WAIT:
        memory[WAITS] = where(event);
        break;
    case SIM_EVENT_SPURIOUS:
        cover_element(pass, SIM_ELEMENT_SPURIOUS, memory[WAITS], 0);
        break;
    case SIM_EVENT_GET:
    case SIM_EVENT_SET:
        see_cell(pass, event, memory);
        break;
    default:
        see_alone(pass, event);
        break;
    }
}

/* ---- The pass. ------------------------------------------------------------------------------- */

/* Returns the object's place, NULL where it has none. */
static inline struct sim_cover_thing *
see(struct pass *pass, const struct sim_event *event)
{
    if (event->object == 0) {
        see_alone(pass, event);
        return NULL;
    }
    struct sim_cover_thing *thing = thing_of(pass, event->object);
    if (thing != &pass->cover->rest) {
        see_object(pass, event, thing->memory);
    } else {
        see_alone(pass, event);
    }
    return thing;
}

/* The table of footprint.h, in the form in which the pass asks for it. */
static void
know_kinds(struct sim_cover *cover)
{
    for (uint32_t i = 0; i < 256; i++) {
        const struct sim_footprint *footprint = &sim_footprints[i];
        cover->kinds[i].told = argument_counts(i) ? UINT64_MAX : 0;
        cover->kinds[i].mode = footprint->object;
        cover->kinds[i].touches_more = footprint->also[0].resource != SIM_RESOURCE_NONE;
    }
}

static void
begin(struct pass *pass)
{
    struct sim_cover *cover = pass->cover;
    if (++cover->stamp == 0) {
        memset(cover, 0, sizeof(*cover));
        cover->stamp = 1;
    }
    if (cover->stamp == 1) {
        know_kinds(cover);
    }
    cover->things_used = 0;
    know_actor(cover, 0, 0);
}

uint32_t
sim_cover_run(struct sim_cover *cover, const struct sim_recorder *recorder, struct sim_element *ret,
        uint32_t max, struct sim_cover_run *ret_run)
{
    rt_assert(ret != NULL || max == 0);
    *ret_run = (struct sim_cover_run){0};
    struct pass pass = {.cover = cover, .run = ret_run, .elements = ret};
    pass.max = max < SIM_COVER_ELEMENTS_MAX ? max : SIM_COVER_ELEMENTS_MAX;
    begin(&pass);
    struct chain chain = {.hash = cover->actors[0].hash};
    const struct sim_event *events = recorder->memory.events;
    uint64_t mask = recorder->memory.events_capacity - 1;
    uint64_t first = sim_recorder_first(recorder);
    uint64_t end = sim_recorder_told(recorder);
    for (uint64_t i = first; i < end; i++) {
        const struct sim_event *event = &events[i & mask];
        if (sim_begins_transition(event->kind)) {
            begin_transition(cover, &chain, event);
            pass.task = 0;
            pass.fired = 0;
            pass.by_timer = false;
        } else {
            struct sim_cover_thing *thing = see(&pass, event);
            chain.hash = mix_event(cover, event, thing, chain.hash);
        }
    }
    end_transition(cover, &chain);
    /* Goals that `check` reaches when the run is over. */
    for (uint64_t i = end > first ? end : first; i < recorder->count; i++) {
        if (events[i & mask].kind == SIM_EVENT_GOAL) {
            cover_element(&pass, SIM_ELEMENT_GOAL, where(&events[i & mask]), 0);
        }
    }
    ret_run->order_hash = chain.total;
    ret_run->transitions = chain.transitions;
    ret_run->events = end > first ? end - first : 0;
    ret_run->partial = first > 0;
    return pass.count;
}
