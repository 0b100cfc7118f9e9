/*
 * translate_test.c -- code that is looked at does what it does without that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/translate.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/base/sort.h"

#if defined(__x86_64__)

/* ---- Who looks. ------------------------------------------------------------------------------ */

static struct {
    uint64_t count;   /* Of instructions; */
    uintptr_t wanted; /* of those at `wanted`, … */
    uint64_t times;   /* … so many. */
    uint64_t stacks;  /* Calls of look_at_stack. */
    uintptr_t leave;  /* From there on the real code runs. */
    uintptr_t left;
} seen;

static enum sim_look
look(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers)
{
    (void)decoded;
    seen.count++;
    seen.times += pc == seen.wanted;
    if (pc == seen.leave) {
        seen.left = (uintptr_t)registers[REG_RSP];
        return SIM_LOOK_LEAVE;
    }
    return seen.count % 7 == 0 ? SIM_LOOK_STACK : SIM_LOOK_NEXT;
}

static void
look_at_stack(uintptr_t pc)
{
    (void)pc;
    seen.stacks++;
}

static const struct sim_translate_user user = {.look = look, .look_at_stack = look_at_stack};

/* ---- What is done. --------------------------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

__attribute__((noinline)) static uint64_t
choose(uint64_t hash, uint32_t n)
{
    switch (n % 9) { /* A jump by a table. */
    case 0:
        return hash + 1;
    case 1:
        return hash * 3;
    case 2:
        return hash ^ 0x55;
    case 3:
        return hash >> 1;
    case 4:
        return hash << 2;
    case 5:
        return hash - n;
    case 6:
        return ~hash;
    default:
        return hash * hash;
    }
}

static jmp_buf back;

__attribute__((noinline)) static void
jump(uint32_t depth)
{
    if (depth == 0) {
        longjmp(back, 5);
    }
    if (depth < 100) {
        jump(depth - 1);
    }
    __asm__ volatile("");
}

/* Numbers, text, vectors, calls by pointers, jumps out of functions: all that code may do. */
static uint64_t
work(uint64_t seed)
{
    uint64_t hash = seed;
    int values[50];
    char text[200];
    for (uint32_t i = 0; i < 50; i++) {
        hash = choose(hash, i);
        values[i] = (int)(hash % 1000);
    }
    sim_sort(values, 50, sizeof(*values), compare);
    for (uint32_t i = 0; i < 50; i++) {
        hash = hash * 31 + (uint64_t)values[i];
    }
    (void)snprintf(text, sizeof(text), "%d %.6f %s", values[7], (double)values[9] / 7, "text");
    for (const char *c = text; *c != '\0'; c++) {
        hash = hash * 33 + (uint64_t)*c;
    }
    char *copy = strdup(text);
    hash += copy != NULL && strcmp(copy, text) == 0 ? strlen(copy) : 0;
    memmove(copy + 1, copy, strlen(copy) - 1);
    hash = hash * 7 + (uint64_t)copy[5];
    free(copy);
    volatile uint32_t times = 0;
    int jumped = setjmp(back);
    times++;
    if (times < 4) {
        jump(3 + (uint32_t)jumped);
    }
    return hash + times + (uint64_t)(syscall(SYS_getppid) == getppid());
}

/* Flags, what stands below the stack pointer, and both halves of a vector register, over
 * instructions that change none of them. */
