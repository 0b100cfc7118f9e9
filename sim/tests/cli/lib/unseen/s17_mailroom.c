/* Cause: on_signal(), line 69: one letter is taken for each signal that is read, but a signal that is sent while one is pending is merged with it; letters whose signals were merged stay in the tray, and the mailroom waits for signals that nobody sends; repair: take letters until the tray is empty. */
/*
 * A mailroom: clerks put letters into a tray and send SIGUSR1; the main thread reads signals from
 * a signalfd and posts the letters.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define CLERKS 2
#define LETTERS 3

struct letter {
    int clerk, number;
};

static struct {
    pthread_mutex_t mutex;
    struct letter letters[CLERKS * LETTERS];
    int head, tail;
} tray = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int posted;
static int next_of[CLERKS];

static void tray_put(struct letter letter)
{
    pthread_mutex_lock(&tray.mutex);
    tray.letters[tray.tail++] = letter;
    pthread_mutex_unlock(&tray.mutex);
    kill(getpid(), SIGUSR1);
}

static bool tray_take(struct letter *letter)
{
    pthread_mutex_lock(&tray.mutex);
    bool any = tray.head < tray.tail;
    if (any)
        *letter = tray.letters[tray.head++];
    pthread_mutex_unlock(&tray.mutex);
    return any;
}

static void *clerk(void *argument)
{
    for (int i = 0; i < LETTERS; i++)
        tray_put((struct letter){(int)(intptr_t)argument, i});
    return NULL;
}

static void post(const struct letter *letter)
{
    assert(letter->number == next_of[letter->clerk]);
    next_of[letter->clerk]++;
    posted++;
}

static void on_signal(void)
{
    struct letter letter;
#ifdef FIXED
    while (tray_take(&letter))
#else
    if (tray_take(&letter))
#endif
        post(&letter);
}

int main(void)
{
    sigset_t set;
    pthread_t clerks[CLERKS];

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, 0);

    for (intptr_t i = 0; i < CLERKS; i++)
        pthread_create(&clerks[i], NULL, clerk, (void *)i);
    while (posted < CLERKS * LETTERS) {
        struct signalfd_siginfo info;
        if (read(signals, &info, sizeof(info)) == sizeof(info))
            on_signal();
    }
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
    close(signals);
    printf("%d letters posted\n", posted);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
