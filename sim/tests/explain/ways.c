/*
 * ways.c -- loops that do not come to the line by which a wait would end, or leave something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include "sim/core/world.h"
#include "sim/rewake.h"

#line 1 "hand/ways.c"

/* ---- What a mill puts aside is taken up only after a report of its host. --------------------- */

struct mill {
    struct sim_world *world;
    struct sim_fds *os;
    int bell;
    uint32_t portions;
    bool aside;
    bool finished;
};

static void
mill_grind(struct mill *mill)
{
    sim_foreign_poll(mill);
    mill->portions++;
    mill->finished = mill->portions == 4;
    SIM_PROGRESS();
    if (!mill->finished) {
        mill->aside = true;
        sim_foreign_store(mill, &mill->aside, "its turn");
    }
    sim_foreign_polled(mill, mill->finished);
}

static void
mill_again(void *argument, void *task)
{
    (void)task;
    mill_grind(argument);
}

__attribute__((noinline)) static void
mill_take_aside(struct mill *mill)
{
    if (mill->aside) {
        mill->aside = false;
        sim_foreign_fire(&mill->aside);
        mill_grind(mill);
    }
}

__attribute__((noinline)) static void
mill_wait(struct mill *mill)
{
    struct sim_fd_event event;
    uint64_t count;
    SIM_ALWAYS(sim_fd_wait(mill->os, &event, 1, SIM_NEVER) == 1);
    sim_fd_read(mill->os, mill->bell, &count, sizeof(count));
    mill_take_aside(mill);
}

static void
mill_main(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    (void)world;
    mill_grind(mill);
    while (!mill->finished) {
        mill_wait(mill);
    }
}

static void
mill_ringer(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    uint32_t rings = sim_range(world, 0, 1) == 0 ? 2 : 3;
    for (uint32_t i = 0; i < rings; i++) {
        sim_sleep(world, RT_MS);
        SIM_ALWAYS(sim_fd_notify(mill->os, mill->bell) == RT_OK);
    }
}

static void
put_aside_setup(struct sim_world *world)
{
    struct mill *mill = sim_new(world, struct mill);
    mill->world = world;
    mill->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(mill->os, "bell", &mill->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(mill->os, mill->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "mill", mill_main, mill);
    sim_foreign_spawn(sim_foreign_new(loop, mill_again, mill), mill, "grinder");
    sim_loop_new(world, "ringer", mill_ringer, mill);
}

const struct sim_scenario explain_put_aside = {
        .name = "explain/put-aside", .setup = put_aside_setup};

/* ---- A reader notes what is current as what it has read. ------------------------------------- */

struct issue {
    struct rt_task writer;
    struct rt_task reader;
    struct sim_world *world;
    struct rt_slot slot;
    struct rt_sleep writes;
    struct rt_sleep reads;
    uint32_t at[2];
    uint32_t current;
    uint32_t read;
    uint32_t known;
};

static rt_poll
issue_writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct issue *issue = rt_container_of(task, struct issue, writer);
    RT_BEGIN(issue->at[0]);
    while (issue->current < 3) {
        rt_sleep_init(&issue->writes, sim_range(issue->world, RT_MS, 5 * RT_MS));
        RT_AWAIT_HERE(issue->at[0], rt_sleep_poll(&issue->writes, cx));
        issue->current++;
        (void)rt_slot_wake(&issue->slot);
    }
    RT_END(issue->at[0]);
}

static rt_poll
issue_changed(struct issue *issue, struct rt_cx *cx)
{
    if (issue->current != issue->known) {
        (void)rt_slot_clear(&issue->slot);
        return RT_READY;
    }
    rt_slot_replace(&issue->slot, cx, "an issue");
    return RT_PENDING;
}

static void
issue_mark(struct issue *issue)
{
    issue->known = issue->current;
}

static rt_poll
issue_reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct issue *issue = rt_container_of(task, struct issue, reader);
    RT_BEGIN(issue->at[1]);
    while (issue->read < 3) {
        RT_AWAIT_HERE(issue->at[1], issue_changed(issue, cx));
        issue->read = issue->current;
        rt_sleep_init(&issue->reads, 2 * RT_MS);
        RT_AWAIT_HERE(issue->at[1], rt_sleep_poll(&issue->reads, cx));
        issue_mark(issue);
    }
    RT_END(issue->at[1]);
}

static void
marked_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct issue *issue = sim_new(world, struct issue);
    issue->world = world;
    rt_slot_init(&issue->slot);
    rt_task_init(&issue->writer, issue_writer_poll, NULL, "writer");
    rt_task_init(&issue->reader, issue_reader_poll, NULL, "reader");
    sim_spawn(rt, &issue->reader);
    sim_spawn(rt, &issue->writer);
}

