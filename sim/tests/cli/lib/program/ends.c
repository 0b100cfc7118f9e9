/*
 * ends.c -- a program that ends as its first argument says, and prints what it was given.
 *
 * It knows nothing of rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <err.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int constructed;

__attribute__((constructor)) static void
construct(int count, char **arguments)
{
    printf("constructor: %d arguments of %s\n", count, arguments[0]);
    constructed++;
}

__attribute__((destructor)) static void
destruct(void)
{
    printf("destructor\n");
}

static void
first_handler(void)
{
    printf("first handler\n");
}

static void
last_handler(int status, void *text)
{
    printf("handler with status %d: %s\n", status, (char *)text);
}

static void
end_deep(int depth)
{
    if (depth == 0) {
        exit(0);
    }
    end_deep(depth - 1);
    printf("never\n");
}

static int
end(const char *how)
{
    if (strcmp(how, "status") == 0) {
        return 3;
    } else if (strcmp(how, "exit") == 0) {
        end_deep(5);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(how, "quick") == 0) {
        quick_exit(0);
    } else if (strcmp(how, "abort") == 0) {
        abort();
    } else if (strcmp(how, "assert") == 0) {
        assert(constructed == 2);
    } else if (strcmp(how, "err") == 0) {
        errx(7, "it is %s", "wrong");
    } else if (strcmp(how, "null") == 0) {
        *(volatile int *)NULL = 1;
    } else if (strcmp(how, "system") == 0) {
        return system("true");
    } else if (strcmp(how, "fork") == 0) {
        return fork() > 0;
    } else if (strcmp(how, "exec") == 0) {
        return execl("/bin/true", "true", (char *)NULL);
    } else if (strcmp(how, "lock-after-free") == 0) {
        pthread_mutex_t *lock = malloc(sizeof(*lock));
        pthread_mutex_init(lock, NULL);
        free(lock);
        pthread_mutex_lock(lock);
    } else if (strcmp(how, "cond-after-free") == 0) {
        pthread_cond_t *cond = calloc(1, sizeof(*cond));
        free(cond);
        pthread_cond_signal(cond);
    } else if (strcmp(how, "after-free") == 0) {
        char *block = malloc(40);
        free(block);
        *(volatile char *)(block + 7) = 1;
    } else if (strcmp(how, "leak") == 0) {
        printf("%d\n", malloc(40) != NULL);
    } else if (strcmp(how, "written") == 0) {
        int *volatile block = malloc(40);
        free(block);
        block[3] = 1;
        assert(block[3] == 2);
    } else if (strcmp(how, "twice") == 0) {
        void *volatile block = malloc(40);
        free(block);
        free(block);
    }
    return 0;
}

int
main(int count, char **arguments)
{
    int option = 0;
    const char *how = "";
    while ((option = getopt(count, arguments, "+e:v")) != -1) {
        printf("option %c\n", option);
        how = option == 'e' ? optarg : how;
    }
    for (int i = optind; i < count; i++) {
        fprintf(stderr, "argument %s\n", arguments[i]);
    }
    printf("%s=%s\n", "LANG", getenv("LANG"));
    atexit(first_handler);
    on_exit(last_handler, "bye");
    return end(how);
}
