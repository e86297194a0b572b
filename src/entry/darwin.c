// How the library gets into a program on macOS and iOS: as the zone that all of the system's malloc
// leads to, and, from the shared library, by its names as well.
//
//   program --malloc, free--> 1. names ----------------------------.
//      `--------------------> libSystem --> 2. the default zone --> here
//   libSystem's strdup, libc++'s new -'
//
// 1. The shared library has a section __interpose, by which the loader leads every other module's
//    calls here: the shorter way. Ours still reach libSystem.
// 2. The zone is registered, and made the first, which is the default one. It also serves what has
//    no name that we know, is asked for the owner of a block, and is told of forks.
//
// Either way finds the owner of a block by its address: it may come by one and go by the other.
// What is another zone's goes back to it. Where a block of ours would not be known to libSystem,
// nothing is taken. MIMALLOC_DISABLE_REDIRECT=1 leaves all as it was. Tests: test/macos.
#include "../api/basic.h"

#if defined(__APPLE__) && defined(MI_MALLOC_OVERRIDE)

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base/modes.h"
#include "../heap/verify.h"
#include "../service/message.h"
#include "darwin_zone.h"

// Also asked of what is no address.
static bool is_ours(const void* p) {
  return (uint64_t)(uintptr_t)p >> MAP_ADDRESS_BITS == 0 && page_of(p) != page_none();
}

// 0 if it is not the start of a block of ours: so a block of no bytes has one.
static size_t own_size(const void* p) {
  const page_t* page = page_of(p);
  const bool known = is_ours(p) && (page_is_guarded(page) || page_has_block(page, p));
  return known ? size_max(block_usable(p), 1) : 0;
}

static void* allocate(size_t alignment, size_t size, bool zero) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, zero});
}

// ---- the zone ----

typedef unsigned long long type_id_t;  // what the compiler knows of a block's type

static zone_memory_t zone_memory;  // all in zeros, so not part of the file
#define OWN_ZONE (&zone_memory.zone.base)

static size_t zone_size(malloc_zone_t* zone, const void* p) {
  (void)zone;
  return own_size(p);
}

static void* zone_malloc(malloc_zone_t* zone, size_t size) {
  (void)zone;
  return theap_malloc(theap_current(), size);
}

static void* zone_calloc(malloc_zone_t* zone, size_t count, size_t size) {
  (void)zone;
  return theap_calloc(theap_current(), count, size);
}

static void* zone_valloc(malloc_zone_t* zone, size_t size) {
  (void)zone;
  return mi_valloc(size);
}

static void zone_free(malloc_zone_t* zone, void* p) {
  (void)zone;
  block_free(p);
}

static void* zone_realloc(malloc_zone_t* zone, void* p, size_t size) {
  (void)zone;
  return theap_realloc(theap_current(), p, size, false);
}

static void zone_destroy(malloc_zone_t* zone) { (void)zone; }

static unsigned zone_batch_malloc(malloc_zone_t* zone, size_t size, void** blocks, unsigned count) {
  unsigned done = 0;
  while (done < count && (blocks[done] = zone_malloc(zone, size)) != NULL) { done++; }
  return done;
}

static void zone_batch_free(malloc_zone_t* zone, void** blocks, unsigned count) {
  for (unsigned i = 0; i < count; i++) { zone_free(zone, blocks[i]); }
}

static void* zone_memalign(malloc_zone_t* zone, size_t alignment, size_t size) {
  (void)zone;
  return allocate(alignment, size, false);
}

static void zone_free_definite_size(malloc_zone_t* zone, void* p, size_t size) {
  (void)size;
  zone_free(zone, p);
}

static size_t zone_pressure_relief(malloc_zone_t* zone, size_t goal) {
  (void)zone, (void)goal;
  const intptr_t before = load_relaxed(&memory_stats.committed.current);
  mi_collect(true);
  const intptr_t after = load_relaxed(&memory_stats.committed.current);
  return before > after ? (size_t)(before - after) : 0;
}

static boolean_t zone_claimed_address(malloc_zone_t* zone, void* p) {
  (void)zone;
  return is_ours(p);
}

