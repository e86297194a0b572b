// bench: return, a burst of 300 MiB beside a small live set is served, freed, and the process idles
/* A server after its rush hour. At first 15 MiB are allocated that stay. Then the burst: sessions,
   each of 64 KiB in blocks of 16 bytes to 8 KiB allocated together, fill 300 MiB; random ones end,
   freed as a whole, and others begin. Then all sessions of the burst end, and the process idles.
   What was allocated before the burst lies apart from it or beside its first blocks, so nearly all
   of the burst can go back: this measures how much does, and whether it does without any call.
   Blocks that survive among freed ones are the business of survivors and fragment. */
#include "workload.h"

enum { KEPT = 15 * 16, BURST = 300 * 16, SESSION_BYTES = 64 * KIB };

typedef struct block_t {
  struct block_t* next;
  size_t bytes;
} block_t;

static long operations;

static block_t* begin(rng_t* rng) {
  block_t* first = NULL;
  for (size_t sum = 0; sum < SESSION_BYTES; sum += first->bytes) {
    const size_t bytes = sizeof(block_t) + rng_log_between(rng, 16, 8 * KIB);
    block_t* b = take(bytes);
    b->next = first;
    b->bytes = bytes;
    memset(b + 1, (int)(bytes & 0xFF), bytes - sizeof(block_t));
    first = b;
    operations++;
  }
  return first;
}

static void end(block_t* b) {
  while (b != NULL) {
    block_t* next = b->next;
    const unsigned char* content = (const unsigned char*)(b + 1);
    CHECK(content[0] == (b->bytes & 0xFF) && content[b->bytes - sizeof(block_t) - 1] == content[0]);
    give(b, b->bytes);
    b = next;
  }
}

static block_t** begin_all(size_t count, rng_t* rng) {
  block_t** sessions = take(count * sizeof(block_t*));
  for (size_t i = 0; i < count; i++) { sessions[i] = begin(rng); }
  return sessions;
}

static void end_all(block_t** sessions, size_t count) {
  for (size_t i = 0; i < count; i++) { end(sessions[i]); }
  give(sessions, count * sizeof(block_t*));
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  rng_t rng = rng_seeded(1);
  block_t** kept = begin_all(KEPT, &rng);
  block_t** burst = begin_all(BURST, &rng);
  for (long i = scaled(30 * 1000); i > 0; i--) {
    block_t** session = &burst[rng_below(&rng, BURST)];
    end(*session);
    *session = begin(&rng);
  }
  metric("rss_peak_kib", rss_kib());
  end_all(burst, BURST);
  report_idle();
  end_all(kept, KEPT);
  return report(operations);
}
