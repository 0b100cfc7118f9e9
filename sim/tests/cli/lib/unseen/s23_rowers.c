/* Cause: a reusable barrier without a generation. meet() waits for here != 0 to end (34-35), but here is counted up again by the next round. Order: the last of a round sets here = 0 and broadcasts (26-28), continues, and enters the next round (++here, 25) before one or both of those woken have the mutex again; they see here != 0 (34) and wait again (35), counted for a round that they have not left. Then at most two can ever arrive in the new round. Harm: hang: all rowers that are left wait in 35, main in join. Fix: wait for the round's number to change (22-24, 30-32). */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

#define ROWERS 3
#define STROKES 3

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned here;
    unsigned round;
};

static struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
static unsigned strokes[ROWERS];

static void meet(struct meeting *at)
{
    pthread_mutex_lock(&at->lock);
#ifdef FIXED
    unsigned round = at->round;
#endif
    if (++at->here == ROWERS) {
        at->here = 0;
        at->round++;
        pthread_cond_broadcast(&at->all_here);
    } else {
#ifdef FIXED
        while (at->round == round)
            pthread_cond_wait(&at->all_here, &at->lock);
#else
        while (at->here != 0)
            pthread_cond_wait(&at->all_here, &at->lock);
#endif
    }
    pthread_mutex_unlock(&at->lock);
}

static void *rower(void *argument)
{
    unsigned *mine = argument;
    for (int i = 0; i < STROKES; i++) {
        usleep(50);
        (*mine)++;
        meet(&meeting);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[ROWERS];
    for (int i = 0; i < ROWERS; i++)
        pthread_create(&threads[i], NULL, rower, &strokes[i]);
    for (int i = 0; i < ROWERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ROWERS; i++)
        assert(strokes[i] == STROKES);
    assert(meeting.round == STROKES && meeting.here == 0);
    return 0;
}