// ---- what tools ask of it ----

static size_t zone_good_size(malloc_zone_t* zone, size_t size) {
  (void)zone;
  return good_size(size);
}

static boolean_t zone_check(malloc_zone_t* zone) {
  (void)zone;
  return process_is_threaded() || verify_all();  // others might be at work
}

static void zone_print(malloc_zone_t* zone, boolean_t verbose) {
  (void)zone;
  if (verbose) {
    mi_stats_print(NULL);
  } else {
    mi_process_info_print();
  }
}

static void zone_log(malloc_zone_t* zone, void* p) { (void)zone, (void)p; }

static void zone_force_lock(malloc_zone_t* zone) {
  (void)zone;
  port_fork_prepare();
}

static void zone_force_unlock(malloc_zone_t* zone) {
  (void)zone;
  port_fork_done(false);
}

static void zone_reinit_lock(malloc_zone_t* zone) {
  (void)zone;
  port_fork_done(true);
}

static boolean_t zone_locked(malloc_zone_t* zone) {
  (void)zone;
  return port_fork_is_prepared();
}

static void zone_statistics(malloc_zone_t* zone, malloc_statistics_t* out) {
  zone_task_statistics(mach_task_self(), (vm_address_t)zone, NULL, out);
}

static malloc_introspection_t zone_introspection = {
    .enumerator = zone_enumerate,
    .good_size = zone_good_size,
    .check = zone_check,
    .print = zone_print,
    .log = zone_log,
    .force_lock = zone_force_lock,
    .force_unlock = zone_force_unlock,
    .statistics = zone_statistics,
    .zone_locked = zone_locked,
    .reinit_lock = zone_reinit_lock,
    .print_task = zone_print_task,
    .task_statistics = zone_task_statistics,
};

// ---- what zones have since macOS 15; earlier headers do not know it ----

#ifdef __MAC_15_0
static void* zone_malloc_with_options(malloc_zone_t* zone, size_t alignment, size_t size,
                                      uint64_t options) {
  enum { CLEAR = 1 };
  (void)zone;
  return allocate(alignment == 0 ? 1 : alignment, size, (options & CLEAR) != 0);
}

// What the compiler knows of the type is not used.

static void* zone_type_malloc(malloc_zone_t* zone, size_t size, type_id_t type) {
  (void)type;
  return zone_malloc(zone, size);
}

static void* zone_type_calloc(malloc_zone_t* zone, size_t count, size_t size, type_id_t type) {
  (void)type;
  return zone_calloc(zone, count, size);
}

static void* zone_type_realloc(malloc_zone_t* zone, void* p, size_t size, type_id_t type) {
  (void)type;
  return zone_realloc(zone, p, size);
}

static void* zone_type_memalign(malloc_zone_t* zone, size_t alignment, size_t size,
                                type_id_t type) {
  (void)type;
  return zone_memalign(zone, alignment, size);
}

static void* zone_type_malloc_with_options(malloc_zone_t* zone, size_t alignment, size_t size,
                                           uint64_t options, type_id_t type) {
  (void)type;
  return zone_malloc_with_options(zone, alignment, size, options);
}

static void zone_setup_newer(malloc_zone_t* zone) {
  enum { VERSION = 16 };  // also macOS 26's
  zone->version = VERSION;
  zone->malloc_with_options = zone_malloc_with_options;
  zone->malloc_type_malloc = zone_type_malloc;
  zone->malloc_type_calloc = zone_type_calloc;
  zone->malloc_type_realloc = zone_type_realloc;
  zone->malloc_type_memalign = zone_type_memalign;
  zone->malloc_type_malloc_with_options = zone_type_malloc_with_options;
}
#else
static void zone_setup_newer(malloc_zone_t* zone) { (void)zone; }
#endif

