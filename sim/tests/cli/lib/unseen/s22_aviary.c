/* Cause: A partial write is sent again from its beginning. camera_push(): send (31) on a non-blocking socket may take a part of the picture only (the buffer is small and the reader has not read the one before); the broken form (42-43) returns 0 without adding n to camera->sent, so after the next POLLOUT the picture is sent from its start. Order: the reader is slow (picture k is unread, or partly), the camera sends k+1: n < 6000; later all 6000 bytes again. Harm: assertion line 75 in look(): a byte belongs to another picture than its position says (or line 77: more bytes than there should be). Fix: lines 38-40, sent += n. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PICTURES 6
#define PICTURE 6000u

struct camera {
    int fd;
    int next; /* The picture that is sent now. */
    size_t sent; /* Of it. */
    uint8_t picture[PICTURE];
};

static void camera_shoot(struct camera *camera)
{
    memset(camera->picture, camera->next + 1, PICTURE);
    camera->sent = 0;
}

/* Sends what can be sent. False: the socket is full. */
static int camera_push(struct camera *camera)
{
    ssize_t n = send(camera->fd, camera->picture + camera->sent, PICTURE - camera->sent,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) {
        assert(errno == EAGAIN || errno == EINTR);
        return 0;
    }
#ifdef FIXED
    camera->sent += (size_t)n;
    if (camera->sent < PICTURE)
        return 0;
#else
    if ((size_t)n < PICTURE)
        return 0;
#endif
    camera->next++;
    if (camera->next < PICTURES) {
        usleep(3000); /* The exposure. */
        camera_shoot(camera);
    }
    return 1;
}

static void *camera_main(void *argument)
{
    struct camera *camera = argument;
    camera_shoot(camera);
    while (camera->next < PICTURES) {
        struct pollfd room = {camera->fd, POLLOUT, 0};
        if (poll(&room, 1, -1) == 1)
            while (camera->next < PICTURES && camera_push(camera))
                ;
    }
    shutdown(camera->fd, SHUT_WR);
    return NULL;
}

/* The keeper looks at each picture in turn. */
static void look(int fd)
{
    uint8_t part[600];
    size_t seen = 0;
    ssize_t n;
    while ((n = read(fd, part, sizeof part)) > 0) {
        for (ssize_t i = 0; i < n; i++, seen++)
            assert(part[i] == seen / PICTURE + 1);
    }
    assert(seen == (size_t)PICTURES * PICTURE);
}

int main(void)
{
    static struct camera camera;
    int wire[2];
    int size = 4608;
    pthread_t thread;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, wire) == 0);
    assert(setsockopt(wire[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0);
    camera.fd = wire[0];
    pthread_create(&thread, NULL, camera_main, &camera);
    look(wire[1]);
    pthread_join(thread, NULL);
    close(wire[0]);
    close(wire[1]);
    return 0;
}
