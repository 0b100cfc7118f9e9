/*
 * arm.c -- records of both worlds, and the search for a run with the kernel's record.
 *
 * The search is depth first over the decisions of the fake host: a run stops at the first result
 * that differs, and the last decision before it that has another alternative takes that one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/tests/host/kernel/arm.h"
#include "sim/tests/host/kernel/search.h"

#define STEPS_MAX 128u
#define RUNS_MAX 4000u
#define TEXT_SIZE 65536u

const char *
kernel_bytes(size_t size)
{
    static char bytes[KERNEL_BYTES];
    ck_assert(size <= sizeof(bytes));
    for (size_t i = 0; bytes[1] == 0 && i < sizeof(bytes); i++) {
        bytes[i] = (char)(i % 251);
    }
    return bytes;
}

uint64_t
kernel_hash(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash & 0xffff;
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

int
kernel_domain(enum kernel_socket kind)
{
    return kind == KERNEL_TCP || kind == KERNEL_UDP ? AF_INET : AF_UNIX;
}

int
kernel_type(enum kernel_socket kind)
{
    return kind == KERNEL_TCP || kind == KERNEL_UNIX ? SOCK_STREAM : SOCK_DGRAM;
}

/* A Unix address is abstract, and has the process in it. */
socklen_t
kernel_address(enum kernel_socket kind, int number, in_port_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in internet = {.sin_family = AF_INET,
            .sin_port = port,
            .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    memset(ret, 0, sizeof(*ret));
    if (kernel_domain(kind) == AF_INET) {
        memcpy(ret, &internet, sizeof(internet));
        return sizeof(internet);
    }
    int size = snprintf(
            local.sun_path + 1, sizeof(local.sun_path) - 1, "rewake-%d-%d", (int)getpid(), number);
    memcpy(ret, &local, sizeof(local));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

/* ---- The search. ----------------------------------------------------------------------------- */

static struct {
    const struct kernel_step *steps;
    struct kernel_result wanted[STEPS_MAX];
    struct kernel_result nearest; /* The result that differed, in the run that went furthest. */
    size_t furthest;
    size_t reached;
} search;

static struct search decisions;

uint32_t
kernel_choose(uint32_t n)
{
    return search_choose(&decisions, n);
}

static bool
equal(const struct kernel_result *a, const struct kernel_result *b)
{
    return a->value == b->value && a->number == b->number && a->events_count == b->events_count &&
           memcmp(a->events, b->events, sizeof(a->events)) == 0;
}

static int
seen(size_t index, const struct kernel_result *result)
{
    search.reached = index;
    if (equal(result, &search.wanted[index])) {
        search.reached++;
        return 1;
    }
    if (index >= search.furthest) {
        search.furthest = index;
        search.nearest = *result;
    }
    return 0;
}

/* ---- Programs as text. ----------------------------------------------------------------------- */

static const char *const names[] = {
#define KERNEL_NAME(name, parameters) #name,
        KERNEL_CALLS(KERNEL_NAME)
#undef KERNEL_NAME
};

static void
print_result(FILE *file, const struct kernel_result *result)
{
    const char *error = result->value < 0 ? strerrorname_np((int)-result->value) : NULL;
    if (error != NULL) {
        (void)fprintf(file, " %s", error);
    } else {
        (void)fprintf(file, " %lld", (long long)result->value);
    }
    if (result->number != 0) {
        (void)fprintf(file, " (%llx)", (unsigned long long)result->number);
    }
    for (uint32_t i = 0; i < result->events_count; i++) {
        (void)fprintf(file, " %d:%x", result->events[i].fd, result->events[i].events);
    }
}

static void
print_program(FILE *file, size_t count)
{
    for (size_t i = 0; i < count && i <= search.furthest; i++) {
        const struct kernel_step *step = &search.steps[i];
        (void)fprintf(file, "        {KERNEL_%s, %lld, %lld, %llu}, /*", names[step->call],
                (long long)step->a, (long long)step->b, (unsigned long long)step->c);
        print_result(file, &search.wanted[i]);
        (void)fprintf(file, " */\n");
    }
}

__attribute__((noreturn)) static void
report(size_t count, const char *name, uint32_t runs)
{
    static char text[TEXT_SIZE];
    FILE *file = fmemopen(text, sizeof(text) - 1, "w");
    ck_assert(file != NULL);
    print_program(file, count);
    (void)fprintf(file, "the fake host, in the nearest of %u runs:", runs);
    print_result(file, &search.nearest);
    (void)fclose(file);
    ck_abort_msg("%s: the kernel did what the fake host cannot:\n%s", name, text);
}

/* ---- Both worlds. ---------------------------------------------------------------------------- */

static void
record_native(size_t count)
{
    kernel_native_begin();
    for (size_t i = 0; i < count; i++) {
        search.wanted[i] = (struct kernel_result){0};
        kernel_native(&search.steps[i], &search.wanted[i]);
    }
    kernel_native_end();
}

bool
kernel_same(const struct kernel_step *steps, size_t count, uint32_t *ret_runs)
{
    ck_assert(count <= STEPS_MAX);
    uint32_t runs = 0;
    search.steps = steps;
    search.furthest = 0;
    search_init(&decisions);
    record_native(count);
    do {
        search_again(&decisions);
        search.reached = 0;
        kernel_fake(steps, count, seen);
        runs++;
    } while (search.reached < count && runs < RUNS_MAX && search_turn(&decisions));
    *ret_runs = runs;
    return search.reached == count;
}

/* The two worlds agree only on what has arrived. */
static bool
settles(const struct kernel_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].call == KERNEL_SETTLE) {
            return true;
        }
    }
    return false;
}

/* Without what is not necessary for the difference. Returns how many steps are left. */
static size_t
shrink(struct kernel_step *steps, size_t count)
{
    struct kernel_step without[STEPS_MAX];
    uint32_t runs = 0;
    for (size_t i = 0; i < count;) {
        memcpy(without, steps, i * sizeof(*steps));
        memcpy(without + i, steps + i + 1, (count - i - 1) * sizeof(*steps));
        if (kernel_same(without, count - 1, &runs)) {
            i++;
        } else {
            memcpy(steps, without, sizeof(without));
            count--;
        }
    }
    return count;
}

/* On a busy machine a sleep may be long, and loopback slow: a difference must repeat. */
static bool
same_in_three(const struct kernel_step *steps, size_t count)
{
    uint32_t runs = 0;
    for (int i = 0; i < 3; i++) {
        if (kernel_same(steps, count, &runs)) {
            return true;
        }
    }
    return false;
}

void
kernel_check(const struct kernel_step *steps, size_t count, const char *name)
{
    struct kernel_step kept[STEPS_MAX];
    uint32_t runs = 0;
    if (!same_in_three(steps, count)) {
        memcpy(kept, steps, count * sizeof(*steps));
        count = settles(kept, count) ? count : shrink(kept, count);
        (void)kernel_same(kept, count, &runs);
        report(count, name, runs);
    }
}
