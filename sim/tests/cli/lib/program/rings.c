// Who is woken for nothing rings a doorbell and waits again: that is no progress which a late
// wake-up has put off.
//
//     rings timers    passes: a thread that sets its timer again rings the loop, whose next timer
//                     is overdue then by less than a millisecond
//     rings socket    passes: a loop that attends to a socket rings its own bell, to look again
//     rings one       fails: a job for a thread is signalled 20 ms later
//     rings three     fails: the same with three jobs; it takes one when it is woken
//
// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int bell, over;

static void
ring(void)
{
    uint64_t one = 1;
    assert(write(bell, &one, sizeof(one)) == sizeof(one));
}

static void
hear(void)
{
    uint64_t rung;
    (void)!read(bell, &rung, sizeof(rung));
}

// ---- Timers, and a loop that wakes who has set them. -------------------------------------------

static struct worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t woken;
    int64_t due_us; // 0: none.
    int rounds;
} workers[THREADS];
static int ended;

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

// When the first timer is due; INT64_MAX: there is none.
static int64_t
first_due(void)
{
    int64_t first_us = INT64_MAX;
    for (int i = 0; i < THREADS; i++)
        if (workers[i].due_us != 0 && workers[i].due_us < first_us)
            first_us = workers[i].due_us;
    return first_us;
}

// The loop is rung where it is to wake up earlier, and where it should have been awake already.
static void
set_timer(struct worker *worker)
{
    pthread_mutex_lock(&mutex);
    worker->due_us = now_us() + 3000;
    int64_t first_us = first_due();
    if (first_us == worker->due_us || first_us <= now_us())
        ring();
    pthread_mutex_unlock(&mutex);
}

static void *
work(void *argument)
{
    struct worker *worker = argument;
    for (int end = 0; !end;) {
        pthread_mutex_lock(&worker->mutex);
        set_timer(worker);
        pthread_cond_wait(&worker->woken, &worker->mutex);
        pthread_mutex_unlock(&worker->mutex);
        pthread_mutex_lock(&mutex);
        worker->rounds++;
        end = over;
        ended += end;
        pthread_mutex_unlock(&mutex);
    }
    ring();
    return NULL;
}

static void
wake_due(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_lock(&mutex);
        int due = workers[i].due_us != 0 && (over || workers[i].due_us <= now_us());
        workers[i].due_us = due ? 0 : workers[i].due_us;
        pthread_mutex_unlock(&mutex);
        if (due) {
            pthread_mutex_lock(&workers[i].mutex);
            pthread_cond_broadcast(&workers[i].woken);
            pthread_mutex_unlock(&workers[i].mutex);
            ring(); // To look again.
        }
    }
}

static int
timers(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&workers[i].mutex, NULL);
        pthread_cond_init(&workers[i].woken, NULL);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    int64_t end_us = now_us() + 12000;
    for (int end = 0; !end;) {
        struct pollfd one = {.fd = bell, .events = POLLIN};
        pthread_mutex_lock(&mutex);
        int64_t first_us = first_due();
        int64_t left_us = first_us - now_us();
        over = now_us() >= end_us;
        end = ended == THREADS;
        pthread_mutex_unlock(&mutex);
        int ms = first_us == INT64_MAX  ? -1
                 : over || left_us <= 0 ? 0
                                        : (int)((left_us + 999) / 1000);
        if (!end && poll(&one, 1, ms) == 1)
            hear();
        wake_due();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}

// ---- A loop that rings its own bell. -----------------------------------------------------------

static int ends[2], attends;

static void *
loop(void *argument)
{
    for (int end = 0; !end;) {
        char byte;
        pthread_mutex_lock(&mutex);
        struct pollfd both[2] = {{.fd = bell, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
        nfds_t two = 1 + attends;
        pthread_mutex_unlock(&mutex);
        if (poll(both, two, -1) < 1)
            continue;
        if (both[0].revents != 0)
            hear();
        if (two == 2 && both[1].revents != 0) {
            end = recv(ends[0], &byte, 1, MSG_DONTWAIT) == 0;
            ring();
        }
    }
    return argument;
}

static int
attend(void)
{
    pthread_t thread;
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    pthread_create(&thread, NULL, loop, NULL);
    usleep(2000);
    pthread_mutex_lock(&mutex);
    attends = 1;
    ring();
    pthread_mutex_unlock(&mutex);
    usleep(20000);
    close(ends[1]);
    return pthread_join(thread, NULL);
}

// ---- Jobs that are not signalled. --------------------------------------------------------------

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs;

static void *
take(void *argument)
{
    pthread_mutex_lock(&mutex);
    while (!over) {
        pthread_cond_wait(&filled, &mutex);
        if (jobs > 0) {
            jobs--;
            ring();
        }
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

// They are there at once; each signal comes 20 ms after the one before.
static int
give(int number)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    usleep(20000);
    pthread_mutex_lock(&mutex);
    jobs = number;
    pthread_mutex_unlock(&mutex);
    for (int left = number; left > 0;) {
        usleep(20000);
        pthread_mutex_lock(&mutex);
        left = jobs;
        over = left == 0;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return pthread_join(thread, NULL);
}

int
main(int argc, char **arguments)
{
    const char *how = argc == 2 ? arguments[1] : "";
    bell = eventfd(0, EFD_NONBLOCK);
    return strcmp(how, "timers") == 0   ? timers()
           : strcmp(how, "socket") == 0 ? attend()
           : strcmp(how, "one") == 0    ? give(1)
           : strcmp(how, "three") == 0  ? give(3)
                                        : 2;
}