static void zone_setup(void) {
  enum { VERSION = 12 };  // of macOS 11
  zone_memory.zone.base = (malloc_zone_t){
      .size = zone_size,
      .malloc = zone_malloc,
      .calloc = zone_calloc,
      .valloc = zone_valloc,
      .free = zone_free,
      .realloc = zone_realloc,
      .destroy = zone_destroy,
      .zone_name = "mimalloc",
      .batch_malloc = zone_batch_malloc,
      .batch_free = zone_batch_free,
      .introspect = &zone_introspection,
      .version = VERSION,
      .memalign = zone_memalign,
      .free_definite_size = zone_free_definite_size,
      .pressure_relief = zone_pressure_relief,
      .claimed_address = zone_claimed_address,
  };
  zone_setup_newer(OWN_ZONE);
  zone_memory.zone.roots = zone_roots();
}

// ---- the default zone is the first that is registered ----

static malloc_zone_t* first_zone(void) {
  vm_address_t* zones = NULL;
  unsigned count = 0;
  const kern_return_t error = malloc_get_all_zones(mach_task_self(), NULL, &zones, &count);
  return error != KERN_SUCCESS || count == 0 ? NULL : (malloc_zone_t*)zones[0];
}

// Who is unregistered gives its place to the last one. The purgeable zone takes the default one's
// for the one that it was, so it is made before.
static bool zone_become_first(void) {
  enum { TRIES = 16 };
  (void)malloc_default_purgeable_zone();
  for (int i = 0; i < TRIES && first_zone() != OWN_ZONE; i++) {
    malloc_zone_t* before = first_zone();
    if (before == NULL) { return false; }
    malloc_zone_unregister(before);
    malloc_zone_register(before);
    if (first_zone() == OWN_ZONE) { return true; }
    malloc_zone_unregister(OWN_ZONE);
    malloc_zone_register(OWN_ZONE);
  }
  return first_zone() == OWN_ZONE;
}

// ---- names ----

#ifdef MI_SHARED_LIB

// Then what is allocated is the system's; what is freed may be ours. Another copy of this library
// may have the names: here they would lead to it, and from there back, so zones are asked.
static _Atomic(bool) names_are_off;
#define ARE_OFF (unlikely(load_relaxed(&names_are_off)))

static void* by_name_malloc(size_t size) {
  if (ARE_OFF) { return malloc_zone_malloc(malloc_default_zone(), size); }
  return theap_malloc(theap_current(), size);
}

static void* by_name_calloc(size_t count, size_t size) {
  if (ARE_OFF) { return malloc_zone_calloc(malloc_default_zone(), count, size); }
  return theap_calloc(theap_current(), count, size);
}

static void by_name_free(void* p) { block_free(p); }

static void* by_name_realloc(void* p, size_t size) {
  if (ARE_OFF && p == NULL) { return by_name_malloc(size); }
  return theap_realloc(theap_current(), p, size, false);
}

static void* by_name_reallocf(void* p, size_t size) {
  void* q = by_name_realloc(p, size);
  if (unlikely(q == NULL)) { block_free(p); }
  return q;
}

static void* by_name_valloc(size_t size) {
  return ARE_OFF ? malloc_zone_valloc(malloc_default_zone(), size) : mi_valloc(size);
}

static void* by_name_aligned_alloc(size_t alignment, size_t size) {
  if (ARE_OFF) { return malloc_zone_memalign(malloc_default_zone(), alignment, size); }
  return allocate(alignment, size, false);
}

static int by_name_posix_memalign(void** out, size_t alignment, size_t size) {
  if (!ARE_OFF) { return mi_posix_memalign(out, alignment, size); }
  void* p = malloc_zone_memalign(malloc_default_zone(), alignment, size);
  if (p != NULL) { *out = p; }
  return p == NULL ? ENOMEM : 0;
}

static size_t by_name_malloc_size(const void* p) {
  const size_t size = own_size(p);
  if (size != 0 || p == NULL) { return size; }
  malloc_zone_t* zone = malloc_zone_from_ptr(p);
  return zone == NULL ? 0 : zone->size(zone, p);
}

static size_t by_name_malloc_good_size(size_t size) { return good_size(size); }

static void* by_name_type_malloc(size_t size, type_id_t type) {
  (void)type;
  return by_name_malloc(size);
}

static void* by_name_type_calloc(size_t count, size_t size, type_id_t type) {
  (void)type;
  return by_name_calloc(count, size);
}

