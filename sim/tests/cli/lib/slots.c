/*
 * slots.c -- each way in which a slot loses its waker, and names that are given before a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- A race: the waker in the loser's slot is that of a child. ------------------------------- */

struct leaf {
    struct rt_future future;
    struct rt_slot slot;
    const char *reason;
    bool ready;
};

struct program {
    struct rt_task racer;
    struct rt_task writer;
    struct rt_sleep pause;
    struct leaf leaves[2];
    struct rt_child children[2];
    struct rt_race race;
    bool cancels; /* The writer ends the racer, and answers nothing. */
};

static rt_poll
leaf_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct leaf *leaf = rt_container_of(future, struct leaf, future);
    if (leaf->ready) {
        return RT_READY;
    }
    rt_slot_replace(&leaf->slot, cx, leaf->reason);
    return RT_PENDING;
}

static rt_poll
racer_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_race_poll(&rt_container_of(task, struct program, racer)->race, cx);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, writer);
    RT_AWAIT(rt_sleep_poll(&program->pause, cx));
    if (program->cancels) {
        rt_task_cancel(&program->racer);
    } else {
        program->leaves[0].ready = true;
        (void)rt_slot_wake(&program->leaves[0].slot);
    }
    return RT_READY;
}

static void
begin(struct sim_world *world, bool cancels)
{
    static const char *const reasons[] = {"the answer", "a cancellation"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->cancels = cancels;
    for (uint32_t i = 0; i < 2; i++) {
        struct leaf *leaf = &program->leaves[i];
        rt_slot_init(&leaf->slot);
        leaf->reason = reasons[i];
        rt_future_init(&leaf->future, leaf_poll, NULL, reasons[i]);
        program->children[i].future = &leaf->future;
    }
    SIM_ALWAYS(rt_race_init(&program->race, program->children, 2) == RT_OK);
    rt_sleep_init(&program->pause, RT_MS);
    rt_task_init(&program->racer, racer_poll, NULL, "racer");
    rt_task_init(&program->writer, writer_poll, NULL, "writer");
    sim_spawn(rt, &program->racer);
    sim_spawn(rt, &program->writer);
}

static void
setup_ends(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_cancelled(struct sim_world *world)
{
    begin(world, true);
}

/* Only of a failure is all of the record stored. */
static void
check_never(struct sim_world *world, void *state)
{
    (void)world;
    (void)state;
    SIM_ALWAYS(1 + 1 == 3);
}

SIM_SCENARIO(ends, .name = "slots/ends", .about = "The end of a task empties the loser's slot.",
        .setup = setup_ends, .check = check_never, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(cancelled, .name = "slots/cancelled",
        .about = "A cancel empties the slots of both children.", .setup = setup_cancelled,
        .check = check_never, .expect = SIM_VERDICT_INVARIANT);

/* ---- A box that is freed. -------------------------------------------------------------------- */

enum what { FREE_LAST, FREE_HELD, WAKE_FREED, FREE_TWICE, FREE_TASK, FORGET_CLONE };

struct box {
    struct rt_slot slot;
    struct rt_waker clone;
};

struct user {
    struct rt_task task;
    struct rt_task freer;
    struct sim_world *world;
    struct box *box;
    enum what what;
    bool stored;
};

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    if (user->stored) {
        return RT_READY;
    }
    user->stored = true;
    if (user->what == FORGET_CLONE) {
        user->box->clone = rt_waker_clone(&cx->waker);
        sim_free(user->world, user->box);
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    rt_slot_replace(&user->box->slot, cx, "the lid");
    return RT_PENDING;
}

static rt_poll
freer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, freer);
    struct sim_world *world = user->world;
    if (!user->stored) {
        (void)rt_slot_wake(&user->box->slot); /* No task waits yet: only a name says what it is. */
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    if (user->what == FREE_TASK) {
        sim_free(world, user);
    }
    if (user->what != FREE_HELD && user->what != FORGET_CLONE) {
        (void)rt_slot_wake(&user->box->slot);
    }
    if (user->what != FORGET_CLONE) {
        sim_free(world, user->box);
    }
    if (user->what == WAKE_FREED) {
        (void)rt_slot_wake(&user->box->slot);
    } else if (user->what == FREE_TWICE) {
        sim_free(world, user->box);
    }
    return RT_READY;
}

static void
begin_box(struct sim_world *world, enum what what)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct user *user = sim_new(world, struct user);
    user->what = what;
    user->world = world;
    user->box = sim_new(world, struct box);
    rt_slot_init(&user->box->slot);
    sim_slot_name(world, &user->box->slot, "box");
    rt_task_init(&user->task, user_poll, NULL, "user");
    rt_task_init(&user->freer, freer_poll, NULL, "freer");
    sim_spawn(rt, &user->freer);
    sim_spawn(rt, &user->task);
}

#define BOX(identifier, its_name, what, ...) \
    static void setup_##identifier(struct sim_world *world) \
    { \
        begin_box(world, what); \
    } \
    SIM_SCENARIO(identifier, .name = "slots/" its_name, .about = "A box that is freed.", \
            .setup = setup_##identifier, __VA_ARGS__)

BOX(free_last, "free-last", FREE_LAST, .expect = SIM_VERDICT_PASS);
BOX(free_held, "free-held", FREE_HELD, .expect = SIM_VERDICT_LEAK);
BOX(wake_freed, "wake-freed", WAKE_FREED, .expect = SIM_VERDICT_CONTRACT);
BOX(free_twice, "free-twice", FREE_TWICE, .expect = SIM_VERDICT_CONTRACT);
BOX(free_task, "free-task", FREE_TASK, .expect = SIM_VERDICT_CONTRACT);
BOX(forget_clone, "forget-clone", FORGET_CLONE, .expect = SIM_VERDICT_LEAK);

/* ---- The same in a runtime of one's own. ----------------------------------------------------- */

struct own {
    struct sim_world *world;
    struct sim_loop *loop;
    uint64_t *place;
    uint32_t task;
    bool early; /* Frees while the place holds a waker; else it uses the place afterwards. */
};

static void
again(void *runtime, void *task)
{
    (void)runtime;
    (void)task;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct own *own = argument;
    sim_foreign_poll(&own->task);
    sim_foreign_store(&own->task, own->place, "the lid");
    sim_foreign_polled(&own->task, false);
    if (!own->early) {
        sim_foreign_fire(own->place);
    }
    sim_free(world, own->place);
    sim_foreign_fire(own->place);
    sim_foreign_end(&own->task);
}

static void
begin_own(struct sim_world *world, bool early)
{
    struct own *own = sim_new(world, struct own);
    own->early = early;
    own->place = sim_new(world, uint64_t);
    own->loop = sim_loop_new(world, "main", loop_main, own);
    struct sim_foreign *foreign = sim_foreign_new(own->loop, again, own);
    sim_foreign_name(own->place, "box");
    sim_foreign_spawn(foreign, &own->task, "user");
}

static void
setup_place_held(struct sim_world *world)
{
    begin_own(world, true);
}

static void
setup_place_used(struct sim_world *world)
{
    begin_own(world, false);
}

SIM_SCENARIO(place_held, .name = "slots/place-held",
        .about = "A place is freed with a waker in it.", .setup = setup_place_held,
        .expect = SIM_VERDICT_LEAK);
SIM_SCENARIO(place_used, .name = "slots/place-used", .about = "A place is used after it was freed.",
        .setup = setup_place_used, .expect = SIM_VERDICT_CONTRACT);
