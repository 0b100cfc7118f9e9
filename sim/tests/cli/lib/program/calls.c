/*
 * calls.c -- what calls on files and sockets return: one line for each case, as agrees.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int
why(long result)
{
    return result < 0 ? errno : 0;
}

static void
folders(void)
{
    char bytes[8];
    int fd = open("/", O_RDONLY | O_DIRECTORY);
    int from = why(read(fd, bytes, sizeof(bytes))) == EISDIR;
    printf("read a folder: %d %d\n", from, why(pread(fd, bytes, sizeof(bytes), 0)) == EISDIR);
    close(fd);
}

static void
priorities(void)
{
    int set = setpriority(PRIO_PROCESS, 0, 3);
    printf("priority: %d %d", set, getpriority(PRIO_PROCESS, 0));
    set = setpriority(PRIO_PROCESS, 0, 30);
    printf(" %d %d\n", set, getpriority(PRIO_PROCESS, 0));
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

static struct sockaddr_in
at(const char *address, int port)
{
    struct sockaddr_in all = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &all.sin_addr);
    return all;
}

static void
print_name(const char *of, int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof(address);
    char text[INET_ADDRSTRLEN];
    int result = name(fd, (struct sockaddr *)&address, &size);
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    printf("%s: %d %s %s\n", of, result, text, address.sin_port != 0 ? "has a port" : "no port");
}

static void
streams(void)
{
    struct sockaddr_in all = at("0.0.0.0", 0), far = at("4.4.4.4", 80);
    socklen_t size = sizeof(all);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    printf("not ours: %d\n", why(bind(client, (struct sockaddr *)&far, size)) == EADDRNOTAVAIL);
    print_name("unbound", client, getsockname);
    bind(listener, (struct sockaddr *)&all, size);
    listen(listener, 4);
    print_name("listener", listener, getsockname);
    getsockname(listener, (struct sockaddr *)&all, &size);
    printf("connect: %d\n", connect(client, (struct sockaddr *)&all, size));
    int server = accept(listener, NULL, NULL);
    print_name("client", client, getsockname);
    print_name("its peer", client, getpeername);
    print_name("server", server, getsockname);
    print_name("its client", server, getpeername);
    close(server);
    close(client);
    close(listener);
}

static void
datagrams(void)
{
    struct sockaddr_in all = at("0.0.0.0", 0), from = {0};
    socklen_t size = sizeof(all);
    char byte = 0, text[INET_ADDRSTRLEN];
    int receiver = socket(AF_INET, SOCK_DGRAM, 0);
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    bind(receiver, (struct sockaddr *)&all, size);
    getsockname(receiver, (struct sockaddr *)&all, &size);
    sendto(sender, &byte, 1, 0, (struct sockaddr *)&all, size);
    print_name("sender", sender, getsockname);
    recvfrom(receiver, &byte, 1, 0, (struct sockaddr *)&from, &size);
    printf("from: %s\n", inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text)));
    connect(sender, (struct sockaddr *)&all, size);
    print_name("connected", sender, getsockname);
    int alone = connect(sender, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(all));
    printf("disconnected: %d %d\n", alone, why(send(sender, &byte, 1, 0)) == EDESTADDRREQ);
    close(receiver);
    close(sender);
}

/* The peer has closed: what is written is answered by a reset, and what is read is the end. */
static void
half_open(void)
{
    struct sockaddr_in local = at("127.0.0.1", 0);
    socklen_t size = sizeof(local);
    char byte = 0;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&local, size);
    listen(listener, 4);
    getsockname(listener, (struct sockaddr *)&local, &size);
    connect(client, (struct sockaddr *)&local, size);
    close(accept(listener, NULL, NULL));
    usleep(10000);
    long sent = send(client, &byte, 1, MSG_NOSIGNAL);
    usleep(10000);
    long read = recv(client, &byte, 1, 0);
    printf("half open: %ld %ld", sent, read);
    printf(" %d\n", why(send(client, &byte, 1, MSG_NOSIGNAL)) == EPIPE);
    close(client);
    close(listener);
}

