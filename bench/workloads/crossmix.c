// bench: threads, blocks of 16 bytes to 16 KiB, each freed by a random thread
/* Every thread allocates blocks of random size, small ones more often, and puts each group of them
   into the mailbox of a random thread, itself included; it frees what it finds in its own. There
   is no pairing and no order: the hard case for allocators that return blocks to where they came
   from. The mailboxes are taken as a whole, under a lock. */
#include "workload.h"

enum { GROUP = 16, CROWDED = 800 }; /* groups in all mailboxes together, about */

typedef struct letter_t {
  struct letter_t* next;
  size_t bytes;
} letter_t;

typedef struct {
  _Alignas(128) pthread_mutex_t lock;
  letter_t* first;
  size_t count; /* of groups */
} mailbox_t;

static mailbox_t mailboxes[MAX_THREADS];
static long groups; /* in all */
static size_t crowded_at;

static void free_letters(letter_t* letter) {
  while (letter != NULL) {
    letter_t* next = letter->next;
    block_check(letter + 1, letter->bytes - sizeof(letter_t), letter->bytes * 17);
    give(letter, letter->bytes);
    letter = next;
  }
}

static void empty_mailbox(mailbox_t* box) {
  pthread_mutex_lock(&box->lock);
  letter_t* first = box->first;
  box->first = NULL;
  box->count = 0;
  pthread_mutex_unlock(&box->lock);
  free_letters(first);
}

/* Returns true if there is enough in it: its owner may not get to run. */
static bool post(mailbox_t* box, letter_t* first, letter_t* last) {
  pthread_mutex_lock(&box->lock);
  last->next = box->first;
  box->first = first;
  const bool crowded = ++box->count > crowded_at;
  pthread_mutex_unlock(&box->lock);
  return crowded;
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  for (long i = share_of(groups, index); i > 0; i--) {
    letter_t *first = NULL, *last = NULL;
    for (size_t k = 0; k < GROUP; k++) {
      const size_t bytes = sizeof(letter_t) + rng_log_between(&rng, 8, 16 * KIB);
      letter_t* letter = take(bytes);
      letter->bytes = bytes;
      letter->next = first;
      block_mark(letter + 1, bytes - sizeof(letter_t), bytes * 17);
      if (last == NULL) { last = letter; }
      first = letter;
    }
    mailbox_t* box = &mailboxes[rng_below(&rng, (size_t)workload.threads)];
    if (post(box, first, last)) { empty_mailbox(box); }
    if (i % 8 == 0) { empty_mailbox(&mailboxes[index]); }
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  groups = scaled(320 * 1000);
  crowded_at = (size_t)share_of(CROWDED, 0);
  for (int i = 0; i < workload.threads; i++) {
    CHECK(pthread_mutex_init(&mailboxes[i].lock, NULL) == 0);
  }
  run_workers(work);
  for (int i = 0; i < workload.threads; i++) { empty_mailbox(&mailboxes[i]); }
  return report(groups * GROUP);
}
