/* test: timeout=120 */
/* Recordings of allocations, damaged in every way: the reader refuses them or makes a prepared
   trace of them in which all slots, threads and numbers fit.

   An input's first byte says how it is used: even: it is a file but for the first eight bytes; odd:
   it is the operations of chunks, and the headers are made to fit. */
#define FUZZ_NAME "trace"
#include "entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

/* ---- resolve.c, whose end is ours: what it allocates we free, and exit comes back ---- */

enum { KEPT_MOST = 4096 };

static void* kept[KEPT_MOST];
static size_t kept_count;
static jmp_buf ended;

static void* keep_memory(void* old, void* p) {
  size_t i = 0;
  while (i < kept_count && (old == NULL || kept[i] != old)) { i++; }
  FUZZ_CHECK(i < KEPT_MOST);
  if (i == kept_count) { kept_count++; }
  kept[i] = p;
  return p;
}

static void* traced_realloc(void* p, size_t bytes) {
  void* volatile old = p;
  return keep_memory(old, realloc(p, bytes));
}

static void* traced_calloc(size_t count, size_t bytes) {
  return keep_memory(NULL, calloc(count, bytes));
}

static void traced_free(void* p) {
  if (p != NULL) { (void)keep_memory(p, NULL); }
  free(p);
}

_Noreturn static void traced_exit(int status) {
  FUZZ_CHECK(status == 1);
  longjmp(ended, 1);
}

/* Messages and summaries are made, but go nowhere. */
static char sink[1000];
static int traced_print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(sink, sizeof(sink), format, arguments);
  va_end(arguments);
  return n;
}

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define main            resolve_main
#define realloc         traced_realloc
#define calloc          traced_calloc
#define free            traced_free
#define exit            traced_exit
#define printf          traced_print
#define fputc(c, f)     ((void)(c), (void)(f))
#define fprintf(f, ...) ((void)(f), (void)traced_print(__VA_ARGS__))
#define vfprintf(f, format, arguments) \
  ((void)(f), (void)vsnprintf(sink, sizeof(sink), format, arguments))
#include "../../bench/trace/resolve.c"
#undef main
#undef realloc
#undef calloc
#undef free
#undef exit
#undef printf
#undef fputc
#undef fprintf
#undef vfprintf

static void forget_all(void) {
  for (size_t i = 0; i < kept_count; i++) { free(kept[i]); }
  kept_count = 0;
  if (file != NULL) { munmap((void*)(uintptr_t)file, (size_t)file_bytes); }
  file = NULL;
  chunks = NULL, threads = NULL, heap = NULL, table = NULL, spares = NULL;
  chunk_count = thread_count = heap_count = table_size = live_blocks = slot_count = now = 0;
  spares_begin = spares_end = spares_capacity = 0;
  memset(&sum, 0, sizeof(sum));
}

/* ---- files ---- */

static int memory_file(const char* name) {
  enum { CLOSE_ON_EXEC = 1 };
  const int fd =
      (int)syscall(SYS_memfd_create, name, CLOSE_ON_EXEC); /* an old C library has no name for it */
  FUZZ_CHECK(fd >= 0);
  return fd;
}

static void append(int fd, const void* bytes, size_t size) {
  FUZZ_CHECK(write(fd, bytes, size) == (ssize_t)size);
}

static void append_header(int fd) {
  uint8_t header[RECORDING_HEADER_BYTES] = {0};
  memcpy(header, RECORDING_MAGIC, MAGIC_BYTES);
  append(fd, header, sizeof(header));
}

static void append_chunk(int fd, chunk_t chunk) {
  uint8_t header[CHUNK_HEADER_BYTES] = {0};
  put_fixed(header, CHUNK_MARK, 4);
  put_fixed(header + 4, chunk.thread, 4);
  put_fixed(header + 8, chunk.bytes, 4);
  put_fixed(header + 12, chunk.operations, 4);
  put_fixed(header + 16, chunk.first, 8);
  append(fd, header, sizeof(header));
  if (chunk.bytes > 0) { append(fd, chunk.at, chunk.bytes); }
}

