/*
 * next.c -- calls that it looks up itself, as a library does that takes their place.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *
work(void *a)
{
    return a;
}
int
main(int c, char **v)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
            dlsym(RTLD_NEXT, "pthread_create");
    size_t (*length)(const char *) = dlsym(RTLD_NEXT, "strlen");
    pthread_t thread;
    void *said = NULL;
    create(&thread, NULL, work, "four");
    pthread_join(thread, &said);
    printf("%s %zu\n", (char *)said, length(said));
    printf("%s\n", dlsym(RTLD_NEXT, "no_such_function") == NULL ? "none" : "found");
    return c > 1;
}
