/* A signal box: two signalmen serve the telegraph lines of three stations, one epoll for both. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATIONS 3
#define MEN 2
#define MESSAGE "train 7 has passed"

struct line {
    int near;
    int far;
    size_t heard; /* Without a lock: the line is armed for one man at a time. */
    int ended;
};

static struct line lines[STATIONS];
static int box;  /* epoll */
static int over; /* eventfd: all lines have ended. Never read, so that each man sees it. */
static atomic_int open_lines = STATIONS;

static void arm(struct line *line, int how)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT, .data.ptr = line};
    assert(epoll_ctl(box, how, line->near, &event) == 0);
}

/* Reads a few bytes at most, so that other lines have their turn. */
static void line_ready(struct line *line)
{
    char part[5];
    assert(!line->ended);
    ssize_t n = read(line->near, part, sizeof part);
    if (n > 0) {
        assert(memcmp(part, MESSAGE + line->heard, (size_t)n) == 0);
        line->heard += (size_t)n;
    }
    if (n == 0) {
        line->ended = 1;
        if (atomic_fetch_sub(&open_lines, 1) == 1) {
            uint64_t one = 1;
            assert(write(over, &one, sizeof one) == sizeof one);
        }
        return; /* Not armed again. */
    }
    assert(n > 0 || errno == EAGAIN || errno == EINTR);
    /* There may be more: the change reports it again, edge or not. */
    arm(line, EPOLL_CTL_MOD);
}

static void *signalman(void *argument)
{
    for (;;) {
        struct epoll_event event;
        int count = epoll_wait(box, &event, 1, -1);
        if (count <= 0)
            continue;
        if (event.data.ptr == NULL)
            return argument;
        line_ready(event.data.ptr);
    }
}

static void *station(void *argument)
{
    struct line *line = argument;
    const char *text = MESSAGE;
    for (size_t at = 0, size = strlen(text); at < size;) {
        ssize_t n = write(line->far, text + at, size - at > 7 ? 7 : size - at);
        assert(n > 0);
        at += (size_t)n;
    }
    close(line->far);
    return NULL;
}

int main(void)
{
    pthread_t men[MEN], stations[STATIONS];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    box = epoll_create1(0);
    over = eventfd(0, 0);
    assert(box >= 0 && over >= 0);
    assert(epoll_ctl(box, EPOLL_CTL_ADD, over, &event) == 0);
    for (int i = 0; i < STATIONS; i++) {
        int pair[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
        lines[i].near = pair[0];
        lines[i].far = pair[1];
        pthread_create(&stations[i], NULL, station, &lines[i]);
    }
    for (int i = 0; i < MEN; i++)
        pthread_create(&men[i], NULL, signalman, NULL);
    for (int i = 0; i < STATIONS; i++)
        arm(&lines[i], EPOLL_CTL_ADD);
    for (int i = 0; i < MEN; i++)
        pthread_join(men[i], NULL);
    for (int i = 0; i < STATIONS; i++) {
        pthread_join(stations[i], NULL);
        assert(lines[i].heard == strlen(MESSAGE));
        close(lines[i].near);
    }
    return 0;
}
