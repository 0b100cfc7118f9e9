/* A mill: a signal handler that writes to a pipe, a signal after the unlock, a look without the lock. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define SACKS 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static unsigned full, ground; /* by lock */
static int over;              /* by lock */
static atomic_uint bells;
static int wake_pipe[2];

static void on_bell(int number)
{
    int saved = errno;
    (void)number;
    atomic_fetch_add(&bells, 1);
    (void)!write(wake_pipe[1], "b", 1); /* full: there is a byte already */
    errno = saved;
}

static void *miller(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (full == 0 && !over)
            pthread_cond_wait(&filled, &lock);
        if (full == 0)
            break;
        full--;
        pthread_mutex_unlock(&lock);
        usleep(30);
        pthread_mutex_lock(&lock);
        ground++;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *carter(void *argument)
{
    pthread_t master = *(pthread_t *)argument;
    for (int i = 0; i < SACKS / 2; i++) {
        pthread_mutex_lock(&lock);
        full++;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&filled); /* after the unlock, one for one sack */
        usleep(20);
    }
    pthread_kill(master, SIGUSR1);
    return NULL;
}

int main(void)
{
    pthread_t millers[2], carters[2], self = pthread_self();
    struct sigaction action;
    assert(pipe(wake_pipe) == 0);
    fcntl(wake_pipe[0], F_SETFL, O_NONBLOCK);
    fcntl(wake_pipe[1], F_SETFL, O_NONBLOCK);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_bell;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&millers[i], NULL, miller, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&carters[i], NULL, carter, &self);

    for (;;) { /* two bells may be one signal: joins decide, not their number */
        struct pollfd entry = {wake_pipe[0], POLLIN, 0};
        char bytes[8];
        if (poll(&entry, 1, -1) < 0 && errno != EINTR)
            break;
        while (read(wake_pipe[0], bytes, sizeof bytes) > 0)
            ;
        if (atomic_load(&bells) >= 1)
            break;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(carters[i], NULL);
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(millers[i], NULL);
    assert(ground == SACKS && full == 0);
    close(wake_pipe[0]);
    close(wake_pipe[1]);
    return 0;
}