static void by_name_type_free(void* p, type_id_t type) {
  (void)type;
  by_name_free(p);
}

static void* by_name_type_realloc(void* p, size_t size, type_id_t type) {
  (void)type;
  return by_name_realloc(p, size);
}

static void* by_name_type_valloc(size_t size, type_id_t type) {
  (void)type;
  return by_name_valloc(size);
}

static void* by_name_type_aligned_alloc(size_t alignment, size_t size, type_id_t type) {
  (void)type;
  return by_name_aligned_alloc(alignment, size);
}

static int by_name_type_posix_memalign(void** out, size_t alignment, size_t size, type_id_t type) {
  (void)type;
  return by_name_posix_memalign(out, alignment, size);
}

// The loader passes over a name that the system has not. (Headers may keep them from programs.)
#define SINCE_14(name) __asm__("_malloc_type_" #name) __attribute__((weak_import))
EXTERN_C void* typed_malloc(size_t, type_id_t) SINCE_14(malloc);
EXTERN_C void* typed_calloc(size_t, size_t, type_id_t) SINCE_14(calloc);
EXTERN_C void typed_free(void*, type_id_t) SINCE_14(free);
EXTERN_C void* typed_realloc(void*, size_t, type_id_t) SINCE_14(realloc);
EXTERN_C void* typed_valloc(size_t, type_id_t) SINCE_14(valloc);
EXTERN_C void* typed_aligned_alloc(size_t, size_t, type_id_t) SINCE_14(aligned_alloc);
EXTERN_C int typed_posix_memalign(void**, size_t, size_t, type_id_t) SINCE_14(posix_memalign);

typedef struct interposed {
  const void *by, *name;
} interposed_t;

#define BY(by, name) {(const void*)(by), (const void*)(name)}
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability-new"
__attribute__((used, section("__DATA,__interpose"))) static const interposed_t interposed[] = {
    BY(by_name_malloc, malloc),
    BY(by_name_calloc, calloc),
    BY(by_name_free, free),
    BY(by_name_realloc, realloc),
    BY(by_name_reallocf, reallocf),
    BY(by_name_valloc, valloc),
    BY(by_name_aligned_alloc, aligned_alloc),
    BY(by_name_posix_memalign, posix_memalign),
    BY(by_name_malloc_size, malloc_size),
    BY(by_name_malloc_good_size, malloc_good_size),
    BY(by_name_type_malloc, typed_malloc),
    BY(by_name_type_calloc, typed_calloc),
    BY(by_name_type_free, typed_free),
    BY(by_name_type_realloc, typed_realloc),
    BY(by_name_type_valloc, typed_valloc),
    BY(by_name_type_aligned_alloc, typed_aligned_alloc),
    BY(by_name_type_posix_memalign, typed_posix_memalign),
};
#pragma clang diagnostic pop

static void leave_names(void) { store_relaxed(&names_are_off, true); }
#else
static void leave_names(void) {}
#endif

// ---- start ----

static bool is_unwanted(void) {
  const char* disabled = port_getenv("MIMALLOC_DISABLE_REDIRECT");
  return disabled != NULL && *disabled != 0 && strcmp(disabled, "0") != 0;
}

// Does libSystem know that our blocks are ours?
static bool zone_is_known(void) {
  void* p = zone_malloc(OWN_ZONE, 1);
  const bool known = p != NULL && malloc_zone_from_ptr(p) == OWN_ZONE;
  zone_free(OWN_ZONE, p);
  return known;
}

// While the first zone is exchanged there is a moment without it: no other thread may free then.
PRIVATE void zone_start(void) {
  if (is_unwanted()) {
    leave_names();
    return;
  }
  zone_setup();
  malloc_zone_register(OWN_ZONE);
  if (!zone_is_known()) {
    malloc_zone_unregister(OWN_ZONE);
    leave_names();
    message_verbose("malloc is left as it is: the zone could not be registered");
    return;
  }
  port_fork_by_zone();
  const bool first = pthread_is_threaded_np() == 0 && zone_become_first();
  message_verbose("malloc of libSystem: %s", first ? "the default zone is ours" : "its own zone");
}

#endif
