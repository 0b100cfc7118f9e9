/*
 * random_test.c -- programs drawn from a seed, in both worlds.
 *
 * A program opens some descriptors and then calls at random on numbers that are open, or closed, or
 * reused. What it finds becomes a case of cases_test.c.
 *
 *      KERNEL_SEEDS=20000 T='kernel_random*' build/release-gcc/sim-tests
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/tests/test.h"
#include "sim/host/sys.h"
#include "sim/tests/host/kernel/arm.h"

#define STEPS 40u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* SplitMix64. */
static uint64_t state;

static uint64_t
draw(uint64_t below)
{
    uint64_t x = (state += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

/* One program: which kinds it has, and how much it moves. */
struct theme {
    const enum kernel_call *kinds;
    size_t kinds_count;
    const uint32_t *sizes;
    size_t sizes_count;
};

/* Unix sockets are charged for memory that the fake host does not count to the byte: what programs
 * write to them stays far below their limit. */
static const uint32_t small[] = {0, 1, 2, 5, 7, 8, 9, 100, 300};
static const uint32_t large[] = {1, 96, 4000, 4095, 4096, 4097, 5000, 20000, 65536, 70000};
static const enum kernel_call all[] = {
        KERNEL_EPOLL, KERNEL_PIPE, KERNEL_STREAM, KERNEL_DGRAM, KERNEL_EVENT};
static const enum kernel_call streams[] = {KERNEL_EPOLL, KERNEL_STREAM};
static const enum kernel_call pipes[] = {KERNEL_EPOLL, KERNEL_PIPE};
static const enum kernel_call nested[] = {KERNEL_EPOLL, KERNEL_EPOLL, KERNEL_EVENT, KERNEL_PIPE};

#define THEME(kinds, sizes) \
    { \
        kinds, COUNT(kinds), sizes, COUNT(sizes) \
    }

/* The more often, the more there are of it. */
static const enum kernel_call calls[] = {KERNEL_ADD, KERNEL_ADD, KERNEL_ADD, KERNEL_ADD,
        KERNEL_MODIFY, KERNEL_REMOVE, KERNEL_WAIT, KERNEL_WAIT, KERNEL_WAIT, KERNEL_WAIT,
        KERNEL_WAIT, KERNEL_POLL, KERNEL_READ, KERNEL_READ, KERNEL_READ, KERNEL_PEEK, KERNEL_WRITE,
        KERNEL_WRITE, KERNEL_WRITE, KERNEL_POST, KERNEL_SHUTDOWN, KERNEL_DUP, KERNEL_DUP_TO,
        KERNEL_CLOSE, KERNEL_CLOSE, KERNEL_ERROR, KERNEL_READABLE};

static uint64_t
draw_events(void)
{
    uint64_t events = draw(4) & (SIM_FD_IN | SIM_FD_OUT);
    events |= draw(3) == 0 ? SIM_FD_RDHUP : 0;
    events |= draw(2) == 0 ? SIM_FD_EDGE : 0;
    events |= draw(6) == 0 ? SIM_FD_ONESHOT : 0;
    events |= draw(10) == 0 ? SIM_FD_EXCLUSIVE : 0;
    return events;
}

/* Numbers that were opened first, and one more; duplicates come after them. */
static uint64_t numbers;

static int64_t
draw_number(void)
{
    return (int64_t)draw(draw(8) == 0 ? numbers + 3 : numbers);
}

static int64_t
draw_size(const struct theme *theme)
{
    return theme->sizes[draw(theme->sizes_count)];
}

static struct kernel_step
draw_step(const struct theme *theme)
{
    struct kernel_step step = {.call = calls[draw(COUNT(calls))], .a = draw_number()};
    switch ((uint32_t)step.call) {
    case KERNEL_ADD:
    case KERNEL_MODIFY:
    case KERNEL_REMOVE:
        step.a = draw(4) == 0 ? draw_number() : 0;
        step.b = draw_number();
        step.c = draw_events();
        break;
    case KERNEL_WAIT:
        step.a = draw(4) == 0 ? (int64_t)draw(4) : 0;
        step.b = draw(4) == 0 ? (int64_t)draw(3) : 8;
        break;
    case KERNEL_POLL:
        step.b = (int64_t)draw_events() & (SIM_FD_IN | SIM_FD_OUT | SIM_FD_RDHUP);
        break;
    case KERNEL_SHUTDOWN:
        step.b = 1 + (int64_t)draw(3);
        break;
    case KERNEL_POST:
        step.c = draw(3) == 0 ? UINT64_MAX - draw(4) : draw(4);
        break;
    case KERNEL_DUP_TO:
        step.b = draw_number();
        break;
    default:
        step.b = draw_size(theme);
        break;
    }
    return step;
}

static size_t
draw_program(uint64_t seed, const struct theme *theme, struct kernel_step *steps)
{
    state = seed;
    size_t opened = 2 + draw(3);
    size_t count = opened + 8 + draw(STEPS - 16);
    steps[0] = (struct kernel_step){.call = KERNEL_EPOLL};
    numbers = 2;
    for (size_t i = 1; i < opened; i++) {
        steps[i] = (struct kernel_step){.call = theme->kinds[draw(theme->kinds_count)]};
        steps[i].a = steps[i].call == KERNEL_EVENT ? (int64_t)draw(4) : 0;
        steps[i].b = (int64_t)draw(2);
        numbers += steps[i].call == KERNEL_EPOLL || steps[i].call == KERNEL_EVENT ? 1 : 2;
    }
    for (size_t i = opened; i < count; i++) {
        steps[i] = draw_step(theme);
    }
    return count;
}

static void
compare_programs(const struct theme *theme)
{
    const char *asked = getenv("KERNEL_SEEDS");
    uint64_t seeds = asked != NULL ? strtoull(asked, NULL, 10) : 1500;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct kernel_step steps[STEPS];
        char name[32];
        size_t count = draw_program(seed, theme, steps);
        (void)snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
        kernel_check(steps, count, name);
    }
}

TEST(kernel_random_programs_of_all_kinds)
{
    compare_programs(&(const struct theme)THEME(all, small));
}

TEST(kernel_random_programs_of_streams)
{
    compare_programs(&(const struct theme)THEME(streams, small));
}

TEST(kernel_random_programs_of_pipes)
{
    compare_programs(&(const struct theme)THEME(pipes, large));
}

TEST(kernel_random_programs_of_nested_instances)
{
    compare_programs(&(const struct theme)THEME(nested, small));
}
