/* The public interface of the allocator, for C and C++.

   Unless a comment says otherwise:
   - sizes, alignments and offsets are in bytes;
   - a function that allocates returns NULL and sets errno to ENOMEM when there is no memory,
     when count * size overflows, or when a size is above PTRDIFF_MAX; an alignment that is not a
     power of two gives NULL and EINVAL;
   - a request of zero bytes returns a unique pointer that can be freed;
   - blocks of 16 bytes and more are aligned to 16, smaller ones to 8;
   - every function may be called from any thread, at any time between the first and the last
     instruction of the process, and a block may be freed from a thread that did not allocate it;
   - a block from any function here is freed with `mi_free`.

   Statistics as a struct are in `mimalloc-stats.h`, allocators for C++ in `mimalloc-cpp.h`, which
   this header includes. */
#ifndef MIMALLOC_H
#define MIMALLOC_H

/* Interface level: major, two digits minor, two digits patch. */
#define MI_MALLOC_VERSION 30600

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Attributes: each one vanishes where the compiler does not know it ---- */

#if defined(MI_IMPLEMENTATION)
#define mi_attr_noexcept
#elif defined(__cplusplus) && __cplusplus < 201103L && !defined(_MSVC_LANG)
#define mi_attr_noexcept throw()
#elif defined(__cplusplus)
#define mi_attr_noexcept noexcept
#else
#define mi_attr_noexcept
#endif

#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L) ||   \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define mi_decl_nodiscard [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define mi_decl_nodiscard __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#define mi_decl_nodiscard _Must_inspect_result_
#else
#define mi_decl_nodiscard
#endif

#if defined(_WIN32) && defined(MI_SHARED_LIB) && defined(MI_SHARED_LIB_EXPORT)
#define mi_decl_export __declspec(dllexport)
#elif defined(_WIN32) && defined(MI_SHARED_LIB)
#define mi_decl_export __declspec(dllimport)
#elif defined(MI_SHARED_LIB_EXPORT) && !defined(_WIN32) && (defined(__GNUC__) || defined(__clang__))
#define mi_decl_export __attribute__((visibility("default")))
#else
#define mi_decl_export
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define mi_decl_restrict __declspec(restrict)
#else
#define mi_decl_restrict
#endif

#if defined(_WIN32)
#define mi_cdecl __cdecl
#else
#define mi_cdecl
#endif

#if defined(__GNUC__) || defined(__clang__)
#define mi_attr_malloc            __attribute__((malloc))
#define mi_attr_alloc_size(n)     __attribute__((alloc_size(n)))
#define mi_attr_alloc_size2(n, m) __attribute__((alloc_size(n, m)))
#define mi_attr_alloc_align(n)    __attribute__((alloc_align(n)))
#else
#define mi_attr_malloc
#define mi_attr_alloc_size(n)
#define mi_attr_alloc_size2(n, m)
#define mi_attr_alloc_align(n)
#endif

/* What the standard does not have, but the compiler knows: no warning, however strict it is. */
#if defined(__GNUC__) || defined(__clang__)
#define mi_decl_extension __extension__
#else
#define mi_decl_extension
#endif

/* A function whose result must not be dropped; one whose result is a new block besides. */
#define mi_decl_result mi_decl_nodiscard mi_decl_export
#define mi_decl_alloc  mi_decl_nodiscard mi_decl_export mi_decl_restrict

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Types ---- */

/* A heap: a set of blocks that any thread may allocate in, and that can be given up as a whole. */
typedef struct mi_heap_s mi_heap_t;

/* One thread's share of a heap. Only that thread may pass it to a function. */
typedef struct mi_theap_s mi_theap_t;

/* Names an arena, a large area of memory from the OS or the program. NULL means no particular
   one. */
typedef void* mi_arena_id_t;

/* Names a sub-process: heaps, threads and arenas that share no memory with other sub-processes. */
typedef struct mi_subproc_id_s {
  void* _mi_subproc_id;
} mi_subproc_id_t;

/* An area of equally sized blocks, as a visitor sees it. Sizes are bytes, but `used` is in
   blocks. */
typedef struct mi_heap_area_s {
  void* blocks;           /* address of the first block */
  size_t reserved;        /* bytes set aside for the area */
  size_t committed;       /* bytes of it that are usable now */
  size_t used;            /* number of blocks in use */
  size_t block_size;      /* bytes of a block that the program may use */
  size_t full_block_size; /* distance between blocks: with padding and metadata */
  mi_decl_extension union {
    int heap_tag;    /* what `mi_heap_new_ex` was given, else 0 */
    void* reserved1; /* for the library */
  };
} mi_heap_area_t;

/* Called now and then by slow allocation paths, in the allocating thread. `force`: free all that
   can be freed. `heartbeat` grows with every call. It may allocate and free; it is not called
   recursively. */
#if defined(__GNUC__) && defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long" /* is not in C++98 */
#endif
typedef void(mi_cdecl mi_deferred_free_fun)(bool force, unsigned long long heartbeat, void* arg);
#if defined(__GNUC__) && defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC diagnostic pop
#endif

/* Asked when no block of a page, which is a run of blocks of one size, or one large block, is in
   use, and its memory would serve other sizes or go back to the OS. True: it may. False: the page
   is kept for blocks of its size in its heap, and asked for again, see `mi_register_page_release`.

   `area` describes the page; `user_data` is what `mi_page_user_data` gives for it. `again`: the
   page was kept when last asked for, and no block of it has been taken since; else blocks of it
   were freed since, perhaps just now. `arg` is that of the registration.

   Called in any thread that frees, allocates, collects or ends, under the library's locks: it may
   read and write the user data of this page, but call no other function of the library, nor any
   that may allocate or free, fork, or wait for a thread that might. Not called for two threads and
   one page at a time. */
typedef bool(mi_cdecl mi_page_release_fun)(const mi_heap_area_t* area, void** user_data, bool again,
                                           void* arg);

/* Takes a piece of output: a terminated string, whole lines not promised. It must not allocate. It
   is called for one thread at a time; what others print meanwhile goes to standard error. */
typedef void(mi_cdecl mi_output_fun)(const char* msg, void* arg);

/* Takes an error number: EAGAIN double free, EFAULT corrupted memory, ENOMEM out of memory,
   EOVERFLOW a size too large, EINVAL a pointer or argument that is not valid. Several threads may
   be in it at once. It is not called for errors that happen inside it, nor in a thread that has
   left it without a return, until it is registered again: then the option `corruption` decides as
   if there were no such function. */
typedef void(mi_cdecl mi_error_fun)(int err, void* arg);

/* Sees each area once with `block` NULL and then, if asked for, each live block in it. Returning
   false ends the visit. It must not allocate or free in the heap that is visited. */
typedef bool(mi_cdecl mi_block_visit_fun)(const mi_heap_t* heap, const mi_heap_area_t* area,
                                          void* block, size_t block_size, void* arg);

/* Sees each heap of a sub-process; returning false ends the visit. */
typedef bool(mi_cdecl mi_heap_visit_fun)(mi_heap_t* heap, void* arg);

/* Commits (`commit`) or decommits a range of memory that the program manages. `*is_zero` (if not
   NULL) is to be set when committed memory is known to be zero. Returns false when it cannot. It
   must not allocate or free, as other threads may wait for it. */
typedef bool(mi_cdecl mi_commit_fun_t)(bool commit, void* start, size_t size, bool* is_zero,
                                       void* user_arg);

/* ---- Basic: the C names ---- */

/* As the C functions without `mi_`; but `mi_realloc` to size 0 shrinks the block. */

