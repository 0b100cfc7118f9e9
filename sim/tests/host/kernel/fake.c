/*
 * fake.c -- the calls of a program, by the fake host, in a loop of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "sim/host/sys_inet.h"
#include "sim/tests/host/host_lab.h"
#include "sim/tests/host/kernel/arm.h"

/* The run in progress. */
static struct {
    const struct kernel_step *steps;
    size_t count;
    int (*seen)(size_t index, const struct kernel_result *result);
    struct sim_world *world;
    struct sim_fds *fds;
    in_port_t ports[KERNEL_ADDRESSES]; /* As in native.c. */
    enum kernel_socket kinds[KERNEL_NUMBERS];
    char buffer[KERNEL_BYTES];
} run;

static int
number(int64_t fd)
{
    return KERNEL_BASE + (int)fd;
}

/* What a call made is non-blocking, as in the other world. */
static int64_t
opened(int64_t fd)
{
    if (fd >= 0) {
        EXPECT_EQ(sim_sys_set_status(run.fds, (int)fd, SIM_SYS_NONBLOCK), 0);
    }
    return fd >= 0 ? fd - KERNEL_BASE : fd;
}

static int64_t
opened_pair(int made, const int fds[2])
{
    if (made != 0) {
        return made;
    }
    (void)opened(fds[1]);
    return opened(fds[0]);
}

static int64_t
open_two(enum kernel_call call)
{
    int fds[2] = {-1, -1};
    int made = call == KERNEL_PIPE
                       ? sim_sys_pipe(run.fds, "pipe", fds)
                       : sim_sys_socketpair(run.fds, "socket",
                                 call == KERNEL_STREAM ? SIM_SYS_STREAM : SIM_SYS_DGRAM, fds);
    return opened_pair(made, fds);
}

static int64_t
wait_epoll(const struct kernel_step *step, struct kernel_result *ret)
{
    struct sim_fd_event events[KERNEL_EVENTS];
    int count = sim_sys_epoll_wait(
            run.fds, number(step->a), events, (uint32_t)step->b, step->c * MS, RT_HERE);
    for (int i = 0; i < count; i++) {
        ret->events[i].fd = (int)events[i].data;
        ret->events[i].events = events[i].events;
    }
    ret->events_count = count > 0 ? (uint32_t)count : 0;
    return count;
}

static int64_t
poll_one(const struct kernel_step *step, struct kernel_result *ret)
{
    struct sim_sys_poll poll = {.fd = number(step->a), .events = (uint32_t)step->b};
    int count = sim_sys_poll(run.fds, &poll, 1, 0, RT_HERE);
    ret->number = poll.ret_events;
    return count;
}

static int64_t
set_timer(const struct kernel_step *step)
{
    uint64_t due_ns = sim_now(run.world) + (uint64_t)step->b * MS;
    struct sim_sys_timer set = {step->b != 0 ? due_ns : SIM_NEVER, step->c * MS};
    return sim_sys_timerfd_set(run.fds, number(step->a), &set, NULL);
}

static int64_t
take(const struct kernel_step *step, uint32_t flags, struct kernel_result *ret)
{
    int64_t size =
            sim_sys_read(run.fds, number(step->a), run.buffer, (size_t)step->b, flags, RT_HERE);
    ret->number = size > 0 ? kernel_hash(run.buffer, (size_t)size) : 0;
    return size;
}

static int64_t
put(const struct kernel_step *step)
{
    size_t size = (size_t)step->b;
    return sim_sys_write(run.fds, number(step->a), kernel_bytes(size), size, 0, RT_HERE);
}

static int64_t
fill(const struct kernel_step *step)
{
    int64_t size = 0;
    do {
        size = put(step);
    } while (size > 0);
    return size;
}

static int64_t
drain(int fd)
{
    int64_t size = 0;
    do {
        size = sim_sys_read(run.fds, fd, run.buffer, sizeof(run.buffer), 0, RT_HERE);
    } while (size > 0);
    return size;
}

static int64_t
sleep_ms(int64_t ms)
{
    sim_sleep(run.world, (uint64_t)ms * MS);
    return 0;
}

/* ---- Sockets with addresses. ----------------------------------------------------------------- */

static int64_t
open_socket(enum kernel_socket kind)
{
    int64_t fd = opened(sim_sys_socket(run.fds, kernel_domain(kind), kernel_type(kind)));
    if (fd >= 0 && fd < KERNEL_NUMBERS) {
        run.kinds[fd] = kind;
    }
    return fd;
}

static enum kernel_socket
kind_of(const struct kernel_step *step)
{
    return step->a >= 0 && step->a < KERNEL_NUMBERS ? run.kinds[step->a] : KERNEL_TCP;
}

static int64_t
bind_socket(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    in_port_t *port = &run.ports[step->b];
    in_port_t asked = *port == htons(1) ? 0 : *port;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, asked, &address);
    int value = sim_sys_bind(run.fds, number(step->a), (struct sockaddr *)&address, size);
    if (value == 0 && address.ss_family == AF_INET) {
        EXPECT_EQ(sim_sys_address(
                          run.fds, number(step->a), false, (struct sockaddr *)&address, &size),
                0);
        *port = ((struct sockaddr_in *)&address)->sin_port;
    }
    return value;
}

static int64_t
connect_socket(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, run.ports[step->b], &address);
    return sim_sys_connect(run.fds, number(step->a), (struct sockaddr *)&address, size, RT_HERE);
}

static int64_t
send_to(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, run.ports[step->b], &address);
    return sim_sys_send_to(run.fds, number(step->a), kernel_bytes(step->c), step->c,
            (struct sockaddr *)&address, size, RT_HERE);
}

