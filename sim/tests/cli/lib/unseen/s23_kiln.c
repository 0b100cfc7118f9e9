/* Cause: a readiness report that is stale by the time of a blocking read. The timerfd is blocking (47). Order: the idle timer expires, poll (54) reports it; before read at 58 the stoker calls timerfd_settime (21, from idle_in(8) at 31 or idle_in(0) at 34), which discards the expiration; the read blocks; the stoker disarms the timer (34) (directly after the report, or while the read waits for the re-armed timer) and no expiration comes any more; the 'q' (35) is never read. Harm: hang: main in read(idle_timer) (58), forever. Fix: TFD_NONBLOCK (45), the read then answers EAGAIN. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int idle_timer;
static int commands[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned loads; /* by lock */

static void idle_in(long milliseconds)
{
    struct itimerspec when;
    memset(&when, 0, sizeof when);
    when.it_value.tv_sec = milliseconds / 1000;
    when.it_value.tv_nsec = milliseconds % 1000 * 1000000;
    assert(timerfd_settime(idle_timer, 0, &when, NULL) == 0);
}

static void *stoker(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        usleep(4000);
        pthread_mutex_lock(&lock);
        loads++;
        idle_in(8); /* there is work: not idle yet */
        pthread_mutex_unlock(&lock);
    }
    idle_in(0); /* disarmed: the command follows */
    assert(write(commands[1], "q", 1) == 1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned cooled = 0;
    int firing = 1;
#ifdef FIXED
    idle_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
#else
    idle_timer = timerfd_create(CLOCK_MONOTONIC, 0);
#endif
    assert(idle_timer >= 0 && pipe(commands) == 0);
    idle_in(8);
    pthread_create(&thread, NULL, stoker, NULL);
    while (firing) {
        struct pollfd fds[2] = {{idle_timer, POLLIN, 0}, {commands[0], POLLIN, 0}};
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents & POLLIN) {
            uint64_t times;
            if (read(idle_timer, &times, sizeof times) == (ssize_t)sizeof times)
                cooled++;
        }
        if (fds[1].revents & POLLIN) {
            char command;
            if (read(commands[0], &command, 1) == 1 && command == 'q')
                firing = 0;
        }
    }
    pthread_join(thread, NULL);
    assert(loads == 3);
    (void)cooled;
    close(idle_timer);
    close(commands[0]);
    close(commands[1]);
    return 0;
}
