/*
 * remembers.c -- a program that prints what an earlier run of it in the same process would have
 * changed, and then changes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <libgen.h>
#include <libintl.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
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

static void
use_mappings(void)
{
    char *block = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/bin/sh", O_RDONLY);
    char *file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    printf("%d %d %.3s %p\n", block != MAP_FAILED, block[100]++, file + 1, (void *)block);
    mprotect(block, 4096, PROT_NONE);
}

static void
use_signals(void)
{
    sigset_t set, before;
    struct sigaction action = {.sa_handler = SIG_IGN}, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    sigaction(SIGUSR2, &action, &old);
    sigpending(&set);
    printf("%d %d %d\n", sigismember(&before, SIGUSR1), old.sa_handler == SIG_DFL,
            sigismember(&set, SIGUSR1));
    raise(SIGUSR1);
}

static void
use_process(void)
{
    struct rlimit limit;
    char cwd[4096];
    mode_t mask = umask(077);
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%o %d %s\n", (unsigned)mask, (int)limit.rlim_cur, getcwd(cwd, sizeof(cwd)));
    limit.rlim_cur = 9;
    setrlimit(RLIMIT_NOFILE, &limit);
    chdir("/tmp");
}

static void
use_timers(void)
{
    struct itimerval value = {.it_value = {1000, 0}}, old;
    timer_t id;
    setitimer(ITIMER_REAL, &value, &old);
    timer_create(CLOCK_MONOTONIC, NULL, &id);
    printf("%ld %p\n", (long)old.it_value.tv_sec, (void *)id);
    printf("%u\n", alarm(1000));
}

static void
use_descriptors(void)
{
    int ends[2];
    int fd = open("/bin/sh", O_RDONLY);
    pipe(ends);
    printf("%d %d %d %d\n", fd, ends[0], ends[1], epoll_create1(0));
    dup2(fd, 700);
    close(0);
}

static void
use_files(void)
{
    char name[64];
    DIR *directory = opendir("/tmp");
    int fd = open("left-behind", O_CREAT | O_EXCL | O_WRONLY, 0600);
    printf("%d %d\n", fd >= 0, shm_open("/left", O_CREAT | O_EXCL | O_RDWR, 0600) >= 0);
    printf("%d\n", sem_open("/left", O_CREAT | O_EXCL, 0600, 1) != SEM_FAILED);
    printf("%d %zd\n", directory != NULL, readlink("link", name, sizeof(name)));
    symlink("left-behind", "link");
}

static void
use_float_control(void)
{
#if defined(__x86_64__)
    unsigned control = __builtin_ia32_stmxcsr();
    printf("%x\n", control & ~0x3fu);
    __builtin_ia32_ldmxcsr(control | 0x8040); /* Flush to zero, denormals are zero. */
#endif
}

/* The C library keeps a list of the domains that were bound, which may begin in its own heap. */
static void
use_messages(void)
{
    printf("%s\n", bindtextdomain("remembers", NULL));
    printf("%s\n", bindtextdomain("remembers", "/left/behind"));
    printf("%s\n", dgettext("remembers", "a message"));
}

/* The C library's heap is rewake's own: it must not be merged in a run, nor shown to one. */
static void
use_heap_settings(void)
{
    printf("%d %zu\n", mallopt(M_TRIM_THRESHOLD, 8192), mallinfo2().uordblks);
    printf("%d\n", malloc_trim(0));
    free(malloc(100000));
}

#define LEFT 0x5e1f

/* How much of what is not initialized is what wait_in_frame() leaves. */
__attribute__((noinline)) static int
look(void)
{
    volatile int left[16];
    int sum = 0;
    for (int i = 0; i < 16; i++) {
        sum += left[i] == LEFT;
    }
    return sum;
}

/* The same so deep in the stack. */
static int
look_below(size_t size)
{
    volatile char buffer[size];
    buffer[0] = 0;
    int sum = look();
    return sum + buffer[0];
}

/* Waits so deep in its stack, and leaves all of that behind. */
static void
wait_in_frame(size_t size)
{
    volatile int buffer[size / sizeof(int)];
    for (size_t i = 0; i < size / sizeof(int); i++) {
        buffer[i] = LEFT;
    }
    usleep(1);
}

static void *
use_frames(void *argument)
{
    if (look_below(9000) + look_below(20000) > 0) {
        _exit(1);
    }
    wait_in_frame(21000);
    return argument;
}

static void
use_stacks(void)
{
    pthread_t thread;
    use_frames(NULL);
    pthread_create(&thread, NULL, use_frames, NULL);
    pthread_join(thread, NULL);
}

static void *
print_addresses(void *argument)
{
    printf("%lx %p\n", (unsigned long)pthread_self(), malloc(100));
    usleep(1);
    return argument;
}

static void
use_addresses(void)
{
    pthread_t thread;
    print_addresses(NULL);
    pthread_create(&thread, NULL, print_addresses, NULL);
    printf("%p\n", malloc(100));
    pthread_join(thread, NULL);
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
        {"mappings", use_mappings},
        {"signals", use_signals},
        {"process", use_process},
        {"timers", use_timers},
        {"descriptors", use_descriptors},
        {"files", use_files},
        {"float", use_float_control},
        {"messages", use_messages},
        {"settings", use_heap_settings},
        {"stacks", use_stacks},
        {"addresses", use_addresses},
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
