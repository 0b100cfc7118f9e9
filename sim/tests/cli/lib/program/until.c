/*
 * until.c -- moves a byte to and fro until some time is over, as tests of speed do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>
#include <unistd.h>

static long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
main(void)
{
    int ends[2];
    char byte = 0;
    long end = now_ms() + 300;
    if (pipe(ends) != 0)
        return 1;
    while (now_ms() < end)
        if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
            return 2;
    return 0;
}
