/* Cause: Signals are not counted. leave() queues a parcel and sends SIGUSR1 (34); the porter's sigwait (70) takes one signal, and then takes one parcel only (75, if). A second SIGUSR1 while one is pending is merged with it. Order: two carriers (or one, twice) send before the porter has come (back) to sigwait and consumed the first signal; the porter gets one signal, takes one parcel, waits again; the last parcel stays in the list. Harm: hang: the porter in sigwait (70), main in pthread_join (99), the carriers have ended. (No assertion.) Fix: line 73, while: all parcels for each signal. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CARRIERS 2
#define PARCELS 2

struct parcel {
    struct parcel *next;
    int carrier;
    int number;
};

struct gate {
    pthread_mutex_t mutex;
    struct parcel *first;
    struct parcel **last;
    pthread_t porter;
};

static struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void leave(struct parcel *parcel)
{
    pthread_mutex_lock(&gate.mutex);
    parcel->next = NULL;
    *gate.last = parcel;
    gate.last = &parcel->next;
    pthread_mutex_unlock(&gate.mutex);
    pthread_kill(gate.porter, SIGUSR1);
}

static struct parcel *take(void)
{
    pthread_mutex_lock(&gate.mutex);
    struct parcel *parcel = gate.first;
    if (parcel != NULL) {
        gate.first = parcel->next;
        if (gate.first == NULL)
            gate.last = &gate.first;
    }
    pthread_mutex_unlock(&gate.mutex);
    return parcel;
}

static void *carrier(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < PARCELS; i++) {
        struct parcel *parcel = malloc(sizeof *parcel);
        assert(parcel != NULL);
        parcel->carrier = number;
        parcel->number = i;
        usleep(1500 + 600 * (unsigned)number); /* From the cart. */
        leave(parcel);
    }
    return NULL;
}

static void *porter(void *argument)
{
    const sigset_t *rings = argument;
    int next[CARRIERS] = {0};
    for (int taken = 0; taken < CARRIERS * PARCELS;) {
        int ring;
        assert(sigwait(rings, &ring) == 0 && ring == SIGUSR1);
        struct parcel *parcel;
#ifdef FIXED
        while ((parcel = take()) != NULL) {
#else
        if ((parcel = take()) != NULL) {
#endif
            assert(parcel->number == next[parcel->carrier]++);
            free(parcel);
            taken++;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t carriers[CARRIERS];
    int numbers[CARRIERS] = {0, 1};
    sigset_t rings;
    gate.last = &gate.first;
    sigemptyset(&rings);
    sigaddset(&rings, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &rings, NULL);
    pthread_create(&gate.porter, NULL, porter, &rings);
    for (int i = 0; i < CARRIERS; i++)
        pthread_create(&carriers[i], NULL, carrier, &numbers[i]);
    for (int i = 0; i < CARRIERS; i++)
        pthread_join(carriers[i], NULL);
    pthread_join(gate.porter, NULL);
    puts("the gate is empty");
    return 0;
}
