/* test: timeout=300 when="glibc linux|unix" */
/* Sequences of operations over the whole interface, by one to four threads, against a shadow of
   every block. One thread runs at a time and passes the word on, so a sequence repeats; the clock
   is the input's, and OS calls fail where the input says so.

   Checked: contents, overlap, alignment, zeroing, usable size, NULL and errno, the heap of each
   block, visits (each live block once, no other), statistics (live bytes of each heap, heaps,
   threads, pages), and at the end that nothing is left. */
#define FUZZ_NAME "operations"
#include "shadow.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>

/* The library's sources, with a clock of ours and OS calls that may fail. */
static int64_t fuzz_now_ns = 1000000000;

static inline int fuzz_clock(clockid_t clock, struct timespec* t) {
  (void)clock;
  t->tv_sec = (time_t)(fuzz_now_ns / 1000000000);
  t->tv_nsec = (long)(fuzz_now_ns % 1000000000);
  return 0;
}

#define clock_gettime fuzz_clock
#include "../fault/inject.h"
#undef clock_gettime

#include "../../include/mimalloc-stats.h"
#include "../fault/walk.h"

/* ---- the world: threads, sub-processes, heaps, arenas ---- */

enum { WORKERS = 4, SUBPROCS = 3, HEAPS = SUBPROCS + 7, ARENAS = 6 };
enum { BYTES_MOST = 48 << 20, LATER = 16, MANY = 255 };

typedef struct heap_entry {
  mi_heap_t* heap; /* NULL: none */
  int subproc;
  bool limited; /* to an arena: it may be full */
} heap_entry_t;

typedef struct worker {
  pthread_t thread;
  sem_t go;
  bool alive;
  int subproc;
  int home; /* the heap that its plain functions use */
} worker_t;

static struct {
  worker_t workers[WORKERS];
  int current; /* who has the word */
  int leaver;  /* who has ended and is to be joined; -1: none */
  bool exit_now;
  mi_subproc_id_t subprocs[SUBPROCS];
  heap_entry_t heaps[HEAPS]; /* first the main heap of each sub-process */
  mi_arena_id_t arenas[ARENAS];
  void* given[ARENAS]; /* memory of ours that is an arena's; NULL: the library's */
  size_t given_bytes[ARENAS];
  int arena_count;
  bool os_denied;
  shadow_block_t later[LATER]; /* to be freed by the deferred-free function */
  int later_count;
  unsigned complaints;
} world;

static worker_t* self(void) { return &world.workers[world.current]; }

static bool may_fail(void) { return atomic_load(&fault_armed) || world.os_denied; }

static bool heap_may_fail(int heap) { return may_fail() || world.heaps[heap].limited; }

static void swallow(const char* text, void* arg) { (void)text, (void)arg; }

/* Only what is asked for wrongly is complained of. */
static void on_error(int error, void* arg) {
  (void)arg;
  FUZZ_CHECK(error == ENOMEM || error == EOVERFLOW);
  world.complaints++;
}

/* A heap of the calling worker's sub-process; its main heap where there is none such. */
static int pick_heap(void) {
  const int heap = fuzz_byte() % HEAPS;
  const bool good = world.heaps[heap].heap != NULL && world.heaps[heap].subproc == self()->subproc;
  return good ? heap : self()->subproc;
}

static int new_heap_index(void) {
  for (int i = SUBPROCS; i < HEAPS; i++) {
    if (world.heaps[i].heap == NULL) { return i; }
  }
  return -1;
}

/* ---- numbers ---- */

static size_t pick_size(void) {
  const uint8_t kind = fuzz_byte();
  const size_t low = fuzz_byte();
  switch (kind % 9) {
    case 0:
    case 1: return low;
    case 2: return low * 4 + kind % 4;
    case 3: return low * 16;
    case 4: return low << 8 | fuzz_byte();
    case 5: return ((size_t)1 << (kind < 200 ? low % 18 : low % 26)) + fuzz_byte() - 128;
    case 6: return (low << 8 | fuzz_byte()) * (kind < 200 ? 8 : 64);
    case 7: return mi_stats_get_bin_size(low % 73 + 1) + kind / 9 % 3 - 1;
    default: return (low << 8 | fuzz_byte()) * (kind < 240 ? 16 : 512);
  }
}

/* So that there is never more than the machine has. */
static size_t fitting_size(void) {
  const size_t size = pick_size();
  if (size <= PTRDIFF_MAX && shadow.bytes + size <= BYTES_MOST) { return size; }
  return size % 4096;
}

static size_t pick_align(void) {
  const uint8_t b = fuzz_byte();
  return (size_t)1 << (b < 200 ? b % 13 : b % 24);
}

/* ---- taking blocks ---- */

typedef struct request {
  size_t size, align, offset;
  bool zeroed;
  int heap;
} request_t;

static void check_new(const request_t* request, const uint8_t* p) {
  const bool plain = request->align == 1 && request->offset == 0;
  const size_t align = plain ? (request->size >= 16 ? 16 : 8) : request->align;
  FUZZ_CHECK(((uintptr_t)p + request->offset) % align == 0);
  FUZZ_CHECK(mi_usable_size(p) >= request->size);
  FUZZ_CHECK(!request->zeroed || content_is_zero(p, 0, request->size));
  FUZZ_CHECK(mi_heap_of(p) == world.heaps[request->heap].heap);
}

/* Half of the blocks that are not to stay zero are filled to their usable size. */
static size_t bytes_to_fill(const request_t* request, size_t usable) {
  static unsigned turn;
  return request->zeroed || turn++ % 2 == 0 ? request->size : usable;
}

static void keep_new(const request_t* request, void* p) {
  static uint8_t tag;
  if (p == NULL) {
    FUZZ_CHECK(heap_may_fail(request->heap));
    FUZZ_CHECK(errno == ENOMEM);
    return;
  }
  check_new(request, p);
  const size_t usable = mi_usable_size(p);
  const shadow_block_t* b = shadow_add((shadow_block_t){.p = p,
                                                        .size = request->size,
                                                        .filled = bytes_to_fill(request, usable),
                                                        .usable = usable,
                                                        .align = request->align,
                                                        .offset = request->offset,
                                                        .heap = request->heap,
                                                        .tag = tag++,
                                                        .zeroed = request->zeroed});
  content_fill(b);
}

