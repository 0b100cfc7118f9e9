/*
 * programs.c -- the broken programs.
 *
 * What lies below sim/ is not the reader's, and is never to blame: so these say that they lie
 * elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include "sim/rewake.h"

#line 1 "hand/programs.c"

/* ---- Mail. ----------------------------------------------------------------------------------- */

struct mail {
    bool full;
    struct rt_slot slot;
};

struct mail_task {
    struct rt_task task;
    struct mail *mail;
    struct rt_sleep nap;
};

static void
mail_send(struct mail *mail)
{
    mail->full = true;
    (void)rt_slot_wake(&mail->slot);
}

static rt_poll
mail_reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct mail_task *reader = rt_container_of(task, struct mail_task, task);
    bool woken = reader->nap.duration_ns != 0;
    reader->nap.duration_ns = 1;
    if (woken && reader->mail->full) {
        return RT_READY;
    }
    rt_slot_replace(&reader->mail->slot, cx, "mail");
    return RT_PENDING;
}

static rt_poll
mail_writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    mail_send(rt_container_of(task, struct mail_task, task)->mail);
    return RT_READY;
}

static struct mail_task *
mail_task_new(struct sim_world *world, struct mail *mail, rt_poll_fn poll, const char *name)
{
    struct mail_task *made = sim_new(world, struct mail_task);
    made->mail = mail;
    rt_task_init(&made->task, poll, NULL, name);
    return made;
}

static void
unlooked_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mail *mail = sim_new(world, struct mail);
    rt_slot_init(&mail->slot);
    sim_spawn(rt, &mail_task_new(world, mail, mail_reader_poll, "reader")->task);
    sim_spawn(rt, &mail_task_new(world, mail, mail_writer_poll, "writer")->task);
}

const struct sim_scenario explain_unlooked = {.name = "test/unlooked", .setup = unlooked_setup};

/* ---- A slot that is woken, and holds no waker. ----------------------------------------------- */

struct bell {
    struct rt_slot slot;
    bool signalled;
};

struct listener {
    struct rt_task task;
    struct bell *bell;
    struct rt_sleep patience;
};

static rt_poll
listener_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct listener *listener = rt_container_of(task, struct listener, task);
    return listener->bell->signalled ? RT_READY : rt_sleep_poll(&listener->patience, cx);
}

static rt_poll
ringer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct listener *ringer = rt_container_of(task, struct listener, task);
    (void)cx;
    ringer->bell->signalled = true;
    rt_slot_wake(&ringer->bell->slot);
    return RT_READY;
}

static void
unheard_setup(struct sim_world *world)
{
    static const char *const names[] = {"listener", "ringer"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bell *bell = sim_new(world, struct bell);
    rt_slot_init(&bell->slot);
    for (uint32_t i = 0; i < 2; i++) {
        struct listener *made = sim_new(world, struct listener);
        made->bell = bell;
        rt_sleep_init(&made->patience, RT_NEVER);
        rt_task_init(&made->task, i == 0 ? listener_poll : ringer_poll, NULL, names[i]);
        sim_spawn(rt, &made->task);
    }
}

const struct sim_scenario explain_unheard = {.name = "test/unheard", .setup = unheard_setup};

/* ---- A gate that opens for all, and wakes none: two numbers in one word. --------------------- */

#define GUESTS 3u

struct gate {
    struct rt_slot slots[GUESTS];
    uint32_t arrived;
    uint32_t opened;
};

struct guest {
    struct rt_task task;
    struct gate *gate;
    struct rt_slot *slot;
    bool waiting;
    uint32_t opened; /* When it arrived. */
    uint32_t passed;
};

const uint32_t explain_gate_line = __LINE__ + 7; /* That opens it. */

static void
gate_arrive(struct gate *gate)
{
    if (++gate->arrived == GUESTS) {
        gate->arrived = 0;
        gate->opened++;
    }
}

static rt_poll
guest_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    while (guest->passed < 2) {
        if (!guest->waiting) {
            guest->waiting = true;
            guest->opened = guest->gate->opened;
            gate_arrive(guest->gate);
        }
        if (guest->gate->opened == guest->opened) {
            rt_slot_replace(guest->slot, cx, "the gate");
            return RT_PENDING;
        }
        guest->waiting = false;
        guest->passed++;
    }
    return RT_READY;
}

