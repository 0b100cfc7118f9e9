// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A client that asks over datagrams, gives each answer some time (SO_RCVTIMEO), and asks again with
 * a pause that doubles; the server loses every other request. Both end. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define QUESTIONS 4

static int sockets[2];

static void *server(void *argument)
{
    int heard = 0;
    for (;;) {
        char question;
        ssize_t n = recv(sockets[1], &question, 1, 0);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            abort();
        }
        if (n == 0 || question == 'q')
            break;
        if (heard++ % 2 == 0)
            continue;
        while (send(sockets[1], &question, 1, 0) < 0 && errno == EINTR)
            ;
    }
    return argument;
}

static void set_timeout(int fd, long us)
{
    struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0)
        abort();
}

/* Late answers to earlier questions are passed over. */
static int ask(char question)
{
    long patience = 2000;
    int tries = 0;
    for (;;) {
        char answer;
        while (send(sockets[0], &question, 1, 0) < 0 && errno == EINTR)
            ;
        tries++;
        set_timeout(sockets[0], patience);
        for (;;) {
            ssize_t n = recv(sockets[0], &answer, 1, 0);
            if (n == 1 && answer == question)
                return tries;
            if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
                abort();
            if (n < 0 && errno != EINTR)
                break;
        }
        usleep((useconds_t)(patience / 4));
        patience = patience < 64000 ? patience * 2 : patience;
    }
}

int main(void)
{
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0)
        return 1;
    pthread_create(&thread, NULL, server, NULL);
    for (char question = 'a'; question < 'a' + QUESTIONS; question++) {
        if (ask(question) < 1)
            return 1;
    }
    while (send(sockets[0], "q", 1, 0) < 0 && errno == EINTR)
        ;
    pthread_join(thread, NULL);
    puts("all answered");
    return 0;
}
