/* Riders share the seats of a carousel. Signals come after the unlock, and flags are read early. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SEATS 2
#define RIDERS 4
#define RIDES 2

struct carousel {
    pthread_mutex_t mutex;
    pthread_cond_t free_seat;
    int taken;
    int rides;
    atomic_bool closed;
    int bell; /* An eventfd: somebody has got off. */
};

static struct carousel carousel = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .free_seat = PTHREAD_COND_INITIALIZER};

static bool get_on(void)
{
    bool seated = false;
    if (atomic_load(&carousel.closed)) {
        return false; /* Not worth the lock; asked again below. */
    }
    pthread_mutex_lock(&carousel.mutex);
    while (carousel.taken == SEATS && !atomic_load(&carousel.closed)) {
        pthread_cond_wait(&carousel.free_seat, &carousel.mutex);
    }
    if (!atomic_load(&carousel.closed)) {
        carousel.taken++;
        assert(carousel.taken <= SEATS);
        seated = true;
    }
    pthread_mutex_unlock(&carousel.mutex);
    return seated;
}

static void get_off(void)
{
    uint64_t one = 1;
    pthread_mutex_lock(&carousel.mutex);
    carousel.taken--;
    carousel.rides++;
    pthread_mutex_unlock(&carousel.mutex);
    /* One seat, one rider: all that wait here wait for the same. */
    pthread_cond_signal(&carousel.free_seat);
    if (write(carousel.bell, &one, sizeof one) != sizeof one) {
        perror("bell");
    }
}

static void *rider(void *argument)
{
    int *rides = argument;
    for (int i = 0; i < RIDES && get_on(); i++) {
        (*rides)++;
        get_off();
    }
    return NULL;
}

/* Closes after `limit` rides; bells that were rung together are one report with their sum. */
static void *owner(void *argument)
{
    uint64_t limit = *(uint64_t *)argument;
    uint64_t heard = 0;
    while (heard < limit) {
        uint64_t rung;
        if (read(carousel.bell, &rung, sizeof rung) == sizeof rung) {
            heard += rung;
        }
    }
    pthread_mutex_lock(&carousel.mutex);
    atomic_store(&carousel.closed, true);
    pthread_mutex_unlock(&carousel.mutex);
    pthread_cond_broadcast(&carousel.free_seat);
    return NULL;
}

int main(void)
{
    pthread_t threads[RIDERS], other;
    int rides[RIDERS] = {0};
    uint64_t limit = 5;
    int sum = 0;
    carousel.bell = eventfd(0, 0);
    pthread_create(&other, NULL, owner, &limit);
    for (int i = 0; i < RIDERS; i++) {
        pthread_create(&threads[i], NULL, rider, &rides[i]);
    }
    for (int i = 0; i < RIDERS; i++) {
        pthread_join(threads[i], NULL);
        sum += rides[i];
    }
    pthread_join(other, NULL);
    close(carousel.bell);
    assert(carousel.taken == 0);
    assert(sum == carousel.rides);
    assert(sum >= (int)limit);
    printf("%d rides\n", sum);
    return 0;
}
