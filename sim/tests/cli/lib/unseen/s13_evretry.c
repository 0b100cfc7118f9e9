/* A libevent client that keeps a connection to a server, which ends it now and then: it connects again
 * after a pause, or at once when the user asks for it.
 * Cause: on_kick() line 116: the pause is cut short and `retrying` stays set, so the next end of the connection
 * starts no pause and nothing connects again; repair: clear `retrying` there. */
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLIES 6
#define REPLIES_A_CONNECTION 2

struct client {
    struct event_base *base;
    struct event *readable; /* NULL: not connected. */
    struct event *pause;
    struct event *kick;
    int fd;
    int accepting; /* Where the server gets its connections from. */
    bool retrying;
    unsigned connects;
    unsigned replies;
};

static void connect_now(struct client *client);

static void request(struct client *client)
{
    ssize_t size = write(client->fd, "?", 1);
    assert(size == 1);
}

static void retry_later(struct client *client)
{
    const struct timeval pause = {0, 3000};

    if (client->retrying)
        return;
    client->retrying = true;
    event_add(client->pause, &pause);
}

static void disconnect(struct client *client)
{
    event_free(client->readable);
    client->readable = NULL;
    close(client->fd);
    client->fd = -1;
}

static void on_readable(evutil_socket_t fd, short what, void *argument)
{
    struct client *client = argument;
    char reply;
    ssize_t size = read(fd, &reply, 1);

    (void)what;
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0) {
        disconnect(client);
        retry_later(client);
        return;
    }
    client->replies++;
    if (client->replies == REPLIES) {
        disconnect(client);
        event_base_loopbreak(client->base);
        return;
    }
    if (client->replies % REPLIES_A_CONNECTION != 0)
        request(client);
}

static void connect_now(struct client *client)
{
    int pair[2];

    assert(client->readable == NULL);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    assert(write(client->accepting, &pair[1], sizeof(int)) == sizeof(int));
    client->fd = pair[0];
    evutil_make_socket_nonblocking(client->fd);
    client->readable =
            event_new(client->base, client->fd, EV_READ | EV_PERSIST, on_readable, client);
    event_add(client->readable, NULL);
    client->connects++;
    request(client);
}

static void on_pause(evutil_socket_t fd, short what, void *argument)
{
    struct client *client = argument;

    (void)fd;
    (void)what;
    client->retrying = false;
    if (client->readable == NULL)
        connect_now(client);
}

static void on_kick(evutil_socket_t fd, short what, void *argument)
{
    struct client *client = argument;
    char byte;

    (void)what;
    if (read(fd, &byte, 1) != 1)
        return;
    if (client->readable != NULL)
        return;
    event_del(client->pause);
#ifdef FIXED
    client->retrying = false;
#endif
    connect_now(client);
}

static void *server_main(void *argument)
{
    int accepting = *(int *)argument;
    int fd;

    while (read(accepting, &fd, sizeof(fd)) == sizeof(fd)) {
        for (unsigned i = 0; i < REPLIES_A_CONNECTION; i++) {
            char question;
            if (read(fd, &question, 1) != 1)
                break;
            usleep(1000);
            if (send(fd, "!", 1, MSG_NOSIGNAL) != 1)
                break;
        }
        close(fd);
    }
    return NULL;
}

static void *user_main(void *argument)
{
    int kick = *(int *)argument;

    usleep(1000);
    assert(write(kick, "k", 1) == 1);
    return NULL;
}

int main(void)
{
    struct client client = {.fd = -1};
    pthread_t server, user;
    int accepting[2], kick[2];

    assert(pipe(accepting) == 0 && pipe(kick) == 0);
    evutil_make_socket_nonblocking(kick[0]);
    client.accepting = accepting[1];
    client.base = event_base_new();
    client.pause = evtimer_new(client.base, on_pause, &client);
    client.kick = event_new(client.base, kick[0], EV_READ | EV_PERSIST, on_kick, &client);
    event_add(client.kick, NULL);
    pthread_create(&server, NULL, server_main, &accepting[0]);
    pthread_create(&user, NULL, user_main, &kick[1]);
    connect_now(&client);
    event_base_dispatch(client.base);
    close(accepting[1]);
    pthread_join(server, NULL);
    pthread_join(user, NULL);
    assert(client.replies == REPLIES && client.connects >= REPLIES / REPLIES_A_CONNECTION);
    event_free(client.kick);
    event_free(client.pause);
    event_base_free(client.base);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
