/*
 * falls.c -- a library that crashes while it is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

__attribute__((constructor)) static void
fall(void)
{
    abort();
}
