/* Cause: main(), line 124: the service is freed when the porter has gone, while guests may still ring. Order: service_close (122) sets closing and joins the porter; a guest has not seen closing yet (it sleeps in guest_main, or has not taken the mutex); service_free (124) destroys and frees; the guest's service_ring locks the freed mutex (68). Harm: use after free. Fix: free after the guests were joined (132). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GUESTS 2
#define CALLS_MAX 6

struct call {
    int room;
    struct call *next;
};

struct service {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    pthread_t porter;
    struct call *calls;
    bool closing;
    unsigned answered;
};

struct guest {
    struct service *service;
    int room;
    unsigned rung;
};

static void *porter_main(void *argument)
{
    struct service *service = argument;
    pthread_mutex_lock(&service->mutex);
    for (;;) {
        while (service->calls == NULL && !service->closing)
            pthread_cond_wait(&service->rung, &service->mutex);
        struct call *call = service->calls;
        if (call == NULL)
            break;
        service->calls = call->next;
        service->answered++;
        pthread_mutex_unlock(&service->mutex);
        usleep(200);
        free(call);
        pthread_mutex_lock(&service->mutex);
    }
    pthread_mutex_unlock(&service->mutex);
    return NULL;
}

static struct service *service_open(void)
{
    struct service *service = calloc(1, sizeof *service);
    if (service == NULL)
        abort();
    pthread_mutex_init(&service->mutex, NULL);
    pthread_cond_init(&service->rung, NULL);
    if (pthread_create(&service->porter, NULL, porter_main, service) != 0)
        abort();
    return service;
}

/* False: the service is closed. */
static bool service_ring(struct service *service, int room)
{
    pthread_mutex_lock(&service->mutex);
    bool open = !service->closing;
    if (open) {
        struct call *call = malloc(sizeof *call);
        if (call == NULL)
            abort();
        *call = (struct call){room, service->calls};
        service->calls = call;
        pthread_cond_signal(&service->rung);
    }
    pthread_mutex_unlock(&service->mutex);
    return open;
}

/* Returns when all calls have been answered. */
static unsigned service_close(struct service *service)
{
    pthread_mutex_lock(&service->mutex);
    service->closing = true;
    pthread_cond_signal(&service->rung);
    pthread_mutex_unlock(&service->mutex);
    pthread_join(service->porter, NULL);
    assert(service->calls == NULL);
    return service->answered;
}

static void service_free(struct service *service)
{
    pthread_cond_destroy(&service->rung);
    pthread_mutex_destroy(&service->mutex);
    free(service);
}

static void *guest_main(void *argument)
{
    struct guest *guest = argument;
    for (unsigned i = 0; i < CALLS_MAX && service_ring(guest->service, guest->room); i++) {
        guest->rung++;
        usleep(900);
    }
    return NULL;
}

int main(void)
{
    struct service *service = service_open();
    struct guest guests[GUESTS];
    pthread_t threads[GUESTS];
    for (int i = 0; i < GUESTS; i++) {
        guests[i] = (struct guest){service, 101 + i, 0};
        if (pthread_create(&threads[i], NULL, guest_main, &guests[i]) != 0)
            abort();
    }
    usleep(6500);
    unsigned answered = service_close(service);
#ifndef FIXED
    service_free(service);
#endif
    unsigned rung = 0;
    for (int i = 0; i < GUESTS; i++) {
        pthread_join(threads[i], NULL);
        rung += guests[i].rung;
    }
#ifdef FIXED
    service_free(service);
#endif
    assert(answered == rung);
    printf("%u calls answered\n", answered);
    return 0;
}