static void
gate_setup(struct sim_world *world)
{
    static const char *const names[GUESTS] = {"first", "second", "third"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gate *gate = sim_new(world, struct gate);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct guest *guest = sim_new(world, struct guest);
        rt_slot_init(&gate->slots[i]);
        guest->gate = gate;
        guest->slot = &gate->slots[i];
        rt_task_init(&guest->task, guest_poll, NULL, names[i]);
        sim_spawn(rt, &guest->task);
    }
}

const struct sim_scenario explain_gate = {.name = "test/gate", .setup = gate_setup};

/* ---- Alarms. --------------------------------------------------------------------------------- */

struct driver {
    struct rt_task task;
    struct sim_world *world;
    struct rt_sleep timer;
    struct rt_slot changed;
    uint32_t stage;
};

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    while (driver->stage < 2) {
        rt_slot_replace(&driver->changed, cx, "a change");
        RT_AWAIT(rt_sleep_poll(&driver->timer, cx));
        driver->stage++;
        rt_sleep_init(&driver->timer, RT_MS);
        if (driver->stage == 1 && sim_pick(driver->world, 4) == 3) {
            return RT_PENDING;
        }
    }
    return RT_READY;
}

static void
unarmed_setup(struct sim_world *world)
{
    struct driver *driver = sim_new(world, struct driver);
    driver->world = world;
    rt_slot_init(&driver->changed);
    rt_sleep_init(&driver->timer, RT_MS);
    rt_task_init(&driver->task, driver_poll, NULL, "driver");
    sim_spawn(sim_rt_new(world, NULL), &driver->task);
}

const struct sim_scenario explain_unarmed = {.name = "test/unarmed", .setup = unarmed_setup};

/* ---- A permit. ------------------------------------------------------------------------------- */

struct permit_user {
    struct rt_task task;
    struct permits *permits;
    struct rt_slot slot;
    struct rt_sleep sleep;
    bool queued;
    bool granted;
    bool hasty;
};

struct permits {
    struct permit_user *queue[3];
    uint32_t count;
};

static void
permit_release(struct permits *permits)
{
    if (permits->count > 0) {
        struct permit_user *first = permits->queue[0];
        permits->queue[0] = permits->queue[1];
        permits->count--;
        first->queued = false;
        first->granted = true;
        (void)rt_slot_wake(&first->slot);
    }
}

/* A permit that was granted is lost. */
static void
permit_give_up(struct permit_user *user)
{
    (void)rt_slot_clear(&user->slot);
    if (user->queued) {
        struct permits *permits = user->permits;
        permits->queue[0] = permits->queue[0] == user ? permits->queue[1] : permits->queue[0];
        permits->count--;
    }
}

static rt_poll
permit_user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct permit_user *user = rt_container_of(task, struct permit_user, task);
    if (user->hasty && rt_sleep_poll(&user->sleep, cx) == RT_READY) {
        permit_give_up(user);
        return RT_READY;
    }
    if (user->granted) {
        permit_release(user->permits);
        rt_sleep_cancel(&user->sleep);
        return RT_READY;
    }
    if (!user->queued) {
        user->queued = true;
        user->permits->queue[user->permits->count++] = user;
    }
    rt_slot_replace(&user->slot, cx, "a permit");
    return RT_PENDING;
}

static rt_poll
permit_holder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct permit_user *user = rt_container_of(task, struct permit_user, task);
    RT_AWAIT(rt_sleep_poll(&user->sleep, cx));
    permit_release(user->permits);
    return RT_READY;
}

