/*
 * random.h -- random bytes for a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

/* Fills `size` bytes; one decision. */
void sim__posix_random(void *to, size_t size);
