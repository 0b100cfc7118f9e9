/* Cause: an edge-triggered listener that is not drained. The listener is registered EPOLLIN|EPOLLET (line 71), and welcome() accepts one connection per event (49-50). Order: two or more lorries have connected before the loop's epoll_wait (77) reports the listener: one report for both; one accept; the other connection stays in the backlog, without another edge (when a third lorry connects later, that edge takes out one again, and one is still left). Harm: hang: that lorry waits for its stamp in read (23), the loop in epoll_wait (77) forever. Fix: accept until EAGAIN (43-47). */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LORRIES 3

static struct sockaddr_in address;

static void *lorry(void *argument)
{
    char papers = *(const char *)argument, stamp = 0;
    usleep((unsigned)(papers - 'a') * 100); /* the road */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    assert(write(fd, &papers, 1) == 1);
    assert(read(fd, &stamp, 1) == 1);
    assert(stamp == (char)(papers + 1));
    close(fd);
    return NULL;
}

static void nonblocking(int fd)
{
    assert(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
}

static void add(int epoll, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void welcome(int epoll, int listener)
{
    int fd;
#ifdef FIXED
    while ((fd = accept(listener, NULL, NULL)) >= 0 || errno == EINTR ||
            errno == ECONNABORTED) {
        if (fd < 0)
            continue;
#else
    fd = accept(listener, NULL, NULL);
    if (fd >= 0) {
#endif
        nonblocking(fd);
        add(epoll, fd, EPOLLIN);
    }
}

int main(void)
{
    static const char papers[LORRIES] = {'a', 'k', 'u'};
    pthread_t threads[LORRIES];
    socklen_t size = sizeof address;
    int served = 0;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int epoll = epoll_create1(0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 16) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    nonblocking(listener);
    add(epoll, listener, EPOLLIN | EPOLLET);
    for (int i = 0; i < LORRIES; i++)
        pthread_create(&threads[i], NULL, lorry, (void *)&papers[i]);

    while (served < LORRIES) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            char paper;
            if (fd == listener) {
                welcome(epoll, listener);
                continue;
            }
            ssize_t got = read(fd, &paper, 1);
            if (got == 1) {
                paper++;
                assert(write(fd, &paper, 1) == 1);
            } else if (got == 0) {
                close(fd);
                served++;
            }
        }
    }
    for (int i = 0; i < LORRIES; i++)
        pthread_join(threads[i], NULL);
    close(epoll);
    close(listener);
    return 0;
}
