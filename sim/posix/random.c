/*
 * random.c -- random numbers of a program: words of one sequence, and one decision for each call.
 *
 * The decision picks one of 64 continuations of the sequence, so that a run explores different
 * numbers, a token has one number for each call, and alternative 0 still gives numbers that look
 * random. *Rejected*: a decision for each few bits, 11 for a word, whose baseline is all zeros.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/posix/random.h"
#include "sim/posix/state.h"

/* The finisher of SplitMix64. */
static uint64_t
mixed(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

void
sim__posix_random(void *to, size_t size)
{
    struct sim__posix *state = sim__posix_state();
    uint64_t key = mixed(sim_pick(state->world, SIM_ALTERNATIVES_MAX) + 1);
    char *at = to;
    while (size > 0) {
        uint64_t word = mixed(key + ++state->randoms * 0x9e3779b97f4a7c15u);
        size_t part = size < sizeof(word) ? size : sizeof(word);
        memcpy(at, &word, part);
        at += part;
        size -= part;
    }
}

ssize_t
sim__posix_getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    sim__posix_random(to, size);
    return (ssize_t)size;
}

int
sim__posix_getentropy(void *to, size_t size)
{
    if (size > 256) {
        return sim__posix_error(EIO);
    }
    sim__posix_random(to, size);
    return 0;
}

void
sim__posix_arc4random_buf(void *to, size_t size)
{
    sim__posix_random(to, size);
}

uint32_t
sim__posix_arc4random(void)
{
    uint32_t value = 0;
    sim__posix_random(&value, sizeof(value));
    return value;
}

uint32_t
sim__posix_arc4random_uniform(uint32_t n)
{
    return n < 2 ? 0 : sim__posix_arc4random() % n;
}

/* ---- std::random_device, whose own code asks the processor. ---------------------------------- */

void sim__posix_device_init(void *device, const void *token) __asm__(
        "_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
void sim__posix_device_init_old(void *device, const void *token) __asm__(
        "_ZNSt13random_device7_M_initERKSs");
void sim__posix_device_fini(void *device) __asm__("_ZNSt13random_device7_M_finiEv");
uint32_t sim__posix_device_value(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");

/* A device has no state. */
void
sim__posix_device_init(void *device, const void *token)
{
    (void)device;
    (void)token;
}

void
sim__posix_device_init_old(void *device, const void *token)
{
    sim__posix_device_init(device, token);
}

void
sim__posix_device_fini(void *device)
{
    (void)device;
}

/* Constructors of a library run before there is a run: they all get the same number. */
uint32_t
sim__posix_device_value(void *device)
{
    (void)device;
    return sim_thread_now != NULL ? sim__posix_arc4random() : 0x6c078965u;
}