static void* ask_plain(request_t* request, unsigned form) {
  const size_t size = request->size;
  size_t told = 0;
  void* p = NULL;
  request->zeroed = form % 2 == 1;
  switch (form / 2) {
    case 0: p = request->zeroed ? mi_zalloc(size) : mi_malloc(size); break;
    case 1: p = request->zeroed ? mi_calloc(size, 1) : mi_mallocn(1, size); break;
    case 2: p = request->zeroed ? mi_ucalloc(1, size, &told) : mi_umalloc(size, &told); break;
    case 3: p = request->zeroed ? mi_rezalloc(NULL, size) : mi_realloc(NULL, size); break;
    case 4: p = request->zeroed ? mi_recalloc(NULL, 1, size) : mi_reallocn(NULL, 1, size); break;
    default:
      request->size %= MI_SMALL_SIZE_MAX + 1;
      p = request->zeroed ? mi_zalloc_small(request->size) : mi_malloc_small(request->size);
      break;
  }
  FUZZ_CHECK(told == 0 || told == mi_usable_size(p));
  return p;
}

static void* take_posix(request_t* request, unsigned form) {
  void* p = NULL;
  size_t told = 0;
  switch (form) {
    case 0:
      request->align = request->align < sizeof(void*) ? sizeof(void*) : request->align;
      errno = mi_posix_memalign(&p, request->align, request->size);
      break;
    case 1: p = mi_memalign(request->align, request->size); break;
    case 2: p = mi_aligned_alloc(request->align, request->size); break;
    case 3:
      request->align = (size_t)sysconf(_SC_PAGESIZE);
      if (request->size % 2 == 0) {
        p = mi_valloc(request->size);
      } else {
        p = mi_pvalloc(request->size);
        request->size =
            (request->size + request->align - 1) & (0 - request->align); /* whole pages */
      }
      break;
    case 4: p = mi_new_nothrow(request->size), request->align = 1; break;
    case 5: p = mi_new_aligned_nothrow(request->size, request->align); break;
    case 6: p = mi_umalloc_aligned(request->size, request->align, &told); break;
    default:
      request->zeroed = true;
      p = mi_uzalloc_aligned(request->size, request->align, &told);
      break;
  }
  FUZZ_CHECK(told == 0 || told == mi_usable_size(p));
  return p;
}

static void* take_aligned(request_t* request, unsigned form) {
  const size_t size = request->size, align = request->align;
  request->zeroed = form % 2 == 1;
  if (form / 2 >= 2) { request->offset = fuzz_byte(); }
  switch (form) {
    case 0: return mi_malloc_aligned(size, align);
    case 1: return mi_zalloc_aligned(size, align);
    case 2: return mi_realloc_aligned(NULL, size, align);
    case 3: return mi_calloc_aligned(size, 1, align);
    case 4: return mi_malloc_aligned_at(size, align, request->offset);
    case 5: return mi_zalloc_aligned_at(size, align, request->offset);
    case 6: return mi_realloc_aligned_at(NULL, size, align, request->offset);
    default: return mi_recalloc_aligned_at(NULL, size, 1, align, request->offset);
  }
}

static void* take_in_heap(request_t* request, unsigned form) {
  request->heap = pick_heap();
  mi_heap_t* heap = world.heaps[request->heap].heap;
  const size_t size = request->size, align = request->align;
  request->zeroed = form % 2 == 1;
  if (form < 6) { request->align = 1; }
  switch (form) {
    case 0: return mi_heap_malloc(heap, size);
    case 1: return mi_heap_zalloc(heap, size);
    case 2: return mi_heap_mallocn(heap, 1, size);
    case 3: return mi_heap_calloc(heap, size, 1);
    case 4: return mi_heap_realloc(heap, NULL, size);
    case 5: return mi_heap_rezalloc(heap, NULL, size);
    case 6: return mi_heap_malloc_aligned(heap, size, align);
    case 7: return mi_heap_zalloc_aligned(heap, size, align);
    case 8: return mi_heap_malloc_aligned_at(heap, size, align, request->offset = align / 2 + 8);
    default: return mi_heap_calloc_aligned_at(heap, 1, size, align, request->offset = 24);
  }
}

