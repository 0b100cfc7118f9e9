/*
 * cores_test.c -- shards on threads: messages, wakes, and the shutdown; signals and processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/cores.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/signals.h"
#include "runtime/shard/submit.h"
#include "runtime/tests/host/metal.h"

#define CORES 3u
#define CALLS 2000u

struct town {
    struct rt_cores cores;
    struct member {
        struct rt_task task;
        struct rt_core *core;
        struct rt_submit submit;
        bool asking;
        uint32_t asked;
        uint32_t served; /* Its own thread's. */
    } members[CORES];
    atomic_uint busy;
    rt_err refuses; /* What `begin` answers on the last core. */
};

static void
serve(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_core *core = rt_container_of(shard, struct rt_core, shard);
    struct member *member = core->data;
    EXPECT(pthread_equal(core->thread, pthread_self()) != 0);
    member->served++;
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll
member_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    struct town *town = member->core->cores->config.argument;
    while (member->asked < CALLS) {
        if (!member->asking) {
            uint32_t to = (member->core->number + 1 + member->asked) % CORES;
            rt_submit_to(&member->submit, &member->core->shard, to, serve);
            member->asking = true;
        }
        RT_AWAIT(rt_future_poll(&member->submit.future, cx));
        if (member->submit.message.result == RT_E_CLOSED && town->refuses != RT_OK) {
            return RT_READY;
        }
        EXPECT_EQ(member->submit.message.result, RT_OK);
        member->asking = false;
        member->asked++;
    }
    if (atomic_fetch_sub(&town->busy, 1) == 1) {
        rt_cores_close(&town->cores);
    }
    return RT_READY;
}

static rt_err
begin(struct rt_core *core, void *argument)
{
    struct town *town = argument;
    struct member *member = &town->members[core->number];
    core->data = member;
    member->core = core;
    rt_task_init(&member->task, member_poll, NULL, "member");
    rt_err err = rt_post(&core->machine.runtime.executor, &member->task);
    return err == RT_OK && core->number == CORES - 1 ? town->refuses : err;
}

static void
town_init(struct town *town, rt_err refuses)
{
    struct rt_cores_config config = {.kind = &rt_epoll_kind,
            .count = CORES,
            .tasks = 16,
            .sockets = 16,
            .begin = begin,
            .argument = town};
    *town = (struct town){.refuses = refuses};
    atomic_init(&town->busy, CORES);
    EXPECT_EQ(rt_cores_init(&town->cores, &config), RT_OK);
}

/* Goal: on pinned threads every call of one shard to another is served once, on the
 * thread of its target, and the shutdown ends all loops. A lost wake is a test that does not end.
 * Holds X1, X4, X5, X7. */
TEST(cores_serve_every_call_once)
{
    struct town town;
    uint32_t served = 0;
    uint32_t open_before = metal_open_descriptors();
    town_init(&town, RT_OK);
    EXPECT_EQ(rt_cores_start(&town.cores), RT_OK);
    EXPECT_EQ(rt_cores_join(&town.cores), RT_OK);
    for (uint32_t i = 0; i < CORES; i++) {
        served += town.members[i].served;
    }
    EXPECT_EQ(served, CORES * CALLS);
    rt_cores_fini(&town.cores);
    EXPECT_EQ(metal_open_descriptors(), open_before);
}

/* Goal: one core that cannot begin ends them all, and its error is the answer; messages under way
 * return first. Holds X7. */
TEST(cores_end_together_when_one_cannot_begin)
{
    struct town town;
    town_init(&town, RT_E_ADDRESS_IN_USE);
    EXPECT_EQ(rt_cores_start(&town.cores), RT_OK);
    EXPECT_EQ(rt_cores_join(&town.cores), RT_E_ADDRESS_IN_USE);
    rt_cores_fini(&town.cores);
}

TEST(cores_that_were_never_started_leave_nothing)
{
    struct town town;
    uint32_t open_before = metal_open_descriptors();
    town_init(&town, RT_OK);
    rt_cores_fini(&town.cores);
    EXPECT_EQ(metal_open_descriptors(), open_before);
}

/* ---- Signals and processes. ------------------------------------------------------------------ */

#define STORM 200u

struct listener {
    struct rt_task task;
    struct rt_signals signals;
    struct rt_process process;
    int last;
    int status;
    uint32_t heard;
};

static rt_poll
hear_until_term(struct rt_task *task, struct rt_cx *cx)
{
    struct listener *listener = rt_container_of(task, struct listener, task);
    while (listener->last != SIGTERM) {
        RT_AWAIT(rt_signals_poll(&listener->signals, cx, &listener->last));
        listener->heard++;
    }
    return RT_READY;
}

static void *
storm(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < STORM; i++) {
        ck_assert_int_eq(kill(getpid(), i % 2 == 0 ? SIGUSR1 : SIGUSR2), 0);
        (void)sched_yield();
    }
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
    return NULL;
}

/* Goal: a storm of signals ends nothing and interrupts nothing; the last one is heard. */
TEST(signals_of_a_storm_are_heard)
{
    static const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM};
    struct metal metal;
    struct listener listener = {.last = 0};
    pthread_t thread;
    metal_init(&metal);
    EXPECT_EQ(rt_signals_init(&listener.signals, &metal.epoll.base, numbers, 3), RT_OK);
    rt_task_init(&listener.task, hear_until_term, NULL, "listener");
    EXPECT_EQ(rt_post(metal_executor(&metal), &listener.task), RT_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, storm, NULL), 0);
    EXPECT_EQ(rt_run_to_completion(&metal.machine.runtime), RT_OK);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    EXPECT(listener.heard >= 2);
    EXPECT(listener.heard <= STORM + 1);
    rt_signals_fini(&listener.signals);
    metal_fini(&metal);
}

static rt_poll
await_process(struct rt_task *task, struct rt_cx *cx)
{
    struct listener *listener = rt_container_of(task, struct listener, task);
    return rt_process_poll(&listener->process, cx, &listener->status);
}

/* Starts a child that ends with `status`, or waits for a signal where that is negative. */
static pid_t
start_child(int status)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        while (status < 0) {
            (void)pause();
        }
        _exit(status);
    }
    return pid;
}

static int
status_of(struct metal *metal, pid_t pid)
{
    struct listener listener = {.status = 0};
    EXPECT_EQ(rt_process_init(&listener.process, &metal->epoll.base, pid), RT_OK);
    rt_task_init(&listener.task, await_process, NULL, "parent");
    EXPECT_EQ(rt_post(metal_executor(metal), &listener.task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&metal->machine.runtime), RT_OK);
    rt_process_fini(&listener.process);
    return listener.status;
}

TEST(processes_are_waited_for)
{
    struct metal metal;
    struct rt_process gone;
    metal_init(&metal);
    EXPECT_EQ(status_of(&metal, start_child(7)), 7);
    pid_t pid = start_child(-1);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    EXPECT_EQ(status_of(&metal, pid), -SIGKILL);
    EXPECT_EQ(rt_process_init(&gone, &metal.epoll.base, pid), RT_E_SYSTEM);
    metal_fini(&metal);
}
