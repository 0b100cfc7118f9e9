/*
 * entry_list.h -- every function that -fsanitize=thread makes a compiler call, as tables.
 *
 * gcc 12 and newer name their functions in full in cc1; clang 14 and newer build them from the
 * prefixes below. sim/tests/cli/tsan_symbols.t compiles each operation with both, and fails on a
 * name that is missing here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

typedef uint8_t sim_tsan_8;
typedef uint16_t sim_tsan_16;
typedef uint32_t sim_tsan_32;
typedef uint64_t sim_tsan_64;
__extension__ typedef unsigned __int128 sim_tsan_128;

/* Widths of atomic operations, in bits. */
#define SIM_TSAN_WIDTHS(X) X(8) X(16) X(32) X(64) X(128)

/* Operations that change a variable and return what was there: name, and what it holds after. */
#define SIM_TSAN_CHANGES(X, bits) \
    X(bits, exchange, operand) \
    X(bits, fetch_add, before + operand) \
    X(bits, fetch_sub, before - operand) \
    X(bits, fetch_and, before &operand) \
    X(bits, fetch_or, before | operand) \
    X(bits, fetch_xor, before ^ operand) \
    X(bits, fetch_nand, ~(before & operand))

/* Plain accesses of 1 to 16 bytes: the word before the size, and whether it writes. */
#define SIM_TSAN_PLAIN_SIZES(X, word, writes) \
    X(word, 1, writes) X(word, 2, writes) X(word, 4, writes) X(word, 8, writes) X(word, 16, writes)
#define SIM_TSAN_PLAIN(X) \
    SIM_TSAN_PLAIN_SIZES(X, read, false) \
    SIM_TSAN_PLAIN_SIZES(X, write, true) \
    SIM_TSAN_PLAIN_SIZES(X, read_write, true) \
    SIM_TSAN_PLAIN_SIZES(X, volatile_read, false) \
    SIM_TSAN_PLAIN_SIZES(X, volatile_write, true) \
    SIM_TSAN_PLAIN_SIZES(X, unaligned_read, false) \
    SIM_TSAN_PLAIN_SIZES(X, unaligned_write, true) \
    SIM_TSAN_PLAIN_SIZES(X, unaligned_read_write, true) \
    SIM_TSAN_PLAIN_SIZES(X, unaligned_volatile_read, false) \
    SIM_TSAN_PLAIN_SIZES(X, unaligned_volatile_write, true)

/* Announcements, which need no answer: name, parameters. The first are the compilers', the others
 * those of <sanitizer/tsan_interface.h>, which programs call where __SANITIZE_THREAD__ is set. */
#define SIM_TSAN_NOTES(X) \
    X(init, (void)) \
    X(func_entry, (void *caller)) \
    X(func_exit, (void)) \
    X(vptr_update, (void **object, void *table)) \
    X(vptr_read, (void **object)) \
    X(ignore_thread_begin, (void)) \
    X(ignore_thread_end, (void)) \
    X(acquire, (void *object)) \
    X(release, (void *object)) \
    X(mutex_create, (void *mutex, unsigned flags)) \
    X(mutex_destroy, (void *mutex, unsigned flags)) \
    X(mutex_pre_lock, (void *mutex, unsigned flags)) \
    X(mutex_post_lock, (void *mutex, unsigned flags, int recursion)) \
    X(mutex_post_unlock, (void *mutex, unsigned flags)) \
    X(mutex_pre_signal, (void *mutex, unsigned flags)) \
    X(mutex_post_signal, (void *mutex, unsigned flags)) \
    X(mutex_pre_divert, (void *mutex, unsigned flags)) \
    X(mutex_post_divert, (void *mutex, unsigned flags)) \
    X(destroy_fiber, (void *fiber)) \
    X(switch_to_fiber, (void *fiber, unsigned flags)) \
    X(set_fiber_name, (void *fiber, const char *name))