static void
options(void)
{
    struct sockaddr_in local = at("127.0.0.1", 0);
    socklen_t size = sizeof(int), address_size = sizeof(local);
    int on = 1, bytes = 10000, got = 0;
    int stream = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, size);
    getsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &got, &size);
    setsockopt(stream, SOL_SOCKET, SO_RCVBUF, &bytes, size);
    getsockopt(stream, SOL_SOCKET, SO_RCVBUF, &bytes, &size);
    printf("options: %d %d\n", got, bytes);
    int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &on, size);
    bind(one, (struct sockaddr *)&local, address_size);
    getsockname(one, (struct sockaddr *)&local, &address_size);
    int alone = why(bind(other, (struct sockaddr *)&local, address_size)) == EADDRINUSE;
    setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, size);
    printf("shared: %d %d\n", alone, bind(other, (struct sockaddr *)&local, address_size));
}

static int
waits(int fd, int name, int ms)
{
    struct timeval time = {ms / 1000, ms % 1000 * 1000}, got = {-1, -1};
    socklen_t size = sizeof(got);
    int set = setsockopt(fd, SOL_SOCKET, name, &time, sizeof(time));
    getsockopt(fd, SOL_SOCKET, name, &got, &size);
    return set == 0 && size == sizeof(got) && got.tv_sec == time.tv_sec &&
           got.tv_usec == time.tv_usec;
}

static long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Each call waits for its time. */
static void
timeouts(void)
{
    static char bytes[65536];
    struct sockaddr_in local = at("127.0.0.1", 0);
    socklen_t size = sizeof(local);
    int pair[2], udp = socket(AF_INET, SOCK_DGRAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    printf("a time: %d %d", waits(pair[0], SO_RCVTIMEO, 40), waits(pair[0], SO_SNDTIMEO, 1040));
    printf(" %d", waits(pair[0], SO_SNDTIMEO, 0));
    struct timeval wrong = {0, 1000000};
    printf(" %d", why(setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof(wrong))) == EDOM);
    printf(" %d\n", why(setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &wrong, 4)) == EINVAL);
    long begin = now_ms();
    int read_late = why(read(pair[0], bytes, 1)) == EAGAIN;
    printf("read waits: %d %d\n", read_late, now_ms() - begin >= 40);
    waits(udp, SO_RCVTIMEO, 40);
    printf("recv waits: %d\n", why(recv(udp, bytes, 1, 0)) == EAGAIN);
    waits(pair[0], SO_SNDTIMEO, 40);
    long sent = 0, part = 0;
    while ((part = write(pair[0], bytes, sizeof(bytes))) > 0)
        sent += part;
    printf("write waits: %d %d\n", sent > 0, why(part) == EAGAIN);
    waits(listener, SO_RCVTIMEO, 40);
    bind(listener, (struct sockaddr *)&local, size);
    listen(listener, 4);
    printf("accept waits: %d\n", why(accept(listener, NULL, NULL)) == EAGAIN);
    getsockname(listener, (struct sockaddr *)&local, &size);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, (struct sockaddr *)&local, size);
    int end = accept(listener, NULL, NULL);
    printf("what is accepted waits: %d\n", why(recv(end, bytes, 1, 0)) == EAGAIN);
    struct timeval none = {-1, 0};
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
    printf("nothing waits: %d\n", why(recv(end, bytes, 1, 0)) == EAGAIN);
}

