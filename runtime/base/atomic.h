/*
 * atomic.h -- how a member that several threads touch is written in a header that C++ reads too.
 *
 *      RT_ATOMIC(unsigned) state;
 *
 * In C it is `_Atomic(unsigned)`, and the functions of <stdatomic.h> are for it. C++ 20 has no such
 * word; there it is `std::atomic<unsigned>`, which the compilers lay out in the same way where it
 * needs no lock. C++ code embeds such objects and leaves their insides alone.
 *
 * To be included outside of `extern "C"`.
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
