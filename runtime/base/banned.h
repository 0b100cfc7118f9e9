/*
 * banned.h -- calls that would make a run depend on more than its seed.
 *
 * Included last by every .c file of the runtime outside host/. A banned call does
 * not compile, and the compiler's message names the replacement. This covers
 * functions only; scripts/tidy finds `double`, `%p`, __DATE__ and the words that
 * mark unfinished work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_BANNED_H
#define RT_BASE_BANNED_H

#define BANNED(name, instead) name##_is_banned_##instead

/* Clocks and randomness: a run is a pure function of its seed. */
#undef rand
#define rand(...) BANNED(rand, use_the_decision_stream)
#undef random
#define random(...) BANNED(random, use_the_decision_stream)
#undef time
#define time(...) BANNED(time, use_rt_cx_now)
#undef clock_gettime
#define clock_gettime(...) BANNED(clock_gettime, use_rt_cx_now)
#undef gettimeofday
#define gettimeofday(...) BANNED(gettimeofday, use_rt_cx_now)
#undef localtime
#define localtime(...) BANNED(localtime, use_nanoseconds_of_the_host_clock)

/* The environment: what a run needs is an argument. */
#undef getenv
#define getenv(...) BANNED(getenv, use_an_option)

/* Memory: the caller provides it. */
#undef malloc
#define malloc(...) BANNED(malloc, use_memory_lent_by_the_caller)
#undef calloc
#define calloc(...) BANNED(calloc, use_memory_lent_by_the_caller)
#undef realloc
#define realloc(...) BANNED(realloc, use_memory_lent_by_the_caller)
#undef free
#define free(...) BANNED(free, use_memory_lent_by_the_caller)

/* Unstable ties, hidden state, no bounds. */
#undef qsort
#define qsort(...) BANNED(qsort, use_a_sort_that_keeps_ties_in_order)
#undef strtok
#define strtok(...) BANNED(strtok, use_a_cursor_of_your_own)
#undef sprintf
#define sprintf(...) BANNED(sprintf, use_a_writer_that_knows_its_size)
#undef strcpy
#define strcpy(...) BANNED(strcpy, use_memcpy_with_a_checked_size)
#undef strcat
#define strcat(...) BANNED(strcat, use_a_writer_that_knows_its_size)

#endif
