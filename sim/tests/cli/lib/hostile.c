/*
 * hostile.c -- a library of scenarios that lay hands on the process they run in.
 *
 * Each does in one task what its name says; those with `some` only where a decision says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
    void (*act)(struct sim_world *world);
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    (void)cx;
    job->act(job->world);
    return RT_READY;
}

static void
start(struct sim_world *world, void (*act)(struct sim_world *world))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->act = act;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

#define SCENARIO(id, title, sentence, ...) \
    static void id##_setup(struct sim_world *world) \
    { \
        start(world, id); \
    } \
    SIM_SCENARIO(id##_scenario, .name = title, .about = sentence, .setup = id##_setup, __VA_ARGS__)

/* Everything that this process shares with another is filled with `byte`. */
static void
overwrite(int byte)
{
    char text[512];
    unsigned long from[64];
    unsigned long to[64];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && count < 64 && fgets(text, sizeof(text), maps) != NULL) {
        if (strstr(text, " rw-s ") != NULL) {
            count += sscanf(text, "%lx-%lx", &from[count], &to[count]) == 2;
        }
    }
    for (int i = 0; i < count; i++) {
        /* The first page, and not the gigabytes after it. */
        unsigned long size = to[i] - from[i] < 65536 ? to[i] - from[i] : 65536;
        memset((void *)from[i], byte, size);
    }
}

static void
zeros(struct sim_world *world)
{
    if (sim_pick(world, 8) == 7) {
        overwrite(0);
    }
}
SCENARIO(zeros, "hostile/some-zeros", "Zeroes memory that is not its own, now and then.",
        .expect = SIM_VERDICT_CRASH);

static void
ones(struct sim_world *world)
{
    if (sim_pick(world, 8) == 7) {
        overwrite(0xff);
    }
}
SCENARIO(ones, "hostile/some-ones", "Fills memory that is not its own, now and then.",
        .expect = SIM_VERDICT_CRASH);

static void
all_ones(struct sim_world *world)
{
    (void)world;
    overwrite(0xff);
}
SCENARIO(
        all_ones, "hostile/ones", "Fills memory that is not its own.", .expect = SIM_VERDICT_CRASH);

static void
forks(struct sim_world *world)
{
    if (sim_pick(world, 4) == 3) {
        (void)fork();
    }
}
SCENARIO(forks, "hostile/some-fork", "Calls fork, now and then.", .expect = SIM_VERDICT_CONTRACT);

static void
vforks(struct sim_world *world)
{
    (void)world;
    if (vfork() == 0) {
        _exit(0);
    }
}
SCENARIO(vforks, "hostile/vfork", "Calls vfork.", .expect = SIM_VERDICT_CONTRACT);

/* A hidden fork; the child's side returns as well. */
static void
forks_unseen(struct sim_world *world)
{
    (void)world;
    (void)syscall(SYS_fork);
}
SCENARIO(forks_unseen, "hostile/fork-unseen", "Forks past the C library.",
        .expect = SIM_VERDICT_PASS);

/* The grandchild holds all descriptors of the worker, which is killed: only waitpid knows. */
static void
leaves_a_child(struct sim_world *world)
{
    if (sim_pick(world, 4) == 3) {
        if (syscall(SYS_fork) == 0) {
            sleep(3);
            _exit(0);
        }
        (void)raise(SIGKILL);
    }
}
SCENARIO(leaves_a_child, "hostile/leaves-a-child", "Dies, and a child of it lives.",
        .expect = SIM_VERDICT_CRASH);

static void
closes(struct sim_world *world)
{
    if (sim_pick(world, 4) == 3) {
        for (int fd = 0; fd < 1024; fd++) {
            (void)close(fd);
        }
    }
}
SCENARIO(closes, "hostile/some-close", "Closes every descriptor, now and then.",
        .expect = SIM_VERDICT_CRASH);

/* Sends "done" to the parent, from the middle of a run. */
static void
writes(struct sim_world *world)
{
    (void)world;
    for (int fd = 3; fd < 64; fd++) {
        if (write(fd, "x", 1) < 0) {
            continue;
        }
    }
}
SCENARIO(writes, "hostile/writes", "Writes to every descriptor.", .expect = SIM_VERDICT_PASS);

/* Takes real time, so that it can be killed meanwhile. */
static void
slow(struct sim_world *world)
{
    (void)world;
    for (volatile int i = 0; i < 1000000; i++) {
    }
}
SCENARIO(slow, "hostile/slow", "Takes its time.", .expect = SIM_VERDICT_PASS);

static void
slower(struct sim_world *world)
{
    const struct timespec second = {.tv_sec = 1};
    (void)world;
    (void)nanosleep(&second, NULL);
}
SCENARIO(slower, "hostile/slower", "Takes longer.", .expect = SIM_VERDICT_PASS);

static void
errno_left(struct sim_world *world)
{
    (void)world;
    SIM_ALWAYS(errno == 0);
    errno = ERANGE;
}
SCENARIO(errno_left, "hostile/errno", "Finds errno as a program does that begins.",
        .expect = SIM_VERDICT_PASS);

/* Has the last word, unless it is not asked. */
__attribute__((destructor)) static void
last_word(void)
{
    _exit(0);
}
