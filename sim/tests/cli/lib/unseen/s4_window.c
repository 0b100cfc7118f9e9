// Cause: s4_window.c:56 the receiver gives credits back only when half a window is owed, so that less than that stays with it when it has nothing more to read, and a sender that needs almost the whole window waits for it forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Two streams share the credits of one connection. The receiver returns credits in larger pieces. */

enum { WINDOW = 8, LINES = 5, LINE = 2, BLOBS = 2, BLOB = 7, MESSAGES = LINES + BLOBS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static pthread_cond_t granted = PTHREAD_COND_INITIALIZER;
static int credits = WINDOW;
static int owed;
static int queue[MESSAGES];
static int head, tail;

static void send_message(int size)
{
    pthread_mutex_lock(&mutex);
    while (credits < size)
        pthread_cond_wait(&granted, &mutex);
    credits -= size;
    queue[tail++] = size;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&mutex);
}

static void *log_stream(void *argument)
{
    for (int i = 0; i < LINES; i++) {
        send_message(LINE);
        usleep(600);
    }
    return argument;
}

static void *blob_stream(void *argument)
{
    for (int i = 0; i < BLOBS; i++) {
        send_message(BLOB);
        usleep(200);
    }
    return argument;
}

static void give_credits_back(void)
{
#ifdef FIXED
    int enough = owed >= WINDOW / 2 || head == tail;
#else
    int enough = owed >= WINDOW / 2;
#endif
    if (!enough)
        return;
    credits += owed;
    owed = 0;
    assert(credits <= WINDOW);
    pthread_cond_broadcast(&granted);
}

static void *receiver(void *argument)
{
    int *total = argument;
    for (int i = 0; i < MESSAGES; i++) {
        pthread_mutex_lock(&mutex);
        while (head == tail)
            pthread_cond_wait(&arrived, &mutex);
        int size = queue[head++];
        pthread_mutex_unlock(&mutex);
        usleep(100);
        *total += size;
        pthread_mutex_lock(&mutex);
        owed += size;
        give_credits_back();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int total = 0;
    pthread_create(&threads[0], NULL, receiver, &total);
    pthread_create(&threads[1], NULL, blob_stream, NULL);
    pthread_create(&threads[2], NULL, log_stream, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(total == LINES * LINE + BLOBS * BLOB);
    printf("%d units\n", total);
    return 0;
}
