/* Cause: main(), line 116: an event of a fetched batch is accepted if its descriptor number is in use, by whichever film. Order: one epoll_wait (108) returns the events of both films; that of first (message 's') is handled first: film_event closes second (85) and loads a new film (86), which gets the same number; then the old event of second is handled with the new film: recv (80) finds nothing (EAGAIN), which counts as a photographer who has gone, and the new film is unloaded (81) undeveloped. Harm: assert 130. Fix: compare the roll in the event with that of the film (112-113).
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS 64

struct film {
    bool loaded;
    uint32_t roll;
    int far; /* The photographer's end. */
    bool developed;
};

struct message {
    char kind; /* 'd': develop mine; 's': film `about` is spoilt. */
    int about;
};

struct photographer {
    int fd;
    useconds_t delay;
    struct message message;
};

static struct film films[DESCRIPTORS];
static uint32_t rolls;
static int epoll;

static int film_load(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        abort();
    int fd = ends[0];
    films[fd] = (struct film){true, ++rolls, ends[1], false};
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u64 = (uint64_t)films[fd].roll << 32 | (uint32_t)fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
    return fd;
}

static void film_unload(int fd)
{
    films[fd].loaded = false;
    close(fd);
    close(films[fd].far);
}

static void *photographer_main(void *argument)
{
    struct photographer *one = argument;
    usleep(one->delay);
    (void)send(one->fd, &one->message, sizeof one->message, MSG_NOSIGNAL);
    return NULL;
}

static pthread_t photographer_start(struct photographer *one)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, photographer_main, one) != 0)
        abort();
    return thread;
}

/* The tray that was loaded again, or -1. */
static int film_event(int fd)
{
    struct message message;
    struct film *film = &films[fd];
    if (recv(fd, &message, sizeof message, 0) != (ssize_t)sizeof message) {
        film_unload(fd); /* The photographer has gone. */
        return -1;
    }
    if (message.kind == 's' && films[message.about].loaded) {
        film_unload(message.about);
        int renewed = film_load();
        film_unload(fd);
        return renewed;
    }
    film->developed = true;
    film_unload(fd);
    return -1;
}

int main(void)
{
    epoll = epoll_create1(0);
    int first = film_load();
    int second = film_load();
    int careful = dup(films[first].far), hasty = dup(films[second].far);
    struct photographer one = {careful, 1000, {'s', second}};
    struct photographer two = {hasty, 1200, {'d', 0}};
    struct photographer three = {-1, 800, {'d', 0}};
    pthread_t threads[3] = {photographer_start(&one), photographer_start(&two)};
    int started = 2, renewed = -1;
    while (films[first].loaded || films[second].loaded || (renewed >= 0 && films[renewed].loaded)) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            int fd = (int)(uint32_t)events[i].data.u64;
#ifdef FIXED
            uint32_t roll = (uint32_t)(events[i].data.u64 >> 32);
            if (!films[fd].loaded || films[fd].roll != roll)
                continue;
#else
            if (!films[fd].loaded)
                continue;
#endif
            int tray = film_event(fd);
            if (tray >= 0) {
                renewed = tray;
                three.fd = dup(films[tray].far);
                threads[started++] = photographer_start(&three);
            }
        }
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (renewed >= 0)
        assert(films[renewed].developed);
    printf("%u rolls\n", rolls);
    return 0;
}