static void append_chunks(int fd) {
  uint64_t number = 0;
  while (fuzz_more()) {
    const uint8_t form = fuzz_byte();
    chunk_t chunk = {.thread = form % 4, .first = number, .operations = form / 4 % 16};
    const size_t bytes = fuzz_byte() % 64;
    const size_t left = (size_t)(fuzz_input.end - fuzz_input.at);
    chunk.bytes = (uint32_t)(bytes < left ? bytes : left);
    chunk.at = fuzz_input.at;
    fuzz_input.at += chunk.bytes;
    number += chunk.operations;
    append_chunk(fd, chunk);
  }
  append_chunk(fd, (chunk_t){.thread = END_THREAD, .first = number});
}

static int recording(void) {
  const int fd = memory_file("recording");
  const uint8_t form = fuzz_byte();
  partial = form % 4 >= 2;
  window = form % 8 >= 4 ? 1 : WINDOW;
  if (form % 2 == 0) {
    append(fd, RECORDING_MAGIC, MAGIC_BYTES);
    append(fd, fuzz_input.at, (size_t)(fuzz_input.end - fuzz_input.at));
  } else {
    append_header(fd);
    append_chunks(fd);
  }
  return fd;
}

/* ---- the prepared trace: as replay.c reads it ---- */

typedef struct reader {
  const uint8_t *at, *end;
  uint64_t slots, time;
  uint64_t operations;
} reader_t;

static uint64_t read_number(reader_t* r) {
  uint64_t value = 0;
  r->at = get_varint(r->at, r->end, &value);
  FUZZ_CHECK(r->at != NULL);
  return value;
}

static void read_slot(reader_t* r) { FUZZ_CHECK(read_number(r) < r->slots); }

static bool read_operation(reader_t* r) {
  const uint64_t head = read_number(r);
  const unsigned op = head & 7;
  r->time += head >> 3;
  r->operations++;
  switch (op) {
    case OP_THREAD_END: return false;
    case OP_FREE: read_slot(r); break;
    case OP_REALLOC_END: read_slot(r); /* fallthrough */
    case OP_MALLOC:
    case OP_CALLOC:
    case OP_ALIGNED:
      read_slot(r);
      (void)read_number(r);
      if (op == OP_ALIGNED) { FUZZ_CHECK(read_number(r) <= ALIGN_LOG2_MAX); }
      break;
    default: FUZZ_CHECK(!"an operation of a prepared trace");
  }
  return true;
}

static uint64_t read_thread(const uint8_t* bytes, size_t size, const uint8_t* entry,
                            uint64_t slots) {
  const uint64_t offset = get_fixed(entry, 8), length = get_fixed(entry + 8, 8);
  FUZZ_CHECK(offset <= size && length <= size - offset);
  reader_t r = {bytes + offset, bytes + offset + length, slots, get_fixed(entry + 16, 8), 0};
  while (read_operation(&r)) {}
  FUZZ_CHECK(r.at == r.end);
  return r.operations;
}

static void check_prepared(const uint8_t* bytes, size_t size) {
  uint64_t done = 0;
  FUZZ_CHECK(size >= PREPARED_HEADER_BYTES && memcmp(bytes, PREPARED_MAGIC, MAGIC_BYTES) == 0);
  const uint64_t operations = get_fixed(bytes + 16, 8), slots = get_fixed(bytes + 24, 8);
  const uint64_t count = get_fixed(bytes + 32, 8);
  FUZZ_CHECK(count <= size / THREAD_ENTRY_BYTES && slots <= operations);
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t* entry = bytes + PREPARED_HEADER_BYTES + i * THREAD_ENTRY_BYTES;
    done += read_thread(bytes, size, entry, slots);
  }
  FUZZ_CHECK(done == operations);
}

static void check_written(int fd) {
  struct stat info;
  FUZZ_CHECK(fstat(fd, &info) == 0);
  const size_t size = (size_t)info.st_size;
  const uint8_t* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  FUZZ_CHECK(bytes != MAP_FAILED);
  check_prepared(bytes, size);
  munmap((void*)(uintptr_t)bytes, size);
}

/* ---- one input ---- */

static void resolve_and_write(int in, int out) {
  static char name[40], out_name[40];
  snprintf(name, sizeof(name), "/proc/self/fd/%d", in);
  snprintf(out_name, sizeof(out_name), "/proc/self/fd/%d", out);
  file_name = name;
  if (setjmp(ended) != 0) { return; }
  resolve();
  print_summary();
  write_prepared(out_name);
  check_written(out);
}

static void fuzz_one(void) {
  (void)resolve_main;
  const int in = recording(), out = memory_file("prepared");
  resolve_and_write(in, out);
  forget_all();
  close(in);
  close(out);
}
