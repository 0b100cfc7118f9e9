/* Cause: use of a descriptor's number after another thread has closed it. busy() copies line->fd under the lock (46-48) and sends after the unlock (50). Order: tone sender copies fd N of first (47), unlocks; main hang_up(&first) closes N (32); dial(&second) gets number N again from socketpair (22); the tone sender sends "busy" to N (50), into the second call, before main hangs it up. Harm: assertion 93 (the second caller hears "busyhello" or "hellobusy"). Fix: send with the lock held (40-44). */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct line {
    int fd;   /* ours; -1: hung up */
    int peer; /* the caller's telephone */
    pthread_mutex_t lock;
};

static struct line first, second;
static sem_t tones;

static void dial(struct line *line)
{
    int pair[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pthread_mutex_lock(&line->lock);
    line->fd = pair[0];
    line->peer = pair[1];
    pthread_mutex_unlock(&line->lock);
}

static void hang_up(struct line *line)
{
    pthread_mutex_lock(&line->lock);
    close(line->fd);
    line->fd = -1;
    pthread_mutex_unlock(&line->lock);
}

/* Sends the tone, if the line is still open. */
static void busy(struct line *line)
{
#ifdef FIXED
    pthread_mutex_lock(&line->lock);
    if (line->fd >= 0)
        (void)send(line->fd, "busy", 4, MSG_NOSIGNAL);
    pthread_mutex_unlock(&line->lock);
#else
    pthread_mutex_lock(&line->lock);
    int fd = line->fd;
    pthread_mutex_unlock(&line->lock);
    if (fd >= 0)
        (void)send(fd, "busy", 4, MSG_NOSIGNAL);
#endif
}

static void *tone_sender(void *argument)
{
    (void)argument;
    while (sem_wait(&tones) != 0)
        ;
    busy(&first);
    return NULL;
}

static void read_all(int fd, char *text, size_t size)
{
    size_t have = 0;
    ssize_t got;
    while (have + 1 < size && (got = read(fd, text + have, size - 1 - have)) > 0)
        have += (size_t)got;
    text[have] = '\0';
}

int main(void)
{
    pthread_t thread;
    char heard[32];
    pthread_mutex_init(&first.lock, NULL);
    pthread_mutex_init(&second.lock, NULL);
    sem_init(&tones, 0, 0);
    pthread_create(&thread, NULL, tone_sender, NULL);

    dial(&first);
    sem_post(&tones);
    hang_up(&first);

    dial(&second);
    assert(send(second.fd, "hello", 5, MSG_NOSIGNAL) == 5);
    pthread_join(thread, NULL);
    hang_up(&second);

    read_all(first.peer, heard, sizeof heard);
    assert(strcmp(heard, "") == 0 || strcmp(heard, "busy") == 0);
    read_all(second.peer, heard, sizeof heard);
    assert(strcmp(heard, "hello") == 0);
    close(first.peer);
    close(second.peer);
    sem_destroy(&tones);
    return 0;
}
