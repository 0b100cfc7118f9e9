/*
 * opens.c -- opens and closes a file more often than a run has numbers for.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <unistd.h>

int
main(void)
{
    for (int i = 0; i < 5000; i++) {
        close(open("/dev/null", O_RDONLY));
    }
    return 0;
}
