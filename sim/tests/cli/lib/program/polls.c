/*
 * polls.c -- a server in one thread, over poll: it answers a line with 300 of it, and serves
 * two clients at a time.
 *
 *      polls PORT [BUG]
 *
 *      half    the answer that is left is dropped where the client has ended its direction
 *      reset   a connection that was reset counts for ever
 *      slow    the whole answer is written at once, as often as that takes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 2
#define TIMES 300
#define LINE 32

struct client {
    int fd; /* -1: none. */
    bool ended;
    char line[LINE];
    size_t used;
    char answer[LINE * TIMES];
    size_t first; /* What is left of the answer … */
    size_t last;
};

static struct client clients[CLIENTS];
static int connected;
static const char *bug = "";

static bool
is_busy(const struct client *client)
{
    return client->first < client->last;
}

static void
drop(struct client *client)
{
    close(client->fd);
    *client = (struct client){.fd = -1};
    connected--;
}

static void
answer(struct client *client)
{
    client->first = 0;
    client->last = 0;
    for (int i = 0; i < TIMES; i++) {
        memcpy(client->answer + client->last, client->line, client->used);
        client->last += client->used;
    }
    client->used = 0;
}

static void
take(struct client *client)
{
    ssize_t size = read(client->fd, client->line + client->used, 1);
    if (size == 0) {
        client->ended = true;
        if (strcmp(bug, "half") == 0 || !is_busy(client)) {
            drop(client);
        }
    } else if (size < 0 && errno != EAGAIN) {
        connected += strcmp(bug, "reset") == 0;
        drop(client);
    } else if (size == 1 && (client->line[client->used++] == '\n' || client->used == LINE)) {
        answer(client);
    }
}

static void
give(struct client *client)
{
    do {
        ssize_t size = send(client->fd, client->answer + client->first,
                client->last - client->first, MSG_NOSIGNAL);
        if (size < 0 && errno != EAGAIN) {
            drop(client);
            return;
        }
        client->first += size > 0 ? (size_t)size : 0;
    } while (strcmp(bug, "slow") == 0 && is_busy(client));
    if (!is_busy(client) && client->ended) {
        drop(client);
    }
}

static void
enter(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    for (int i = 0; fd >= 0 && i < CLIENTS; i++) {
        if (clients[i].fd < 0) {
            clients[i].fd = fd;
            connected++;
            return;
        }
    }
}

static int
listen_at(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
            listen(fd, 8) != 0) {
        exit(2);
    }
    return fd;
}

/* A client sends one line, and no more. */
static void
serve(struct client *client, short events)
{
    if ((events & (POLLIN | POLLERR | POLLHUP)) != 0 && !client->ended) {
        take(client);
    } else if (is_busy(client) && (events & (POLLOUT | POLLERR | POLLHUP)) != 0) {
        give(client);
    }
}

int
main(int count, char **arguments)
{
    int listener = listen_at(atoi(arguments[1]));
    bug = count > 2 ? arguments[2] : "";
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].fd = -1;
    }
    for (;;) {
        bool full = connected == CLIENTS;
        struct pollfd fds[CLIENTS + 1] = {{.fd = full ? -1 : listener, .events = POLLIN}};
        for (int i = 0; i < CLIENTS; i++) {
            const struct client *client = &clients[i];
            short in = client->ended ? 0 : POLLIN;
            short out = is_busy(client) ? POLLOUT : 0;
            fds[i + 1] = (struct pollfd){.fd = client->fd, .events = (short)(in | out)};
        }
        if (poll(fds, CLIENTS + 1, -1) < 0) {
            continue;
        }
        for (int i = 0; i < CLIENTS; i++) {
            if (clients[i].fd >= 0) {
                serve(&clients[i], fds[i + 1].revents);
            }
        }
        if (fds[0].revents != 0) {
            enter(listener);
        }
    }
}
