// SPDX-License-Identifier: Apache-2.0
/* Cause: dispatch(), line 59: it stores a reply in the one mailbox although the one before may not have been
   taken, whose caller then waits for ever; repair: wait until the mailbox is empty (`taken`). */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLERS 3
#define CALLS 2

struct message {
    int id;
    int value;
};

struct channel {
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t delivered;
    pthread_cond_t taken;
    struct message mailbox;
    int next_id;
};

static struct channel channel = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .delivered = PTHREAD_COND_INITIALIZER,
        .taken = PTHREAD_COND_INITIALIZER,
        .next_id = 1,
};

static int
call(struct channel *c, int value)
{
    struct message request = {.value = value};
    pthread_mutex_lock(&c->lock);
    request.id = c->next_id++;
    ssize_t n = send(c->fd, &request, sizeof request, 0);
    assert(n == sizeof request);
    while (c->mailbox.id != request.id)
        pthread_cond_wait(&c->delivered, &c->lock);
    int result = c->mailbox.value;
    c->mailbox.id = 0;
    pthread_cond_signal(&c->taken);
    pthread_mutex_unlock(&c->lock);
    return n > 0 ? result : -1;
}

static void *
dispatch(void *argument)
{
    struct channel *c = argument;
    struct message reply;
    while (recv(c->fd, &reply, sizeof reply, MSG_WAITALL) == sizeof reply) {
        pthread_mutex_lock(&c->lock);
#ifdef FIXED
        while (c->mailbox.id != 0)
            pthread_cond_wait(&c->taken, &c->lock);
#endif
        c->mailbox = reply;
        pthread_cond_broadcast(&c->delivered);
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static void *
serve(void *argument)
{
    int fd = *(int *)argument;
    struct message message;
    while (recv(fd, &message, sizeof message, MSG_WAITALL) == sizeof message) {
        message.value *= message.value;
        send(fd, &message, sizeof message, MSG_NOSIGNAL);
    }
    return NULL;
}

static void *
caller(void *argument)
{
    int base = *(int *)argument;
    for (int i = 0; i < CALLS; i++) {
        usleep((useconds_t)base * 250);
        int square = call(&channel, base + i);
        assert(square == (base + i) * (base + i));
    }
    return NULL;
}

int
main(void)
{
    int fds[2], bases[CALLERS];
    pthread_t callers[CALLERS], server, dispatcher;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        return 1;
    channel.fd = fds[0];
    pthread_create(&server, NULL, serve, &fds[1]);
    pthread_create(&dispatcher, NULL, dispatch, &channel);
    for (int i = 0; i < CALLERS; i++) {
        bases[i] = 10 + 7 * i;
        pthread_create(&callers[i], NULL, caller, &bases[i]);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    shutdown(fds[0], SHUT_RDWR);
    pthread_join(dispatcher, NULL);
    pthread_join(server, NULL);
    printf("%d calls answered\n", channel.next_id - 1);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
