/* A canal with two basins: barges go up and down, each through both locks; a warden looks at a pipe
 * of messages and does not wait longer than a few milliseconds. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BARGES 3

struct basin {
    pthread_mutex_t mutex;
    int barge; /* 0: none. */
};

struct canal {
    struct basin lower, upper;
    int messages;
    unsigned passed;
    pthread_mutex_t mutex;
    pthread_cond_t all_passed;
};

struct barge {
    struct canal *canal;
    int number;
    bool up;
};

static void canal_message(struct canal *canal, uint32_t barge)
{
    if (write(canal->messages, &barge, sizeof barge) != (ssize_t)sizeof barge)
        abort();
}

static void canal_passed(struct canal *canal)
{
    pthread_mutex_lock(&canal->mutex);
    bool last = ++canal->passed == BARGES;
    pthread_mutex_unlock(&canal->mutex);
    if (last)
        pthread_cond_signal(&canal->all_passed);
}

static void both_taken(struct canal *canal, int number)
{
    assert(canal->lower.barge == 0 && canal->upper.barge == 0);
    canal->lower.barge = number;
    canal->upper.barge = number;
    usleep(200);
    assert(canal->lower.barge == number && canal->upper.barge == number);
    canal->lower.barge = 0;
    canal->upper.barge = 0;
}

static void go_up(struct canal *canal, int number)
{
    pthread_mutex_lock(&canal->lower.mutex);
    pthread_mutex_lock(&canal->upper.mutex);
    both_taken(canal, number);
    pthread_mutex_unlock(&canal->upper.mutex);
    pthread_mutex_unlock(&canal->lower.mutex);
}

static void go_down(struct canal *canal, int number)
{
    for (;;) {
        pthread_mutex_lock(&canal->upper.mutex);
        if (pthread_mutex_trylock(&canal->lower.mutex) == 0)
            break;
        pthread_mutex_unlock(&canal->upper.mutex);
        usleep(300);
    }
    both_taken(canal, number);
    pthread_mutex_unlock(&canal->lower.mutex);
    pthread_mutex_unlock(&canal->upper.mutex);
}

static void *barge_main(void *argument)
{
    struct barge *barge = argument;
    if (barge->up)
        go_up(barge->canal, barge->number);
    else
        go_down(barge->canal, barge->number);
    canal_message(barge->canal, (uint32_t)barge->number);
    canal_passed(barge->canal);
    return NULL;
}

/* How many messages came before the pipe was closed. */
static unsigned warden_watch(int fd)
{
    unsigned count = 0;
    for (;;) {
        struct pollfd entry = {.fd = fd, .events = POLLIN};
        int ready = poll(&entry, 1, 5);
        if (ready < 0 && errno != EINTR)
            abort();
        if (ready <= 0)
            continue;
        uint32_t barge;
        ssize_t size = read(fd, &barge, sizeof barge);
        if (size == 0)
            return count;
        assert(size == (ssize_t)sizeof barge && barge >= 1 && barge <= BARGES);
        count++;
    }
}

static void *closer_main(void *argument)
{
    struct canal *canal = argument;
    pthread_mutex_lock(&canal->mutex);
    while (canal->passed < BARGES)
        pthread_cond_wait(&canal->all_passed, &canal->mutex);
    pthread_mutex_unlock(&canal->mutex);
    close(canal->messages);
    return NULL;
}

int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    struct canal canal = {.lower = {PTHREAD_MUTEX_INITIALIZER, 0},
            .upper = {PTHREAD_MUTEX_INITIALIZER, 0},
            .messages = ends[1],
            .mutex = PTHREAD_MUTEX_INITIALIZER,
            .all_passed = PTHREAD_COND_INITIALIZER};
    struct barge barges[BARGES];
    pthread_t threads[BARGES], closer;
    if (pthread_create(&closer, NULL, closer_main, &canal) != 0)
        abort();
    for (int i = 0; i < BARGES; i++) {
        barges[i] = (struct barge){&canal, i + 1, i % 2 == 0};
        if (pthread_create(&threads[i], NULL, barge_main, &barges[i]) != 0)
            abort();
    }
    unsigned messages = warden_watch(ends[0]);
    assert(messages == BARGES);
    for (int i = 0; i < BARGES; i++)
        pthread_join(threads[i], NULL);
    pthread_join(closer, NULL);
    close(ends[0]);
    printf("%u barges have passed\n", messages);
    return 0;
}
