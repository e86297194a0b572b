// bench: large, four threads resize and fill buffers of 1 byte to 8 MiB, as columnar libraries do
// rows: --threads 4
/* As Apache Arrow's memory pool works on the C library: buffers are aligned to 64 bytes, and there
   is no realloc for these, so a new size is a new block, a copy and a free. Each thread has eight
   buffers; again and again a random one gets a random size, every power of two from 1 byte to 8 MiB
   as likely as the next, and what was added is filled. The live set never grows: page faults
   after the start show that memory went back to the system too soon. */
#include "workload.h"

enum { BUFFERS = 8, LARGEST = 8 * MIB, ALIGNMENT = 64, OPERATIONS = 24 * 1000 };

typedef struct {
  unsigned char* data;
  size_t bytes;
} buffer_t;

static unsigned char byte_at(size_t offset) { return (unsigned char)(offset >> 10); }

static void buffer_resize(buffer_t* b, size_t bytes) {
  void* data = NULL;
  CHECK(posix_memalign(&data, ALIGNMENT, bytes) == 0 && (uintptr_t)data % ALIGNMENT == 0);
  const size_t kept = bytes < b->bytes ? bytes : b->bytes;
  if (kept > 0) {
    CHECK(b->data[kept - 1] == byte_at(kept - 1));
    memcpy(data, b->data, kept);
  }
  free(b->data);
  live_change((ptrdiff_t)bytes - (ptrdiff_t)b->bytes);
  *b = (buffer_t){data, bytes};
  for (size_t at = kept; at < bytes;) {
    const size_t end = (at | (KIB - 1)) + 1;
    memset(b->data + at, byte_at(at), (end < bytes ? end : bytes) - at);
    at = end;
  }
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  buffer_t buffers[BUFFERS] = {{NULL, 0}};
  for (long i = share_of(scaled(OPERATIONS), index); i > 0; i--) {
    buffer_resize(&buffers[rng_below(&rng, BUFFERS)], rng_log_between(&rng, 1, LARGEST));
  }
  for (size_t i = 0; i < BUFFERS; i++) {
    free(buffers[i].data);
    live_change(-(ptrdiff_t)buffers[i].bytes);
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  run_workers(work);
  return report(scaled(OPERATIONS));
}
