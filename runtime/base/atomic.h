/*
 * atomic.h -- declares members that several threads use, in headers that C++ compiles too.
 *
 *      RT_ATOMIC(unsigned) state;
 *
 * In C it is `_Atomic(unsigned)`, for the functions of <stdatomic.h>. In C++ 20 it is
 * `std::atomic<unsigned>`, which the compilers lay out in the same way where it needs no lock.
 * C++ code embeds such objects and does not access their members.
 *
 * Include it outside of `extern "C"`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_ATOMIC_H
#define RT_BASE_ATOMIC_H

#ifdef __cplusplus
#include <atomic>
#define RT_ATOMIC(type) std::atomic<type>
#else
#include <stdatomic.h>
#define RT_ATOMIC(type) _Atomic(type)
#endif

#endif