/* Allocates `size` bytes. */
mi_decl_alloc void* mi_malloc(size_t size) mi_attr_noexcept mi_attr_malloc mi_attr_alloc_size(1);
/* Allocates `count` times `size` bytes of zeroed memory. */
mi_decl_alloc void* mi_calloc(size_t count, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(1, 2);
/* Makes the block `newsize` bytes, and moves it where it must; on failure it stays valid. */
mi_decl_result void* mi_realloc(void* p, size_t newsize) mi_attr_noexcept mi_attr_alloc_size(2);

/* Makes the block at least `newsize` bytes without moving it; NULL (and no change) where it
   cannot. */
mi_decl_result void* mi_expand(void* p, size_t newsize) mi_attr_noexcept mi_attr_alloc_size(2);

/* Frees a block; NULL is allowed and errno is kept. */
mi_decl_export void mi_free(void* p) mi_attr_noexcept;

/* Copies a string into a new block; NULL gives NULL. */
mi_decl_alloc char* mi_strdup(const char* s) mi_attr_noexcept mi_attr_malloc;
/* Copies at most `n` characters of a string, and terminates the copy; NULL gives NULL. */
mi_decl_alloc char* mi_strndup(const char* s, size_t n) mi_attr_noexcept mi_attr_malloc;

/* The absolute path of a file, in `resolved_name` or, where that is NULL, in a new block. NULL
   and errno as `realpath` on failure. */
mi_decl_result char* mi_realpath(const char* fname, char* resolved_name) mi_attr_noexcept;

/* ---- Extended and small ---- */

/* Largest size, in machine words and in bytes, that the `_small` functions are for. */
#define MI_SMALL_WSIZE_MAX (128)
#define MI_SMALL_SIZE_MAX  (MI_SMALL_WSIZE_MAX * sizeof(void*))

/* The `_small` functions are no faster than the others, and for any size; other libraries of this
   interface take at most MI_SMALL_SIZE_MAX. */

/* As `mi_malloc`. */
mi_decl_alloc void* mi_malloc_small(size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1);
/* As `mi_zalloc`. */
mi_decl_alloc void* mi_zalloc_small(size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1);

/* As `mi_malloc`, with the size in machine words. */
mi_decl_alloc void* mi_wmalloc_small(size_t wsize) mi_attr_noexcept mi_attr_malloc;
/* As `mi_zalloc`, with the size in machine words. */
mi_decl_alloc void* mi_wzalloc_small(size_t wsize) mi_attr_noexcept mi_attr_malloc;

/* Bytes in machine words, rounded up. */
static inline size_t mi_wsize_from_size(size_t size) mi_attr_noexcept {
  return size / sizeof(void*) + (size % sizeof(void*) != 0);
}

/* The `mi_free_small` functions take any block, and NULL: what their names say of it (a size of at
   most MI_SMALL_SIZE_MAX, not NULL, of the calling thread) is of use to other libraries of this
   interface. */

/* As `mi_free`. */
mi_decl_export void mi_free_small(void* p) mi_attr_noexcept;
/* As `mi_free`. */
mi_decl_export void mi_free_small_nonnull(void* p) mi_attr_noexcept;
/* As `mi_free`. */
mi_decl_export void mi_free_small_local(void* p) mi_attr_noexcept;
/* As `mi_free`. */
mi_decl_export void mi_free_small_local_nonnull(void* p) mi_attr_noexcept;

/* Allocates `size` bytes of zeroed memory. */
mi_decl_alloc void* mi_zalloc(size_t size) mi_attr_noexcept mi_attr_malloc mi_attr_alloc_size(1);
/* Allocates `count` times `size` bytes, not zeroed. */
mi_decl_alloc void* mi_mallocn(size_t count, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(1, 2);
/* As `mi_realloc`, to `count` times `size` bytes. */
mi_decl_result void* mi_reallocn(void* p, size_t count, size_t size) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3);
/* As `mi_realloc`, but on failure the block is freed. */
mi_decl_result void* mi_reallocf(void* p, size_t newsize) mi_attr_noexcept mi_attr_alloc_size(2);

/* Bytes that may be used in the block, at least what was asked for; 0 for NULL. */
mi_decl_result size_t mi_usable_size(const void* p) mi_attr_noexcept;

/* Bytes that a request of `size` would make usable: asking for these wastes nothing. */
mi_decl_result size_t mi_good_size(size_t size) mi_attr_noexcept;

/* ---- Block size reported ----
   As the functions without `u`; each also stores the usable bytes of the block in `*block_size`
   (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the
   old and of the new block. The pointers for sizes may be NULL. */

/* As `mi_malloc`. */
mi_decl_alloc void* mi_umalloc(size_t size, size_t* block_size) mi_attr_noexcept mi_attr_malloc;
/* As `mi_calloc`. */
mi_decl_alloc void* mi_ucalloc(size_t count, size_t size,
                               size_t* block_size) mi_attr_noexcept mi_attr_malloc;
/* As `mi_realloc`; stores the usable bytes of the old and of the new block. */
mi_decl_result void* mi_urealloc(void* p, size_t newsize, size_t* block_size_pre,
                                 size_t* block_size_post) mi_attr_noexcept;
/* As `mi_free`; stores the usable bytes that the block had. */
mi_decl_export void mi_ufree(void* p, size_t* block_size) mi_attr_noexcept;
/* As `mi_malloc_aligned`. */
mi_decl_alloc void* mi_umalloc_aligned(size_t size, size_t alignment,
                                       size_t* block_size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_align(2);
/* As `mi_zalloc_aligned`. */
mi_decl_alloc void* mi_uzalloc_aligned(size_t size, size_t alignment,
                                       size_t* block_size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_align(2);
/* As `mi_malloc_small`. */
mi_decl_alloc void* mi_umalloc_small(size_t size,
                                     size_t* block_size) mi_attr_noexcept mi_attr_malloc;
/* As `mi_zalloc_small`. */
mi_decl_alloc void* mi_uzalloc_small(size_t size,
                                     size_t* block_size) mi_attr_noexcept mi_attr_malloc;

/* ---- Zero-initialised reallocation ----
   As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when
   they were allocated and resized by these functions alone since. `_at`: see below. */

/* As `mi_realloc`; what is added is zero. */
mi_decl_result void* mi_rezalloc(void* p, size_t newsize) mi_attr_noexcept mi_attr_alloc_size(2);
/* As `mi_reallocn`; what is added is zero. */
mi_decl_result void* mi_recalloc(void* p, size_t newcount, size_t size) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3);
/* As `mi_realloc_aligned`; what is added is zero. */
mi_decl_result void* mi_rezalloc_aligned(void* p, size_t newsize, size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_realloc_aligned_at`; what is added is zero. */
mi_decl_result void* mi_rezalloc_aligned_at(void* p, size_t newsize, size_t alignment,
                                            size_t offset) mi_attr_noexcept mi_attr_alloc_size(2);
/* As `mi_rezalloc_aligned`, to `newcount` times `size` bytes. */
mi_decl_result void* mi_recalloc_aligned(void* p, size_t newcount, size_t size,
                                         size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3) mi_attr_alloc_align(4);
/* As `mi_rezalloc_aligned_at`, to `newcount` times `size` bytes. */
mi_decl_result void* mi_recalloc_aligned_at(void* p, size_t newcount, size_t size, size_t alignment,
                                            size_t offset) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3);

/* ---- Aligned ----
   The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is
   the address at `offset` into the block that is the multiple. Such blocks are resized by the
   `_aligned` functions to keep their alignment, and freed as all others. */

/* As `mi_malloc`, at a multiple of `alignment`. */
mi_decl_alloc void* mi_malloc_aligned(size_t size, size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1) mi_attr_alloc_align(2);
/* As `mi_malloc`, with the address `offset` bytes in at a multiple of `alignment`. */
mi_decl_alloc void* mi_malloc_aligned_at(size_t size, size_t alignment,
                                         size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1);
/* As `mi_zalloc`, at a multiple of `alignment`. */
mi_decl_alloc void* mi_zalloc_aligned(size_t size, size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1) mi_attr_alloc_align(2);
/* As `mi_zalloc`, with the address `offset` bytes in at a multiple of `alignment`. */
mi_decl_alloc void* mi_zalloc_aligned_at(size_t size, size_t alignment,
                                         size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1);
/* As `mi_calloc`, at a multiple of `alignment`. */
mi_decl_alloc void* mi_calloc_aligned(size_t count, size_t size,
                                      size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(1, 2) mi_attr_alloc_align(3);
/* As `mi_calloc`, with the address `offset` bytes in at a multiple of `alignment`. */
mi_decl_alloc void* mi_calloc_aligned_at(size_t count, size_t size, size_t alignment,
                                         size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(1, 2);
/* As `mi_realloc`; where the block then lies is a multiple of `alignment`. */
mi_decl_result void* mi_realloc_aligned(void* p, size_t newsize, size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_realloc`; the address `offset` bytes in is then a multiple of `alignment`. */
mi_decl_result void* mi_realloc_aligned_at(void* p, size_t newsize, size_t alignment,
                                           size_t offset) mi_attr_noexcept mi_attr_alloc_size(2);

/* ---- Heaps ----
   A heap may be used from any thread. The caller sees to it that no thread uses a heap while it
   is deleted or destroyed, and none after. */

/* Makes a heap in the sub-process of the calling thread; NULL when there is no memory. */
mi_decl_result mi_heap_t* mi_heap_new(void) mi_attr_noexcept;
/* As `mi_heap_new`; the heap allocates in that arena only. */
mi_decl_result mi_heap_t* mi_heap_new_in_arena(mi_arena_id_t arena_id) mi_attr_noexcept;

/* Deleting and destroying leave NULL and the main heap alone. */

/* Ends a heap; its live blocks move to the main heap and stay valid. */
mi_decl_export void mi_heap_delete(mi_heap_t* heap) mi_attr_noexcept;
/* Ends a heap; its live blocks are freed, without a look at them. */
mi_decl_export void mi_heap_destroy(mi_heap_t* heap) mi_attr_noexcept;

/* Prefers memory of this NUMA node for the heap from now on; a negative node ends the
   preference. */
mi_decl_export void mi_heap_set_numa_affinity(mi_heap_t* heap, int numa_node) mi_attr_noexcept;

/* Frees what the calling thread keeps of the heap for later use; `force` also gives it back to
   the OS. */
mi_decl_export void mi_heap_collect(mi_heap_t* heap, bool force) mi_attr_noexcept;

/* The heap that `mi_malloc` uses, of the sub-process of the calling thread; never NULL. */
mi_decl_result mi_heap_t* mi_heap_main(void) mi_attr_noexcept;

/* The heap that the block `p` is in, or NULL where `p` is no pointer of this library. */
mi_decl_result mi_heap_t* mi_heap_of(const void* p) mi_attr_noexcept;

/* Any address may be asked about. */

/* Tells whether `p` points into memory of this heap. */
mi_decl_result bool mi_heap_contains(const mi_heap_t* heap, const void* p) mi_attr_noexcept;
/* Tells whether `p` points into memory of any heap. */
mi_decl_result bool mi_any_heap_contains(const void* p) mi_attr_noexcept;
/* As `mi_any_heap_contains`. */
mi_decl_result bool mi_is_in_heap_region(const void* p) mi_attr_noexcept;
/* Tells whether `p` points into the heap that `mi_malloc` of the calling thread uses. */
mi_decl_result bool mi_check_owned(const void* p) mi_attr_noexcept;

/* The id of the thread that owns the page of the block `p` now. 0 for what nobody owns: the blocks
   of a full page, a large block, and any other pointer. Equal ids are the same thread's. */
mi_decl_result size_t mi_thread_id_of(const void* p) mi_attr_noexcept;

/* Debug builds fill blocks of the heap, as they are allocated and as they are freed, from this
   many bytes on: what lies before stays as the program left it. */
mi_decl_export void mi_heap_set_debug_fill_preserve(mi_heap_t* heap, size_t bytes) mi_attr_noexcept;

/* The calling thread's share of the heap, made on demand; NULL when there is no memory. */
mi_decl_result mi_theap_t* mi_heap_theap(mi_heap_t* heap) mi_attr_noexcept;

/* Tells whether moving the block `p` of the heap helps: less than `perc_threshold` percent of its
   page is in use, and it is not the page from which new blocks come. False for a large block.
   Unsafe: only for a live block that no other thread uses or frees. */
mi_decl_result bool mi_unsafe_heap_page_is_under_utilized(mi_heap_t* heap, void* p,
                                                          size_t perc_threshold) mi_attr_noexcept;

/* The visitor is called for each area and, with `visit_blocks`, for each live block. True when all
   were visited. Where another thread allocates or frees in the heap meanwhile it is not known which
   of the blocks that this concerns are seen, and the visitor must not look into them. */

/* Visits each area of the heap. */
mi_decl_export bool mi_heap_visit_blocks(mi_heap_t* heap, bool visit_blocks,
                                         mi_block_visit_fun* visitor, void* arg);
/* Visits each area of the heap that ended threads left. */
mi_decl_export bool mi_heap_visit_abandoned_blocks(mi_heap_t* heap, bool visit_blocks,
                                                   mi_block_visit_fun* visitor, void* arg);

/* ---- Allocating in a heap: as the functions without `heap_` ---- */

/* As `mi_malloc`, in the heap. */
mi_decl_alloc void* mi_heap_malloc(mi_heap_t* heap, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_zalloc`, in the heap. */
mi_decl_alloc void* mi_heap_zalloc(mi_heap_t* heap, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_calloc`, in the heap. */
mi_decl_alloc void* mi_heap_calloc(mi_heap_t* heap, size_t count,
                                   size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(2, 3);
/* As `mi_mallocn`, in the heap. */
mi_decl_alloc void* mi_heap_mallocn(mi_heap_t* heap, size_t count,
                                    size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(2, 3);
/* As `mi_malloc_small`, in the heap. */
mi_decl_alloc void* mi_heap_malloc_small(mi_heap_t* heap,
                                         size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_zalloc_small`, in the heap. */
mi_decl_alloc void* mi_heap_zalloc_small(mi_heap_t* heap,
                                         size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);

/* As `mi_realloc`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_realloc(mi_heap_t* heap, void* p, size_t newsize) mi_attr_noexcept
    mi_attr_alloc_size(3);
/* As `mi_reallocn`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_reallocn(mi_heap_t* heap, void* p, size_t count,
                                      size_t size) mi_attr_noexcept mi_attr_alloc_size2(3, 4);
/* As `mi_reallocf`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_reallocf(mi_heap_t* heap, void* p, size_t newsize) mi_attr_noexcept
    mi_attr_alloc_size(3);

/* As `mi_strdup`, in the heap. */
mi_decl_alloc char* mi_heap_strdup(mi_heap_t* heap, const char* s) mi_attr_noexcept mi_attr_malloc;
/* As `mi_strndup`, in the heap. */
mi_decl_alloc char* mi_heap_strndup(mi_heap_t* heap, const char* s,
                                    size_t n) mi_attr_noexcept mi_attr_malloc;
/* As `mi_realpath`, in the heap. */
mi_decl_result char* mi_heap_realpath(mi_heap_t* heap, const char* fname,
                                      char* resolved_name) mi_attr_noexcept;

/* As `mi_malloc_aligned`, in the heap. */
mi_decl_alloc void* mi_heap_malloc_aligned(mi_heap_t* heap, size_t size,
                                           size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_malloc_aligned_at`, in the heap. */
mi_decl_alloc void* mi_heap_malloc_aligned_at(mi_heap_t* heap, size_t size, size_t alignment,
                                              size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_zalloc_aligned`, in the heap. */
mi_decl_alloc void* mi_heap_zalloc_aligned(mi_heap_t* heap, size_t size,
                                           size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_zalloc_aligned_at`, in the heap. */
mi_decl_alloc void* mi_heap_zalloc_aligned_at(mi_heap_t* heap, size_t size, size_t alignment,
                                              size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_calloc_aligned`, in the heap. */
mi_decl_alloc void* mi_heap_calloc_aligned(mi_heap_t* heap, size_t count, size_t size,
                                           size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(2, 3) mi_attr_alloc_align(4);
/* As `mi_calloc_aligned_at`, in the heap. */
mi_decl_alloc void* mi_heap_calloc_aligned_at(mi_heap_t* heap, size_t count, size_t size,
                                              size_t alignment,
                                              size_t offset) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(2, 3);
/* As `mi_realloc_aligned`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_realloc_aligned(mi_heap_t* heap, void* p, size_t newsize,
                                             size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size(3) mi_attr_alloc_align(4);
/* As `mi_realloc_aligned_at`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_realloc_aligned_at(mi_heap_t* heap, void* p, size_t newsize,
                                                size_t alignment, size_t offset) mi_attr_noexcept
    mi_attr_alloc_size(3);

/* As `mi_rezalloc`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_rezalloc(mi_heap_t* heap, void* p, size_t newsize) mi_attr_noexcept
    mi_attr_alloc_size(3);
/* As `mi_recalloc`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_recalloc(mi_heap_t* heap, void* p, size_t newcount,
                                      size_t size) mi_attr_noexcept mi_attr_alloc_size2(3, 4);
/* As `mi_rezalloc_aligned`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_rezalloc_aligned(mi_heap_t* heap, void* p, size_t newsize,
                                              size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size(3) mi_attr_alloc_align(4);
/* As `mi_rezalloc_aligned_at`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_rezalloc_aligned_at(mi_heap_t* heap, void* p, size_t newsize,
                                                 size_t alignment, size_t offset) mi_attr_noexcept
    mi_attr_alloc_size(3);
/* As `mi_recalloc_aligned`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_recalloc_aligned(mi_heap_t* heap, void* p, size_t newcount,
                                              size_t size, size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size2(3, 4) mi_attr_alloc_align(5);
/* As `mi_recalloc_aligned_at`; a block that moves, moves into the heap. */
mi_decl_result void* mi_heap_recalloc_aligned_at(mi_heap_t* heap, void* p, size_t newcount,
                                                 size_t size, size_t alignment,
                                                 size_t offset) mi_attr_noexcept
    mi_attr_alloc_size2(3, 4);

/* As `mi_new`, in the heap. */
mi_decl_alloc void* mi_heap_alloc_new(mi_heap_t* heap, size_t size) mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_new_n`, in the heap. */
mi_decl_alloc void* mi_heap_alloc_new_n(mi_heap_t* heap, size_t count, size_t size) mi_attr_malloc
    mi_attr_alloc_size2(2, 3);

/* ---- Thread-local heaps: only for the thread whose share of a heap it is ---- */

/* Lets the plain functions of the calling thread use this one; returns the former. */
mi_decl_export mi_theap_t* mi_theap_set_default(mi_theap_t* theap) mi_attr_noexcept;
/* Returns the one that the plain functions of the calling thread use. */
mi_decl_result mi_theap_t* mi_theap_get_default(void) mi_attr_noexcept;

/* As `mi_heap_collect`. */
mi_decl_export void mi_theap_collect(mi_theap_t* theap, bool force) mi_attr_noexcept;

/* The theap's pages become those of its heap, for any thread to take over; the blocks stay valid.
   Delete ends the record too: only its own thread may do that, and it gets a new one when it uses
   the heap again. (That of the main heap is the thread's, and stays until the thread ends.)
   Quiescent abandon leaves the record as it is, and may also be called by another thread while the
   theap's thread is outside of the library, and stays so until the call returns. */

/* Gives the theap's pages to its heap, and ends the theap. */
mi_decl_export void mi_theap_delete(mi_theap_t* theap) mi_attr_noexcept;
/* Gives the theap's pages to its heap. */
mi_decl_export void mi_theap_quiescent_abandon(mi_theap_t* theap) mi_attr_noexcept;

/* Allocating in a theap spares the search for the thread's share of a heap. */

/* As `mi_malloc`, in the theap. */
mi_decl_alloc void* mi_theap_malloc(mi_theap_t* theap, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_zalloc`, in the theap. */
mi_decl_alloc void* mi_theap_zalloc(mi_theap_t* theap, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_calloc`, in the theap. */
mi_decl_alloc void* mi_theap_calloc(mi_theap_t* theap, size_t count,
                                    size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size2(2, 3);
/* As `mi_malloc_small`, in the theap. */
mi_decl_alloc void* mi_theap_malloc_small(mi_theap_t* theap,
                                          size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_zalloc_small`, in the theap. */
mi_decl_alloc void* mi_theap_zalloc_small(mi_theap_t* theap,
                                          size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_wmalloc_small`, in the theap. */
mi_decl_alloc void* mi_theap_wmalloc_small(mi_theap_t* theap,
                                           size_t wsize) mi_attr_noexcept mi_attr_malloc;
/* As `mi_wzalloc_small`, in the theap. */
mi_decl_alloc void* mi_theap_wzalloc_small(mi_theap_t* theap,
                                           size_t wsize) mi_attr_noexcept mi_attr_malloc;
/* As `mi_malloc_aligned`, in the theap. */
mi_decl_alloc void* mi_theap_malloc_aligned(mi_theap_t* theap, size_t size,
                                            size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_zalloc_aligned`, in the theap. */
mi_decl_alloc void* mi_theap_zalloc_aligned(mi_theap_t* theap, size_t size,
                                            size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(3);
/* As `mi_realloc`, in the theap. */
mi_decl_result void* mi_theap_realloc(mi_theap_t* theap, void* p, size_t newsize) mi_attr_noexcept
    mi_attr_alloc_size(3);
/* As `mi_rezalloc`, in the theap. */
mi_decl_result void* mi_theap_rezalloc(mi_theap_t* theap, void* p, size_t newsize) mi_attr_noexcept
    mi_attr_alloc_size(3);

/* As `mi_new`, in the theap. */
mi_decl_alloc void* mi_theap_alloc_new(mi_theap_t* theap, size_t size) mi_attr_malloc
    mi_attr_alloc_size(2);
/* As `mi_new_n`, in the theap. */
mi_decl_alloc void* mi_theap_alloc_new_n(mi_theap_t* theap, size_t count,
                                         size_t size) mi_attr_malloc mi_attr_alloc_size2(2, 3);
/* As `mi_new_nothrow`, in the theap. */
mi_decl_alloc void* mi_theap_alloc_new_nothrow(mi_theap_t* theap,
                                               size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2);

/* Sampling puts one in `sample_rate` blocks, on average, between guard pages (1 each, 0 none), from
   the next request on; the same `seed` picks the same requests (0: random). Only sizes from `min`
   to `max` bytes, as asked for or as rounded (141 to 160). A rate takes the place of sampling by
   bytes, which is an option. The theap is one of the calling thread's; another's, or NULL, is an
   error or does nothing. See docs/guarded.md. */

/* Guards one in `sample_rate` blocks of the theap. */
mi_decl_export void mi_theap_guarded_set_sample_rate(mi_theap_t* theap, size_t sample_rate,
                                                     size_t seed) mi_attr_noexcept;
/* Guards only blocks of `min` to `max` bytes. */
mi_decl_export void mi_theap_guarded_set_size_bound(mi_theap_t* theap, size_t min,
                                                    size_t max) mi_attr_noexcept;

/* As `mi_heap_visit_blocks`, for the thread's own pages. */
mi_decl_export bool mi_theap_visit_blocks(const mi_theap_t* theap, bool visit_blocks,
                                          mi_block_visit_fun* visitor, void* arg);

/* ---- Sub-processes ---- */

/* Returns the one that exists from the start. */
mi_decl_result mi_subproc_id_t mi_subproc_main(void) mi_attr_noexcept;
/* Returns that of the calling thread. */
mi_decl_result mi_subproc_id_t mi_subproc_current(void) mi_attr_noexcept;
/* Makes a new one; its id is NULL inside when there is no memory. */
mi_decl_result mi_subproc_id_t mi_subproc_new(void) mi_attr_noexcept;

/* Frees a sub-process and all its memory. No thread may be in it or touch its blocks any more.
   The main one is left alone. */
mi_decl_export void mi_subproc_destroy(mi_subproc_id_t subproc) mi_attr_noexcept;

/* Puts the calling thread in a sub-process: first thing in that thread, before it allocates. */
mi_decl_export void mi_subproc_add_current_thread(mi_subproc_id_t subproc) mi_attr_noexcept;

/* Calls the visitor for each heap of the sub-process, until it says false; true when all were
   visited. The visitor may delete or destroy the heap that it is given. Others may be created,
   deleted and destroyed by other threads meanwhile: a new one is not visited. */
mi_decl_export bool mi_subproc_visit_heaps(mi_subproc_id_t subproc, mi_heap_visit_fun* visitor,
                                           void* arg);

/* ---- Arenas and OS memory ----
   Functions that return `int` give 0 or an error number (ENOMEM, ETIMEDOUT, EINVAL). `numa_node`
   -1 is any node. An exclusive arena serves only heaps made with `mi_heap_new_in_arena`.
   `arena_id` may be NULL. */

/* Tells whether this library serves the process's own `malloc`. */
mi_decl_result bool mi_is_redirected(void) mi_attr_noexcept;

/* These reserve `pages` huge pages of 1 GiB, spread over `numa_nodes` nodes (0: all there are) or
   on one node, and stop after so many milliseconds (0: no limit). */

/* Reserves huge pages, spread over the nodes. */
mi_decl_export int mi_reserve_huge_os_pages_interleave(size_t pages, size_t numa_nodes,
                                                       size_t timeout_msecs) mi_attr_noexcept;
/* Reserves huge pages on one node. */
mi_decl_export int mi_reserve_huge_os_pages_at(size_t pages, int numa_node,
                                               size_t timeout_msecs) mi_attr_noexcept;
/* As `mi_reserve_huge_os_pages_at`; may be exclusive, and stores the arena's id. An arena that is
   either is reserved in one piece, which the limit of time does not interrupt. */
mi_decl_export int mi_reserve_huge_os_pages_at_ex(size_t pages, int numa_node, size_t timeout_msecs,
                                                  bool exclusive,
                                                  mi_arena_id_t* arena_id) mi_attr_noexcept;

/* The oldest form: a limit in seconds, and the number of pages that were had in
   `*pages_reserved`. */
mi_decl_export int mi_reserve_huge_os_pages(size_t pages, double max_secs,
                                            size_t* pages_reserved) mi_attr_noexcept;

/* These reserve an arena of `size` bytes from the OS, committed at once or on demand, in large OS
   pages if it may. */

/* Reserves an arena. */
mi_decl_export int mi_reserve_os_memory(size_t size, bool commit,
                                        bool allow_large) mi_attr_noexcept;
/* As `mi_reserve_os_memory`; may be exclusive, and stores the arena's id. */
mi_decl_export int mi_reserve_os_memory_ex(size_t size, bool commit, bool allow_large,
                                           bool exclusive,
                                           mi_arena_id_t* arena_id) mi_attr_noexcept;

/* Memory that the program gives is used for ever. `is_pinned`: never to be decommitted. `is_zero`:
   all zero now. False when `size` is less than `mi_arena_min_size()`. */

/* Makes memory of the program's an arena. */
mi_decl_export bool mi_manage_os_memory(void* start, size_t size, bool is_committed, bool is_pinned,
                                        bool is_zero, int numa_node) mi_attr_noexcept;
/* As `mi_manage_os_memory`; may be exclusive, and stores the arena's id. */
mi_decl_export bool mi_manage_os_memory_ex(void* start, size_t size, bool is_committed,
                                           bool is_pinned, bool is_zero, int numa_node,
                                           bool exclusive,
                                           mi_arena_id_t* arena_id) mi_attr_noexcept;
/* As `mi_manage_os_memory_ex`; commits and decommits through `commit_fun`. */
mi_decl_export bool mi_manage_memory(void* start, size_t size, bool is_committed, bool is_pinned,
                                     bool is_zero, int numa_node, bool exclusive,
                                     mi_commit_fun_t* commit_fun, void* commit_fun_arg,
                                     mi_arena_id_t* arena_id) mi_attr_noexcept;

/* Returns what `start` and `size` of memory that is given are rounded to. */
mi_decl_result size_t mi_arena_min_alignment(void) mi_attr_noexcept;
/* Returns the least size of memory that may be given. */
mi_decl_result size_t mi_arena_min_size(void) mi_attr_noexcept;

/* Returns the start of an arena, and stores its size; NULL and 0 if there is none. */
mi_decl_result void* mi_arena_area(mi_arena_id_t arena_id, size_t* size) mi_attr_noexcept;
/* Tells whether `p` lies in the arena. */
mi_decl_result bool mi_arena_contains(mi_arena_id_t arena_id, const void* p) mi_attr_noexcept;

/* Gives the unused memory of all arenas back to the OS now. */
mi_decl_export void mi_arenas_purge(void) mi_attr_noexcept;

/* Bytes of the largest block that an arena serves; larger ones come from the OS directly. */
mi_decl_result size_t mi_arena_max_object_size(void) mi_attr_noexcept;

/* Prints the arenas and how they are filled, as output of the library. */
mi_decl_export void mi_debug_show_arenas(void) mi_attr_noexcept;
/* As `mi_debug_show_arenas`. */
mi_decl_export void mi_arenas_print(void) mi_attr_noexcept;

/* ---- Statistics as text and JSON (as a struct: `mimalloc-stats.h`) ----
   Text goes to `out`, or where that is NULL to the registered output. JSON is written to `buf`,
   at most `buf_size` bytes with the terminating zero, and cut off there; without a `buf`, or with
   a size of 0, it is a new block, to be freed with `mi_free`. It returns the text, or NULL when
   there is no memory. */

/* Prints statistics of the calling thread's sub-process, as output of the library; the 1.x form,
   which ignores `out`. */
mi_decl_export void mi_stats_print(void* out) mi_attr_noexcept;
/* Prints statistics of the calling thread's sub-process. */
mi_decl_export void mi_stats_print_out(mi_output_fun* out, void* arg) mi_attr_noexcept;
/* Returns statistics of the calling thread's sub-process as JSON. */
mi_decl_result char* mi_stats_get_json(size_t buf_size, char* buf) mi_attr_noexcept;

/* Prints what the pages of the calling thread hold now. */
mi_decl_export void mi_thread_stats_print_out(mi_output_fun* out, void* arg) mi_attr_noexcept;

/* Begins totals and peaks anew, of the calling thread's sub-process and of the memory of the
   process; what is in use stays counted. */
mi_decl_export void mi_stats_reset(void) mi_attr_noexcept;
/* Tells heaps what the calling thread has counted; its end and readers do so in any case. */
mi_decl_export void mi_stats_merge(void) mi_attr_noexcept;

/* Block size, in bytes, that entry `bin` of `malloc_bins` and `page_bins` is about; 0 for no
   such bin. */
mi_decl_result size_t mi_stats_get_bin_size(size_t bin) mi_attr_noexcept;

/* Returns statistics of one heap as JSON. */
mi_decl_result char* mi_heap_stats_get_json(mi_heap_t* heap, size_t buf_size,
                                            char* buf) mi_attr_noexcept;
/* Prints statistics of one heap. */
mi_decl_export void mi_heap_stats_print_out(mi_heap_t* heap, mi_output_fun* out,
                                            void* arg) mi_attr_noexcept;
/* Adds what is past of the heap's statistics to those of its sub-process; what is in use stays with
   the heap. */
mi_decl_export void mi_heap_stats_merge_to_subproc(mi_heap_t* heap) mi_attr_noexcept;

/* Returns statistics of a sub-process and its heaps together as JSON. */
mi_decl_result char* mi_subproc_stats_get_json(mi_subproc_id_t subproc_id, size_t buf_size,
                                               char* buf) mi_attr_noexcept;
/* Prints statistics of a sub-process and its heaps together. */
mi_decl_export void mi_subproc_stats_print_out(mi_subproc_id_t subproc_id, mi_output_fun* out,
                                               void* arg) mi_attr_noexcept;
/* Prints statistics of a sub-process and its heaps together, and each heap's by itself. */
mi_decl_export void mi_subproc_heap_stats_print_out(mi_subproc_id_t subproc_id, mi_output_fun* out,
                                                    void* arg) mi_attr_noexcept;

/* ---- C++ new semantics ----
   When there is no memory they call the new-handler until there is, and without one throw
   `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms
   return NULL instead. */

/* As `operator new`. */
mi_decl_alloc void* mi_new(size_t size) mi_attr_malloc mi_attr_alloc_size(1);
/* As `operator new` with an alignment. */
mi_decl_alloc void* mi_new_aligned(size_t size, size_t alignment) mi_attr_malloc
    mi_attr_alloc_size(1) mi_attr_alloc_align(2);
/* As `operator new` with `std::nothrow`. */
mi_decl_alloc void* mi_new_nothrow(size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1);
/* As `operator new` with an alignment and `std::nothrow`. */
mi_decl_alloc void* mi_new_aligned_nothrow(size_t size,
                                           size_t alignment) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(1) mi_attr_alloc_align(2);
/* As `operator new` of `count` times `size` bytes. */
mi_decl_alloc void* mi_new_n(size_t count, size_t size) mi_attr_malloc mi_attr_alloc_size2(1, 2);
/* As `mi_realloc`, but throws. */
mi_decl_result void* mi_new_realloc(void* p, size_t newsize) mi_attr_alloc_size(2);
/* As `mi_reallocn`, but throws. */
mi_decl_result void* mi_new_reallocn(void* p, size_t newcount, size_t size)
    mi_attr_alloc_size2(2, 3);

/* ---- POSIX, BSD and Windows names: as the functions without `mi_` ---- */

/* As `mi_free`, but looks first: false, and nothing done, for NULL and what is no block of ours. */
mi_decl_export bool mi_cfree(void* p) mi_attr_noexcept;
/* As `mi_expand`. */
mi_decl_result void* mi__expand(void* p, size_t newsize) mi_attr_noexcept mi_attr_alloc_size(2);
/* As `mi_usable_size`. */
mi_decl_result size_t mi_malloc_size(const void* p) mi_attr_noexcept;
/* As `mi_good_size`. */
mi_decl_result size_t mi_malloc_good_size(size_t size) mi_attr_noexcept;
/* As `mi_usable_size`. */
mi_decl_result size_t mi_malloc_usable_size(const void* p) mi_attr_noexcept;

/* Both return 0, EINVAL or ENOMEM, and leave the pointer and errno alone on failure. */

/* Stores a new block at a multiple of `alignment` in `*p`. */
mi_decl_export int mi_posix_memalign(void** p, size_t alignment, size_t size) mi_attr_noexcept;
/* Resizes the block that the pointer at `ptrp` leads to; an array of no bytes is freed, and the
   pointer becomes NULL. */
mi_decl_export int mi_reallocarr(void* ptrp, size_t count, size_t size) mi_attr_noexcept;

/* As `mi_malloc_aligned`; the alignment comes first. */
mi_decl_alloc void* mi_memalign(size_t alignment, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(1);
/* As `mi_malloc_aligned`; the alignment comes first. */
mi_decl_alloc void* mi_aligned_alloc(size_t alignment, size_t size) mi_attr_noexcept mi_attr_malloc
    mi_attr_alloc_size(2) mi_attr_alloc_align(1);

/* As `mi_malloc`, aligned to an OS page. */
mi_decl_alloc void* mi_valloc(size_t size) mi_attr_noexcept mi_attr_malloc mi_attr_alloc_size(1);
/* As `mi_valloc`, with the size rounded up to whole OS pages. */
mi_decl_alloc void* mi_pvalloc(size_t size) mi_attr_noexcept mi_attr_malloc;

/* As `mi_reallocn`. */
mi_decl_result void* mi_reallocarray(void* p, size_t count, size_t size) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3);
/* As `mi_recalloc_aligned`. */
mi_decl_result void* mi_aligned_recalloc(void* p, size_t newcount, size_t size,
                                         size_t alignment) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3) mi_attr_alloc_align(4);
/* As `mi_recalloc_aligned_at`. */
mi_decl_result void* mi_aligned_offset_recalloc(void* p, size_t newcount, size_t size,
                                                size_t alignment, size_t offset) mi_attr_noexcept
    mi_attr_alloc_size2(2, 3);

/* As `mi_free`. The size and alignment are those that the block was asked for with. Secure and
   debug builds report those that it cannot have been asked for with (EINVAL), and leave the block
   alone; others do not look at them. */

/* As `mi_free`, told the size. */
mi_decl_export void mi_free_size(void* p, size_t size) mi_attr_noexcept;
/* As `mi_free`, told the size and the alignment. */
mi_decl_export void mi_free_size_aligned(void* p, size_t size, size_t alignment) mi_attr_noexcept;
/* As `mi_free`, told the alignment. */
mi_decl_export void mi_free_aligned(void* p, size_t alignment) mi_attr_noexcept;

/* The copy goes to `*buf`, NULL if the variable is not set, and the number of its characters with
   the zero to `*size` (may be NULL). The result is 0, EINVAL or ENOMEM. */

/* Copies an environment variable. */
mi_decl_export int mi_dupenv_s(char** buf, size_t* size, const char* name) mi_attr_noexcept;
/* As `mi_dupenv_s`, for Windows; EINVAL elsewhere. */
mi_decl_export int mi_wdupenv_s(wchar_t** buf, size_t* size, const wchar_t* name) mi_attr_noexcept;

/* Copies a string of wide characters into a new block; NULL gives NULL. */
mi_decl_alloc wchar_t* mi_wcsdup(const wchar_t* s) mi_attr_noexcept mi_attr_malloc;
/* Copies a string in a multi-byte code page into a new block; NULL gives NULL. */
mi_decl_alloc unsigned char* mi_mbsdup(const unsigned char* s) mi_attr_noexcept mi_attr_malloc;

/* ---- Pages whose memory must not serve other sizes yet ---- */

/* For runtimes whose threads read objects without a lock, while others may free them, and that know
   when all threads have passed a quiescent state. Registers one function for the process, in place
   of the former; NULL takes it away, and all pages may go. While there is one, no request is
   sampled for guards. Register before other threads use the library.

   Until it says true for a page the memory stays readable, and whatever is taken from it has the
   same size. It is asked again by `mi_collect`, `mi_heap_collect` and `mi_theap_collect` for the
   caller's heaps, by a thread now and then, when memory has grown, before a request fails, and when
   twice as many pages are kept as after the last time. Never asked: destroying a heap or
   sub-process, `realloc` that cuts or moves a block, which frees at once what it leaves. A large
   block may be taken again by a request of about its length. In secure and debug builds what is
   freed may be filled, but for the bytes of `mi_heap_set_debug_fill_preserve` in debug builds. */
mi_decl_export void mi_register_page_release(mi_page_release_fun* fun, void* arg) mi_attr_noexcept;

/* Two words of the program's own for the page of a live block `p`, or of one of `area->blocks`.
   NULL when each page begins, and when it begins to serve another size; the library never reads
   them.
   They may be used as long as a block of the page is live, and inside the function above; threads
   that share them agree among themselves. NULL, if p is in no page, or out of memory (256 bytes for
   15 pages or fewer are taken at the first use of one of them). */
mi_decl_result void** mi_page_user_data(const void* p) mi_attr_noexcept;

/* ---- Process, thread and hooks ---- */

/* These register one function for the process, in place of the former; NULL takes it away. For
   output NULL means standard error. */

/* Registers what is called now and then by slow paths. */
mi_decl_export void mi_register_deferred_free(mi_deferred_free_fun* fun,
                                              void* arg) mi_attr_noexcept;
/* Registers what takes messages and statistics; NULL: standard error does. */
mi_decl_export void mi_register_output(mi_output_fun* out, void* arg) mi_attr_noexcept;
/* Registers what takes error numbers. */
mi_decl_export void mi_register_error(mi_error_fun* fun, void* arg) mi_attr_noexcept;

/* Frees what the calling thread keeps for later use, and empty pages that no thread has wanted for
   a second; `force` gives all unused memory back to the OS, and has other threads do the same when
   they next look for memory. */
mi_decl_export void mi_collect(bool force) mi_attr_noexcept;

/* Frees what the calling thread keeps, and gives unused memory back to the OS, if the thread's
   pages have more than so many bytes; else does nothing. */
mi_decl_export void mi_collect_reduce(size_t target_thread_owned) mi_attr_noexcept;

/* MI_MALLOC_VERSION of the library that runs. */
mi_decl_result int mi_version(void) mi_attr_noexcept;

/* Times in milliseconds (since start, user, system), memory in bytes, and the page faults of the
   process, all of its threads, those that needed no disk included. Any pointer may be NULL. */
mi_decl_export void mi_process_info(size_t* elapsed_msecs, size_t* user_msecs, size_t* system_msecs,
                                    size_t* current_rss, size_t* peak_rss, size_t* current_commit,
                                    size_t* peak_commit, size_t* page_faults) mi_attr_noexcept;

/* Prints what `mi_process_info` tells, to the registered output. */
mi_decl_export void mi_process_info_print(void) mi_attr_noexcept;
/* Prints what `mi_process_info` tells, to `out`. */
mi_decl_export void mi_process_info_print_out(mi_output_fun* out, void* arg) mi_attr_noexcept;

/* Start and end of the library in a process and in a thread. They happen by themselves and may
   be repeated; a program calls them only where a thread is made or ended behind the C library's
   back. Allocating goes on working after both `done`. */

/* Starts the library in the process. */
mi_decl_export void mi_process_init(void) mi_attr_noexcept;
/* Ends the library in the process. */
mi_decl_export void mi_process_done(void) mi_attr_noexcept;
/* Starts the library in the calling thread. */
mi_decl_export void mi_thread_init(void) mi_attr_noexcept;
/* Ends the library in the calling thread. */
mi_decl_export void mi_thread_done(void) mi_attr_noexcept;

/* Says that the calling thread works in a pool: no effect, what a thread leaves is for all. */
mi_decl_export void mi_thread_set_in_threadpool(void) mi_attr_noexcept;

/* ---- Options ----
   Each is also an environment variable, MIMALLOC_ and the name in any case, read once at start.
   Setting one is best done before the first allocation; many are looked at only once. One that has
   no effect keeps its value, and `verbose` says so and why. */

typedef enum mi_option_e {
  mi_option_show_errors = 0,                      /* print errors and warnings */
  mi_option_show_stats = 1,                       /* print statistics at exit */
  mi_option_verbose = 2,                          /* print what happens */
  mi_option_deprecated_eager_commit = 3,          /* does nothing */
  mi_option_arena_eager_commit = 4,               /* 1: commit arenas whole; 0, 2: as used */
  mi_option_purge_decommits = 5,                  /* give memory back; 0: offer it to the OS */
  mi_option_allow_large_os_pages = 6,             /* use OS pages of 2 or 4 MiB */
  mi_option_reserve_huge_os_pages = 7,            /* so many 1 GiB pages at start */
  mi_option_reserve_huge_os_pages_at = 8,         /* all of those on this NUMA node; -1: spread */
  mi_option_reserve_os_memory = 9,                /* reserve this much at start (KiB) */
  mi_option_deprecated_segment_cache = 10,        /* does nothing */
  mi_option_deprecated_page_reset = 11,           /* does nothing */
  mi_option_deprecated_abandoned_page_purge = 12, /* does nothing */
  mi_option_deprecated_segment_reset = 13,        /* does nothing */
  mi_option_deprecated_eager_commit_delay = 14,   /* does nothing */
  mi_option_purge_delay = 15,                     /* ms till unused memory goes back; -1 never */
  mi_option_use_numa_nodes = 16,                 /* spread 1 GiB pages over so many nodes; 0: all */
  mi_option_disallow_os_alloc = 17,              /* only arenas that the program reserved */
  mi_option_os_tag = 18,                         /* macOS: the tag of our memory */
  mi_option_max_errors = 19,                     /* print at most so many errors */
  mi_option_max_warnings = 20,                   /* print at most so many warnings */
  mi_option_deprecated_max_segment_reclaim = 21, /* does nothing */
  mi_option_destroy_on_exit = 22,                /* destroy heaps, and collect, at process end */
  mi_option_arena_reserve = 23,                  /* reserve arenas of this size (KiB) */
  mi_option_arena_purge_mult = 24,               /* multiplies `purge_delay` for arenas */
  mi_option_deprecated_purge_extend_delay = 25,  /* does nothing */
  mi_option_disallow_arena_alloc = 26,           /* no arenas: take memory from the OS */
  mi_option_retry_on_oom = 27,          /* on Windows: ask again for so many ms when refused */
  mi_option_visit_abandoned = 28,       /* allow `mi_abandoned_visit_blocks` */
  mi_option_guarded_min = 29,           /* least size with a guard page (bytes) */
  mi_option_guarded_max = 30,           /* largest such size (bytes) */
  mi_option_guarded_precise = 31,       /* end blocks exactly at guard pages */
  mi_option_guarded_sample_rate = 32,   /* guard one in so many; 0 none */
  mi_option_guarded_sample_seed = 33,   /* start of the sampling; 0 random */
  mi_option_generic_collect = 34,       /* collect each so many slow allocations */
  mi_option_page_reclaim_on_free = 35,  /* free takes over nobody's page: -1 no, 0 own, 1 all */
  mi_option_page_full_retain = 36,      /* no effect */
  mi_option_page_max_candidates = 37,   /* no effect */
  mi_option_max_vabits = 38,            /* no effect */
  mi_option_pagemap_commit = 39,        /* the map of addresses is resident from the start */
  mi_option_page_commit_on_demand = 40, /* no effect: always so */
  mi_option_page_max_reclaim = 41,      /* free takes so many own pages back; -1 all */
  mi_option_page_cross_thread_max_reclaim = 42, /* free takes so many of others' back; -1 all */
  mi_option_allow_thp = 43,                     /* huge pages: 0 none, 1 some, 2 all, never split */
  mi_option_minimal_purge_size = 44,            /* smallest piece to purge (KiB); 0: automatic */
  mi_option_arena_max_object_size = 45,         /* larger objects come from the OS (KiB) */
  mi_option_arena_is_numa_local = 46,           /* no effect */
  mi_option_stats_merge_on_collect = 47,        /* no effect: always merged */
  mi_option_profile_alloc_interval = 48,        /* no effect yet (KiB) */
  mi_option_profile_inuse_interval = 49,        /* no effect yet (KiB) */
  mi_option_profile_time_interval = 50,         /* no effect yet (seconds) */
  mi_option_profile_sample_rate = 51,           /* no effect yet (KiB) */
  mi_option_stats_merge_threshold = 52,         /* no effect: always merged */
  mi_option_arena_purge_immediate_size = 53,    /* so much goes back at once (KiB); 0 no */
  _mi_option_last = 54,                         /* the last number of mimalloc's, and one */

  /* of this library alone */
  mi_option_corruption = 1000,      /* on misuse: 0 go on, 1 abort or the error function, 2 abort */
  mi_option_fill_freed = 1001,      /* secure builds, fill freed blocks: 0 no, 1 zeros, 2 0xDF */
  mi_option_quarantine_size = 1002, /* MI_SECURE=FULL: freed memory kept from reuse (KiB) */
  mi_option_show_leaks = 1003,      /* print at exit what is still in use */
  mi_option_guarded_sample_bytes = 1004, /* guard one block in so many bytes; 0 none */
  mi_option_guarded_underflow = 1005,    /* start blocks exactly behind guard pages */
  mi_option_dlopen_deepbind = 1006,      /* shared library: dlopen leaves RTLD_DEEPBIND out */

  /* older names of the same options */
  mi_option_large_os_pages = mi_option_allow_large_os_pages,
  mi_option_eager_region_commit = mi_option_arena_eager_commit,
  mi_option_reset_decommits = mi_option_purge_decommits,
  mi_option_reset_delay = mi_option_purge_delay,
  mi_option_limit_os_alloc = mi_option_disallow_os_alloc,
  mi_option_abandoned_reclaim_on_free = mi_option_page_reclaim_on_free,

  /* 2.x names of options that do nothing now */
  mi_option_eager_commit = mi_option_deprecated_eager_commit,
  mi_option_segment_cache = mi_option_deprecated_segment_cache,
  mi_option_page_reset = mi_option_deprecated_page_reset,
  mi_option_abandoned_page_purge = mi_option_deprecated_abandoned_page_purge,
  mi_option_abandoned_page_reset = mi_option_deprecated_abandoned_page_purge,
  mi_option_segment_reset = mi_option_deprecated_segment_reset,
  mi_option_eager_commit_delay = mi_option_deprecated_eager_commit_delay,
  mi_option_max_segment_reclaim = mi_option_deprecated_max_segment_reclaim,
  mi_option_purge_extend_delay = mi_option_deprecated_purge_extend_delay
} mi_option_t;

/* Prints the options in force, as output of the library. */
mi_decl_export void mi_options_print(void) mi_attr_noexcept;
/* Prints the options in force, to `out`. */
mi_decl_export void mi_options_print_out(mi_output_fun* out, void* arg) mi_attr_noexcept;

/* A number that is no option's reads as 0, and setting it does nothing. */

/* Tells whether the option is not 0. */
mi_decl_result bool mi_option_is_enabled(mi_option_t option) mi_attr_noexcept;
/* Sets the option to 1. */
mi_decl_export void mi_option_enable(mi_option_t option) mi_attr_noexcept;
/* Sets the option to 0. */
mi_decl_export void mi_option_disable(mi_option_t option) mi_attr_noexcept;
/* Sets the option to 1 or 0. */
mi_decl_export void mi_option_set_enabled(mi_option_t option, bool enable) mi_attr_noexcept;
/* Sets the option to 1 or 0, unless the program or the environment has set it. */
mi_decl_export void mi_option_set_enabled_default(mi_option_t option, bool enable) mi_attr_noexcept;

/* Returns the option, in its own unit. */
mi_decl_result long mi_option_get(mi_option_t option) mi_attr_noexcept;
/* Returns the option, kept within `min` and `max`. */
mi_decl_result long mi_option_get_clamp(mi_option_t option, long min, long max) mi_attr_noexcept;
/* Returns a size option, in bytes. */
mi_decl_result size_t mi_option_get_size(mi_option_t option) mi_attr_noexcept;
/* Sets the option, in its own unit. */
mi_decl_export void mi_option_set(mi_option_t option, long value) mi_attr_noexcept;
/* Sets the option, unless the program or the environment has set it. */
mi_decl_export void mi_option_set_default(mi_option_t option, long value) mi_attr_noexcept;

/* ---- Only in the 2.x interface ---- */

/* Which heap the plain functions (`mi_malloc`, …) of the calling thread use. Setting returns the
   former. A heap belonged to a thread in 2.x: so the backing heap, with which a thread starts, is
   its own part of the main heap. Visiting, `contains` and collecting see that part alone; all else
   takes it for the main heap. It is of no use after its thread has ended. */

/* Lets the plain functions of the calling thread use this heap; returns the former. */
mi_decl_export mi_heap_t* mi_heap_set_default(mi_heap_t* heap) mi_attr_noexcept;
/* Returns the heap that the plain functions of the calling thread use. */
mi_decl_result mi_heap_t* mi_heap_get_default(void) mi_attr_noexcept;
/* Returns the calling thread's own part of the main heap. */
mi_decl_result mi_heap_t* mi_heap_get_backing(void) mi_attr_noexcept;

/* As `mi_heap_contains`. */
mi_decl_result bool mi_heap_contains_block(mi_heap_t* heap, const void* p) mi_attr_noexcept;
/* As `mi_heap_contains`. */
mi_decl_result bool mi_heap_check_owned(mi_heap_t* heap, const void* p) mi_attr_noexcept;

/* As `mi_heap_new_in_arena`; a NULL arena is any. Visitors are told the tag, and
   `mi_abandoned_visit_blocks` asks for it. Destroying a heap that may not be destroyed deletes
   it. */
mi_decl_result mi_heap_t* mi_heap_new_ex(int heap_tag, bool allow_destroy,
                                         mi_arena_id_t arena_id) mi_attr_noexcept;

/* Ends a sub-process; its live blocks go to the main one and stay valid. No thread may be in it
   any more. */
mi_decl_export void mi_subproc_delete(mi_subproc_id_t subproc) mi_attr_noexcept;

/* As `mi_heap_visit_abandoned_blocks`, for the heaps of a sub-process with this tag; a negative
   tag is any. False unless the option `visit_abandoned` is on. */
mi_decl_export bool mi_abandoned_visit_blocks(mi_subproc_id_t subproc_id, int heap_tag,
                                              bool visit_blocks, mi_block_visit_fun* visitor,
                                              void* arg);

/* As the `mi_theap_guarded_…` functions, for all threads: the calling one at once, others in their
   next slow path. */

/* As `mi_theap_guarded_set_sample_rate`. */
mi_decl_export void mi_heap_guarded_set_sample_rate(mi_heap_t* heap, size_t sample_rate,
                                                    size_t seed) mi_attr_noexcept;
/* As `mi_theap_guarded_set_size_bound`. */
mi_decl_export void mi_heap_guarded_set_size_bound(mi_heap_t* heap, size_t min,
                                                   size_t max) mi_attr_noexcept;

#if defined(__cplusplus)
}
#endif

/* ---- Sizes known when compiled ----
   As the functions without `csize`, and no faster here. `nonnull` promises that the pointer is not
   NULL, which is not looked at. */

/* For the functions below alone. */
static inline bool mi_csize_is_words(size_t size) mi_attr_noexcept {
  return size <= MI_SMALL_SIZE_MAX && size % sizeof(void*) == 0;
}

/* As `mi_malloc`. */
mi_decl_nodiscard static inline void* mi_malloc_csize(size_t size) mi_attr_noexcept {
  return mi_csize_is_words(size) ? mi_wmalloc_small(mi_wsize_from_size(size)) : mi_malloc(size);
}
/* As `mi_zalloc`. */
mi_decl_nodiscard static inline void* mi_zalloc_csize(size_t size) mi_attr_noexcept {
  return mi_csize_is_words(size) ? mi_wzalloc_small(mi_wsize_from_size(size)) : mi_zalloc(size);
}
/* As `mi_theap_malloc`. */
mi_decl_nodiscard static inline void* mi_theap_malloc_csize(mi_theap_t* theap,
                                                            size_t size) mi_attr_noexcept {
  return mi_csize_is_words(size) ? mi_theap_wmalloc_small(theap, mi_wsize_from_size(size))
                                 : mi_theap_malloc(theap, size);
}
/* As `mi_theap_zalloc`. */
mi_decl_nodiscard static inline void* mi_theap_zalloc_csize(mi_theap_t* theap,
                                                            size_t size) mi_attr_noexcept {
  return mi_csize_is_words(size) ? mi_theap_wzalloc_small(theap, mi_wsize_from_size(size))
                                 : mi_theap_zalloc(theap, size);
}
/* As `mi_free_size`. */
static inline void mi_free_csize(void* p, size_t size) mi_attr_noexcept { mi_free_size(p, size); }
/* As `mi_free_size`. */
static inline void mi_free_csize_nonnull(void* p, size_t size) mi_attr_noexcept {
  mi_free_size(p, size);
}
/* As `mi_free_size_aligned`. */
static inline void mi_free_csize_aligned(void* p, size_t size, size_t alignment) mi_attr_noexcept {
  mi_free_size_aligned(p, size, alignment);
}
/* As `mi_free_size_aligned`. */
static inline void mi_free_csize_aligned_nonnull(void* p, size_t size,
                                                 size_t alignment) mi_attr_noexcept {
  mi_free_size_aligned(p, size, alignment);
}

/* ---- Typed: a T, or an array of `n` of them, as a T* ---- */

#define mi_malloc_tp(tp)         ((tp*)mi_malloc_csize(sizeof(tp)))
#define mi_zalloc_tp(tp)         ((tp*)mi_zalloc_csize(sizeof(tp)))
#define mi_free_tp(tp, p)        mi_free_csize(p, sizeof(tp))
#define mi_calloc_tp(tp, n)      ((tp*)mi_calloc(n, sizeof(tp)))
#define mi_mallocn_tp(tp, n)     ((tp*)mi_mallocn(n, sizeof(tp)))
#define mi_reallocn_tp(tp, p, n) ((tp*)mi_reallocn(p, n, sizeof(tp)))
#define mi_recalloc_tp(tp, p, n) ((tp*)mi_recalloc(p, n, sizeof(tp)))

/* In a heap. */
#define mi_heap_malloc_tp(tp, hp)         ((tp*)mi_heap_malloc(hp, sizeof(tp)))
#define mi_heap_zalloc_tp(tp, hp)         ((tp*)mi_heap_zalloc(hp, sizeof(tp)))
#define mi_heap_calloc_tp(tp, hp, n)      ((tp*)mi_heap_calloc(hp, n, sizeof(tp)))
#define mi_heap_mallocn_tp(tp, hp, n)     ((tp*)mi_heap_mallocn(hp, n, sizeof(tp)))
#define mi_heap_reallocn_tp(tp, hp, p, n) ((tp*)mi_heap_reallocn(hp, p, n, sizeof(tp)))
#define mi_heap_recalloc_tp(tp, hp, p, n) ((tp*)mi_heap_recalloc(hp, p, n, sizeof(tp)))

#if defined(__cplusplus)
#include "mimalloc-cpp.h"
#endif
#endif /* MIMALLOC_H */