static int64_t
accept_one(const struct kernel_step *step)
{
    int64_t fd = opened(sim_sys_accept(run.fds, number(step->a), RT_HERE));
    if (fd >= 0 && fd < KERNEL_NUMBERS) {
        run.kinds[fd] = kind_of(step);
    }
    return fd;
}

/* Every free number is a duplicate meanwhile. */
static int64_t
accept_full(const struct kernel_step *step)
{
    int fds[1024];
    int count = 0;
    while ((fds[count] = sim_sys_dup(run.fds, number(step->a), 0)) >= 0) {
        count++;
    }
    int64_t value = sim_sys_accept(run.fds, number(step->a), RT_HERE);
    while (count > 0) {
        EXPECT_EQ(sim_sys_close(run.fds, fds[--count]), 0);
    }
    return value;
}

static int64_t
call(const struct kernel_step *step, struct kernel_result *ret)
{
    struct sim_fds *fds = run.fds;
    int fd = number(step->a);
    int other = number(step->b);
    uint32_t events = (uint32_t)step->c;
    switch (step->call) {
    case KERNEL_EPOLL:
        return opened(sim_sys_epoll(fds, "epoll"));
    case KERNEL_PIPE:
    case KERNEL_STREAM:
    case KERNEL_DGRAM:
        return open_two(step->call);
    case KERNEL_EVENT:
        return opened(sim_sys_eventfd(fds, "event", (uint64_t)step->a, step->b != 0));
    case KERNEL_TIMER:
        return opened(sim_sys_timerfd(fds, "timer"));
    case KERNEL_SET:
        return set_timer(step);
    case KERNEL_ADD:
        return sim_sys_epoll_add(fds, fd, other, events, (uint64_t)step->b);
    case KERNEL_MODIFY:
        return sim_sys_epoll_modify(fds, fd, other, events, (uint64_t)step->b);
    case KERNEL_REMOVE:
        return sim_sys_epoll_remove(fds, fd, other);
    case KERNEL_WAIT:
        return wait_epoll(step, ret);
    case KERNEL_POLL:
        return poll_one(step, ret);
    case KERNEL_READ:
        return take(step, 0, ret);
    case KERNEL_PEEK:
        return take(step, SIM_SYS_PEEK, ret);
    case KERNEL_WRITE:
        return put(step);
    case KERNEL_POST:
        return sim_sys_write(fds, fd, &step->c, sizeof(step->c), 0, RT_HERE);
    case KERNEL_SHUTDOWN:
        return sim_sys_shutdown(fds, fd, (enum sim_sys_shut)step->b);
    case KERNEL_DUP:
        return opened(sim_sys_dup(fds, fd, 0));
    case KERNEL_DUP_TO:
        return opened(sim_sys_dup_to(fds, fd, other));
    case KERNEL_CLOSE:
        return sim_sys_close(fds, fd);
    case KERNEL_ERROR:
        return sim_sys_socket_error(fds, fd);
    case KERNEL_READABLE:
        return sim_sys_readable(fds, fd);
    case KERNEL_SLEEP:
        return sleep_ms(step->a);
    case KERNEL_FILL:
        return fill(step);
    case KERNEL_DRAIN:
        return drain(fd);
    case KERNEL_SOCKET:
        return open_socket((enum kernel_socket)step->a);
    case KERNEL_BIND:
        return bind_socket(step);
    case KERNEL_LISTEN:
        return sim_sys_listen(fds, fd, (int)step->b);
    case KERNEL_CONNECT:
        return connect_socket(step);
    case KERNEL_ACCEPT:
        return accept_one(step);
    case KERNEL_ACCEPT_FULL:
        return accept_full(step);
    case KERNEL_SEND_TO:
        return send_to(step);
    case KERNEL_SETTLE:
        return sleep_ms(2);
    case KERNEL_CALLS_COUNT:
        break;
    }
    abort();
}

static void
program(struct sim_world *world, void *argument)
{
    (void)argument;
    run.world = world;
    for (size_t i = 0; i < KERNEL_ADDRESSES; i++) {
        run.ports[i] = htons(1);
    }
    run.fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), KERNEL_BASE);
    for (size_t i = 0; i < run.count; i++) {
        struct kernel_result result = {0};
        result.value = call(&run.steps[i], &result);
        if (!run.seen(i, &result)) {
            return;
        }
    }
}

static void
setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "program", program, NULL);
}

static const struct sim_scenario scenario = {.name = "test/kernel",
        .about = "A loop makes the calls of a program.",
        .setup = setup,
        .profile = SIM_PROFILE_FD};

/* The host's decisions are searched; time, speed and audits are as in the baseline run. */
static uint32_t
choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    static const uint32_t searched = 1u << SIM_KIND_RUN | 1u << SIM_KIND_LATENCY |
                                     1u << SIM_KIND_LATE | 1u << SIM_KIND_SUBSET |
                                     1u << SIM_KIND_ORDER | 1u << SIM_KIND_LENGTH;
    return (searched >> choice->kind & 1u) != 0 ? kernel_choose(choice->n) : 0;
}

static const struct sim_strategy_ops searched_ops = {.repeats = true, .choose = choose};

void
kernel_fake(const struct kernel_step *steps, size_t count,
        int (*seen)(size_t index, const struct kernel_result *result))
{
    static struct lab lab;
    static struct sim_strategy searched = {&searched_ops};
    struct sim_options options;
    struct sim_outcome outcome;
    if (lab.world.recorder.memory.events == NULL) {
        lab_init(&lab, NULL, 0xa5);
    }
    run.steps = steps;
    run.count = count;
    run.seen = seen;
    sim_options_init(&options, &scenario);
    sim_world_run(
            &lab.world, &scenario, &options, 1, &searched, (struct sim_recording){0}, &outcome);
    ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "%s: %s", sim_verdict_name(outcome.verdict),
            outcome.message);
}
