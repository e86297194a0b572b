// bench: return, serves sessions of 64 KiB of blocks, 300 MiB of them, frees 19 in 20, and idles
/* The burst: sessions, each of 64 KiB in blocks of 16 bytes to 8 KiB allocated together, fill
   300 MiB; random ones end, freed as a whole, and others begin. Then 95 % of the sessions end, and
   the process idles. Some 12,000 blocks survive, a few side by side: they lie in at most a fifth of
   the system's pages, and the rest could go back. This measures how much does, and how soon. */
#include "workload.h"

enum { SESSIONS = 300 * 16, SESSION_BYTES = 64 * KIB };

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

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static block_t* sessions[SESSIONS];
  const size_t count = (size_t)scaled(SESSIONS);
  rng_t rng = rng_seeded(1);
  for (size_t i = 0; i < count; i++) { sessions[i] = begin(&rng); }
  for (long i = scaled(30 * 1000); i > 0; i--) {
    block_t** session = &sessions[rng_below(&rng, count)];
    end(*session);
    *session = begin(&rng);
  }
  metric("rss_peak_kib", rss_kib());
  for (size_t i = 0; i < count; i++) {
    if (rng_below(&rng, 100) < 95) {
      end(sessions[i]);
      sessions[i] = NULL;
    }
  }
  report_idle();
  for (size_t i = 0; i < count; i++) { end(sessions[i]); }
  return report(operations);
}
