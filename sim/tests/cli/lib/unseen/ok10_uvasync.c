// SPDX-License-Identifier: Apache-2.0
/* libs: -luv */
/*
 * One async handle for many messages: uv coalesces sends, so the callback empties the queue. The senders
 * count themselves out in the queue as well, and the handle is closed by the loop when the last one
 * has gone; no one sends after that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define SENDERS 2
#define MESSAGES 3

struct message {
    struct message *next;
    int last; /* Of its sender. */
};

static uv_async_t inbox;
static uv_mutex_t mutex;
static struct message *head;
static struct message **tail = &head;
static int received;
static int finished;

static void
send_message(int last)
{
    struct message *message = malloc(sizeof(*message));
    message->next = NULL;
    message->last = last;
    uv_mutex_lock(&mutex);
    *tail = message;
    tail = &message->next;
    /* Inside of the lock: once it is out, the handle may be closed. */
    uv_async_send(&inbox);
    uv_mutex_unlock(&mutex);
}

static void
sender_main(void *argument)
{
    (void)argument;
    for (int i = 0; i < MESSAGES; i++)
        send_message(i == MESSAGES - 1);
}

static void
on_messages(uv_async_t *handle)
{
    uv_mutex_lock(&mutex);
    struct message *list = head;
    head = NULL;
    tail = &head;
    uv_mutex_unlock(&mutex);
    while (list != NULL) {
        struct message *next = list->next;
        received++;
        finished += list->last;
        free(list);
        list = next;
    }
    if (finished == SENDERS && !uv_is_closing((uv_handle_t *)handle))
        uv_close((uv_handle_t *)handle, NULL);
}

int
main(void)
{
    uv_thread_t threads[SENDERS];
    uv_loop_t loop;
    uv_loop_init(&loop);
    uv_mutex_init(&mutex);
    uv_async_init(&loop, &inbox, on_messages);
    for (int i = 0; i < SENDERS; i++)
        uv_thread_create(&threads[i], sender_main, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < SENDERS; i++)
        uv_thread_join(&threads[i]);
    uv_mutex_destroy(&mutex);
    if (uv_loop_close(&loop) != 0)
        return 1;
    printf("%d messages\n", received);
    return received == SENDERS * MESSAGES ? 0 : 1;
}
