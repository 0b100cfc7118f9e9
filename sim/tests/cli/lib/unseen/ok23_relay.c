/* A relay race: hand-over by futile-looking trylocks, a semaphore as a baton, EINTR and short writes. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RUNNERS 3
#define LAPS 2

static sem_t baton[RUNNERS];
static pthread_mutex_t board_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned board[RUNNERS * LAPS]; /* by board_lock */
static unsigned posted;                /* by board_lock */
static atomic_uint notes;              /* notes that nobody has put on the board yet */
static int finish;

/* Puts up all notes; who finds the lock taken leaves his to the holder. */
static void post_notes(void)
{
    do {
        if (pthread_mutex_trylock(&board_lock) != 0)
            return; /* the holder looks again after its unlock */
        while (atomic_load(&notes) > 0) {
            atomic_fetch_sub(&notes, 1);
            board[posted++] = 1;
        }
        pthread_mutex_unlock(&board_lock);
    } while (atomic_load(&notes) > 0);
}

static void *runner(void *argument)
{
    unsigned number = (unsigned)(size_t)argument;
    for (int lap = 0; lap < LAPS; lap++) {
        while (sem_wait(&baton[number]) != 0)
            assert(errno == EINTR);
        sem_post(&baton[(number + 1) % RUNNERS]);
        atomic_fetch_add(&notes, 1);
        post_notes();
    }
    uint64_t one = 1;
    assert(write(finish, &one, sizeof one) == (ssize_t)sizeof one);
    return NULL;
}

int main(void)
{
    pthread_t threads[RUNNERS];
    uint64_t sum = 0, got;
    finish = eventfd(0, 0);
    assert(finish >= 0);
    for (size_t i = 0; i < RUNNERS; i++)
        sem_init(&baton[i], 0, i == 0);
    for (size_t i = 0; i < RUNNERS; i++)
        pthread_create(&threads[i], NULL, runner, (void *)i);
    while (sum < RUNNERS)
        if (read(finish, &got, sizeof got) == (ssize_t)sizeof got)
            sum += got; /* several may come as one */
    for (size_t i = 0; i < RUNNERS; i++)
        pthread_join(threads[i], NULL);
    assert(posted == RUNNERS * LAPS && atomic_load(&notes) == 0);
    int left;
    assert(sem_getvalue(&baton[0], &left) == 0 && left == 1);
    close(finish);
    return 0;
}
