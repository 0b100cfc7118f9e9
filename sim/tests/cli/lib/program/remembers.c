/*
 * remembers.c -- a program that prints what an earlier run of it in the same process would have
 * changed, and then changes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fenv.h>
#include <libgen.h>
#include <locale.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int number = 1;
static int zero;
static _Thread_local int local = 5;

static void
use_variables(void)
{
    printf("%d %d %d\n", number, zero, local);
    number++;
    zero++;
    local++;
}

static void
use_random(void)
{
    printf("%d %ld\n", rand(), random());
    srand48(lrand48());
    printf("%ld\n", lrand48());
}

static void
use_environment(void)
{
    printf("%s\n", getenv("LEFT") != NULL ? getenv("LEFT") : "none");
    setenv("LEFT", "behind", 1);
    putenv("ALSO=left");
}

static void
use_strtok(void)
{
    char text[] = "a b c";
    printf("%s\n", strtok(text, " "));
    printf("%s\n", strtok(NULL, " "));
}

static void
use_stdio(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "in the stream");
    printf("no line end, ");
    setvbuf(stdout, NULL, _IOFBF, 1000);
    printf("buffered\n");
}

static void
use_locale(void)
{
    printf("%s\n", setlocale(LC_ALL, NULL));
    setlocale(LC_NUMERIC, "C.UTF-8");
}

static void
say_bye(void)
{
    printf("bye %d\n", zero++);
}

static void
use_handlers(void)
{
    atexit(say_bye);
    pthread_atfork(say_bye, say_bye, say_bye);
}

static void
use_heap(void)
{
    static char *kept;
    char *block = malloc(100);
    printf("%d %d\n", kept == NULL, block[50] == block[51]);
    kept = strdup("kept");
    free(block);
    char *again = realloc(malloc(10), 5000);
    printf("%p\n", (void *)again);
}

static void
use_rounding(void)
{
    printf("%d\n", fegetround() == FE_TONEAREST);
    fesetround(FE_UPWARD);
}

static void
use_arguments(int count, char **arguments)
{
    printf("%s\n", arguments[count - 1]);
    memset(arguments[count - 1], 'x', strlen(arguments[count - 1]));
}

static void
use_errors(void)
{
    printf("%s\n", strerror(12345));
    printf("%s\n", basename(strdup("/a/b")));
    time_t epoch = 0;
    printf("%s", ctime(&epoch));
    setenv("TZ", "EST5EDT", 1);
    tzset();
    printf("%s\n", tzname[0]);
}

static const struct {
    const char *name;
    void (*use)(void);
} all[] = {
        {"variables", use_variables},
        {"random", use_random},
        {"environment", use_environment},
        {"strtok", use_strtok},
        {"stdio", use_stdio},
        {"locale", use_locale},
        {"handlers", use_handlers},
        {"heap", use_heap},
        {"rounding", use_rounding},
        {"errors", use_errors},
};

int
main(int count, char **arguments)
{
    const char *which = count > 1 ? arguments[1] : "";
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (strcmp(which, all[i].name) == 0) {
            all[i].use();
        }
    }
    if (strcmp(which, "arguments") == 0) {
        use_arguments(count, arguments);
    }
    return 0;
}