const struct sim_scenario explain_marked = {.name = "explain/marked", .setup = marked_setup};

/* ---- A clock is set again only if something was due. ----------------------------------------- */

struct watchman {
    struct rt_host *host;
    struct rt_pollable bell;
    struct rt_pollable clock;
    bool set;
    bool called_off; /* The first of two rounds. */
    uint32_t rounds;
};

static void
watchman_set(struct watchman *watchman, uint64_t due_ns)
{
    SIM_ALWAYS(rt_subscribe_instant(watchman->host, due_ns, &watchman->clock) == RT_OK);
    watchman->set = true;
}

static uint32_t
watchman_round(struct watchman *watchman)
{
    uint32_t made = watchman->called_off && watchman->rounds == 0 ? 0 : 1;
    watchman->called_off = false;
    watchman->rounds += made;
    return made;
}

static void
watchman_on_clock(struct watchman *watchman)
{
    rt_pollable_drop(&watchman->clock);
    watchman->set = false;
    if (watchman_round(watchman) > 0) {
        watchman_set(watchman, 5 * RT_MS);
    }
}

static void
watchman_main(struct sim_world *world, void *argument)
{
    struct watchman *watchman = argument;
    (void)world;
    watchman_set(watchman, 3 * RT_MS);
    while (watchman->rounds == 0) {
        struct rt_pollable *list[2] = {&watchman->bell, &watchman->clock};
        uint32_t ready[2];
        uint32_t count = watchman->set ? 2 : 1;
        SIM_ALWAYS(rt_host_poll(watchman->host, list, count, ready, &count) == RT_OK);
        for (uint32_t i = 0; i < count; i++) {
            if (ready[i] == 1) {
                watchman_on_clock(watchman);
            }
        }
    }
    if (watchman->set) {
        rt_pollable_drop(&watchman->clock);
    }
    rt_pollable_drop(&watchman->bell);
}

static void
watchman_guest(struct sim_world *world, void *argument)
{
    struct watchman *watchman = argument;
    sim_sleep(world, sim_range(world, RT_MS, 5 * RT_MS));
    watchman->called_off = watchman->rounds == 0;
    rt_host_notify(watchman->host);
}

static void
unset_setup(struct sim_world *world)
{
    struct watchman *watchman = sim_new(world, struct watchman);
    watchman->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(watchman->host, RT_SUBSCRIBE_NOTIFY, 0, &watchman->bell) == RT_OK);
    (void)sim_loop_new(world, "watchman", watchman_main, watchman);
    (void)sim_loop_new(world, "guest", watchman_guest, watchman);
}

const struct sim_scenario explain_unset = {.name = "explain/unset", .setup = unset_setup};

/* ---- A porter lets in no more than one, and does not look again when that one has left. ------ */

struct porter {
    struct sim_fds *fds;
    int door;
    int peers[32];
    uint32_t inside;
    uint32_t left;
};

static void
porter_lets_in(struct porter *porter)
{
    int fd = -1;
    int peer = -1;
    while (porter->inside < 1 && sim_fd_accept(porter->fds, porter->door, &fd, &peer) == RT_OK) {
        porter->inside++;
        porter->peers[fd] = peer;
        SIM_ALWAYS(sim_fd_add(porter->fds, fd, SIM_FD_IN, (uint64_t)fd) == RT_OK);
        SIM_ALWAYS(sim_fd_write(porter->fds, peer, "?", 1) == 1);
    }
}

static void
porter_lets_out(struct porter *porter, int fd)
{
    char byte = 0;
    if (sim_fd_read(porter->fds, fd, &byte, 1) == 1) {
        SIM_ALWAYS(sim_fd_close(porter->fds, fd) == RT_OK);
        SIM_ALWAYS(sim_fd_close(porter->fds, porter->peers[fd]) == RT_OK);
        porter->inside--;
        porter->left++;
        SIM_PROGRESS();
    }
}

static void
porter_main(struct sim_world *world, void *argument)
{
    struct porter *porter = argument;
    (void)world;
    while (porter->left < 3) {
        struct sim_fd_event event;
        SIM_ALWAYS(sim_fd_wait(porter->fds, &event, 1, SIM_NEVER) == 1);
        if (event.data == (uint64_t)porter->door) {
            porter_lets_in(porter);
        } else {
            porter_lets_out(porter, (int)event.data);
        }
    }
}

