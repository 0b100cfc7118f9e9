/* Cause: keep_watch() resets rung (72) only after it has read sighted (68) and logged (70); a signal that arrives in between finds rung set in on_signal() (26) and writes no byte, so that ship is never seen and poll (60) waits forever. Order of two steps: reset the flag first, then look. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define LOOKOUTS 2
#define SHIPS_EACH 2
#define SHIPS (LOOKOUTS * SHIPS_EACH)

static pthread_t keeper;
static int bell[2];
static int logbook[2];
static atomic_int sighted;
static volatile sig_atomic_t rung;

static void on_signal(int number)
{
    int saved = errno;
    (void)number;
    if (!rung) {
        rung = 1;
        ssize_t n = write(bell[1], "!", 1);
        (void)n;
    }
    errno = saved;
}

static void *lookout_main(void *argument)
{
    for (int i = 0; i < SHIPS_EACH; i++) {
        usleep(1000);
        atomic_fetch_add(&sighted, 1);
        pthread_kill(keeper, SIGUSR1);
    }
    return argument;
}

static void enter(int ship)
{
    char line[24];
    int length = snprintf(line, sizeof line, "ship %d\n", ship);
    ssize_t n;
    do {
        n = write(logbook[1], line, (size_t)length);
    } while (n < 0 && errno == EINTR);
    assert(n == length);
}

static void keep_watch(void)
{
    int logged = 0;
    while (logged < SHIPS) {
        struct pollfd waits[1] = {{bell[0], POLLIN, 0}};
        if (poll(waits, 1, -1) < 0)
            continue;
        char strokes[16];
        if (read(bell[0], strokes, sizeof strokes) <= 0)
            continue;
#ifdef FIXED
        rung = 0;
#endif
        int now = atomic_load(&sighted);
        while (logged < now)
            enter(++logged);
#ifndef FIXED
        rung = 0;
#endif
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t lookouts[LOOKOUTS];
    sigset_t ships, before;
    assert(pipe(bell) == 0 && pipe(logbook) == 0);
    assert(fcntl(bell[0], F_SETFL, O_NONBLOCK) == 0);
    keeper = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&ships);
    sigaddset(&ships, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &ships, &before);
    for (int i = 0; i < LOOKOUTS; i++)
        pthread_create(&lookouts[i], NULL, lookout_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    keep_watch();
    for (int i = 0; i < LOOKOUTS; i++)
        pthread_join(lookouts[i], NULL);
    printf("%d ships\n", atomic_load(&sighted));
    return 0;
}
