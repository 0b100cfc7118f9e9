/* Cause: belts are registered edge-triggered (84-85) but weigh() stops after AT_ONCE crates (48) without having read to EAGAIN, and nothing comes back to what is left (weigh_rest(), 63-72, is empty): crates that are in the pipe are not reported again and the house waits forever (90). */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PICKERS 2
#define CRATES 5
#define AT_ONCE 3

struct crate {
    uint16_t picker;
    uint16_t kilos;
};

struct belt {
    int in;
    int out;
    int weighed;
    int kilos;
    bool more;
};

static struct belt belts[PICKERS];

static void *picker_main(void *argument)
{
    struct belt *belt = argument;
    uint16_t picker = (uint16_t)(belt - belts);
    for (int i = 0; i < CRATES; i++) {
        struct crate crate = {picker, (uint16_t)(10 + i)};
        usleep(500);
        assert(write(belt->in, &crate, sizeof crate) == sizeof crate);
    }
    return NULL;
}

/* Each belt has its turn, so that no picker holds up the others. */
static int weigh(struct belt *belt)
{
    int taken = 0;
    belt->more = true;
    while (taken < AT_ONCE) {
        struct crate crate;
        ssize_t n = read(belt->out, &crate, sizeof crate);
        if (n < 0 && errno == EAGAIN) {
            belt->more = false;
            break;
        }
        assert(n == sizeof crate && &belts[crate.picker] == belt);
        belt->weighed++;
        belt->kilos += crate.kilos;
        taken++;
    }
    return taken;
}

static int weigh_rest(void)
{
    int taken = 0;
#ifdef FIXED
    for (int i = 0; i < PICKERS; i++)
        if (belts[i].more)
            taken += weigh(&belts[i]);
#endif
    return taken;
}

int main(void)
{
    pthread_t pickers[PICKERS];
    int epoll = epoll_create1(0);
    int total = 0;
    for (int i = 0; i < PICKERS; i++) {
        int ends[2];
        assert(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
        belts[i].out = ends[0];
        belts[i].in = ends[1];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = (uint32_t)i};
        assert(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
        pthread_create(&pickers[i], NULL, picker_main, &belts[i]);
    }
    while (total < PICKERS * CRATES) {
        struct epoll_event events[PICKERS];
        int count = epoll_wait(epoll, events, PICKERS, -1);
        for (int i = 0; i < count; i++)
            total += weigh(&belts[events[i].data.u32]);
        for (int more = weigh_rest(); more > 0; more = weigh_rest())
            total += more;
    }
    for (int i = 0; i < PICKERS; i++) {
        pthread_join(pickers[i], NULL);
        assert(belts[i].kilos == 60);
    }
    printf("%d crates\n", total);
    return 0;
}
