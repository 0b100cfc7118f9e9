// Cause: service_restart() joins the old worker while it holds `registry`, and worker() takes `registry` once more to
// report its end before it returns. When the restart takes the lock before the worker has reported, the worker waits
// for the lock and main waits for the worker.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

struct service {
    pthread_t thread;
    atomic_int stop;
    int reports;
};

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static int reported;

static void *worker(void *argument)
{
    struct service *service = argument;
    for (int i = 0; i < 3 && !service->stop; i++) {
        usleep(1000);
        pthread_mutex_lock(&registry);
        service->reports++;
        pthread_mutex_unlock(&registry);
    }
    pthread_mutex_lock(&registry);
    reported += service->reports;
    pthread_mutex_unlock(&registry);
    return NULL;
}

static void service_start(struct service *service)
{
    service->stop = 0;
    service->reports = 0;
    pthread_create(&service->thread, NULL, worker, service);
}

static void service_restart(struct service *service)
{
    pthread_mutex_lock(&registry);
    service->stop = 1;
#ifdef FIXED
    pthread_mutex_unlock(&registry);
    pthread_join(service->thread, NULL);
    pthread_mutex_lock(&registry);
#else
    pthread_join(service->thread, NULL);
#endif
    service_start(service);
    pthread_mutex_unlock(&registry);
}

int main(void)
{
    static struct service service;
    service_start(&service);
    usleep(5000); /* By then it has usually ended. */
    service_restart(&service);
    pthread_join(service.thread, NULL);
    printf("%d reports\n", reported);
    return 0;
}
