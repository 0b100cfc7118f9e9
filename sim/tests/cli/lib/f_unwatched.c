/* f_unwatched.c -- does not ask for a pipe again where a record is not complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define RECORDS 3

static int source[2];
static int epoll;
static char record[8];
static size_t size;
static int records;

static void
watch(void)
{
    struct epoll_event in = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, source[0], &in);
}

__attribute__((noinline)) static int
take_record(void)
{
    if (size < 2) {
        return 0;
    }
    size -= 2;
    records++;
    return 1;
}

static void
on_readable(void)
{
    epoll_ctl(epoll, EPOLL_CTL_DEL, source[0], NULL);
    size += (size_t)read(source[0], record + size, 2 - size);
    if (!take_record()) {
        return;
    }
    watch();
}

static void *
produce(void *argument)
{
    for (int i = 0; i < RECORDS; i++) {
        write(source[1], "a", 1);
        write(source[1], "b", 1);
        usleep(100);
    }
    return argument;
}

int
main(void)
{
    pthread_t thread;
    struct epoll_event event;
    pipe(source);
    epoll = epoll_create1(0);
    watch();
    pthread_create(&thread, NULL, produce, NULL);
    while (records < RECORDS) {
        if (epoll_wait(epoll, &event, 1, -1) == 1) {
            on_readable();
        }
    }
    pthread_join(thread, NULL);
    return 0;
}
