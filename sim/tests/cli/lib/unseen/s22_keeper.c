/* Cause: A deadline from the wrong time. keep() computes the end of its lease from got (37, 43), the time at which the reply was read, while the service counts from the time of the grant (ends, 65, before it writes the reply in 66). Order: the service takes the time and writes "G"; more than MARGIN (1 ms) passes before the keeper has read it and taken got (a slow step between 65 and 37); the keeper believes in a lease that ends after the service's. Harm: assertion line 74 in service(), when the lease has run out there while keepers[holder].until is still in the future (two could hold the lamp). Fix: line 40, from asked (34), the time before the request. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define LEASE (12 * MS)
#define MARGIN (1 * MS) /* A keeper stops so long before the end. */

struct keeper {
    int wire[2]; /* [0]: the keeper's end, [1]: the service's. */
    int64_t until; /* The keeper may touch the lamp until then. */
    int touched;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct keeper keepers[2];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void *keep(void *argument)
{
    struct keeper *keeper = argument;
    char granted;
    int64_t asked = now();
    assert(write(keeper->wire[0], "L", 1) == 1);
    assert(read(keeper->wire[0], &granted, 1) == 1);
    int64_t got = now();
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    keeper->until = asked + LEASE - MARGIN;
    (void)got;
#else
    keeper->until = got + LEASE - MARGIN;
    (void)asked;
#endif
    pthread_mutex_unlock(&mutex);
    /* It turns the lamp as long as it may. The service does not hear of it: it counts for itself. */
    while (now() < keeper->until) {
        keeper->touched++;
        usleep(2000);
    }
    return NULL;
}

static void *service(void *argument)
{
    struct pollfd polls[2] = {{keepers[0].wire[1], POLLIN, 0}, {keepers[1].wire[1], POLLIN, 0}};
    for (int granted = 0; granted < 2; granted++) {
        char request;
        while (poll(polls, 2, -1) <= 0)
            ;
        int holder = (polls[0].revents & POLLIN) != 0 ? 0 : 1;
        assert(read(polls[holder].fd, &request, 1) == 1);
        polls[holder].fd = -1;
        int64_t ends = now() + LEASE;
        assert(write(keepers[holder].wire[1], "G", 1) == 1);
        while (now() < ends) {
            int64_t left = ends - now();
            struct timespec nap = {0, left > 0 ? left : 0};
            nanosleep(&nap, NULL);
        }
        /* Over: the next one may have it. */
        pthread_mutex_lock(&mutex);
        assert(keepers[holder].until <= now());
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 2; i++)
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, keepers[i].wire) == 0);
    pthread_create(&threads[2], NULL, service, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, keep, &keepers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