static void* take_in_theap(request_t* request, unsigned form) {
  request->heap = pick_heap();
  mi_theap_t* theap = mi_heap_theap(world.heaps[request->heap].heap);
  if (theap == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  request->zeroed = form % 2 == 1;
  if (form < 4) { request->align = 1; }
  switch (form) {
    case 0: return mi_theap_malloc(theap, request->size);
    case 1: return mi_theap_zalloc(theap, request->size);
    case 2: return mi_theap_realloc(theap, NULL, request->size);
    case 3: return mi_theap_calloc(theap, 1, request->size);
    default:
      request->zeroed = false;
      return mi_theap_malloc_aligned(theap, request->size, request->align);
  }
}

static void op_take(void) {
  const unsigned form = fuzz_byte() % 42;
  request_t request = {.size = fitting_size(), .align = 1, .heap = self()->home};
  void* p = NULL;
  if (shadow.count == BLOCKS) { return; }
  errno = 0;
  if (form < 12) {
    p = ask_plain(&request, form);
  } else {
    request.align = pick_align();
    if (form < 20) {
      p = take_posix(&request, form - 12);
    } else if (form < 28) {
      p = take_aligned(&request, form - 20);
    } else if (form < 38) {
      p = take_in_heap(&request, form - 28);
    } else {
      p = take_in_theap(&request, form - 38);
    }
  }
  keep_new(&request, p);
}

/* What fills pages: many blocks of one size. */
static void op_take_many(void) {
  const request_t first = {.size = fitting_size(), .align = 1, .heap = pick_heap()};
  size_t count = fuzz_byte();
  const bool zeroed = fuzz_byte() % 4 == 0;
  if (first.size > 4096) { count %= 12; }
  if (first.size > 65536) { count %= 3; }
  for (size_t i = 0; i < count && shadow.count < BLOCKS; i++) {
    request_t request = first;
    request.zeroed = zeroed;
    mi_heap_t* heap = world.heaps[request.heap].heap;
    errno = 0;
    keep_new(&request,
             zeroed ? mi_heap_zalloc(heap, request.size) : mi_heap_malloc(heap, request.size));
  }
}

static void keep_text(char* copy, const char* text, int heap) {
  const size_t length = strlen(text);
  const request_t request = {.size = length + 1, .align = 1, .heap = heap};
  FUZZ_CHECK(copy == NULL || strcmp(copy, text) == 0);
  keep_new(&request, copy);
}

static void op_take_text(void) {
  char text[MANY + 1];
  const size_t length = fuzz_byte();
  const uint8_t form = fuzz_byte();
  if (shadow.count == BLOCKS) { return; }
  memset(text, 'x', length);
  text[length] = 0;
  const int heap = form % 2 == 0 ? self()->home : pick_heap();
  mi_heap_t* in = world.heaps[heap].heap;
  errno = 0;
  if (form % 4 < 2) {
    keep_text(form % 2 == 0 ? mi_strdup(text) : mi_heap_strdup(in, text), text, heap);
  } else {
    text[length / 2] = 0;
    keep_text(form % 2 == 0 ? mi_strndup(text, length) : mi_heap_strndup(in, text, length), text,
              heap);
  }
}

/* ---- giving them back ---- */

static size_t pick_block(void) { return shadow.count == 0 ? 0 : fuzz_u16() % shadow.count; }

/* pvalloc rounds what it is asked for, and debug builds know of all to the byte. */
static size_t told_size(const shadow_block_t* b) { return NOTE_BLOCKS ? b->usable : b->size; }

static void give(const shadow_block_t* b, unsigned form) {
  size_t told = b->usable;
  errno = 4321;
  switch (b->unsized ? 9 : form) {
    case 0: mi_free_size(b->p, told_size(b)); break;
    case 1: mi_free_size_aligned(b->p, told_size(b), b->offset == 0 ? b->align : 1); break;
    case 2: mi_free_aligned(b->p, b->offset == 0 ? b->align : 1); break;
    case 3: mi_ufree(b->p, &told); break;
    case 4: mi_cfree(b->p); break;
    case 5: b->size <= MI_SMALL_SIZE_MAX ? mi_free_small(b->p) : mi_free(b->p); break;
    default: mi_free(b->p); break;
  }
  FUZZ_CHECK(errno == 4321);
  FUZZ_CHECK(told == b->usable);
}

static void op_give(void) {
  const size_t index = pick_block();
  const unsigned form = fuzz_byte() % 10;
  if (shadow.count == 0) { return; }
  const shadow_block_t b = shadow_take(index);
  give(&b, form);
}

static void op_give_many(void) {
  size_t index = pick_block();
  const size_t stride = 1 + fuzz_byte() % 7;
  for (size_t left = fuzz_byte(); left > 0 && index < shadow.count; left--) {
    const shadow_block_t b = shadow_take(index);
    give(&b, 9);
    index += stride - 1; /* the last one has taken its place */
  }
}

/* ---- resizing ---- */

static void* resize_plain(const shadow_block_t* b, const request_t* request, unsigned form) {
  size_t before = b->usable, after = 0;
  void* p = b->p;
  switch (form) {
    case 0: return mi_realloc(p, request->size);
    case 1: return mi_reallocn(p, request->size, 1);
    case 2: return mi_reallocarray(p, 1, request->size);
    case 3:
      p = mi_urealloc(p, request->size, &before, &after);
      FUZZ_CHECK(before == b->usable && after == (p == NULL ? 0 : mi_usable_size(p)));
      return p;
    case 4:
      if (request->size == 0) { return mi_realloc(p, 0); } /* reallocarr would free it */
      errno = mi_reallocarr(&p, 1, request->size);
      return errno == 0 ? p : NULL;
    default: return mi_realloc_aligned(p, request->size, request->align);
  }
}

static void* resize_in_heap(const shadow_block_t* b, const request_t* request, unsigned form) {
  mi_heap_t* heap = world.heaps[request->heap].heap;
  mi_theap_t* theap = mi_heap_theap(heap);
  switch (form) {
    case 0: return mi_heap_realloc(heap, b->p, request->size);
    case 1: return mi_heap_reallocn(heap, b->p, 1, request->size);
    case 2:
      return mi_heap_realloc_aligned_at(heap, b->p, request->size, request->align, request->offset);
    default:
      if (theap != NULL) { return mi_theap_realloc(theap, b->p, request->size); }
      errno = ENOMEM;
      return NULL;
  }
}

static void* resize_zeroed(const shadow_block_t* b, const request_t* request, unsigned form) {
  mi_heap_t* heap = world.heaps[request->heap].heap;
  const size_t size = request->size, align = request->align;
  switch (form) {
    case 0: return mi_rezalloc(b->p, size);
    case 1: return mi_recalloc(b->p, size, 1);
    case 2: return mi_rezalloc_aligned(b->p, size, align);
    case 3: return mi_recalloc_aligned(b->p, 1, size, align);
    case 4: return mi_rezalloc_aligned_at(b->p, size, align, request->offset);
    case 5: return mi_heap_rezalloc(heap, b->p, size);
    case 6: return mi_heap_recalloc(heap, b->p, size, 1);
    default: return mi_heap_rezalloc_aligned_at(heap, b->p, size, align, request->offset);
  }
}

/* The block is out of the shadow meanwhile. A failure leaves it as it was. */
static void resized(shadow_block_t b, const request_t* request, uint8_t* q) {
  if (q == NULL) {
    FUZZ_CHECK(heap_may_fail(request->heap));
    FUZZ_CHECK(errno == ENOMEM);
    FUZZ_CHECK(content_is(&b, b.p, b.filled));
    (void)shadow_add(b);
    return;
  }
  FUZZ_CHECK(content_is(&b, q, request->size));
  FUZZ_CHECK(!request->zeroed || content_is_zero(q, b.size, request->size));
  FUZZ_CHECK(((uintptr_t)q + request->offset) % request->align == 0);
  if (q != b.p) { b.heap = request->heap; }
  FUZZ_CHECK(mi_heap_of(q) == world.heaps[b.heap].heap);
  b.p = q;
  b.size = request->size;
  b.usable = mi_usable_size(q);
  FUZZ_CHECK(b.usable >= b.size);
  b.align = request->align, b.offset = request->offset, b.zeroed = request->zeroed;
  b.unsized = false;
  b.filled = bytes_to_fill(request, b.usable);
  b.tag++;
  content_fill(shadow_add(b));
}

static void op_resize(void) {
  const size_t index = pick_block();
  const unsigned form = fuzz_byte() % 20;
  request_t request = {.size = fitting_size(), .align = 1, .heap = self()->home};
  if (shadow.count == 0) { return; }
  if (form % 2 == 1) {
    request.size = shadow.blocks[index].size + request.size % 512;
  } /* grows a bit */
  const shadow_block_t b = shadow_take(index);
  void* q = NULL;
  errno = 0;
  if (b.zeroed && form < 16) {
    request.zeroed = true;
    if (form >= 10) { request.heap = pick_heap(); }
    const bool keeps_align = form / 2 >= 2 && form / 2 != 5 && form / 2 != 6;
    if (keeps_align) { request.align = b.align; }
    if (form / 2 == 4 || form / 2 == 7) { request.offset = b.offset; }
    q = resize_zeroed(&b, &request, form / 2);
  } else if (form < 12) {
    if (form / 2 == 5 && b.offset == 0) { request.align = b.align; }
    q = resize_plain(&b, &request, form / 2);
  } else {
    request.heap = pick_heap();
    if (form / 2 == 8) { request.align = b.align, request.offset = b.offset; }
    q = resize_in_heap(&b, &request, form / 2 - 6);
  }
  resized(b, &request, q);
}

static void op_resize_or_free(void) {
  const size_t index = pick_block();
  request_t request = {.size = fitting_size(), .align = 1, .heap = self()->home};
  if (shadow.count == 0) { return; }
  const shadow_block_t b = shadow_take(index);
  errno = 0;
  void* q = mi_reallocf(b.p, request.size);
  if (q != NULL) { resized(b, &request, q); }
  FUZZ_CHECK(q != NULL || (may_fail() && errno == ENOMEM) || world.heaps[request.heap].limited);
}

static void op_expand(void) {
  const size_t index = pick_block();
  const size_t size = fuzz_byte() % 2 == 0 ? fitting_size() : fuzz_u16();
  if (shadow.count == 0) { return; }
  shadow_block_t b = shadow_take(index);
  void* q = mi_expand(b.p, size);
  FUZZ_CHECK(q == NULL || q == b.p);
  b.usable = mi_usable_size(b.p);
  FUZZ_CHECK(content_is(&b, b.p, q != NULL && size < b.filled ? size : b.filled));
  if (q != NULL) {
    FUZZ_CHECK(b.usable >= size);
    b.unsized = b.unsized || size < b.size; /* a shorter one may leave the block as it was */
    b.size = size, b.filled = size, b.zeroed = false;
    content_fill(&b);
  }
  (void)shadow_add(b);
}

/* ---- questions ---- */

static void op_ask(void) {
  const size_t size = pick_size();
  const size_t index = pick_block();
  if (size <= PTRDIFF_MAX) { FUZZ_CHECK(mi_good_size(size) >= size); }
  FUZZ_CHECK(mi_heap_main() == world.heaps[self()->subproc].heap || may_fail());
  FUZZ_CHECK(mi_usable_size(NULL) == 0 && mi_heap_of(NULL) == NULL);
  FUZZ_CHECK(!mi_any_heap_contains(&world) && !mi_is_in_heap_region(&size));
  if (shadow.count == 0) { return; }
  const shadow_block_t* b = &shadow.blocks[index];
  mi_heap_t* heap = world.heaps[b->heap].heap;
  const uint8_t* inside = b->p + (b->usable > 0 ? size % b->usable : 0);
  FUZZ_CHECK(mi_usable_size(b->p) == b->usable);
  FUZZ_CHECK(mi_heap_of(inside) == heap && mi_heap_contains(heap, inside));
  FUZZ_CHECK(mi_heap_contains_block(heap, b->p) && mi_any_heap_contains(inside));
  FUZZ_CHECK(mi_check_owned(b->p) == (b->heap == self()->home) || may_fail());
  FUZZ_CHECK(!mi_unsafe_heap_page_is_under_utilized(heap, b->p, 0));
}

/* What cannot be: NULL, errno, and nothing else happens. */
static void op_ask_too_much(void) {
  static volatile size_t half = SIZE_MAX / 2, large = SIZE_MAX / 2 + 1;
  const size_t low = fuzz_byte();
  void* p = NULL;
  errno = 0;
  switch (fuzz_byte() % 10) {
    case 0: p = mi_malloc(large + low); break;
    case 1: p = mi_calloc(half, 3 + low); break;
    case 2: p = mi_malloc_aligned(large - low, 64); break;
    case 3: p = mi_mallocn(large, 2 + low); break;
    case 4:
      p = mi_zalloc_aligned_at(half - low, (size_t)1 << low % (8 * sizeof(size_t) - 2), low);
      break;
    case 5: p = mi_heap_malloc(world.heaps[self()->subproc].heap, large + low); break;
    case 6: p = mi_memalign(low % 2 == 0 ? large : large / 2, half - low); break;
    case 7: p = mi_rezalloc(NULL, large + low); break;
    case 8: p = mi_pvalloc(half - low); break;
    default:
      p = mi_malloc_aligned(low, low | 3);
      FUZZ_CHECK(p == NULL && errno == EINVAL);
      return;
  }
  FUZZ_CHECK(p == NULL && errno == ENOMEM);
}

static void op_resize_too_much(void) {
  static volatile size_t large = SIZE_MAX / 2 + 1;
  const size_t index = pick_block();
  if (shadow.count == 0) { return; }
  const shadow_block_t* b = &shadow.blocks[index];
  errno = 0;
  void* p = fuzz_byte() % 2 == 0 ? mi_realloc(b->p, large) : mi_reallocarray(b->p, large, 2);
  FUZZ_CHECK(p == NULL && errno == ENOMEM);
  FUZZ_CHECK(content_is(b, b->p, b->filled));
}

/* ---- blocks that are freed later ---- */

static void free_later(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
  const int count = world.later_count;
  world.later_count = 0;
  for (int i = 0; i < count; i++) {
    const shadow_block_t b = world.later[i];
    FUZZ_CHECK(content_is(&b, b.p, b.filled));
    mi_free(b.p);
  }
}

static void flush_later(void) { free_later(true, 0, NULL); }

static void op_later(void) {
  const size_t index = pick_block();
  const uint8_t form = fuzz_byte();
  if (form % 4 == 0) { mi_register_deferred_free(NULL, NULL); }
  if (form % 4 == 1) { mi_register_deferred_free(free_later, NULL); }
  if (shadow.count == 0 || world.later_count == LATER) { return; }
  world.later[world.later_count++] = shadow_take(index);
}

/* ---- heaps ---- */

static void op_heap_new(void) {
  const int index = new_heap_index();
  const uint8_t form = fuzz_byte();
  if (index < 0) { return; }
  const bool limited = form % 3 == 0 && world.arena_count > 0;
  mi_arena_id_t arena = limited ? world.arenas[form % world.arena_count] : NULL;
  mi_heap_t* heap = limited         ? mi_heap_new_in_arena(arena)
                    : form % 3 == 1 ? mi_heap_new_ex(1, true, NULL)
                                    : mi_heap_new();
  FUZZ_CHECK(heap != NULL || may_fail());
  if (heap == NULL) { return; }
  world.heaps[index] = (heap_entry_t){heap, self()->subproc, limited};
  if (form % 8 == 0) { mi_heap_set_numa_affinity(heap, form % 4); }
}

/* `to`: the heap that gets its blocks, or -1. */
static void heap_is_gone(int heap, int to) {
  shadow_heap_ends(heap, to);
  for (int i = 0; i < WORKERS; i++) {
    if (world.workers[i].home == heap) { world.workers[i].home = world.workers[i].subproc; }
  }
  world.heaps[heap] = (heap_entry_t){0};
}

static void op_heap_end(void) {
  const int heap = pick_heap();
  const bool destroy = fuzz_byte() % 2 == 0;
  mi_heap_t* h = world.heaps[heap].heap;
  if (heap < SUBPROCS) { /* a main heap is left alone */
    destroy ? mi_heap_destroy(h) : mi_heap_delete(h);
    return;
  }
  flush_later();
  heap_is_gone(heap, destroy ? -1 : self()->subproc);
  destroy ? mi_heap_destroy(h) : mi_heap_delete(h);
}

/* A main heap is the default by the thread's part of it. */
static bool is_default(const mi_heap_t* got, int heap) {
  return got == (heap < SUBPROCS ? mi_heap_get_backing() : world.heaps[heap].heap);
}

static void op_heap_default(void) {
  const int heap = pick_heap();
  const int former = self()->home;
  mi_heap_t* h = world.heaps[heap].heap;
  const uint8_t form = fuzz_byte();
  FUZZ_CHECK(is_default(mi_heap_get_default(), former) || may_fail());
  if (form % 2 == 0) {
    FUZZ_CHECK(is_default(mi_heap_set_default(h), former) || may_fail());
  } else {
    (void)mi_theap_set_default(mi_heap_theap(h));
  }
  if (is_default(mi_heap_get_default(), heap)) { self()->home = heap; }
  FUZZ_CHECK(self()->home == heap || may_fail());
}

static void op_collect(void) {
  const int heap = pick_heap();
  const uint8_t form = fuzz_byte();
  mi_heap_t* h = world.heaps[heap].heap;
  switch (form % 6) {
    case 0: mi_collect(true); break;
    case 1: mi_collect(false); break;
    case 2: mi_heap_collect(h, form % 4 < 2); break;
    case 3: mi_theap_collect(mi_heap_theap(h), form % 4 < 2); break;
    case 4: mi_collect_reduce((size_t)form << 14); break;
    default: mi_thread_set_in_threadpool(); break;
  }
}

/* ---- visits ---- */

typedef struct walk {
  size_t blocks, areas, used;
  mi_heap_t* heap;
} walk_t;

static bool walk_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                       void* arg) {
  walk_t* walk = arg;
  FUZZ_CHECK(heap == walk->heap);
  if (block == NULL) {
    walk->areas++;
    walk->used += area->used;
    return true;
  }
  const shadow_block_t* b = table_see(block);
  FUZZ_CHECK(world.heaps[b->heap].heap == heap);
  FUZZ_CHECK(size >= b->usable && area->full_block_size >= area->block_size);
  FUZZ_CHECK(NOTE_BLOCKS ? size <= area->block_size : size == area->block_size);
  FUZZ_CHECK(b->p >= (uint8_t*)area->blocks);
  FUZZ_CHECK(b->p + b->usable <= (uint8_t*)area->blocks + area->reserved);
  walk->blocks++;
  return true;
}

