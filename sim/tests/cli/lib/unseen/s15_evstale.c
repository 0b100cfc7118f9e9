/* Cause: on_order(), line 58: ev_timer_start counts from the loop's cached time, taken before the order was
 * checked for a long while, so the limit is over too early; repair: ev_now_update before the timer starts. */
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* Orders come through a pipe; each is checked, then a supplier has 200 ms to confirm it. */

struct shop {
    int order_fd[2];
    int supply_fd[2];
    int confirm_fd[2];
    ev_io order;
    ev_io confirm;
    ev_timer limit;
    int confirmed;
    int refused;
};

static struct shop shop;

static void
put(int fd, unsigned char byte)
{
    ssize_t n = write(fd, &byte, 1);
    assert(n == 1);
}

static unsigned char
get(int fd)
{
    unsigned char byte = 0;
    ssize_t n = read(fd, &byte, 1);
    assert(n == 1);
    return byte;
}

/* A credit check, which blocks: some customers have long histories. */
static void
check(unsigned char years)
{
    usleep(years * 20000u);
}

static void
on_order(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    check(get(watcher->fd));
    put(shop.supply_fd[1], 1);
#ifdef FIXED
    ev_now_update(loop);
#endif
    ev_timer_set(&shop.limit, 0.2, 0.);
    ev_timer_start(loop, &shop.limit);
}

static void
on_confirm(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    get(watcher->fd);
    ev_timer_stop(loop, &shop.limit);
    shop.confirmed++;
    ev_break(loop, EVBREAK_ALL);
}

static void
on_limit(struct ev_loop *loop, ev_timer *watcher, int events)
{
    (void)watcher;
    (void)events;
    shop.refused++;
    ev_break(loop, EVBREAK_ALL);
}

/* Confirms after 60 ms, well within the limit. */
static void *
supplier(void *argument)
{
    get(shop.supply_fd[0]);
    usleep(60000);
    put(shop.confirm_fd[1], 1);
    return argument;
}

static void *
customer(void *argument)
{
    unsigned char years;
    ssize_t n = getrandom(&years, 1, 0);
    assert(n == 1);
    put(shop.order_fd[1], years % 10);
    return argument;
}

int
main(void)
{
    pthread_t threads[2];
    struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL);
    pipe(shop.order_fd);
    pipe(shop.supply_fd);
    pipe(shop.confirm_fd);
    ev_io_init(&shop.order, on_order, shop.order_fd[0], EV_READ);
    ev_io_init(&shop.confirm, on_confirm, shop.confirm_fd[0], EV_READ);
    ev_timer_init(&shop.limit, on_limit, 0., 0.);
    ev_io_start(loop, &shop.order);
    ev_io_start(loop, &shop.confirm);
    pthread_create(&threads[0], NULL, supplier, NULL);
    pthread_create(&threads[1], NULL, customer, NULL);
    ev_run(loop, 0);
    assert(shop.confirmed == 1 && shop.refused == 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ev_loop_destroy(loop);
    printf("confirmed\n");
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
