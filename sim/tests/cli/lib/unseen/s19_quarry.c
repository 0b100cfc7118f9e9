/* Cause: haul() takes a cart (44) but on the path where crush() says that the crusher is busy (28, 47) it returns (52) without sem_post(&carts); the cart is never given back and main waits for it forever when it collects the carts (77). */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define CARTS 2
#define LOADERS 3
#define ROUNDS 2

static sem_t carts;
static sem_t crusher;
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static int crushed;
static int in_yard;

static void note(int *counter)
{
    pthread_mutex_lock(&books);
    (*counter)++;
    pthread_mutex_unlock(&books);
}

static bool crush(int stone)
{
    if (sem_trywait(&crusher) != 0)
        return false;
    usleep(200 + 10 * (useconds_t)stone);
    note(&crushed);
    sem_post(&crusher);
    return true;
}

static void set_aside(int stone)
{
    (void)stone;
    note(&in_yard);
}

static void haul(int stone)
{
    while (sem_wait(&carts) != 0)
        ;
    usleep(500);
    if (!crush(stone)) {
        set_aside(stone);
#ifdef FIXED
        sem_post(&carts);
#endif
        return;
    }
    sem_post(&carts);
}

static void *loader_main(void *argument)
{
    int first = (int)(long)argument * ROUNDS;
    for (int i = 0; i < ROUNDS; i++) {
        usleep(2000 * (useconds_t)(1 + (long)argument));
        haul(first + i);
    }
    return NULL;
}

int main(void)
{
    pthread_t loaders[LOADERS];
    sem_init(&carts, 0, CARTS);
    sem_init(&crusher, 0, 1);
    for (long i = 0; i < LOADERS; i++)
        pthread_create(&loaders[i], NULL, loader_main, (void *)i);
    for (int i = 0; i < LOADERS; i++)
        pthread_join(loaders[i], NULL);
    for (int i = 0; i < CARTS; i++)
        while (sem_wait(&carts) != 0)
            ;
    printf("%d crushed, %d in the yard\n", crushed, in_yard);
    assert(crushed + in_yard == LOADERS * ROUNDS);
    return 0;
}