static void visit_all_of(int heap) {
  size_t count = 0;
  walk_t walk = {.heap = world.heaps[heap].heap};
  (void)shadow_bytes_of(heap, &count);
  table_make();
  FUZZ_CHECK(mi_heap_visit_blocks(walk.heap, true, walk_block, &walk));
  FUZZ_CHECK(walk.blocks == count);
  FUZZ_CHECK(walk.used == count);
}

static bool count_heap(mi_heap_t* heap, void* arg) {
  size_t* seen = arg;
  (void)heap;
  ++*seen;
  return true;
}

static void check_heap_count(int subproc) {
  size_t seen = 0, are = 0;
  for (int i = 0; i < HEAPS; i++) {
    are += world.heaps[i].heap != NULL && world.heaps[i].subproc == subproc;
  }
  FUZZ_CHECK(mi_subproc_visit_heaps(world.subprocs[subproc], count_heap, &seen));
  FUZZ_CHECK(seen == are);
}

static void op_visit(void) {
  const int heap = pick_heap();
  walk_t walk = {.heap = world.heaps[heap].heap};
  flush_later();
  switch (fuzz_byte() % 4) {
    case 0:
      table_make();
      FUZZ_CHECK(mi_heap_visit_abandoned_blocks(walk.heap, true, walk_block, &walk));
      break;
    case 1: {
      const mi_theap_t* theap = mi_heap_theap(walk.heap);
      table_make();
      FUZZ_CHECK(theap == NULL || mi_theap_visit_blocks(theap, true, walk_block, &walk));
      break;
    }
    default: visit_all_of(heap); break;
  }
  check_heap_count(self()->subproc);
}

