/* Cause: send_bag(), line 60: the timer is disarmed after the bag is written (55), in a second critical section. A letter that is dropped between the unlock (54) and the lock (58) finds waiting == 0 and arms the timer (33, 34); line 60 disarms it. Further letters see waiting > 0 and do not arm it. Harm: hang (deadlock: the clerk polls a timerfd that is not armed, main waits for sent == LETTERS); no assert. Fix: disarm in the first critical section, with waiting = 0. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LETTERS 5
#define COLLECT_NS 2000000

struct room {
    pthread_mutex_t mutex;
    pthread_cond_t sent_some;
    int letters[LETTERS];
    int waiting;
    int sent;
    int bags;
    int timer;
    int van; /* A pipe. */
};

static void set_timer(struct room *room, long ns)
{
    struct itimerspec spec = {.it_value = {.tv_nsec = ns}};
    timerfd_settime(room->timer, 0, &spec, NULL);
}

static void drop_letter(struct room *room, int letter)
{
    pthread_mutex_lock(&room->mutex);
    if (room->waiting == 0) {
        set_timer(room, COLLECT_NS);
    }
    room->letters[room->waiting++] = letter;
    pthread_mutex_unlock(&room->mutex);
}

/* The timer has expired. */
static void send_bag(struct room *room)
{
    int bag[LETTERS];
    int count;
    pthread_mutex_lock(&room->mutex);
    count = room->waiting;
    for (int i = 0; i < count; i++) {
        bag[i] = room->letters[i];
    }
    room->waiting = 0;
#ifdef FIXED
    set_timer(room, 0);
#endif
    pthread_mutex_unlock(&room->mutex);
    if (count > 0 && write(room->van, bag, (size_t)count * sizeof bag[0]) < 0) {
        perror("van");
    }
    pthread_mutex_lock(&room->mutex);
#ifndef FIXED
    set_timer(room, 0);
#endif
    room->sent += count;
    room->bags += count > 0;
    pthread_cond_broadcast(&room->sent_some);
    pthread_mutex_unlock(&room->mutex);
}

static void *clerk_main(void *argument)
{
    struct room *room = argument;
    int sent = 0;
    while (sent < LETTERS) {
        struct pollfd poller = {.fd = room->timer, .events = POLLIN};
        uint64_t expirations;
        if (poll(&poller, 1, -1) <= 0 ||
                read(room->timer, &expirations, sizeof expirations) != sizeof expirations) {
            continue;
        }
        send_bag(room);
        pthread_mutex_lock(&room->mutex);
        sent = room->sent;
        pthread_mutex_unlock(&room->mutex);
    }
    return NULL;
}

int main(void)
{
    static struct room room = {
        .mutex = PTHREAD_MUTEX_INITIALIZER, .sent_some = PTHREAD_COND_INITIALIZER};
    int ends[2];
    pthread_t clerk;
    if (pipe(ends) != 0) {
        return 1;
    }
    room.van = ends[1];
    room.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    pthread_create(&clerk, NULL, clerk_main, &room);
    for (int i = 0; i < LETTERS; i++) {
        drop_letter(&room, i);
        usleep(700);
    }
    pthread_mutex_lock(&room.mutex);
    while (room.sent < LETTERS) {
        pthread_cond_wait(&room.sent_some, &room.mutex);
    }
    pthread_mutex_unlock(&room.mutex);
    pthread_join(clerk, NULL);
    close(ends[0]);
    close(ends[1]);
    close(room.timer);
    printf("%d letters in %d bags\n", room.sent, room.bags);
    return 0;
}
