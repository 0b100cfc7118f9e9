/*
 * amounts.c -- how much calls move, report, find and allow: one line for each case, as agrees.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int
why(long result)
{
    return result < 0 ? errno : 0;
}

/* ---- Streams of this machine. ---------------------------------------------------------------- */

static char many[300000];

static void
moves(const char *of, int from, int to)
{
    char bytes[64];
    printf("%s writes: %zd", of, write(from, "seven b", 7));
    printf(" %zd", write(from, "five.", 5));
    printf(" %zd\n", send(from, many, 30000, 0));
    printf("%s reads: %zd", of, recv(to, bytes, 20, MSG_PEEK));
    printf(" %zd", read(to, bytes, 3));
    printf(" %zd", read(to, bytes, 64));
    printf(" %zd", read(to, many, sizeof(many)));
    printf(" %zd\n", read(to, many, sizeof(many)));
}

/* Until it is full: what is less than a message is written whole, or not at all. */
static void
fills(const char *of, int from, int to, int size)
{
    ssize_t moved = 0;
    int cut = 0;
    while ((moved = write(from, many, size)) > 0) {
        cut += moved != size;
    }
    printf("%s full: %d cut, %d\n", of, cut, errno == EAGAIN);
    while (read(to, many, sizeof(many)) > 0) {
    }
}

static void
pairs(void)
{
    int ends[2], few = 4096;
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
    moves("pair", ends[0], ends[1]);
    fills("pair", ends[0], ends[1], 1000);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &few, sizeof(few));
    printf("pair messages: %zd\n", write(ends[0], many, 5000));
}

static void
paths(void)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX, .sun_path = "amounts.sock"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    bind(listener, (struct sockaddr *)&own, sizeof(own));
    listen(listener, 4);
    connect(client, (struct sockaddr *)&own, sizeof(own));
    int server = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    moves("path", client, server);
    fills("path", server, client, 999);
    unlink("amounts.sock");
}

/* To a peer that has closed: no more than fits between two machines, before it answers. */
static void
void_writes(void)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t size = sizeof(own);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener, (struct sockaddr *)&own, size);
    getsockname(listener, (struct sockaddr *)&own, &size);
    listen(listener, 1);
    connect(client, (struct sockaddr *)&own, size);
    close(accept(listener, NULL, NULL));
    ssize_t sent = 0, moved = 0;
    while ((moved = send(client, many, 16384, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0) {
        sent += moved;
    }
    printf("without a peer: %d\n", sent < 1000000);
}

/* ---- Others. --------------------------------------------------------------------------------- */

static void
reports(void)
{
    struct epoll_event all[128], wanted = {.events = EPOLLOUT};
    int epoll = epoll_create1(0), first = 0;
    for (int i = 0; i < 70; i++) {
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted);
        first = first == 0 ? fd : first;
    }
    printf("reports: %d", epoll_wait(epoll, all, 128, -1));
    printf(" %d\n", epoll_wait(epoll, all, 67, -1));
    for (int i = 0; i < 70; i++) {
        close(first + i);
    }
}

static void
groups(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, "239.1.2.3", &to.sin_addr);
    printf("a group: %d\n", why(connect(fd, (struct sockaddr *)&to, sizeof(to))) == ENETUNREACH);
    close(fd);
}

static void
find(const char *node, const char *service, int family, int type, int protocol, int flags)
{
    struct addrinfo *all = NULL, hints = {.ai_flags = flags,
                                         .ai_family = family,
                                         .ai_socktype = type,
                                         .ai_protocol = protocol};
    int error = getaddrinfo(node, service, &hints, &all);
    printf("find %s %s %d %d %d %d: %d", node != NULL ? node : "-", service, family, type, protocol,
            flags, error);
    for (const struct addrinfo *one = all; one != NULL; one = one->ai_next) {
        char text[64];
        getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
        printf(" %d %d %s%s%s", one->ai_socktype, one->ai_protocol, text,
                one->ai_canonname != NULL ? " is " : "",
                one->ai_canonname != NULL ? one->ai_canonname : "");
    }
    printf("\n");
    if (all != NULL) {
        freeaddrinfo(all);
    }
}

static void
names(void)
{
    find("1.2.3.4", "80", AF_UNSPEC, 0, IPPROTO_UDP, 0);
    find("1.2.3.4", "80", AF_UNSPEC, SOCK_STREAM, IPPROTO_UDP, 0);
    find("1.2.3.4", "80", AF_UNSPEC, 0, 99, 0);
    find("1.2.3.4", "80", AF_INET6, SOCK_STREAM, 0, 0);
    find("1.2.3.4", "80", 77, SOCK_STREAM, 0, 0);
    find("1.2.3.4", "http", AF_UNSPEC, 0, 0, AI_NUMERICSERV);
    find("localhost", "80", AF_INET, SOCK_STREAM, 0, AI_CANONNAME);
    find(NULL, "80", AF_UNSPEC, SOCK_STREAM, 0, 0);
    find(NULL, "80", AF_UNSPEC, SOCK_STREAM, 0, AI_PASSIVE);
    find(NULL, "80", AF_UNSPEC, SOCK_STREAM, 0, AI_CANONNAME);
}

static void
limits(void)
{
    struct rlimit before, now;
    int fd = dup(1), other = dup(1);
    getrlimit(RLIMIT_NOFILE, &before);
    close(fd);
    now = before;
    now.rlim_cur = (rlim_t)fd;
    printf("limit: %d", setrlimit(RLIMIT_NOFILE, &now));
    printf(" %d", why(socket(AF_INET, SOCK_STREAM, 0)) == EMFILE);
    printf(" %d", why(dup(1)) == EMFILE);
    printf(" %d\n", why(dup2(1, fd)) == EBADF);
    find("localhost", "80", AF_INET, SOCK_STREAM, 0, AI_CANONNAME | AI_PASSIVE);
    printf("still open: %zd\n", write(other, "", 0));
    setrlimit(RLIMIT_NOFILE, &before);
}

/* With an argument it fails, so that what it printed is kept. */
int
main(int count, char **arguments)
{
    (void)arguments;
    pairs();
    paths();
    void_writes();
    reports();
    groups();
    names();
    limits();
    return count > 1;
}
