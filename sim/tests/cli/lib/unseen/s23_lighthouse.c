/* Cause: a signal handler takes a lock that the interrupted thread holds. on_usr1() (33) calls report(), which locks stats_lock (20). Order: the signal (50) reaches the main thread while it is in flash() between 39 and 43, typically in usleep (41): the handler waits for the mutex that its own thread holds. Harm: hang (self-deadlock of the main thread in 20; the harbour master ends). Fix: the handler only sets a flag, main reports (31, 69-72, 75-76). */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLASHES 4

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned flashes, seconds_lit;
static int report_pipe[2];
static volatile sig_atomic_t report_wanted;
static pthread_t lamp;

static void report(void)
{
    char line[64];
    pthread_mutex_lock(&stats_lock);
    int length = snprintf(line, sizeof line, "%u flashes, %u s\n", flashes, seconds_lit);
    assert(seconds_lit == 3 * flashes);
    pthread_mutex_unlock(&stats_lock);
    assert(write(report_pipe[1], line, (size_t)length) == length);
}

static void on_usr1(int number)
{
    (void)number;
#ifdef FIXED
    report_wanted = 1;
#else
    report();
#endif
}

static void flash(void)
{
    pthread_mutex_lock(&stats_lock);
    flashes++;
    usleep(100); /* the lens turns */
    seconds_lit += 3;
    pthread_mutex_unlock(&stats_lock);
}

static void *harbour_master(void *argument)
{
    (void)argument;
    usleep(150);
    assert(pthread_kill(lamp, SIGUSR1) == 0);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action;
    char line[64];
    lamp = pthread_self();
    assert(pipe(report_pipe) == 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_usr1;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, harbour_master, NULL);
    for (int i = 0; i < FLASHES; i++) {
        flash();
        usleep(200);
        if (report_wanted) {
            report_wanted = 0;
            report();
        }
    }
    pthread_join(thread, NULL);
    if (report_wanted)
        report();
    assert(read(report_pipe[0], line, sizeof line) > 0);
    close(report_pipe[0]);
    close(report_pipe[1]);
    return 0;
}
