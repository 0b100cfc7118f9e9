/* Signals after the unlock, and looks at a flag without the lock first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#define TICKETS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t printed = PTHREAD_COND_INITIALIZER;
static int in_tray;
static atomic_bool over;

static void *
printer(void *argument)
{
    (void)argument;
    for (int i = 0; i < TICKETS; i++) {
        pthread_mutex_lock(&lock);
        bool was_empty = in_tray++ == 0;
        pthread_mutex_unlock(&lock);
        if (was_empty) {
            pthread_cond_signal(&printed);
        }
    }
    pthread_mutex_lock(&lock);
    atomic_store(&over, true);
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&printed);
    return NULL;
}

static int
take_all(void)
{
    pthread_mutex_lock(&lock);
    while (in_tray == 0 && !atomic_load(&over)) {
        pthread_cond_wait(&printed, &lock);
    }
    int taken = in_tray;
    in_tray = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

int
main(void)
{
    pthread_t thread;
    int sold = 0;
    pthread_create(&thread, NULL, printer, NULL);
    while (!atomic_load(&over)) {
        sold += take_all();
    }
    sold += take_all();
    pthread_join(thread, NULL);
    assert(sold == TICKETS);
    printf("%d sold\n", sold);
    return 0;
}
