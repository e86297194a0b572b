// bench: threads, servers: each thread replaces 5000 blocks at random and leaves them to another
// rows: --threads 2,8
/* After Larson and Krishnan, "Memory Allocation for Long-Running Server Applications" (1998), with
   the parameters that are usual today: each connection is a thread with 5,000 blocks of 8 to 1000
   bytes; a round replaces as many random ones; after 100 rounds the thread ends, and a new one goes
   on with its blocks. So memory bleeds: blocks are freed by another thread than the one that
   allocated them, which no longer exists. It stresses blocks freed from afar, and what dead threads
   leave. */
#include "workload.h"

enum { SLOTS = 5000, ROUNDS = 100, TURN = ROUNDS * SLOTS, OPERATIONS = 40 * 1000 * 1000 };

typedef struct {
  slot_t slots[SLOTS];
  long left; /* operations */
  rng_t rng;
} table_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int running;

static void start_thread(table_t* table);

static void* turn(void* argument) {
  table_t* t = argument;
  const long end = t->left > TURN ? t->left - TURN : 0;
  rng_t rng = t->rng;
  for (; t->left > end; t->left--) {
    slot_t* slot = &t->slots[rng_below(&rng, SLOTS)];
    slot_empty(slot);
    slot_fill(slot, rng_between(&rng, 8, 1000));
  }
  t->rng = rng;
  live_flush();
  if (t->left > 0) {
    start_thread(t);
  } else {
    pthread_mutex_lock(&lock);
    running--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void start_thread(table_t* table) {
  pthread_t id;
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
  CHECK(pthread_create(&id, &attributes, turn, table) == 0);
  pthread_attr_destroy(&attributes);
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static table_t* tables[MAX_THREADS];
  const long operations = scaled(OPERATIONS);
  running = workload.threads;
  for (int i = 0; i < workload.threads; i++) {
    table_t* t = tables[i] = take_zeroed(sizeof(table_t));
    t->left = share_of(operations, i);
    t->rng = rng_seeded((uint64_t)i + 1);
    for (size_t k = 0; k < SLOTS; k++) { slot_fill(&t->slots[k], rng_between(&t->rng, 8, 1000)); }
  }
  for (int i = 0; i < workload.threads; i++) { start_thread(tables[i]); }
  pthread_mutex_lock(&lock);
  while (running > 0) { pthread_cond_wait(&changed, &lock); }
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < workload.threads; i++) {
    for (size_t k = 0; k < SLOTS; k++) { slot_empty(&tables[i]->slots[k]); }
    give(tables[i], sizeof(table_t));
  }
  return report(operations);
}
