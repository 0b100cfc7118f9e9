/* Correct: a client and a server that close their directions one after the other, with a lazily made shared table (a
 * double check), and a heartbeat that gives up on a silent peer only after many times what an answer takes. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS 3
#define SILENCE_MS 1000

static _Atomic(int *) squares;
static pthread_mutex_t squares_lock = PTHREAD_MUTEX_INITIALIZER;

static const int *table(void)
{
    int *t = atomic_load(&squares);
    if (t != NULL)
        return t;
    pthread_mutex_lock(&squares_lock);
    t = atomic_load(&squares);
    if (t == NULL) {
        t = malloc(16 * sizeof *t);
        for (int i = 0; i < 16; i++)
            t[i] = i * i;
        atomic_store(&squares, t);
    }
    pthread_mutex_unlock(&squares_lock);
    return t;
}

static void send_all(int fd, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(fd, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else
            assert(n < 0 && errno == EINTR);
    }
}

/* Bytes, or fewer at the end. */
static size_t read_all(int fd, void *bytes, size_t size)
{
    size_t have = 0;
    while (have < size) {
        struct pollfd waits = {.fd = fd, .events = POLLIN};
        int ready = poll(&waits, 1, SILENCE_MS);
        assert(ready != 0);
        if (ready < 0)
            continue;
        ssize_t n = read(fd, (char *)bytes + have, size - have);
        if (n == 0)
            break;
        if (n > 0)
            have += (size_t)n;
    }
    return have;
}

static void *server(void *argument)
{
    int fd = *(int *)argument;
    int request, total = 0;
    while (read_all(fd, &request, sizeof request) == sizeof request) {
        int answer = table()[request];
        total += answer;
        if (request % 2 == 0)
            usleep(2000);
        send_all(fd, &answer, sizeof answer);
    }
    /* The client has ended its direction; this one is still open for the sum. */
    send_all(fd, &total, sizeof total);
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void *client(void *argument)
{
    int fd = *(int *)argument;
    int total = 0, sum, none;
    for (int i = 1; i <= REQUESTS; i++)
        send_all(fd, &i, sizeof i);
    shutdown(fd, SHUT_WR);
    for (int i = 1; i <= REQUESTS; i++) {
        int answer;
        assert(read_all(fd, &answer, sizeof answer) == sizeof answer);
        assert(answer == table()[i]);
        total += answer;
    }
    assert(read_all(fd, &sum, sizeof sum) == sizeof sum);
    assert(sum == total);
    assert(read_all(fd, &none, sizeof none) == 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    int pairs[2][2];
    for (int i = 0; i < 2; i++) {
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) == 0);
        pthread_create(&threads[2 * i], NULL, server, &pairs[i][0]);
        pthread_create(&threads[2 * i + 1], NULL, client, &pairs[i][1]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    free(atomic_load(&squares));
    printf("closed\n");
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
