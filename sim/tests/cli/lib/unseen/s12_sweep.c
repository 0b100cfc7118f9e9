/*
 * A loop of callbacks: what is ready is linked into a list, then each callback of the list is called.
 * Cause: loop_close() (line 47) links a watcher into the list of closing ones by `next`, which loop_turn() may be about to follow in the list of ready ones.
 */
#include <sim/rewake.h>

#define WATCHERS 3u

struct watcher {
    struct watcher *next;
    struct watcher *next_closing;
    struct loop *loop;
    void (*callback)(struct watcher *watcher);
    int fd;
    uint64_t number;
    bool ready;
    bool closing;
};

struct loop {
    struct sim_fds *fds;
    int epoll;
    struct watcher *first, **last;
    struct watcher *closing;
    struct watcher watchers[WATCHERS];
    uint32_t open;
    bool fixed;
};

struct talker {
    struct loop *loop;
    const char *text;
    int fd;
};

static void
loop_close(struct loop *loop, struct watcher *watcher)
{
    if (watcher->closing) {
        return;
    }
    watcher->closing = true;
    sim_sys_epoll_remove(loop->fds, loop->epoll, watcher->fd);
    if (loop->fixed) {
        watcher->next_closing = loop->closing;
    } else {
        watcher->next = loop->closing;
    }
    loop->closing = watcher;
}

static void
loop_finish_closing(struct loop *loop)
{
    while (loop->closing != NULL) {
        struct watcher *watcher = loop->closing;
        loop->closing = loop->fixed ? watcher->next_closing : watcher->next;
        (void)sim_sys_close(loop->fds, watcher->fd);
        loop->open--;
    }
}

static void
loop_ready(struct loop *loop, struct watcher *watcher)
{
    if (watcher->ready || watcher->closing) {
        return;
    }
    watcher->ready = true;
    watcher->next = NULL;
    *loop->last = watcher;
    loop->last = &watcher->next;
}

static void
loop_turn(struct loop *loop)
{
    struct watcher *watcher = loop->first, *next;
    loop->first = NULL;
    loop->last = &loop->first;
    for (; watcher != NULL; watcher = next) {
        next = watcher->next;
        watcher->ready = false;
        if (!watcher->closing) {
            watcher->callback(watcher);
        }
    }
    loop_finish_closing(loop);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    (void)world;
    while (loop->open > 0) {
        struct sim_fd_event events[WATCHERS];
        int n = sim_sys_epoll_wait(
                loop->fds, loop->epoll, events, WATCHERS, SIM_NEVER, RT_HERE);
        for (int i = 0; i < n; i++) {
            loop_ready(loop, &loop->watchers[events[i].data]);
        }
        loop_turn(loop);
    }
}

/* 'x' ends a session; '1' and '2' say that another one is of no use any more. */
static void
session_callback(struct watcher *watcher)
{
    struct loop *loop = watcher->loop;
    char text[4];
    for (;;) {
        int64_t n = sim_sys_read(
                loop->fds, watcher->fd, text, sizeof text, SIM_SYS_DONTWAIT, RT_HERE);
        if (n == 0) {
            loop_close(loop, watcher);
        }
        if (n <= 0) {
            return;
        }
        for (int64_t i = 0; i < n; i++) {
            if (text[i] == 'x') {
                loop_close(loop, watcher);
                return;
            }
            loop_close(loop, &loop->watchers[text[i] - '0']);
        }
    }
}

static void
talker_main(struct sim_world *world, void *argument)
{
    struct talker *talker = argument;
    char rest;
    for (const char *at = talker->text; *at != '\0'; at++) {
        sim_sleep(world, sim_range(world, 1 * RT_MS, 2 * RT_MS));
        if (sim_sys_write(talker->loop->fds, talker->fd, at, 1, 0, RT_HERE) != 1) {
            break;
        }
    }
    (void)sim_sys_read(talker->loop->fds, talker->fd, &rest, 1, 0, RT_HERE);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[WATCHERS] = {"session 0", "session 1", "session 2"};
    static const char *const texts[WATCHERS] = {"1x", "x", "x"};
    struct loop *loop = sim_new(world, struct loop);
    loop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    loop->epoll = sim_sys_epoll(loop->fds, "loop");
    loop->last = &loop->first;
    loop->open = WATCHERS;
    loop->fixed = fixed;
    sim_loop_new(world, "loop", loop_main, loop);
    for (uint32_t i = 0; i < WATCHERS; i++) {
        struct watcher *watcher = &loop->watchers[i];
        struct talker *talker = sim_new(world, struct talker);
        int pair[2];
        SIM_ALWAYS(sim_sys_socketpair(loop->fds, names[i], SIM_SYS_STREAM, pair) == 0);
        *watcher = (struct watcher){
                .loop = loop, .callback = session_callback, .fd = pair[0], .number = i};
        *talker = (struct talker){loop, texts[i], pair[1]};
        sim_sys_epoll_add(loop->fds, loop->epoll, pair[0], SIM_FD_IN | SIM_FD_EDGE, i);
        sim_loop_new(world, names[i], talker_main, talker);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(broken, .name = "s12-sweep/broken", .about = "Three sessions; one closes another.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-sweep/fixed", .about = "Three sessions; one closes another.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
