/* Cause: main computes the index next (86) before poll (89) and uses it (96-97) after listen_to() -> sell() (91, 44-45) has removed a hive and moved the last one into its place; the index then denotes an empty place (or another hive). */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HIVES 4

struct hive {
    char name;
    long due_us;
    int inspected;
};

static struct hive yard[HIVES];
static int hives;
static int radio[2];
static int inspections;

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static int soonest(void)
{
    int best = 0;
    for (int i = 1; i < hives; i++)
        if (yard[i].due_us < yard[best].due_us)
            best = i;
    return best;
}

static void sell(char name)
{
    for (int i = 0; i < hives; i++) {
        if (yard[i].name == name) {
            yard[i] = yard[--hives];
            memset(&yard[hives], 0, sizeof yard[hives]);
            return;
        }
    }
}

static void inspect(struct hive *hive, long now)
{
    assert(hive->name != 0);
    assert(hive->due_us <= now);
    hive->inspected++;
    inspections++;
    hive->due_us += 40000;
}

static void listen_to(int fd)
{
    char name;
    while (read(fd, &name, 1) == 1)
        sell(name);
}

static void *dealer_main(void *argument)
{
    (void)argument;
    for (const char *name = "BA"; *name != 0; name++) {
        usleep(14000);
        assert(write(radio[1], name, 1) == 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t dealer;
    long start = now_us();
    assert(pipe(radio) == 0 && fcntl(radio[0], F_SETFL, O_NONBLOCK) == 0);
    for (hives = 0; hives < HIVES; hives++)
        yard[hives] = (struct hive){(char)('A' + hives), start + 40000 - 10000 * hives, 0};
    pthread_create(&dealer, NULL, dealer_main, NULL);
    while (inspections < 8) {
        int next = soonest();
        long wait = yard[next].due_us - now_us();
        struct pollfd heard = {radio[0], POLLIN, 0};
        int count = poll(&heard, 1, wait > 0 ? (int)((wait + 999) / 1000) : 0);
        if (count > 0)
            listen_to(radio[0]);
#ifdef FIXED
        next = soonest();
#endif
        long now = now_us();
        if (yard[next].due_us <= now)
            inspect(&yard[next], now);
    }
    pthread_join(dealer, NULL);
    listen_to(radio[0]);
    printf("%d inspections, %d hives left\n", inspections, hives);
    return hives == HIVES - 2 ? 0 : 1;
}
