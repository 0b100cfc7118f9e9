/* Cause: play_round(), line 57: a listener that leaves from its callback moves the others up by one place, and the loop goes on by index, so the next one is passed over; repair: step on only if the place still has the same listener. */
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEATS 3
#define SONGS 3

struct listener {
    int number;
    int heard;
    int wants;
    int here;
};

static struct listener listeners[SEATS];
static struct listener *seats[SEATS];
static int seated;
static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static int coins;
static int played;
static struct ev_loop *loop;
static ev_async coin_dropped;
static ev_async door;
static int leaving = -1;

static void
stand_up(struct listener *listener)
{
    for (int i = 0; i < seated; i++) {
        if (seats[i] == listener) {
            memmove(&seats[i], &seats[i + 1], (size_t)(seated - i - 1) * sizeof seats[0]);
            seated--;
            listener->here = 0;
            return;
        }
    }
}

static void
hear(struct listener *listener)
{
    listener->heard++;
    if (listener->heard >= listener->wants) {
        stand_up(listener);
    }
}

static void
play_round(void)
{
    played++;
#ifndef FIXED
    for (int i = 0; i < seated; i++) {
        hear(seats[i]);
#else
    for (int i = 0; i < seated;) {
        struct listener *listener = seats[i];
        hear(listener);
        i += i < seated && seats[i] == listener;
#endif
    }
    for (int i = 0; i < seated; i++) {
        assert(seats[i]->heard == played);
    }
}

static void
on_coin(EV_P_ ev_async *watcher, int events)
{
    (void)events;
    (void)watcher;
    pthread_mutex_lock(&box_lock);
    int paid = coins;
    coins = 0;
    pthread_mutex_unlock(&box_lock);
    while (paid-- > 0) {
        play_round();
    }
    if (played == SONGS) {
        ev_break(EV_A_ EVBREAK_ALL);
    }
}

static void
on_door(EV_P_ ev_async *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
    if (leaving >= 0 && listeners[leaving].here) {
        listeners[leaving].wants = played + 1;
    }
}

static void *
guest(void *argument)
{
    (void)argument;
    leaving = 0;
    ev_async_send(loop, &door);
    return NULL;
}

static void *
payer(void *argument)
{
    (void)argument;
    for (int i = 0; i < SONGS; i++) {
        pthread_mutex_lock(&box_lock);
        coins++;
        pthread_mutex_unlock(&box_lock);
        ev_async_send(loop, &coin_dropped);
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[2];
    loop = ev_default_loop(0);
    for (int i = 0; i < SEATS; i++) {
        listeners[i] = (struct listener){.number = i, .wants = 100, .here = 1};
        seats[seated++] = &listeners[i];
    }
    ev_async_init(&coin_dropped, on_coin);
    ev_async_start(loop, &coin_dropped);
    ev_async_init(&door, on_door);
    ev_async_start(loop, &door);
    pthread_create(&threads[0], NULL, payer, NULL);
    pthread_create(&threads[1], NULL, guest, NULL);
    ev_run(loop, 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d songs\n", played);
    return 0;
}
