/*
 * plain.c -- a library that has nothing to do with rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
int plain(void);

int
plain(void)
{
    return 1;
}
