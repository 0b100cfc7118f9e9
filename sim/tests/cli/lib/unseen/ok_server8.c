// Correct: a server without clients: an acceptor waits in epoll, a worker waits for connections, a janitor ticks.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int clients[64];
static int count;

static void *worker(void *argument)
{
    (void)argument;
    for (;;) {
        char line[128];
        pthread_mutex_lock(&mutex);
        while (count == 0)
            pthread_cond_wait(&arrived, &mutex);
        int fd = clients[--count];
        pthread_mutex_unlock(&mutex);
        ssize_t size = read(fd, line, sizeof(line));
        if (size > 0 && write(fd, line, (size_t)size) < 0)
            perror("write");
        close(fd);
    }
    return NULL;
}

static void *janitor(void *argument)
{
    (void)argument;
    for (;;) {
        sleep(30);
        pthread_mutex_lock(&mutex);
        if (count > 32)
            fprintf(stderr, "%d clients wait\n", count);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int one = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address;
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons(7007);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 16) != 0)
        return 2;
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, janitor, NULL);
    for (;;) {
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
        int fd = accept(listener, NULL, NULL);
        if (fd == -1)
            continue;
        pthread_mutex_lock(&mutex);
        if (count < 64) {
            clients[count++] = fd;
            pthread_cond_signal(&arrived);
        } else {
            close(fd);
        }
        pthread_mutex_unlock(&mutex);
    }
}