/* How much is taken that is not read, with buffers of so many bytes; 0: as they are. */
static long
taken(int sender, int receiver, int space)
{
    static char bytes[512];
    long all = 0, part;
    for (int i = 0; i < 2 && space > 0; i++)
        setsockopt(i ? sender : receiver, SOL_SOCKET, i ? SO_SNDBUF : SO_RCVBUF, &space,
                sizeof(space));
    for (int i = 0; i < 20; i++) {
        while ((part = send(sender, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
            all += part;
        usleep(1000);
    }
    return all;
}

static long
tcp_takes(int space)
{
    struct sockaddr_in local = at("127.0.0.1", 0);
    socklen_t size = sizeof(local);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&local, size);
    listen(listener, 4);
    getsockname(listener, (struct sockaddr *)&local, &size);
    connect(client, (struct sockaddr *)&local, size);
    return taken(client, accept(listener, NULL, NULL), space);
}

static void
buffers(void)
{
    int small[2], usual[2], datagrams[2], space = 4096;
    static char bytes[65536];
    socketpair(AF_UNIX, SOCK_STREAM, 0, small);
    socketpair(AF_UNIX, SOCK_STREAM, 0, usual);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams);
    long takes = taken(small[0], small[1], space);
    printf("a small buffer: %d", takes > 0 && takes <= 8192);
    printf(" %d\n", taken(usual[0], usual[1], 0) > 32768);
    setsockopt(datagrams[0], SOL_SOCKET, SO_SNDBUF, &space, sizeof(space));
    printf("a large datagram: %d\n", why(send(datagrams[0], bytes, 8192, 0)) == EMSGSIZE);
    takes = tcp_takes(4096);
    printf("small buffers of TCP: %d\n", takes > 0 && takes < tcp_takes(0) / 2);
}

/* The queue of the listener is full: a request to connect is not answered. */
static void
connects_late(void)
{
    struct sockaddr_in local = at("127.0.0.1", 0);
    socklen_t size = sizeof(local);
    int listener = socket(AF_INET, SOCK_STREAM, 0), first = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&local, size);
    listen(listener, 0);
    getsockname(listener, (struct sockaddr *)&local, &size);
    connect(first, (struct sockaddr *)&local, size);
    int late = socket(AF_INET, SOCK_STREAM, 0);
    waits(late, SO_SNDTIMEO, 40);
    printf("connect waits: %d", why(connect(late, (struct sockaddr *)&local, size)) == EINPROGRESS);
    printf(" %d", why(connect(late, (struct sockaddr *)&local, size)) == EALREADY);
    close(accept(listener, NULL, NULL));
    waits(late, SO_SNDTIMEO, 5000);
    printf(" %d\n", connect(late, (struct sockaddr *)&local, size));
}

static void
families(void)
{
    struct sockaddr_in four = at("0.0.0.0", 0);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    socklen_t size = sizeof(four);
    int on = 1, a = socket(AF_INET, SOCK_STREAM, 0), b = socket(AF_INET6, SOCK_STREAM, 0);
    bind(a, (struct sockaddr *)&four, size);
    getsockname(a, (struct sockaddr *)&four, &size);
    six.sin6_port = four.sin_port;
    int both = why(bind(b, (struct sockaddr *)&six, sizeof(six))) == EADDRINUSE;
    setsockopt(b, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    printf("families: %d %d\n", both, bind(b, (struct sockaddr *)&six, sizeof(six)));
}

/* ---- Unix sockets with paths. ---------------------------------------------------------------- */

static int
connect_to(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(to.sun_path, path);
    int error = why(connect(fd, (struct sockaddr *)&to, sizeof(to)));
    close(fd);
    return error;
}

static int
bind_to(int fd, const char *path)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    strcpy(own.sun_path, path);
    return why(bind(fd, (struct sockaddr *)&own, sizeof(own)));
}

static void
paths(void)
{
    struct sockaddr_un name = {0};
    socklen_t size = sizeof(name);
    struct stat stat_of = {0};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), next = socket(AF_UNIX, SOCK_STREAM, 0);
    close(open("plain", O_CREAT | O_WRONLY, 0600));
    printf("no file: %d %d\n", connect_to("no.sock") == ENOENT, bind_to(next, "no/x") == ENOENT);
    printf("a file: %d %d\n", connect_to("plain") == ECONNREFUSED,
            bind_to(next, "plain") == EADDRINUSE);
    int bound = bind_to(listener, "my.sock");
    printf("bound: %d %d\n", bound, connect_to("my.sock") == ECONNREFUSED);
    listen(listener, 4);
    stat("my.sock", &stat_of);
    getsockname(listener, (struct sockaddr *)&name, &size);
    printf("listens: %d %d %d %s\n", connect_to("./my.sock"), S_ISSOCK(stat_of.st_mode),
            (int)(size - offsetof(struct sockaddr_un, sun_path)), name.sun_path);
    printf("again: %d", bind_to(next, "my.sock") == EADDRINUSE);
    printf(" %d", unlink("my.sock"));
    printf(" %d", connect_to("my.sock") == ENOENT);
    printf(" %d\n", bind_to(next, "my.sock"));
    printf("the new one: %d\n", connect_to("my.sock") == ECONNREFUSED);
    unlink("my.sock");
    unlink("plain");
}

/* With an argument it fails, so that what it printed is kept. */
int
main(int count, char **arguments)
{
    (void)arguments;
    folders();
    priorities();
    streams();
    datagrams();
    half_open();
    options();
    timeouts();
    connects_late();
    buffers();
    families();
    paths();
    return count > 1;
}
