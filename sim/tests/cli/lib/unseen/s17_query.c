/* Cause: query_send(), line 47: ev_timer_start does nothing for a timer that runs already, and that of the query before is never stopped when its answer comes; its old deadline counts for the new query, which is called late long before its own time is over; repair: ev_timer_stop before the timer is set and started. */
/*
 * A client that asks a server several things in a row, over libev. A query that has no answer
 * after a while is late, which is noted; the client waits on.
 */
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUERIES 4
#define LIMIT 0.016

struct client {
    ev_io readable;
    ev_timer late;
    int socket;
    unsigned char query; /* The one that is under way. */
    ev_tstamp sent_at;
    int late_ones;
};

static void *server_main(void *argument)
{
    int socket = *(int *)argument;
    unsigned char query;
    while (read(socket, &query, 1) == 1) {
        usleep(3000);
        query += 100;
        if (write(socket, &query, 1) != 1)
            break;
    }
    return NULL;
}

static void query_send(struct ev_loop *loop, struct client *client)
{
    ev_now_update(loop);
    client->sent_at = ev_now(loop);
    (void)!write(client->socket, &client->query, 1);
#ifdef FIXED
    ev_timer_stop(loop, &client->late);
    ev_timer_set(&client->late, LIMIT, 0.);
#endif
    ev_timer_start(loop, &client->late);
}

static void query_is_late(struct client *client, ev_tstamp waited)
{
    assert(waited > LIMIT - 0.002);
    client->late_ones++;
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct client *client = timer->data;
    (void)events;
    query_is_late(client, ev_now(loop) - client->sent_at);
    ev_timer_set(timer, LIMIT, 0.);
}

static void on_answer(struct ev_loop *loop, ev_io *io, int events)
{
    struct client *client = io->data;
    unsigned char answer;
    (void)events;
    if (read(client->socket, &answer, 1) != 1)
        return;
    assert(answer == client->query + 100);
    client->query++;
    if (client->query < QUERIES)
        query_send(loop, client);
    else
        ev_break(loop, EVBREAK_ALL);
}

int main(void)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    static struct client client;
    int ends[2];
    pthread_t server;
    if (loop == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&server, NULL, server_main, &ends[1]);
    client.socket = ends[0];
    ev_io_init(&client.readable, on_answer, ends[0], EV_READ);
    ev_timer_init(&client.late, on_late, LIMIT, 0.);
    client.readable.data = client.late.data = &client;
    ev_io_start(loop, &client.readable);
    query_send(loop, &client);
    ev_run(loop, 0);
    shutdown(ends[0], SHUT_RDWR);
    pthread_join(server, NULL);
    ev_loop_destroy(loop);
    printf("%d queries answered\n", client.query);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