__attribute__((noinline)) static uint64_t
keep(bool vectors)
{
    static const uint64_t numbers[4] = {1, 2, 3, 4};
    uint64_t out[4] = {1, 2, 3, 4};
    uint64_t kept = 0;
    if (vectors) {
        __asm__ volatile("vmovdqu %0, %%ymm7" : : "m"(numbers) : "xmm7");
    }
    __asm__ volatile("movq $77, -64(%%rsp)\n\t"
                     "movl $5, %%ecx\n\t"
                     "cmpl $6, %%ecx\n\t" /* Less, carry, sign. */
                     "nop\n\tlea 1(%%rcx), %%edx\n\tmovq %%rdx, %%r10\n\t"
                     "setb %%al\n\tsets %%dl\n\tsetl %%r10b\n\t"
                     "movzbl %%al, %%eax\n\tmovzbl %%dl, %%edx\n\tmovzbl %%r10b, %%r10d\n\t"
                     "addq %%rdx, %%rax\n\taddq %%r10, %%rax\n\taddq -64(%%rsp), %%rax\n\t"
                     : "=a"(kept)
                     :
                     : "rcx", "rdx", "r10", "cc", "memory");
    if (vectors) {
        __asm__ volatile("vmovdqu %%ymm7, %0\n\tvzeroupper" : "=m"(out) : : "xmm7");
    }
    return kept + out[0] + out[1] + out[2] + out[3];
}

/* A store that is repeated, so often. */
__attribute__((noinline)) static void
fill(uint8_t *to, uint8_t byte, size_t count)
{
    __asm__ volatile(".globl sim__test_fill\nsim__test_fill:\n\trep stosb"
                     : "+D"(to), "+c"(count)
                     : "a"(byte)
                     : "memory");
}
extern const uint8_t sim__test_fill[];

/* ---- Tests. ---------------------------------------------------------------------------------- */

static void
begin(void)
{
    memset(&seen, 0, sizeof(seen));
    EXPECT(sim_translate_begin(&user));
}

TEST(translate_does_what_the_code_does)
{
    volatile uint64_t plain = work(3);
    begin();
    sim_translate_here();
    volatile uint64_t looked = work(3);
    sim_translate_end();
    EXPECT_EQ(looked, plain);
    EXPECT(seen.count > 5000);
    EXPECT(seen.stacks > 500);
    uint64_t count = seen.count;
    EXPECT_EQ(work(3), plain);
    EXPECT_EQ(seen.count, count); /* It is looked at no more. */
}

TEST(translate_keeps_flags_registers_and_what_is_below_the_stack)
{
    bool vectors = __builtin_cpu_supports("avx");
    volatile uint64_t plain = keep(vectors);
    EXPECT_EQ(plain, 3 + 77 + 10);
    begin();
    sim_translate_here();
    volatile uint64_t looked = keep(vectors);
    sim_translate_end();
    EXPECT_EQ(looked, plain);
}

/* One look each time; one where there is nothing to do. */
TEST(translate_looks_at_each_time_of_what_repeats)
{
    static const size_t counts[] = {5, 1, 0};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        uint8_t bytes[8] = {0};
        uint8_t expected[8] = {0};
        memset(expected, 9, counts[i]);
        begin();
        seen.wanted = (uintptr_t)sim__test_fill;
        sim_translate_here();
        fill(bytes, 9, counts[i]);
        sim_translate_end();
        EXPECT(memcmp(bytes, expected, sizeof(bytes)) == 0);
        EXPECT_EQ(seen.times, counts[i] > 0 ? counts[i] : 1);
    }
}

/* From a breakpoint on it is looked at, up to where that is wanted no more. */
TEST(translate_begins_at_a_stop_and_leaves_where_that_is_asked_for)
{
    uintptr_t page = (uintptr_t)choose & ~(uintptr_t)4095;
    EXPECT_EQ(mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    uint64_t plain = work(4);
    begin();
    sim_translate_stop((uintptr_t)choose);
    sim_translate_stop((uintptr_t)choose); /* Once. */
    seen.wanted = (uintptr_t)choose;
    seen.leave = (uintptr_t)sim_sort;
    volatile uint64_t looked = work(4);
    sim_translate_end();
    EXPECT_EQ(looked, plain);
    EXPECT_EQ(seen.times, 50);
    EXPECT(seen.left != 0);
    uint64_t count = seen.count;
    EXPECT_EQ(work(4), plain); /* The stop is gone. */
    EXPECT_EQ(seen.count, count);
}

#endif
