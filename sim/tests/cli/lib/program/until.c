/*
 * until.c -- moves a byte to and fro until some time is over, as tests of speed do. `until looks`:
 * looks at a clock 20,000 times, as who makes so many timers; `until looks ever`: without end.
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
main(int argc, char **argv)
{
    int ends[2];
    (void)argv;
    for (int i = 0; argc > 1 && (i < 20000 || argc > 2); i++)
        (void)now_ms();
    char byte = 0;
    long end = now_ms() + 300;
    if (pipe(ends) != 0)
        return 1;
    while (now_ms() < end)
        if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
            return 2;
    return 0;
}