/* ---- statistics ---- */

static bool count_is_sound(const mi_stat_count_t* count) {
  return count->current >= 0 && count->peak >= count->current && count->total >= count->peak;
}

/* What is free in the first page of another thread's class is not counted where the page is a
   mapping of its own, which may go away. */
static bool page_is_countable(page_t* page, void* arg) {
  bool* all = arg;
  if (!page_is_single(page) && page->span_arena == NULL) { *all = false; }
  return *all;
}

static bool pages_are_countable(void) {
  bool all = true;
  page_visit_all(page_is_countable, &all);
  return all;
}

/* The length of a block that is padded or guarded is less than what it takes. */
static void check_live_bytes(const mi_stats_t* stats, size_t bytes, size_t count) {
  const bool exact = DEBUG_LEVEL == 0 && SECURE_LEVEL == 0 &&
                     stats->malloc_guarded_count.total == 0 && pages_are_countable();
  const int64_t live = stats->malloc_normal.current + stats->malloc_huge.current;
  FUZZ_CHECK(live >= (int64_t)bytes);
  if (exact) { FUZZ_CHECK(live == (int64_t)bytes); }
  if (count == 0) { FUZZ_CHECK(live == 0); }
  FUZZ_CHECK(stats->allocated.current == live);
}

/* What is in the pages of a deleted heap is the main heap's from the next free in each page on. */
static bool is_owed_blocks(int heap) {
  const bool deleted = retired_lock() != NULL;
  retired_unlock();
  return deleted && heap < SUBPROCS;
}

