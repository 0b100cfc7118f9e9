/*
 * calls.c -- what calls on files and sockets return: one line for each case, as agrees.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

/* With an argument it fails, so that what it printed is kept. */
int
main(int count, char **arguments)
{
    (void)arguments;
    folders();
    priorities();
    streams();
    datagrams();
    return count > 1;
}
