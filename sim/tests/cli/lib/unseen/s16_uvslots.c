/* Cause: complete(), line 102: the request's slot is given back, but its timer goes on; when an upload without a time limit gets this slot and is still under way at that time, the old timer fails it; repair: the timer is stopped when the request is complete. */
/*
 * s16_uvslots.c -- a client on libuv: requests in slots, with time limits; a thread answers them.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define SLOTS 2
#define LIMIT_MS 20
#define NO_LIMIT 0

struct request {
    unsigned slot;
    unsigned serial;
    useconds_t takes_us;
};

struct slot {
    struct client *client;
    uv_timer_t timer;
    unsigned serial; /* 0: free. */
    int is_upload;
};

struct client {
    uv_loop_t loop;
    uv_async_t answered;
    pthread_mutex_t mutex;
    struct request answers[16];
    unsigned answer_count;
    struct slot slots[SLOTS];
    pthread_t threads[8];
    unsigned thread_count;
    unsigned serial;
    unsigned queries_left;
    int upload_sent;
    unsigned under_way;
};

struct call {
    struct client *client;
    struct request request;
};

/* The server. */
static void *
serve(void *argument)
{
    struct call *call = argument;
    struct client *client = call->client;
    usleep(call->request.takes_us);
    pthread_mutex_lock(&client->mutex);
    client->answers[client->answer_count++] = call->request;
    pthread_mutex_unlock(&client->mutex);
    uv_async_send(&client->answered);
    free(call);
    return NULL;
}

static void
on_timeout(uv_timer_t *timer)
{
    struct slot *slot = timer->data;
    if (slot->serial == 0) {
        return;
    }
    assert(!slot->is_upload);
    slot->serial = 0; /* Its answer is not wanted any more. */
}

static void
send_request(struct client *client, useconds_t takes_us, unsigned limit_ms, int is_upload)
{
    struct slot *slot = client->slots;
    while (slot->serial != 0) {
        slot++;
        assert(slot < client->slots + SLOTS);
    }
    struct call *call = malloc(sizeof *call);
    slot->serial = ++client->serial;
    slot->is_upload = is_upload;
    call->client = client;
    call->request = (struct request){(unsigned)(slot - client->slots), slot->serial, takes_us};
    if (limit_ms != NO_LIMIT) {
        uv_timer_start(&slot->timer, on_timeout, limit_ms, 0);
    }
    client->under_way++;
    pthread_create(&client->threads[client->thread_count++], NULL, serve, call);
}

static void
complete(struct client *client, const struct request *request)
{
    struct slot *slot = &client->slots[request->slot];
    if (slot->serial == request->serial) {
#ifdef FIXED
        uv_timer_stop(&slot->timer);
#endif
        slot->serial = 0;
    }
    client->under_way--;
}

static void
next(struct client *client)
{
    if (client->queries_left > 0) {
        client->queries_left--;
        send_request(client, 3000, LIMIT_MS, 0);
    } else if (!client->upload_sent) {
        client->upload_sent = 1;
        send_request(client, 11000, NO_LIMIT, 1);
    } else if (client->under_way == 0) {
        for (unsigned i = 0; i < SLOTS; i++) {
            uv_close((uv_handle_t *)&client->slots[i].timer, NULL);
        }
        uv_close((uv_handle_t *)&client->answered, NULL);
    }
}

static void
on_answered(uv_async_t *async)
{
    struct client *client = async->data;
    struct request answers[16];
    pthread_mutex_lock(&client->mutex);
    unsigned count = client->answer_count;
    for (unsigned i = 0; i < count; i++) {
        answers[i] = client->answers[i];
    }
    client->answer_count = 0;
    pthread_mutex_unlock(&client->mutex);
    for (unsigned i = 0; i < count; i++) {
        complete(client, &answers[i]);
        next(client);
    }
}

int
main(void)
{
    static struct client client = {.mutex = PTHREAD_MUTEX_INITIALIZER, .queries_left = 3};
    uv_loop_init(&client.loop);
    uv_async_init(&client.loop, &client.answered, on_answered);
    client.answered.data = &client;
    for (unsigned i = 0; i < SLOTS; i++) {
        client.slots[i].client = &client;
        uv_timer_init(&client.loop, &client.slots[i].timer);
        client.slots[i].timer.data = &client.slots[i];
    }
    next(&client);
    next(&client);
    uv_run(&client.loop, UV_RUN_DEFAULT);
    for (unsigned i = 0; i < client.thread_count; i++) {
        pthread_join(client.threads[i], NULL);
    }
    uv_loop_close(&client.loop);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