static void
unpassed_setup(struct sim_world *world)
{
    static const char *const names[] = {"holder", "hasty", "patient"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct permits *permits = sim_new(world, struct permits);
    for (uint32_t i = 0; i < 3; i++) {
        struct permit_user *user = sim_new(world, struct permit_user);
        user->permits = permits;
        user->hasty = i == 1;
        rt_slot_init(&user->slot);
        rt_sleep_init(&user->sleep, i == 0 ? 3 * RT_MS : sim_range(world, 5, 6) * RT_MS / 2);
        rt_task_init(&user->task, i == 0 ? permit_holder_poll : permit_user_poll, NULL, names[i]);
        sim_spawn(rt, &user->task);
    }
}

const struct sim_scenario explain_unpassed = {.name = "test/unpassed", .setup = unpassed_setup};

/* ---- Loops. ---------------------------------------------------------------------------------- */

struct ear {
    struct sim_world *world;
    struct sim_fds *fds;
    int fd;
    int peer;
    uint32_t got;
    uint32_t queued;
    bool awake;
};

static void
ear_listen(struct ear *ear)
{
    SIM_ALWAYS(sim_fd_add(ear->fds, ear->fd, SIM_FD_IN, 0) == RT_OK);
}

static void
ear_hear(struct ear *ear)
{
    char byte;
    SIM_ALWAYS(sim_fd_remove(ear->fds, ear->fd) == RT_OK);
    while (sim_fd_read(ear->fds, ear->fd, &byte, 1) == 1) {
        ear->got++;
    }
    if (sim_pick(ear->world, 3) != 1) {
        ear_listen(ear);
    }
}

static void
ear_main(struct sim_world *world, void *argument)
{
    struct ear *ear = argument;
    struct sim_fd_event batch[1];
    (void)world;
    ear_listen(ear);
    while (ear->got < 2) {
        if (sim_fd_wait(ear->fds, batch, 1, SIM_NEVER) > 0) {
            ear_hear(ear);
        }
    }
}

static void
mouth_main(struct sim_world *world, void *argument)
{
    struct ear *ear = argument;
    for (uint32_t i = 0; i < 2; i++) {
        SIM_ALWAYS(sim_fd_write(ear->fds, ear->peer, "*", 1) == 1);
        sim_sleep(world, 4 * RT_MS);
    }
}

static struct ear *
ear_new(struct sim_world *world)
{
    struct ear *ear = sim_new(world, struct ear);
    ear->world = world;
    ear->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    return ear;
}

static void
unasked_setup(struct sim_world *world)
{
    struct ear *ear = ear_new(world);
    int ends[2];
    SIM_ALWAYS(sim_fd_pair(ear->fds, "pipe", 0, RT_MS, ends) == RT_OK);
    ear->fd = ends[0];
    ear->peer = ends[1];
    (void)sim_loop_new(world, "ear", ear_main, ear);
    (void)sim_loop_new_background(world, "mouth", mouth_main, ear);
}

const struct sim_scenario explain_unasked = {
        .name = "test/unasked", .setup = unasked_setup, .profile = SIM_PROFILE_FD};

static void
bell_ring(struct ear *ear)
{
    ear->queued++;
    if (!ear->awake) {
        ear->awake = true;
        SIM_ALWAYS(sim_fd_notify(ear->fds, ear->fd) == RT_OK);
    }
}

static void
bell_answer(struct ear *ear)
{
    uint64_t count = 0;
    (void)sim_fd_read(ear->fds, ear->fd, &count, sizeof(count));
    ear->got += ear->queued;
    ear->queued = 0;
    sim_loop_pause(ear->world);
    ear->awake = false;
}

static void
bell_main(struct sim_world *world, void *argument)
{
    struct ear *ear = argument;
    struct sim_fd_event batch[1];
    (void)world;
    while (ear->got < 2) {
        if (sim_fd_wait(ear->fds, batch, 1, SIM_NEVER) > 0) {
            bell_answer(ear);
        }
    }
}

static void
ringer_main(struct sim_world *world, void *argument)
{
    bell_ring(argument);
    sim_sleep(world, sim_range(world, 0, 3) * RT_US + 250);
    bell_ring(argument);
}

static void
turned_away_setup(struct sim_world *world)
{
    struct ear *ear = ear_new(world);
    SIM_ALWAYS(sim_fd_event_open(ear->fds, "bell", &ear->fd) == RT_OK);
    ear_listen(ear);
    (void)sim_loop_new(world, "ear", bell_main, ear);
    (void)sim_loop_new_background(world, "ringer", ringer_main, ear);
}

const struct sim_scenario explain_turned_away = {
        .name = "test/turned-away", .setup = turned_away_setup, .profile = SIM_PROFILE_FD};

/* ---- One place, and what is written in it. --------------------------------------------------- */

struct news {
    struct rt_slot slot;
    uint32_t state; /* 0: none; 1: there. */
    bool over;
};

struct news_task {
    struct rt_task task;
    struct news *news;
    struct rt_sleep nap;
};

static rt_poll
news_reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news *news = rt_container_of(task, struct news_task, task)->news;
    if (news->state == 1) {
        return RT_READY;
    }
    rt_slot_replace(&news->slot, cx, "news");
    return RT_PENDING;
}

