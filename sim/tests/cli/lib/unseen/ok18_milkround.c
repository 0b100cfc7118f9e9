/* An eventfd is drained before the list is looked at, and only the first of several writes it. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HOUSES 3
#define BOTTLES 2

static atomic_int ordered;
static atomic_int bell_rung;
static int bell;

static void *
house(void *argument)
{
    (void)argument;
    for (int i = 0; i < BOTTLES; i++) {
        atomic_fetch_add(&ordered, 1);
        if (atomic_exchange(&bell_rung, 1) == 0) {
            uint64_t one = 1;
            assert(write(bell, &one, sizeof one) == sizeof one);
        }
    }
    return NULL;
}

int
main(void)
{
    pthread_t houses[HOUSES];
    int delivered = 0;
    bell = eventfd(0, EFD_NONBLOCK);
    for (int i = 0; i < HOUSES; i++) {
        pthread_create(&houses[i], NULL, house, NULL);
    }
    while (delivered < HOUSES * BOTTLES) {
        struct pollfd fd = {.fd = bell, .events = POLLIN};
        uint64_t rings;
        if (poll(&fd, 1, -1) != 1) {
            continue;
        }
        (void)!read(bell, &rings, sizeof rings);
        atomic_store(&bell_rung, 0);
        delivered += atomic_exchange(&ordered, 0);
    }
    for (int i = 0; i < HOUSES; i++) {
        pthread_join(houses[i], NULL);
    }
    close(bell);
    printf("%d bottles\n", delivered);
    return 0;
}
