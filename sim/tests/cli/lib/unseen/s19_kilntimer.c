/* Cause: on_timer() ignores that read (55) got nothing (EAGAIN): when on_panel() -> load() -> hold() (42, 34) re-arms the timerfd and the timer's event was fetched in the same batch by epoll_wait (71), the stale event still advances segment (63) of the new curve and re-arms the timer, so a segment is skipped. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SEGMENTS 3

struct curve {
    const char *name;
    int degrees[SEGMENTS];
    int hold_ms[SEGMENTS];
};

static const struct curve bisque = {"bisque", {200, 600, 950}, {10, 10, 40}};
static const struct curve glaze = {"glaze", {300, 800, 1240}, {10, 10, 10}};

struct kiln {
    int epoll;
    int timer;
    int panel;
    const struct curve *curve;
    int segment;
    int reached; /* Sum of the temperatures that this curve has held to their end. */
};

static void hold(struct kiln *kiln)
{
    struct itimerspec due = {{0, 0}, {0, 0}};
    due.it_value.tv_nsec = kiln->curve->hold_ms[kiln->segment] * 1000000L;
    assert(timerfd_settime(kiln->timer, 0, &due, NULL) == 0);
}

static void load(struct kiln *kiln, const struct curve *curve)
{
    kiln->curve = curve;
    kiln->segment = 0;
    kiln->reached = 0;
    hold(kiln);
}

static void on_panel(struct kiln *kiln)
{
    char key;
    if (read(kiln->panel, &key, 1) == 1 && key == 'g')
        load(kiln, &glaze);
}

static void on_timer(struct kiln *kiln)
{
    unsigned long long expired = 0;
    ssize_t n = read(kiln->timer, &expired, sizeof expired);
#ifdef FIXED
    if (n != sizeof expired)
        return;
#endif
    (void)n;
    if (expired > 0)
        kiln->reached += kiln->curve->degrees[kiln->segment];
    if (++kiln->segment < SEGMENTS)
        hold(kiln);
}

static void fire(struct kiln *kiln)
{
    while (kiln->segment < SEGMENTS || kiln->curve != &glaze) {
        struct epoll_event events[4];
        int count = epoll_wait(kiln->epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == kiln->panel)
                on_panel(kiln);
            else
                on_timer(kiln);
        }
    }
}

static void watch(struct kiln *kiln, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    assert(epoll_ctl(kiln->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void *operator_main(void *argument)
{
    usleep(15000);
    assert(write(*(int *)argument, "g", 1) == 1);
    return NULL;
}

int main(void)
{
    struct kiln kiln = {0};
    int panel[2];
    pthread_t operator;
    assert(pipe(panel) == 0);
    kiln.panel = panel[0];
    kiln.epoll = epoll_create1(0);
    kiln.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    watch(&kiln, kiln.panel);
    watch(&kiln, kiln.timer);
    load(&kiln, &bisque);
    pthread_create(&operator, NULL, operator_main, &panel[1]);
    fire(&kiln);
    pthread_join(operator, NULL);
    printf("%s: %d\n", kiln.curve->name, kiln.reached);
    return kiln.reached == 300 + 800 + 1240 ? 0 : 1;
}
