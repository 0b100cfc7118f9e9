// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An event loop whose callbacks may run it again until a condition holds (a modal dialog): events
 * that come meanwhile are dispatched there, at any depth. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOURCES 3
#define CLICKS 3

static int sockets[SOURCES][2]; /* 0: clicks. 1: answers of the user. 2: network. */
static int clicks, dialogs_open, dialogs_closed, answers, packets;
static bool clicks_over, answers_over, packets_over;

static void run_until(bool (*over)(int limit), int limit);

static bool answered(int limit)
{
    return answers >= limit;
}

static bool all_over(int limit)
{
    (void)limit;
    return clicks_over && answers_over && packets_over && dialogs_closed == CLICKS;
}

static void on_click(void)
{
    int mine = ++clicks;
    dialogs_open++;
    run_until(answered, mine);
    dialogs_open--;
    dialogs_closed++;
}

static void on_ready(int source)
{
    char byte;
    ssize_t n = recv(sockets[source][0], &byte, 1, MSG_DONTWAIT);
    if (n < 0)
        return;
    if (n == 0) {
        *(source == 0 ? &clicks_over : source == 1 ? &answers_over : &packets_over) = true;
    } else if (source == 0) {
        on_click();
    } else if (source == 1) {
        answers++;
    } else {
        packets++;
    }
}

static void run_until(bool (*over)(int limit), int limit)
{
    while (!over(limit)) {
        struct pollfd fds[SOURCES];
        for (int i = 0; i < SOURCES; i++) {
            bool ended = i == 0 ? clicks_over : i == 1 ? answers_over : packets_over;
            fds[i] = (struct pollfd){.fd = ended ? -1 : sockets[i][0], .events = POLLIN};
        }
        if (poll(fds, SOURCES, -1) < 0)
            continue;
        for (int i = 0; i < SOURCES && !over(limit); i++) {
            if (fds[i].revents != 0)
                on_ready(i);
        }
    }
}

static void *feed(void *argument)
{
    int source = *(int *)argument;
    for (int i = 0; i < CLICKS; i++) {
        usleep((useconds_t)(100 * (source + 1)));
        while (send(sockets[source][1], "x", 1, 0) < 0 && errno == EINTR)
            ;
    }
    shutdown(sockets[source][1], SHUT_WR);
    return NULL;
}

int main(void)
{
    static int numbers[SOURCES] = {0, 1, 2};
    pthread_t threads[SOURCES];
    for (int i = 0; i < SOURCES; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]) != 0)
            return 1;
    }
    for (int i = 0; i < SOURCES; i++)
        pthread_create(&threads[i], NULL, feed, &numbers[i]);
    run_until(all_over, 0);
    for (int i = 0; i < SOURCES; i++)
        pthread_join(threads[i], NULL);
    printf("%d clicks, %d answers, %d packets, %d open\n", clicks, answers, packets, dialogs_open);
    return packets == CLICKS && dialogs_open == 0 ? 0 : 1;
}