static void check_stats(int heap) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  size_t count = 0;
  const size_t bytes = shadow_bytes_of(heap, &count);
  FUZZ_CHECK(mi_heap_stats_get(world.heaps[heap].heap, &stats));
  const bool owed = is_owed_blocks(heap);
  if (!owed) { check_live_bytes(&stats, bytes, count); }
  FUZZ_CHECK(count_is_sound(&stats.pages) && count_is_sound(&stats.malloc_normal));
  FUZZ_CHECK(count_is_sound(&stats.malloc_huge) && count_is_sound(&stats.page_committed));
  int64_t blocks = 0;
  for (size_t i = 0; i < MI_BIN_COUNT; i++) { blocks += stats.malloc_bins[i].current; }
  const bool more = blocks > (int64_t)count && !pages_are_countable();
  FUZZ_CHECK(blocks == (int64_t)count || more || (owed && blocks < (int64_t)count));
}

static void check_subproc_stats(int subproc) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  size_t bytes = 0, count = 0;
  for (int i = 0; i < HEAPS; i++) {
    size_t n = 0;
    if (world.heaps[i].heap == NULL || world.heaps[i].subproc != subproc) { continue; }
    bytes += shadow_bytes_of(i, &n);
    count += n;
  }
  FUZZ_CHECK(mi_subproc_stats_get(world.subprocs[subproc], &stats));
  check_live_bytes(&stats, bytes, count);
  FUZZ_CHECK(stats.committed.current <= stats.reserved.current);
}

/* A block of the library's own making: not in the shadow, so freed at once. */
static void check_json(char* json) {
  FUZZ_CHECK(json != NULL || may_fail() || world.heaps[self()->home].limited);
  FUZZ_CHECK(json == NULL || (json[0] == '{' && strchr(json, '}') != NULL));
  mi_free(json);
}

static void op_stats(void) {
  const int heap = pick_heap();
  mi_heap_t* h = world.heaps[heap].heap;
  const uint8_t form = fuzz_byte();
  char few[40];
  flush_later();
  switch (form % 12) {
    case 0: check_json(mi_stats_get_json(0, NULL)); break;
    case 1: check_json(mi_heap_stats_get_json(h, 0, NULL)); break;
    case 2:
      FUZZ_CHECK(mi_subproc_stats_get_json(world.subprocs[0], sizeof(few), few) == few);
      break;
    case 3: mi_stats_print_out(swallow, NULL); break;
    case 4: mi_heap_stats_print_out(h, swallow, NULL); break;
    case 5: mi_subproc_heap_stats_print_out(world.subprocs[0], swallow, NULL); break;
    case 6: mi_thread_stats_print_out(swallow, NULL); break;
    case 7: mi_arenas_print(); break;
    case 8: mi_stats_reset(); break;
    case 9: mi_heap_stats_merge_to_subproc(h); break;
    default: check_subproc_stats(self()->subproc); break;
  }
  check_stats(heap);
}

/* ---- options, time, the OS ---- */

typedef struct setting {
  mi_option_t option;
  long values[4];
} setting_t;

