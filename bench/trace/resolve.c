// bench: trace, reads a recording: prints what is in it, or prepares it for replay.c
//   resolve [--partial] summary FILE
//   resolve [--partial] [--window N] prepare FILE OUT
// --partial takes what there is of a recording whose program was killed, or that was cut.
//
// The operations of all threads are merged in the order of their numbers; that tells which block an
// address means each time. In a prepared trace blocks are slots instead: places in a table; and an
// operation has a time instead of its number: one more than the one before it, and one more for
// each KiB that it allocates. A thread of the replay may be up to `window` ahead of the others in
// that time (see replay.c), which bounds both the operations and the memory; so a slot is used
// again only more than that after its block was given back.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "trace.h"

enum { WINDOW = 4096, SIZE_CLASSES = 64, TIME_BYTES = 1024, STEP_MAX = 1 << 20 };

static const char* file_name;
static const uint8_t* file;
static uint64_t file_bytes;
static bool partial;
static uint64_t window = WINDOW;

_Noreturn static void fail(const char* format, ...) {
  va_list arguments;
  fprintf(stderr, "trace: %s: ", file_name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

_Noreturn static void fail_at(const uint8_t* at, const char* what) {
  fail("damaged at byte %llu: %s", (unsigned long long)(at - file), what);
}

// Makes room for one more; capacities are powers of two.
static void* grown(void* array, uint64_t count, size_t each) {
  if (count != 0 && (count & (count - 1)) != 0) { return array; }
  array = realloc(array, (size_t)(count == 0 ? 1 : 2 * count) * each);
  if (array == NULL) { fail("no memory to read it"); }
  return array;
}

static void* zeroed(uint64_t count, size_t each) {
  void* p = calloc(count > 0 ? (size_t)count : 1, each);
  if (p == NULL) { fail("no memory to read it"); }
  return p;
}

// ---- Chunks -------------------------------------------------------------------------------------

typedef struct {
  const uint8_t* at;  // its first operation
  uint64_t first;
  uint32_t thread, bytes, operations;
} chunk_t;

static chunk_t* chunks;
static uint64_t chunk_count;

static void open_file(void) {
  struct stat info;
  const int fd = open(file_name, O_RDONLY);
  if (fd < 0 || fstat(fd, &info) != 0) { fail("%s", strerror(errno)); }
  file_bytes = (uint64_t)info.st_size;
  if (!S_ISREG(info.st_mode)) { fail("not a file"); }
  if (file_bytes < RECORDING_HEADER_BYTES) { fail("not a recording: too short"); }
  void* mapped = mmap(NULL, (size_t)file_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED) { fail("%s", strerror(errno)); }
  close(fd);
  file = mapped;
  if (memcmp(file, RECORDING_MAGIC, MAGIC_BYTES) != 0) { fail("not a recording"); }
}

static int by_thread(const void* a, const void* b) {
  const chunk_t *x = a, *y = b;
  if (x->thread != y->thread) { return x->thread < y->thread ? -1 : 1; }
  return x->at < y->at ? -1 : 1;
}

// Returns the number of operations that the last chunk states.
static uint64_t read_chunks(void) {
  const uint8_t *at = file + RECORDING_HEADER_BYTES, *end = file + file_bytes;
  uint64_t stated = UINT64_MAX;
  while (at < end && stated == UINT64_MAX) {
    const uint64_t rest = (uint64_t)(end - at);
    const bool header = rest >= CHUNK_HEADER_BYTES;
    if (header && get_fixed(at, 4) != CHUNK_MARK) { fail_at(at, "no chunk starts here"); }
    chunk_t chunk = {.at = at + CHUNK_HEADER_BYTES};
    if (header) {
      chunk.thread = (uint32_t)get_fixed(at + 4, 4);
      chunk.bytes = (uint32_t)get_fixed(at + 8, 4);
      chunk.operations = (uint32_t)get_fixed(at + 12, 4);
      chunk.first = get_fixed(at + 16, 8);
    }
    if (!header || chunk.bytes > rest - CHUNK_HEADER_BYTES) {
      if (partial) { break; }
      fail("cut off: its last part is missing (--partial takes the rest)");
    }
    if (chunk.thread == END_THREAD) {
      stated = chunk.first;
    } else {
      chunks = grown(chunks, chunk_count, sizeof *chunks);
      chunks[chunk_count++] = chunk;
    }
    at = chunk.at + chunk.bytes;
  }
  if (at < end && stated != UINT64_MAX) { fail_at(at, "something follows the end"); }
  if (chunk_count > 0) { qsort(chunks, (size_t)chunk_count, sizeof *chunks, by_thread); }
  return stated;
}

// ---- Threads and their operations ---------------------------------------------------------------

typedef struct {
  unsigned op, log2;
  uint64_t number, size, address;
} operation_t;

typedef struct {
  const chunk_t *chunk, *chunks_end;
  const uint8_t *at, *end;
  uint32_t left;  // operations of the chunk
  uint64_t address;
  operation_t op;  // the next one
  // of the replay
  uint8_t* out;
  uint64_t out_bytes, out_capacity, out_first, out_last;
  struct block_s* moving;  // between the two halves of a realloc
  uint64_t moving_address;
  bool in_realloc, ended;
} thread_t;

static thread_t* threads;
static uint64_t thread_count;

static void make_threads(void) {
  for (uint64_t i = 0; i < chunk_count; i++) {
    if (i == 0 || chunks[i].thread != chunks[i - 1].thread) {
      threads = grown(threads, thread_count, sizeof *threads);
      threads[thread_count++] = (thread_t){.chunk = chunks + i};
    }
    threads[thread_count - 1].chunks_end = chunks + i + 1;
  }
}

static uint64_t take_number(thread_t* t) {
  uint64_t value;
  const uint8_t* at = get_varint(t->at, t->end, &value);
  if (at == NULL) { fail_at(t->at, "a number goes on past its chunk"); }
  t->at = at;
  return value;
}

static void take_address(thread_t* t) { t->op.address = t->address += unzigzag(take_number(t)); }

static void take_operation(thread_t* t) {
  const uint8_t* at = t->at;
  const uint64_t head = take_number(t);
  const uint64_t number = t->op.number + (head >> 3);
  t->op = (operation_t){.op = head & 7, .number = number};
  switch (t->op.op) {
    case OP_ALIGNED:
      t->op.size = take_number(t);
      const uint64_t log2 = take_number(t);
      if (log2 > ALIGN_LOG2_MAX) { fail_at(at, "an alignment that cannot be"); }
      t->op.log2 = (unsigned)log2;
      take_address(t);
      break;
    case OP_MALLOC:
    case OP_CALLOC:
    case OP_REALLOC_END:
      t->op.size = take_number(t);
      take_address(t);
      break;
    case OP_FREE:
    case OP_REALLOC_BEGIN: take_address(t); break;
    case OP_THREAD_END: break;
    default: fail_at(at, "an unknown operation");
  }
}

// False: the thread has no more.
static bool next_operation(thread_t* t) {
  while (t->left == 0) {
    if (t->at != t->end) { fail_at(t->at, "a chunk that is longer than its operations"); }
    if (t->chunk == t->chunks_end) { return false; }
    if (t->at != NULL && t->chunk->first <= t->op.number) {
      fail_at(t->chunk->at, "a chunk that is out of order");
    }
    t->at = t->chunk->at;
    t->end = t->at + t->chunk->bytes;
    t->left = t->chunk->operations;
    t->op.number = t->chunk->first;
    t->address = 0;
    t->chunk++;
  }
  t->left--;
  take_operation(t);
  return true;
}

// ---- Merging: a heap of the threads by the number of their next operation -----------------------

static thread_t** heap;
static uint64_t heap_count;

static void sift_down(uint64_t i) {
  for (;;) {
    uint64_t least = i;
    for (uint64_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_count; child++) {
      if (heap[child]->op.number < heap[least]->op.number) { least = child; }
    }
    if (least == i) { return; }
    thread_t* t = heap[i];
    heap[i] = heap[least];
    heap[least] = t;
    i = least;
  }
}

static void make_heap(void) {
  heap = zeroed(thread_count, sizeof *heap);
  for (uint64_t i = 0; i < thread_count; i++) {
    if (next_operation(&threads[i])) { heap[heap_count++] = &threads[i]; }
  }
  for (uint64_t i = heap_count; i-- > 0;) { sift_down(i); }
}

static void drop_first(void) {
  if (!next_operation(heap[0])) { heap[0] = heap[--heap_count]; }
  sift_down(0);
}

// ---- Blocks: by address, in a table with linear probing -----------------------------------------

typedef struct block_s {
  uint64_t address;  // 0: none
  uint64_t size, slot;
  thread_t* thread;
} block_t;

static block_t* table;
static uint64_t table_size, live_blocks;

static uint64_t hash(uint64_t address) {
  return (address * 0x9E3779B97F4A7C15u) >> 20 & (table_size - 1);
}

static block_t* find(uint64_t address) {
  if (address == 0) { return NULL; }
  for (uint64_t i = hash(address);; i = (i + 1) & (table_size - 1)) {
    if (table[i].address == address) { return &table[i]; }
    if (table[i].address == 0) { return NULL; }
  }
}

static void insert(block_t block) {
  uint64_t i = hash(block.address);
  while (table[i].address != 0) { i = (i + 1) & (table_size - 1); }
  table[i] = block;
}

static void enlarge(void) {
  block_t* old = table;
  const uint64_t old_size = table_size;
  table_size = old_size == 0 ? 4096 : 2 * old_size;
  table = zeroed(table_size, sizeof *table);
  for (uint64_t i = 0; i < old_size; i++) {
    if (old[i].address != 0) { insert(old[i]); }
  }
  free(old);
}

// Moves up what probing would no longer find.
static void erase(block_t* block) {
  uint64_t hole = (uint64_t)(block - table);
  for (uint64_t i = (hole + 1) & (table_size - 1); table[i].address != 0;
       i = (i + 1) & (table_size - 1)) {
    if (((i - hash(table[i].address)) & (table_size - 1)) >= ((i - hole) & (table_size - 1))) {
      table[hole] = table[i];
      hole = i;
    }
  }
  table[hole].address = 0;
}

// ---- Slots --------------------------------------------------------------------------------------

typedef struct {
  uint64_t slot, freed;
} spare_t;

static spare_t* spares;  // in the order of freeing
static uint64_t spares_begin, spares_end, spares_capacity, slot_count;

static uint64_t now;

static uint64_t slot_take(void) {
  if (spares_begin < spares_end && spares[spares_begin].freed + window < now) {
    return spares[spares_begin++].slot;
  }
  return slot_count++;
}

static void slot_give(uint64_t slot) {
  if (spares_begin > 4096 && spares_begin > spares_end / 2) {
    spares_end -= spares_begin;
    memmove(spares, spares + spares_begin, (size_t)spares_end * sizeof *spares);
    spares_begin = 0;
  }
  if (spares_end == spares_capacity) {
    spares_capacity = spares_capacity == 0 ? 8192 : 2 * spares_capacity;
    spares = realloc(spares, (size_t)spares_capacity * sizeof *spares);
    if (spares == NULL) { fail("no memory to read it"); }
  }
  spares[spares_end++] = (spare_t){slot, now};
}

// ---- Counting and writing what the replay does --------------------------------------------------

static struct {
  uint64_t operations[OPS];
  uint64_t total;  // of the replay
  uint64_t bytes, live_bytes, peak_bytes, peak_blocks, peak_number;
  uint64_t handed_over;  // given back by another thread
  uint64_t unknown, lost, failed;
  uint64_t sizes[SIZE_CLASSES + 1], size_bytes[SIZE_CLASSES + 1];
} sum;

static uint8_t* emit(thread_t* t, unsigned op) {
  if (t->out_bytes + OP_BYTES_MAX > t->out_capacity) {
    t->out_capacity = t->out_capacity == 0 ? 256 : 2 * t->out_capacity;
    t->out = realloc(t->out, (size_t)t->out_capacity);
    if (t->out == NULL) { fail("no memory to read it"); }
  }
  if (t->out_bytes == 0) { t->out_first = t->out_last = now; }
  uint8_t* at = put_varint(t->out + t->out_bytes, (now - t->out_last) << 3 | op);
  t->out_last = now;
  sum.total++;
  return at;
}

static void emitted(thread_t* t, const uint8_t* at) { t->out_bytes = (uint64_t)(at - t->out); }

static unsigned size_class(uint64_t size) {  // n: up to 2^n bytes
  unsigned n = 0;
  while (n < SIZE_CLASSES && n < 63 && ((uint64_t)1 << n) < size) { n++; }
  return n;
}

static void count_block(uint64_t size, uint64_t number) {
  sum.bytes += size;
  sum.live_bytes += size;
  sum.sizes[size_class(size)]++;
  sum.size_bytes[size_class(size)] += size;
  live_blocks++;
  if (live_blocks > sum.peak_blocks) { sum.peak_blocks = live_blocks; }
  if (sum.live_bytes > sum.peak_bytes) {
    sum.peak_bytes = sum.live_bytes;
    sum.peak_number = number;
  }
}

static void block_gone(thread_t* t, const block_t* block) {
  if (block->thread != t) { sum.handed_over++; }
  sum.live_bytes -= block->size;
  live_blocks--;
  slot_give(block->slot);
}

static void free_block(thread_t* t, block_t* block) {
  emitted(t, put_varint(emit(t, OP_FREE), block->slot));
  block_gone(t, block);
  erase(block);
}

static uint64_t block_new(thread_t* t) {
  block_t* lost = find(t->op.address);
  if (lost != NULL) {  // freed in a way that was not recorded
    sum.lost++;
    free_block(t, lost);
  }
  if (2 * live_blocks >= table_size) { enlarge(); }
  const uint64_t slot = slot_take();
  insert((block_t){.address = t->op.address, .size = t->op.size, .slot = slot, .thread = t});
  count_block(t->op.size, t->op.number);
  return slot;
}

static void on_block(thread_t* t) {
  if (t->op.address == 0) { fail("damaged: a block at address 0"); }
  const uint64_t slot = block_new(t);
  uint8_t* at = put_varint(emit(t, t->op.op), slot);
  at = put_varint(at, t->op.size);
  if (t->op.op == OP_ALIGNED) { at = put_varint(at, t->op.log2); }
  emitted(t, at);
}

static void on_free(thread_t* t) {
  block_t* block = find(t->op.address);
  if (block == NULL) {
    sum.unknown++;
  } else {
    free_block(t, block);
  }
}

static void on_realloc_begin(thread_t* t) {
  block_t* block = find(t->op.address);
  t->in_realloc = true;
  t->moving = NULL;
  if (block == NULL) {
    sum.unknown++;
    return;
  }
  t->moving = zeroed(1, sizeof *t->moving);
  *t->moving = *block;
  erase(block);
}

static void on_realloc_end(thread_t* t) {
  block_t* old = t->moving;
  t->in_realloc = false;
  t->moving = NULL;
  if (t->op.address != 0 && old == NULL) {
    t->op.op = OP_MALLOC;
    on_block(t);
  } else if (t->op.address != 0) {
    block_gone(t, old);
    const uint64_t slot = block_new(t);
    uint8_t* at = put_varint(emit(t, OP_REALLOC_END), old->slot);
    emitted(t, put_varint(put_varint(at, slot), t->op.size));
  } else if (old != NULL && t->op.size == 0) {
    emitted(t, put_varint(emit(t, OP_FREE), old->slot));
    block_gone(t, old);
  } else if (old != NULL) {  // it failed
    sum.failed++;
    insert(*old);
  }
  free(old);
}

static void on_operation(thread_t* t) {
  if (t->ended) { fail("damaged: a thread goes on after its end"); }
  if (t->in_realloc != (t->op.op == OP_REALLOC_END)) {
    fail("damaged: half a realloc in operation %llu", (unsigned long long)t->op.number);
  }
  sum.operations[t->op.op]++;
  const uint64_t step = t->op.size / TIME_BYTES;
  now += 1 + (step < STEP_MAX ? step : STEP_MAX);
  switch (t->op.op) {
    case OP_FREE: on_free(t); break;
    case OP_REALLOC_BEGIN: on_realloc_begin(t); break;
    case OP_REALLOC_END: on_realloc_end(t); break;
    case OP_THREAD_END: t->ended = true; break;
    default: on_block(t); break;
  }
  if (t->ended) { emitted(t, emit(t, OP_THREAD_END)); }
}

static void resolve(void) {
  open_file();
  const uint64_t stated = read_chunks();
  if (stated == UINT64_MAX && !partial) {
    fail("unfinished: its program was killed, or still runs (--partial takes what there is)");
  }
  make_threads();
  make_heap();
  enlarge();
  uint64_t expected = 0;
  for (; heap_count > 0; expected++) {
    thread_t* t = heap[0];
    if (t->op.number < expected) {
      fail("damaged: two operations are number %llu", (unsigned long long)t->op.number);
    }
    if (t->op.number > expected && !partial) {
      fail("damaged: operations %llu to %llu are missing (--partial goes on)",
           (unsigned long long)expected, (unsigned long long)t->op.number - 1);
    }
    expected = t->op.number;
    on_operation(t);
    drop_first();
  }
  if (stated != UINT64_MAX && stated != expected && !partial) {
    fail("damaged: it states %llu operations and has %llu", (unsigned long long)stated,
         (unsigned long long)expected);
  }
  for (uint64_t i = 0; i < thread_count; i++) {  // threads that lived to the end
    if (!threads[i].ended) { emitted(&threads[i], emit(&threads[i], OP_THREAD_END)); }
  }
}

// ---- Commands -----------------------------------------------------------------------------------

static const char* size_text(uint64_t bytes) {
  static char text[4][32];
  static unsigned turn;
  static const char* const UNIT[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  char* out = text[turn++ % 4];
  unsigned unit = 0;
  double value = (double)bytes;
  while (value >= 1024) {
    value /= 1024;
    unit++;
  }
  snprintf(out, sizeof text[0],
           unit == 0 || value == (double)(uint64_t)value ? "%.0f %s" : "%.1f %s", value,
           UNIT[unit]);
  return out;
}

static void print_count(const char* name, uint64_t value) {
  printf("%-26s %14llu\n", name, (unsigned long long)value);
}

static void print_summary(void) {
  const uint64_t* n = sum.operations;
  print_count("threads", thread_count);
  print_count("malloc", n[OP_MALLOC]);
  print_count("calloc", n[OP_CALLOC]);
  print_count("aligned", n[OP_ALIGNED]);
  print_count("realloc", n[OP_REALLOC_END]);
  print_count("free", n[OP_FREE]);
  print_count("freed by another thread", sum.handed_over);
  print_count("live at the end", live_blocks);
  print_count("most live blocks", sum.peak_blocks);
  print_count("most live bytes", sum.peak_bytes);
  print_count("  at operation", sum.peak_number);
  print_count("bytes in all", sum.bytes);
  if (sum.failed > 0) { print_count("reallocs that failed", sum.failed); }
  if (sum.unknown > 0) { print_count("frees of unknown blocks", sum.unknown); }
  if (sum.lost > 0) { print_count("blocks freed unseen", sum.lost); }
  printf("\n%14s %14s %8s %14s %8s\n", "size up to", "blocks", "%", "bytes", "%");
  uint64_t blocks = 0;
  for (unsigned i = 0; i <= SIZE_CLASSES; i++) { blocks += sum.sizes[i]; }
  for (unsigned i = 0; i < SIZE_CLASSES; i++) {
    if (sum.sizes[i] == 0) { continue; }
    printf("%14s %14llu %8.2f %14s %8.2f\n", size_text((uint64_t)1 << i),
           (unsigned long long)sum.sizes[i], 100.0 * (double)sum.sizes[i] / (double)blocks,
           size_text(sum.size_bytes[i]),
           sum.bytes > 0 ? 100.0 * (double)sum.size_bytes[i] / (double)sum.bytes : 0);
  }
}

// The recording's first thread stays first: the replay runs it on the process's own.
static int by_start(const void* a, const void* b) {
  const thread_t *x = a, *y = b;
  return x->out_first < y->out_first ? -1 : x->out_first > y->out_first;
}

static void write_prepared(const char* name) {
  FILE* out = fopen(name, "wb");
  file_name = name;
  if (out == NULL) { fail("%s", strerror(errno)); }
  if (thread_count > 1) { qsort(threads + 1, (size_t)thread_count - 1, sizeof *threads, by_start); }
  uint8_t header[PREPARED_HEADER_BYTES] = {0};
  memcpy(header, PREPARED_MAGIC, MAGIC_BYTES);
  const uint64_t values[] = {window, sum.total, slot_count, thread_count, sum.peak_bytes};
  for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
    put_fixed(header + 8 * (i + 1), values[i], 8);
  }
  fwrite(header, 1, sizeof header, out);
  uint64_t offset = PREPARED_HEADER_BYTES + thread_count * THREAD_ENTRY_BYTES;
  for (uint64_t i = 0; i < thread_count; i++) {
    uint8_t entry[THREAD_ENTRY_BYTES];
    put_fixed(entry, offset, 8);
    put_fixed(entry + 8, threads[i].out_bytes, 8);
    put_fixed(entry + 16, threads[i].out_first, 8);
    fwrite(entry, 1, sizeof entry, out);
    offset += threads[i].out_bytes;
  }
  for (uint64_t i = 0; i < thread_count; i++) {
    fwrite(threads[i].out, 1, (size_t)threads[i].out_bytes, out);
  }
  const bool bad = ferror(out) != 0;
  if (fclose(out) != 0 || bad) { fail("cannot be written: %s", strerror(errno)); }
}

static int usage(void) {
  fprintf(stderr,
          "usage: resolve [--partial] summary FILE\n"
          "       resolve [--partial] [--window N] prepare FILE OUT\n");
  return 2;
}

int main(int argc, char** argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "--partial") == 0) {
      partial = true;
    } else if (strcmp(argv[i], "--window") == 0 && i + 1 < argc) {
      window = strtoull(argv[++i], NULL, 10);
    } else {
      return usage();
    }
  }
  const bool prepare = i + 3 == argc && strcmp(argv[i], "prepare") == 0;
  if (!prepare && !(i + 2 == argc && strcmp(argv[i], "summary") == 0)) { return usage(); }
  file_name = argv[i + 1];
  resolve();
  if (prepare) {
    write_prepared(argv[i + 2]);
  } else {
    print_summary();
  }
  return 0;
}
