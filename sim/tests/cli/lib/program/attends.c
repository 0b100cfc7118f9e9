/*
 * attends.c -- a server with a thread for each client, of which two are attended to at a time: it
 * answers a request, up to a line's end, with "done".
 *
 *      attends PORT [BUG]
 *
 *      half    the answer is given by another thread, and who reads the end closes the connection
 *      reset   a connection that is reset keeps its place
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static sem_t places;
static const char *bug = "";

struct client {
    int fd;
    pthread_t answers;
    int answering;
};

static void *
give(void *argument)
{
    const struct client *client = argument;
    (void)send(client->fd, "done", 4, MSG_NOSIGNAL);
    return NULL;
}

/* 0 at the end, -1 where there is an error. */
static ssize_t
read_all(struct client *client)
{
    char byte = 0;
    ssize_t size = 0;
    while ((size = read(client->fd, &byte, 1)) > 0) {
        if (byte == '\n' && !client->answering) {
            client->answering = 1;
            pthread_create(&client->answers, NULL, give, client);
        }
    }
    return size;
}

static void *
attend(void *argument)
{
    struct client *client = argument;
    sem_wait(&places);
    ssize_t size = read_all(client);
    int closed = strcmp(bug, "half") == 0;
    if (closed) {
        shutdown(client->fd, SHUT_RDWR);
    }
    if (client->answering) {
        pthread_join(client->answers, NULL);
    }
    close(client->fd);
    free(client);
    if (size == 0 || strcmp(bug, "reset") != 0) {
        sem_post(&places);
    }
    return NULL;
}

int
main(int count, char **arguments)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1]))};
    bug = count > 2 ? arguments[2] : "";
    sem_init(&places, 0, 2);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
            listen(listener, 8) != 0) {
        return 2;
    }
    for (;;) {
        pthread_t thread;
        struct client *client = calloc(1, sizeof(*client));
        client->fd = accept(listener, NULL, NULL);
        if (client->fd < 0 || pthread_create(&thread, NULL, attend, client) != 0) {
            free(client);
            continue;
        }
        pthread_detach(thread);
    }
}
