// What a write to TCP may rely on: one of a few bytes is whole where little is under way.
//
//     whole few     passes: requests of 8 bytes, each answered before the next
//     whole much    fails: 16 KiB at once
//     whole queue   fails: records of 100 bytes that nobody reads yet
//
// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUCH 16384

static int ends[2];

static void
connect_both(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
    assert(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(ends[1], (struct sockaddr *)&at, size) == 0);
    ends[0] = accept(listener, NULL, NULL);
    assert(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
}

static void *
answer(void *argument)
{
    char bytes[8];
    while (recv(ends[0], bytes, sizeof(bytes), MSG_WAITALL) == sizeof(bytes))
        assert(send(ends[0], bytes, 1, 0) == 1);
    return argument;
}

// Returns whether each request was whole.
static int
ask(void)
{
    pthread_t thread;
    char bytes[8] = "request";
    int whole = 1;
    assert(fcntl(ends[1], F_SETFL, 0) == 0);
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 0; i < 10 && whole; i++) {
        whole = send(ends[1], bytes, sizeof(bytes), MSG_DONTWAIT) == sizeof(bytes);
        assert(!whole || recv(ends[1], bytes, 1, 0) == 1);
    }
    shutdown(ends[1], SHUT_WR);
    pthread_join(thread, NULL);
    return whole;
}

int
main(int count, char **arguments)
{
    static char bytes[MUCH];
    const char *how = count == 2 ? arguments[1] : "";
    connect_both();
    if (strcmp(how, "few") == 0)
        return !ask();
    size_t size = strcmp(how, "much") == 0 ? MUCH : 100;
    for (size_t done = 0; done < MUCH; done += size)
        if (write(ends[1], bytes, size) != (ssize_t)size)
            return 1;
    return 0;
}
