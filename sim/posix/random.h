/*
 * random.h -- random bytes for a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POSIX_RANDOM_H
#define SIM_POSIX_RANDOM_H

#include <stddef.h>

/* Fills `size` bytes; one decision. */
void sim__posix_random(void *to, size_t size);

#endif