/* Looks at what has come, and puts it off. */
static rt_poll
news_late_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news *news = rt_container_of(task, struct news_task, task)->news;
    if (news->over && news->state == 1) {
        return RT_READY;
    }
    news->over = news->state == 1;
    rt_slot_replace(&news->slot, cx, "news");
    return RT_PENDING;
}

static void
news_publish(struct news *news)
{
    news->state = 1;
    (void)rt_slot_wake(&news->slot);
}

static rt_poll
news_writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news_task *writer = rt_container_of(task, struct news_task, task);
    RT_AWAIT(rt_sleep_poll(&writer->nap, cx));
    news_publish(writer->news);
    return RT_READY;
}

static void
news_finish(struct news *news)
{
    news->state = 1;
}

static rt_poll
news_silent_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news_task *writer = rt_container_of(task, struct news_task, task);
    RT_AWAIT(rt_sleep_poll(&writer->nap, cx));
    news_finish(writer->news);
    return RT_READY;
}

static void
news_reset(struct news *news)
{
    news->state = 0;
}

static rt_poll
news_eraser_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news_task *eraser = rt_container_of(task, struct news_task, task);
    RT_AWAIT(rt_sleep_poll(&eraser->nap, cx));
    news_reset(eraser->news);
    return RT_READY;
}

static void
news_spawn(struct sim_world *world, struct sim_rt *rt, struct news *news, rt_poll_fn poll,
        const char *name, uint64_t nap_ns)
{
    struct news_task *made = sim_new(world, struct news_task);
    made->news = news;
    rt_sleep_init(&made->nap, nap_ns);
    rt_task_init(&made->task, poll, NULL, name);
    sim_spawn(rt, &made->task);
}

static struct news *
news_new(struct sim_world *world)
{
    struct news *news = sim_new(world, struct news);
    rt_slot_init(&news->slot);
    return news;
}

static void
replaced_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct news *news = news_new(world);
    news_spawn(world, rt, news, news_reader_poll, "first", 0);
    news_spawn(world, rt, news, news_reader_poll, "second", 0);
    news_spawn(world, rt, news, news_writer_poll, "writer", RT_MS);
}

const struct sim_scenario explain_replaced = {.name = "test/replaced", .setup = replaced_setup};

static void
put_off_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct news *news = news_new(world);
    news_spawn(world, rt, news, news_late_poll, "reader", 0);
    news_spawn(world, rt, news, news_writer_poll, "writer", RT_MS);
}

