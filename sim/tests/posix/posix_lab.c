/*
 * posix_lab.c -- one world for a test, and programs of one function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/posix/posix_lab.h"

#include <stdio.h>
#include <string.h>

static void (*program)(void);
static char message[512];

static void *
run(void *argument)
{
    void (*fn)(void);
    memcpy(&fn, &argument, sizeof(fn));
    fn();
    return NULL;
}

static void *
as_argument(void (*fn)(void))
{
    void *argument;
    memcpy(&argument, &fn, sizeof(argument));
    return argument;
}

static void
setup(struct sim_world *world)
{
    const struct sim_thread_start start = {
            .name = "main", .fn = run, .argument = as_argument(program)};
    (void)sim_thread_spawn(world, &start);
}

static const struct sim_scenario scenario = {
        .name = "test/program", .about = "A program of one function.", .setup = setup};

void
posix_lab_run(void (*fn)(void), uint32_t seeds, enum sim_verdict verdict)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    program = fn;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, &scenario, seed, false);
        (void)snprintf(message, sizeof(message), "%s", outcome.message);
        ck_assert_msg(outcome.verdict == verdict, "seed %u: %s: %s", seed,
                sim_verdict_name(outcome.verdict), outcome.message);
    }
    lab_fini(&lab);
}

const char *
posix_lab_message(void)
{
    return message;
}

struct sim_thread *
posix_lab_spawn(void (*fn)(void))
{
    const struct sim_thread_start start = {.fn = run, .argument = as_argument(fn)};
    return sim_thread_spawn(sim_world_current, &start);
}

void
posix_lab_join(struct sim_thread *thread)
{
    (void)sim_thread_join(thread, NULL);
}