static void
kept_out_setup(struct sim_world *world)
{
    struct porter *porter = sim_new(world, struct porter);
    porter->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_listen(porter->fds, "door", 3, RT_MS, 8 * RT_MS, &porter->door) == RT_OK);
    SIM_ALWAYS(sim_fd_add(porter->fds, porter->door, SIM_FD_IN | SIM_FD_EDGE,
                       (uint64_t)porter->door) == RT_OK);
    (void)sim_loop_new(world, "porter", porter_main, porter);
}

const struct sim_scenario explain_kept_out = {
        .name = "explain/kept-out", .setup = kept_out_setup, .profile = SIM_PROFILE_FD};

/* ---- A write that the queue of a ring has no place for is put off, and never made. ----------- */

struct clerk {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    struct rt_pollable bell;
    int32_t device;
    uint32_t asked;
    uint32_t pushed;
    uint32_t put_off;
    uint32_t done;
    char byte;
};

static bool
clerk_push(struct clerk *clerk)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_WRITE,
            .target = clerk->device,
            .buffer = &clerk->byte,
            .size = 1,
            .user_data = clerk->pushed + 1};
    bool pushed = clerk->ring->ops->push(clerk->ring, &submission) == RT_OK;
    clerk->pushed += pushed;
    return pushed;
}

static void
clerk_write(struct clerk *clerk)
{
    while (clerk->put_off > 0 && clerk_push(clerk)) {
        clerk->put_off--;
    }
    if (clerk->put_off > 0 || !clerk_push(clerk)) {
        clerk->put_off++;
    }
}

static void
clerk_main(struct sim_world *world, void *argument)
{
    struct clerk *clerk = argument;
    struct rt_completion batch[4];
    uint32_t taken = 0;
    (void)world;
    while (clerk->done < 3) {
        struct rt_pollable *list[2] = {&clerk->bell, &clerk->completions};
        uint32_t ready[2];
        uint32_t count = 0;
        SIM_ALWAYS(rt_host_poll(clerk->host, list, 2, ready, &count) == RT_OK);
        clerk->done += clerk->ring->ops->reap(clerk->ring, batch, 4);
        for (; taken < clerk->asked; taken++) {
            clerk_write(clerk);
        }
        (void)clerk->ring->ops->enter(clerk->ring);
    }
    rt_pollable_drop(&clerk->completions);
    rt_pollable_drop(&clerk->bell);
}

static void
clerk_customer(struct sim_world *world, void *argument)
{
    struct clerk *clerk = argument;
    for (uint32_t i = 0; i < 3; i++) {
        sim_sleep(world, sim_range(world, RT_US, 20 * RT_US));
        clerk->asked++;
        rt_host_notify(clerk->host);
    }
}

static void
put_off_push_setup(struct sim_world *world)
{
    struct clerk *clerk = sim_new(world, struct clerk);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring_options small = {.submissions = 1, .completions = 8};
    struct sim_ring *ring = sim_ring_new(host, "ring", &small);
    clerk->host = sim_host_seam(host);
    clerk->ring = sim_ring_seam(ring);
    SIM_ALWAYS(clerk->ring->ops->subscribe(clerk->ring, &clerk->completions) == RT_OK);
    SIM_ALWAYS(rt_host_subscribe(clerk->host, RT_SUBSCRIBE_NOTIFY, 0, &clerk->bell) == RT_OK);
    clerk->device = sim_ring_device(ring, "log", "", 0, 1, RT_US, RT_US);
    (void)sim_loop_new(world, "clerk", clerk_main, clerk);
    (void)sim_loop_new(world, "customer", clerk_customer, clerk);
}

const struct sim_scenario explain_put_off_push = {
        .name = "explain/put-off-push", .setup = put_off_push_setup};

/* ---- What is laid into a tray while its letters are carried is thrown away with them. -------- */

struct tray {
    struct sim_fds *os;
    int bell;
    volatile uint32_t letters; /* As without optimisation: each change is a store. */
    uint32_t carried;
    uint32_t done;
    bool away;
};

static void
tray_carry(struct tray *tray)
{
    tray->away = true;
    tray->carried = tray->letters;
}

__attribute__((noinline)) static void
tray_lay(struct tray *tray)
{
    tray->letters++;
    if (!tray->away) {
        tray_carry(tray);
    }
}

__attribute__((noinline)) static void
tray_empty(struct tray *tray)
{
    tray->done += tray->carried;
    tray->away = false;
    tray->letters = 0;
    if (tray->letters > 0) {
        tray_carry(tray);
    }
}

static void
tray_main(struct sim_world *world, void *argument)
{
    struct tray *tray = argument;
    (void)world;
    while (tray->done < 3) {
        struct sim_fd_event event;
        uint64_t count = 0;
        if (sim_fd_wait(tray->os, &event, 1, tray->away ? RT_MS : SIM_NEVER) == 0) {
            tray_empty(tray);
        } else {
            sim_fd_read(tray->os, tray->bell, &count, sizeof(count));
        }
        for (; count > 0; count--) {
            tray_lay(tray);
        }
    }
}