const struct sim_scenario explain_put_off = {.name = "test/put-off", .setup = put_off_setup};

static void
not_notified_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct news *news = news_new(world);
    news_spawn(world, rt, news, news_reader_poll, "reader", 0);
    news_spawn(world, rt, news, news_silent_poll, "silent", RT_MS);
}

const struct sim_scenario explain_not_notified = {
        .name = "test/untold", .setup = not_notified_setup};

static void
written_over_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct news *news = news_new(world);
    news_spawn(world, rt, news, news_writer_poll, "writer", RT_MS);
    news_spawn(world, rt, news, news_eraser_poll, "eraser", RT_MS + sim_range(world, 0, 2) * RT_US);
    news_spawn(world, rt, news, news_reader_poll, "reader", 0);
}

const struct sim_scenario explain_written_over = {
        .name = "test/written-over", .setup = written_over_setup};

/* ---- Two numbers. ---------------------------------------------------------------------------- */

static rt_poll
gambler_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct driver *gambler = rt_container_of(task, struct driver, task);
    (void)cx;
    uint32_t first = sim_pick(gambler->world, 4);
    uint32_t second = sim_pick(gambler->world, 4);
    SIM_ALWAYS(first != 3 || second != 2);
    return RT_READY;
}

static void
two_numbers_setup(struct sim_world *world)
{
    struct driver *gambler = sim_new(world, struct driver);
    gambler->world = world;
    rt_task_init(&gambler->task, gambler_poll, NULL, "gambler");
    sim_spawn(sim_rt_new(world, NULL), &gambler->task);
}

const struct sim_scenario explain_two_numbers = {
        .name = "test/two-numbers", .setup = two_numbers_setup};

/* ---- A queue that is closed. ----------------------------------------------------------------- */

#define QUEUE_WAITERS 3u

struct closing {
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[QUEUE_WAITERS];
    uint32_t count;
    bool closed;
    struct rt_task owner;
    struct rt_sleep nap;
};

struct closing_waiter {
    struct rt_task task;
    struct closing *of;
};

static void
closing_tell(struct closing *closing)
{
    (void)rt_wait_queue_wake(&closing->queue, 1);
}

static void
closing_put(struct closing *closing)
{
    closing->count++;
    closing_tell(closing);
}

static void
closing_close(struct closing *closing)
{
    closing->closed = true;
    closing_tell(closing);
}

static rt_poll
closing_waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct closing *closing = rt_container_of(task, struct closing_waiter, task)->of;
    if (closing->closed || closing->count > 0) {
        closing->count -= closing->count > 0;
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&closing->queue, cx, "an item") == RT_OK);
    return RT_PENDING;
}

static rt_poll
closing_owner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct closing *closing = rt_container_of(task, struct closing, owner);
    RT_AWAIT(rt_sleep_poll(&closing->nap, cx));
    closing_put(closing);
    closing_close(closing);
    return RT_READY;
}

static void
one_of_three_setup(struct sim_world *world)
{
    static const char *const names[QUEUE_WAITERS] = {"one", "two", "three"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct closing *closing = sim_new(world, struct closing);
    rt_wait_queue_init(&closing->queue, closing->entries, QUEUE_WAITERS);
    for (uint32_t i = 0; i < QUEUE_WAITERS; i++) {
        struct closing_waiter *waiter = sim_new(world, struct closing_waiter);
        waiter->of = closing;
        rt_task_init(&waiter->task, closing_waiter_poll, NULL, names[i]);
        sim_spawn(rt, &waiter->task);
    }
    rt_sleep_init(&closing->nap, RT_MS);
    rt_task_init(&closing->owner, closing_owner_poll, NULL, "owner");
    sim_spawn(rt, &closing->owner);
}

const struct sim_scenario explain_one_of_three = {
        .name = "test/one-of-three", .setup = one_of_three_setup};
