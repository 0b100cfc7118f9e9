/* Cause: serve(), line 43: after a partial frame it returns without arming the one-shot registration again, so the rest of the frame is never reported; repair: rearm on that path, too. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAME 8
#define FRAMES 3

struct dome {
    int epoll;
    int camera;
    char frame[FRAME];
    size_t have;
    int frames;
};

static void
rearm(struct dome *dome)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = dome};
    assert(epoll_ctl(dome->epoll, EPOLL_CTL_MOD, dome->camera, &event) == 0);
}

static void
serve(struct dome *dome)
{
    ssize_t got = recv(dome->camera, dome->frame + dome->have, FRAME - dome->have, MSG_DONTWAIT);
    if (got < 0) {
        assert(errno == EAGAIN);
        rearm(dome);
        return;
    }
    dome->have += (size_t)got;
    if (dome->have < FRAME) {
#ifdef FIXED
        rearm(dome);
#endif
        return;
    }
    assert(memcmp(dome->frame, "starlite", FRAME) == 0);
    dome->have = 0;
    dome->frames++;
    rearm(dome);
}

static void *
camera_main(void *argument)
{
    int fd = *(int *)argument;
    for (int i = 0; i < FRAMES; i++) {
        assert(send(fd, "star", 4, 0) == 4);
        assert(send(fd, "lite", 4, 0) == 4);
    }
    return NULL;
}

int
main(void)
{
    int pair[2];
    pthread_t camera;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct dome dome = {.epoll = epoll_create1(0), .camera = pair[0]};
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &dome};
    assert(epoll_ctl(dome.epoll, EPOLL_CTL_ADD, pair[0], &event) == 0);
    pthread_create(&camera, NULL, camera_main, &pair[1]);
    while (dome.frames < FRAMES) {
        struct epoll_event ready;
        int n = epoll_wait(dome.epoll, &ready, 1, -1);
        if (n == 1) {
            serve(ready.data.ptr);
        }
    }
    pthread_join(camera, NULL);
    printf("%d frames\n", dome.frames);
    return 0;
}
