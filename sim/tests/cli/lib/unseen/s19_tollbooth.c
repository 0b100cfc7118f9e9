/* Cause: pass_car() claims a slot (37), drops the lock to fill it (38-40) and then counts complete (44); next_is_there() (64) takes "as many are complete as I billed" for "the next slot is complete", although the other booth can finish its later slot first, so clerk_main (75) copies a record that was not photographed yet. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROLL 8
#define BOOTHS 2
#define PER_BOOTH 3

struct record {
    char plate[12];
    int cents;
    bool developed;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t grown;
    struct record records[ROLL];
    int claimed;
    int complete;
} roll = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{{0}, 0, false}}, 0, 0};

static void photograph(struct record *record, int booth, int car)
{
    usleep(300);
    snprintf(record->plate, sizeof record->plate, "B%d-%03d", booth, car);
    record->cents = 250 + 50 * booth;
}

static void pass_car(int booth, int car)
{
    pthread_mutex_lock(&roll.lock);
    struct record *record = &roll.records[roll.claimed++];
    pthread_mutex_unlock(&roll.lock);

    photograph(record, booth, car);

    pthread_mutex_lock(&roll.lock);
    record->developed = true;
    roll.complete++;
    pthread_cond_signal(&roll.grown);
    pthread_mutex_unlock(&roll.lock);
}

static void *booth_main(void *argument)
{
    int booth = (int)(long)argument;
    for (int car = 0; car < PER_BOOTH; car++) {
        usleep(1000 + 400 * (useconds_t)booth);
        pass_car(booth, car);
    }
    return NULL;
}

static bool next_is_there(int billed)
{
#ifdef FIXED
    return roll.records[billed].developed;
#else
    return billed < roll.complete;
#endif
}

static void *clerk_main(void *argument)
{
    int *total = argument;
    for (int billed = 0; billed < BOOTHS * PER_BOOTH; billed++) {
        pthread_mutex_lock(&roll.lock);
        while (!next_is_there(billed))
            pthread_cond_wait(&roll.grown, &roll.lock);
        struct record record = roll.records[billed];
        pthread_mutex_unlock(&roll.lock);
        assert(strlen(record.plate) == 6);
        *total += record.cents;
    }
    return NULL;
}

int main(void)
{
    pthread_t booths[BOOTHS], clerk;
    int total = 0;
    pthread_create(&clerk, NULL, clerk_main, &total);
    for (long i = 0; i < BOOTHS; i++)
        pthread_create(&booths[i], NULL, booth_main, (void *)i);
    for (int i = 0; i < BOOTHS; i++)
        pthread_join(booths[i], NULL);
    pthread_join(clerk, NULL);
    printf("%d cents\n", total);
    assert(total == PER_BOOTH * (250 + 300));
    return 0;
}
