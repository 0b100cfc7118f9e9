/*
 * loads.c -- what dlopen and dlsym find in a run: libraries that the program is linked with.
 *
 * With -DLIBRARY it is such a library: it counts its calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY
int
loaded_calls(void)
{
    static int calls;
    return ++calls;
}
#else

int own_value = 7;

static int
check(const char *what, int holds)
{
    if (!holds) {
        printf("%s: %s\n", what, "does not hold");
    }
    return !holds;
}

static void *
symbol(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    return handle != NULL ? dlsym(handle, name) : NULL;
}

int
main(int count, char **arguments)
{
    int (*calls)(void) = NULL;
    pid_t (*pid)(void) = NULL;
    void *found;
    int failed = 0;
    if (count > 1) {
        return dlopen(arguments[1], RTLD_NOW) == NULL;
    }
    /* By its path, as it was linked. */
    found = symbol("./libloads.so", "loaded_calls");
    failed += check("a library of its own", found != NULL);
    memcpy(&calls, &found, sizeof(calls));
    failed += check("its variables are those of a new process", calls != NULL && calls() == 1);
    failed += check("the library of a library", symbol("libm.so.6", "cos") != NULL);
    failed += check("the program itself", symbol(NULL, "own_value") == &own_value);
    /* The call that is simulated, not the C library's. */
    found = symbol("libc.so.6", "getpid");
    memcpy(&pid, &found, sizeof(pid));
    failed += check("a call of the C library", pid != NULL && pid() == 1000);
    failed +=
            check("what is not loaded", dlopen("libmissing.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL);
    for (int i = 0; i < 3; i++) {
        found = dlopen("./libloads.so", RTLD_NOW);
        failed += check("closed, opened", dlclose(found) == 0 && dlclose(found) == 0);
    }
    failed += check("it stays what it was", calls != NULL && calls() == 2);
    return failed;
}
#endif