static const setting_t settings[] = {
    {mi_option_purge_delay, {1000, 0, -1, 10}},
    {mi_option_purge_decommits, {1, 0, 1, 0}},
    {mi_option_page_reclaim_on_free, {0, -1, 1, 0}},
    {mi_option_generic_collect, {10000, 3, 1, 50}},
    {mi_option_disallow_arena_alloc, {0, 1, 0, 0}},
    {mi_option_arena_max_object_size, {2L << 20, 256, 64, 4096}},
    {mi_option_arena_reserve, {1L << 20, 8192, 32768, 1}},
    {mi_option_minimal_purge_size, {0, 64, 2048, 16}},
    {mi_option_allow_thp, {1, 0, 2, 1}},
    {mi_option_arena_eager_commit, {2, 0, 1, 0}},
    {mi_option_visit_abandoned, {0, 1, 0, 1}},
    {mi_option_page_full_retain, {2, 0, 8, -1}},
    {mi_option_page_max_candidates, {4, 0, 16, 1}},
    {mi_option_arena_purge_mult, {1, 0, 10, 2}},
    {mi_option_disallow_os_alloc, {0, 1, 0, 0}},
    {mi_option_page_max_reclaim, {-1, 0, 2, 8}},
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void op_option(void) {
  const setting_t* setting = &settings[fuzz_byte() % SETTINGS];
  const long value = setting->values[fuzz_byte() % 4];
  mi_option_set(setting->option, value);
  FUZZ_CHECK(mi_option_get(setting->option) == value);
  world.os_denied = mi_option_is_enabled(mi_option_disallow_os_alloc);
}

static void settings_restore(void) {
  for (int i = 0; i < SETTINGS; i++) { mi_option_set(settings[i].option, settings[i].values[0]); }
  world.os_denied = false;
}

static void op_time_passes(void) {
  const int64_t amount = fuzz_byte();
  fuzz_now_ns += amount * amount * 1000000;
}

static void op_os_fails(void) {
  static const fault_kind_t kinds[] = {FAULT_MMAP,   FAULT_MPROTECT, FAULT_MADVISE, FAULT_MUNMAP,
                                       FAULT_MREMAP, FAULT_TAKE,     FAULT_COMMIT};
  const fault_kind_t kind = kinds[fuzz_byte() % 7];
  const unsigned first = 1 + fuzz_byte() % 6;
  const uint8_t form = fuzz_byte();
  atomic_store(&fault_armed, false);
  if (form % 4 == 0) { return; }
  const int* errors = fault_kinds[kind].errors;
  const int error = errors[1] != 0 ? errors[form / 4 % 2] : errors[0];
  fault_plan = (fault_plan_t){kind, error, first, form % 4 == 1 ? first : 1000000};
  atomic_store(&fault_calls, 0);
  atomic_store(&fault_armed, true);
}

/* ---- arenas ---- */

static bool commit_or_fail(bool commit, void* start, size_t size, bool* is_zero, void* arg) {
  (void)commit, (void)start, (void)size, (void)is_zero, (void)arg;
  return !fault_hits(FAULT_COMMIT);
}

/* Of memory of ours: committed or not, full of something or zero. */
static mi_arena_id_t arena_given(size_t bytes, uint8_t form) {
  const int index = world.arena_count;
  const bool zero = form % 2 == 0, committed = form / 2 % 2 == 0, by_os = form / 16 % 2 == 0;
  const int protection = committed || !by_os ? PROT_READ | PROT_WRITE : PROT_NONE;
  mi_arena_id_t arena = NULL;
  void* mine = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  FUZZ_CHECK(mine != MAP_FAILED);
  if (!zero && protection != PROT_NONE) {
    for (size_t i = 0; i < bytes; i += SLICE_BYTES) { memset((uint8_t*)mine + i, 0xAB, 64); }
  }
  const bool taken =
      mi_manage_memory(mine, bytes, committed, form / 4 % 2 == 0, zero, -1, form / 8 % 2 == 0,
                       committed || by_os ? NULL : commit_or_fail, NULL, &arena);
  FUZZ_CHECK(taken == (arena != NULL));
  if (!taken) { munmap(mine, bytes); }
  world.given[index] = taken ? mine : NULL;
  world.given_bytes[index] = bytes;
  return arena;
}

static mi_arena_id_t arena_reserved(size_t bytes, uint8_t form) {
  mi_arena_id_t arena = NULL;
  const int error = mi_reserve_os_memory_ex(bytes, form % 2 == 0, false, form / 2 % 2 == 0, &arena);
  FUZZ_CHECK((error == 0) == (arena != NULL));
  FUZZ_CHECK(error == 0 || may_fail());
  world.given[world.arena_count] = NULL;
  return arena;
}

static void op_arena(void) {
  const uint8_t form = fuzz_byte();
  const size_t bytes = (size_t)(2 + fuzz_byte() % 9) << 20;
  size_t size = 0;
  if (world.arena_count == ARENAS) { return; }
  mi_arena_id_t arena =
      form % 2 == 0 ? arena_reserved(bytes, form / 2) : arena_given(bytes, form / 2);
  FUZZ_CHECK(arena != NULL || may_fail());
  if (arena == NULL) { return; }
  world.arenas[world.arena_count++] = arena;
  const uint8_t* start = mi_arena_area(arena, &size);
  FUZZ_CHECK(size > 0 && mi_arena_contains(arena, start + size - 1));
  FUZZ_CHECK(!mi_arena_contains(arena, &world));
}

static bool arena_is_listed(const arena_t* wanted) {
  const arena_t* arena = memory.first;
  while (arena != NULL && arena != wanted) { arena = arena->next; }
  return arena != NULL;
}

/* What is taken though no block is left: guards that the OS, told to fail, did not take away. */
static bool only_guards_are_taken(const arena_t* arena) {
  for (uint32_t at = 0; at < arena->frontier; at += run_length(arena, at)) {
    if (run_state(arena, at) != RUN_TAKEN) { continue; }
    page_t* page = map_lookup(slice_start(arena, at));
    if (page == NULL || load_relaxed(&page->heap) != NULL) { return false; }
  }
  return true;
}

/* An arena is for ever; so that the next input begins as this one did, it is not. The first arena
   of the process stays. */
static void forget_arenas(void) {
  slice_t* tables[ARENAS] = {NULL};
  size_t table_bytes[ARENAS] = {0};
  bool stays = KEEP_CLASS; /* some of it is still taken */
  for (int i = 0; i < world.arena_count && !stays; i++) {
    const arena_t* arena = world.arenas[i];
    FUZZ_CHECK(only_guards_are_taken(arena));
    stays = arena->taken != 0;
  }
  if (stays) { world.arena_count = 0; }
  for (int i = 0; i < world.arena_count; i++) {
    arena_t* arena = world.arenas[i];
    tables[i] = arena->table, table_bytes[i] = arena->table_bytes;
    size_t stuck = 0, reset = 0;
    FUZZ_CHECK(arena_is_sound(arena, &stuck, &reset));
    if (arena->pinned) { memory.stuck_slices -= stuck, memory.dirty_slices += stuck; }
    arena->kept = arena->pinned = false;
    if (world.given[i] != NULL && arena == memory.first) { world.given[i] = NULL; }
  }
  mi_collect(true);
  for (int i = 0; i < world.arena_count; i++) {
    FUZZ_CHECK(world.arenas[i] == memory.first || !arena_is_listed(world.arenas[i]));
    if (world.given[i] == NULL) { continue; }
    munmap(world.given[i], world.given_bytes[i]);
    munmap(tables[i], table_bytes[i]);
  }
  world.arena_count = 0;
}

/* ---- threads ---- */

static void hand_over_to(int to) {
  world.current = to;
  sem_post(&world.workers[to].go);
}

static void wait_for_the_word(worker_t* worker) {
  while (sem_wait(&worker->go) != 0) {}
  if (world.leaver >= 0) {
    worker_t* leaver = &world.workers[world.leaver];
    pthread_join(leaver->thread, NULL);
    leaver->alive = false;
    world.leaver = -1;
  }
}

static void op_switch(void) {
  worker_t* me = self();
  const int to = fuzz_byte() % WORKERS;
  if (&world.workers[to] == me || !world.workers[to].alive) { return; }
  hand_over_to(to);
  wait_for_the_word(me);
}

static void interpret(void);

/* The one it asked for, or the main one if there was no memory for a thread's record. */
static void enter_subproc(worker_t* worker) {
  if (worker->subproc != 0) { mi_subproc_add_current_thread(world.subprocs[worker->subproc]); }
  const mi_subproc_id_t is = mi_subproc_current();
  if (is._mi_subproc_id != world.subprocs[worker->subproc]._mi_subproc_id) {
    FUZZ_CHECK(may_fail());
    worker->subproc = 0;
  }
  worker->home = worker->subproc;
}

static void* worker_run(void* arg) {
  worker_t* worker = arg;
  wait_for_the_word(worker);
  enter_subproc(worker);
  interpret();
  world.exit_now = false;
  world.leaver = (int)(worker - world.workers);
  hand_over_to(0);
  return NULL;
}

static void op_thread_start(void) {
  const int index = 1 + fuzz_byte() % (WORKERS - 1);
  const int subproc = fuzz_byte() % SUBPROCS;
  worker_t* worker = &world.workers[index];
  if (worker->alive) { return; }
  worker->alive = true;
  worker->subproc = world.subprocs[subproc]._mi_subproc_id == NULL ? 0 : subproc;
  worker->home = worker->subproc;
  if (pthread_create(&worker->thread, NULL, worker_run, worker) != 0) { worker->alive = false; }
}

static void op_thread_exit(void) { world.exit_now = world.current != 0; }

/* Allocating goes on, in the main heap of the process. */
static void op_thread_done(void) {
  if (fuzz_byte() % 2 == 0) { mi_thread_init(); }
  mi_thread_done();
  self()->subproc = 0;
  self()->home = 0;
}

/* ---- sub-processes ---- */

static bool take_main_heap(mi_heap_t* heap, void* arg) {
  *(mi_heap_t**)arg = heap;
  return false;
}

static void op_subproc_new(void) {
  const int index = 1 + fuzz_byte() % (SUBPROCS - 1);
  if (world.subprocs[index]._mi_subproc_id != NULL) { return; }
  const mi_subproc_id_t subproc = mi_subproc_new();
  FUZZ_CHECK(subproc._mi_subproc_id != NULL || may_fail());
  if (subproc._mi_subproc_id == NULL) { return; }
  world.subprocs[index] = subproc;
  world.heaps[index].subproc = index;
  (void)mi_subproc_visit_heaps(subproc, take_main_heap, &world.heaps[index].heap);
  FUZZ_CHECK(world.heaps[index].heap != NULL);
}

static bool subproc_is_in_use(int index) {
  for (int i = 0; i < WORKERS; i++) {
    if (world.workers[i].alive && world.workers[i].subproc == index) { return true; }
  }
  return false;
}

/* No thread is in it. */
static void subproc_end(int index, bool destroy) {
  const mi_subproc_id_t subproc = world.subprocs[index];
  flush_later();
  for (int i = 0; i < HEAPS; i++) {
    if (world.heaps[i].heap != NULL && world.heaps[i].subproc == index) {
      heap_is_gone(i, destroy ? -1 : 0);
    }
  }
  world.subprocs[index] = (mi_subproc_id_t){0};
  destroy ? mi_subproc_destroy(subproc) : mi_subproc_delete(subproc);
}

static void op_subproc_end(void) {
  const int index = 1 + fuzz_byte() % (SUBPROCS - 1);
  const bool destroy = fuzz_byte() % 2 == 0;
  if (world.subprocs[index]._mi_subproc_id == NULL || subproc_is_in_use(index)) { return; }
  subproc_end(index, destroy);
}

/* ---- one input ---- */

static void op_guard(void) {
  mi_theap_t* theap = mi_heap_theap(world.heaps[pick_heap()].heap);
  const size_t rate = fuzz_byte() % 8;
  if (theap == NULL) { return; }
  mi_theap_guarded_set_sample_rate(theap, rate, rate + 1);
  mi_theap_guarded_set_size_bound(theap, rate * 16, (size_t)1 << (10 + rate));
}

typedef struct operation {
  void (*run)(void);
  unsigned share; /* of 256 first bytes, or nearly */
  const char* name;
} operation_t;

#define OPERATION(name, share) {name, share, #name}
static const operation_t operations[] = {
    OPERATION(op_take, 36),
    OPERATION(op_take_many, 14),
    OPERATION(op_take_text, 4),
    OPERATION(op_give, 24),
    OPERATION(op_give_many, 14),
    OPERATION(op_resize, 22),
    OPERATION(op_resize_or_free, 3),
    OPERATION(op_expand, 4),
    OPERATION(op_ask, 6),
    OPERATION(op_ask_too_much, 3),
    OPERATION(op_resize_too_much, 2),
    OPERATION(op_later, 4),
    OPERATION(op_heap_new, 8),
    OPERATION(op_heap_end, 6),
    OPERATION(op_heap_default, 6),
    OPERATION(op_collect, 8),
    OPERATION(op_visit, 8),
    OPERATION(op_stats, 8),
    OPERATION(op_option, 8),
    OPERATION(op_time_passes, 6),
    OPERATION(op_os_fails, 6),
    OPERATION(op_arena, 4),
    OPERATION(op_thread_start, 10),
    OPERATION(op_switch, 16),
    OPERATION(op_thread_exit, 5),
    OPERATION(op_thread_done, 2),
    OPERATION(op_subproc_new, 4),
    OPERATION(op_subproc_end, 4),
    OPERATION(op_guard, 3),
    OPERATION(shadow_check_all, 2),
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static const operation_t* pick_operation(void) {
  unsigned left = fuzz_byte();
  for (int i = 0; i < OPERATIONS; i++) {
    if (left < operations[i].share) { return &operations[i]; }
    left -= operations[i].share;
  }
  return &operations[0];
}

/* In the environment: with FUZZ_TRACE it says what it does, with FUZZ_CHECK it looks at the arenas
   after each operation. */
static void interpret(void) {
  const bool trace = getenv("FUZZ_TRACE") != NULL, check_each = getenv("FUZZ_CHECK") != NULL;
  while (fuzz_more() && !world.exit_now) {
    const operation_t* operation = pick_operation();
    if (trace) { fprintf(stderr, "%d: %s\n", world.current, operation->name); }
    operation->run();
    if (check_each) { FUZZ_CHECK(arenas_are_sound()); }
  }
}

static void world_begin(void) {
  static bool begun;
  if (begun) { return; }
  begun = true;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* else the system spends its time zeroing memory */
  mi_free(mi_malloc(1));                 /* so that the process has its first arena */
  mi_register_output(swallow, NULL);
  mi_register_error(on_error, NULL);
  for (int i = 0; i < WORKERS; i++) { sem_init(&world.workers[i].go, 0, 0); }
  world.leaver = -1;
  world.workers[0].alive = true;
  world.subprocs[0] = mi_subproc_main();
  world.heaps[0].heap = mi_heap_main();
  settings_restore();
}

static void world_end_threads(void) {
  for (int i = 1; i < WORKERS; i++) {
    if (!world.workers[i].alive) { continue; }
    hand_over_to(i);
    wait_for_the_word(&world.workers[0]);
  }
}

static void world_end(void) {
  atomic_store(&fault_armed, false);
  world_end_threads();
  settings_restore();
  mi_register_deferred_free(NULL, NULL);
  flush_later();
  shadow_check_all();
  while (shadow.count > 0) {
    const shadow_block_t b = shadow_take(shadow.count / 2);
    give(&b, 9);
  }
  for (int i = 1; i < SUBPROCS; i++) {
    if (world.subprocs[i]._mi_subproc_id != NULL) { subproc_end(i, i == 1); }
  }
  for (int i = SUBPROCS; i < HEAPS; i++) {
    if (world.heaps[i].heap != NULL) { mi_heap_delete(world.heaps[i].heap); }
    world.heaps[i] = (heap_entry_t){0};
  }
  (void)mi_heap_set_default(world.heaps[0].heap);
  world.workers[0].home = world.workers[0].subproc = 0;
}

/* Every page has gone back, every record too. */
static void check_nothing_left(void) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  mi_collect(true);
  guard_flush();
  FUZZ_CHECK(mi_stats_get(&stats));
  check_live_bytes(&stats, 0, 0);
  FUZZ_CHECK(stats.pages.current == 0 && stats.page_committed.current == 0);
  FUZZ_CHECK(stats.pages_abandoned.current == 0);
  FUZZ_CHECK(stats.heaps.current == 1 && stats.theaps.current == 1 && stats.threads.current == 1);
  visit_all_of(0);
  FUZZ_CHECK(pages_in_use() == 0);
  FUZZ_CHECK(arenas_are_sound());
}

static void fuzz_one(void) {
  world_begin();
  interpret();
  world_end();
  check_nothing_left();
  forget_arenas();
}
