/*
 * s11_bridge.c -- threads that use a libuv loop of another thread: they put requests into a queue,
 * and wait for each. The loop runs as long as somebody uses it.
 *
 * Cause: client_main() (line 117) joins the users by a request of its own, which comes after the last of the others has left and closed the queue
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define CLIENTS 2

enum kind { JOIN, DELAY, LEAVE };

struct request {
    enum kind kind;
    unsigned ms;
    uv_sem_t done;
    uv_timer_t timer;
    struct request *next;
};

struct bridge {
    uv_loop_t loop;
    uv_async_t async;
    uv_mutex_t mutex;
    struct request *first, **end;
    unsigned users; /* Of the loop's thread. */
    unsigned served;
};

struct client {
    struct bridge *bridge;
    uv_thread_t thread;
    unsigned rounds;
};

static void
request_done(uv_handle_t *timer)
{
    struct request *request = timer->data;
    uv_sem_post(&request->done);
}

static void
request_over(uv_timer_t *timer)
{
    uv_close((uv_handle_t *)timer, request_done);
}

static void
request_serve(struct bridge *bridge, struct request *request)
{
    bridge->served++;
    switch (request->kind) {
    case JOIN:
        bridge->users++;
        break;
    case DELAY:
        uv_timer_init(&bridge->loop, &request->timer);
        request->timer.data = request;
        uv_timer_start(&request->timer, request_over, request->ms, 0);
        return;
    case LEAVE:
        if (--bridge->users == 0) {
            uv_close((uv_handle_t *)&bridge->async, NULL);
        }
        break;
    }
    uv_sem_post(&request->done);
}

static struct request *
queue_take(struct bridge *bridge)
{
    uv_mutex_lock(&bridge->mutex);
    struct request *first = bridge->first;
    if (first != NULL) {
        bridge->first = first->next;
        if (bridge->first == NULL) {
            bridge->end = &bridge->first;
        }
    }
    uv_mutex_unlock(&bridge->mutex);
    return first;
}

static void
on_async(uv_async_t *async)
{
    struct bridge *bridge = async->data;
    struct request *request;
    while (!uv_is_closing((uv_handle_t *)async) && (request = queue_take(bridge)) != NULL) {
        request_serve(bridge, request);
    }
}

static void
bridge_call(struct bridge *bridge, enum kind kind, unsigned ms)
{
    struct request request = {.kind = kind, .ms = ms};
    uv_sem_init(&request.done, 0);
    uv_mutex_lock(&bridge->mutex);
    *bridge->end = &request;
    bridge->end = &request.next;
    uv_async_send(&bridge->async);
    uv_mutex_unlock(&bridge->mutex);
    uv_sem_wait(&request.done);
    uv_sem_destroy(&request.done);
}

static void
client_main(void *argument)
{
    struct client *client = argument;
#ifndef FIXED
    bridge_call(client->bridge, JOIN, 0);
#endif
    for (unsigned i = 0; i < client->rounds; i++) {
        bridge_call(client->bridge, DELAY, 1 + i);
    }
    bridge_call(client->bridge, LEAVE, 0);
}

int
main(void)
{
    static struct bridge bridge;
    struct client clients[CLIENTS];
    bridge.end = &bridge.first;
    uv_mutex_init(&bridge.mutex);
    uv_loop_init(&bridge.loop);
    uv_async_init(&bridge.loop, &bridge.async, on_async);
    bridge.async.data = &bridge;
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.bridge = &bridge, .rounds = 1 + i};
#ifdef FIXED
        bridge.users++;
#endif
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        uv_thread_create(&clients[i].thread, client_main, &clients[i]);
    }
    uv_run(&bridge.loop, UV_RUN_DEFAULT);
    for (unsigned i = 0; i < CLIENTS; i++) {
        uv_thread_join(&clients[i].thread);
    }
    uv_loop_close(&bridge.loop);
    uv_mutex_destroy(&bridge.mutex);
    printf("%u requests served\n", bridge.served);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