static void
tray_writer(struct sim_world *world, void *argument)
{
    struct tray *tray = argument;
    for (uint32_t i = 0; i < 3; i++) {
        sim_sleep(world, sim_range(world, RT_MS / 2, 5 * RT_MS));
        SIM_ALWAYS(sim_fd_notify(tray->os, tray->bell) == RT_OK);
    }
}

static void
thrown_away_setup(struct sim_world *world)
{
    struct tray *tray = sim_new(world, struct tray);
    tray->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(tray->os, "bell", &tray->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(tray->os, tray->bell, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "carrier", tray_main, tray);
    sim_loop_new(world, "writer", tray_writer, tray);
}

const struct sim_scenario explain_thrown_away = {
        .name = "explain/thrown-away", .setup = thrown_away_setup};

/* ---- An office takes up a folder, and notes only then that it waits no more; one a turn. ----- */

struct folder {
    struct office *office;
    uint32_t turns; /* It is to be polled so often. */
    bool queued;
    bool waits;
    bool came;
    bool finished;
};

struct office {
    struct sim_fds *os;
    int bell;
    bool late; /* It is noted after the poll. */
    uint32_t count;
    struct folder folders[2];
};

static void
folder_wake(struct folder *folder)
{
    if (folder->queued) {
        return;
    }
    folder->queued = true;
    folder->turns++;
    SIM_ALWAYS(sim_fd_notify(folder->office->os, folder->office->bell) == RT_OK);
}

static void
folder_poll(struct folder *folder)
{
    sim_foreign_poll(folder);
    folder->finished = folder->came;
    if (!folder->finished) {
        folder->waits = true;
        sim_foreign_store(folder, &folder->waits, "its papers");
    }
    sim_foreign_polled(folder, folder->finished);
}

static void
folder_again(void *office, void *folder)
{
    (void)office;
    folder_poll(folder);
}

static bool
office_takes_up(struct office *office)
{
    for (uint32_t i = 0; i < office->count; i++) {
        struct folder *folder = &office->folders[i];
        if (folder->turns > 0) {
            folder->turns--;
            folder->queued = office->late;
            folder_poll(folder);
            folder->queued = false;
            return true;
        }
    }
    return false;
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        uint64_t count;
        for (uint32_t i = 0; i < 3 - office->count && office_takes_up(office); i++) {
            SIM_PROGRESS();
        }
        if (office->folders[0].finished && (office->count == 1 || office->folders[1].finished)) {
            return;
        }
        SIM_ALWAYS(sim_fd_wait(office->os, &event, 1, SIM_NEVER) == 1);
        sim_fd_read(office->os, office->bell, &count, sizeof(count));
    }
}

static void
office_bring(struct folder *folder)
{
    folder->came = true;
    if (folder->waits) {
        folder->waits = false;
        sim_foreign_fire(&folder->waits);
        folder_wake(folder);
    }
}

static void
office_bringer(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    sim_sleep(world, office->count == 1 ? sim_range(world, 1, RT_US) : RT_MS);
    office_bring(&office->folders[0]);
    if (office->count == 2) {
        if (sim_range(world, 0, 1) == 1) {
            sim_sleep(world, RT_MS);
        }
        office_bring(&office->folders[1]);
        sim_sleep(world, 10 * RT_MS);
        SIM_ALWAYS(sim_fd_notify(office->os, office->bell) == RT_OK);
    }
}

static void
office_setup(struct sim_world *world, bool late, uint32_t count)
{
    struct office *office = sim_new(world, struct office);
    office->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    office->late = late;
    office->count = count;
    SIM_ALWAYS(sim_fd_event_open(office->os, "bell", &office->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(office->os, office->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "office", office_main, office);
    struct sim_foreign *foreign = sim_foreign_new(loop, folder_again, office);
    for (uint32_t i = 0; i < count; i++) {
        office->folders[i].office = office;
        sim_foreign_spawn(foreign, &office->folders[i], i == 0 ? "first" : "second");
        folder_wake(&office->folders[i]);
    }
    sim_loop_new(world, "bringer", office_bringer, office);
}

static void
still_queued_setup(struct sim_world *world)
{
    office_setup(world, true, 1);
}

static void
one_a_turn_setup(struct sim_world *world)
{
    office_setup(world, false, 2);
}

const struct sim_scenario explain_still_queued = {
        .name = "explain/still-queued", .setup = still_queued_setup};
const struct sim_scenario explain_one_a_turn = {
        .name = "explain/one-a-turn", .setup = one_a_turn_setup};
