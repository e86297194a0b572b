/* Redirects the allocation calls of one source file to this library, by macros: include it after
   all other headers, in C or C++. Only calls are redirected. A function whose address is taken,
   and memory that other functions allocate (`getline`, `asprintf`), stay with the C library, and
   such memory must be freed there: `(free)(p)`. C++ code writes `malloc`, not `std::malloc`.
   Linking or preloading the overriding library has none of these limits. */
#ifndef MIMALLOC_OVERRIDE_H
#define MIMALLOC_OVERRIDE_H

/* The headers that declare these names come first: included later they would trip over the
   macros, or, as the C++ ones do, undefine them. */
#if defined(__cplusplus)
#include <cstdlib>
#include <cstring>
#include <cwchar>
#endif
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#if defined(_WIN32) || defined(__linux__)
#include <malloc.h>
#elif defined(__FreeBSD__)
#include <malloc_np.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif
#include "mimalloc.h"

/* Some C libraries have a few of these as macros already. */
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef aligned_alloc
#undef free_sized
#undef free_aligned_sized
#undef strdup
#undef strndup
#undef wcsdup
#undef realpath
#undef posix_memalign
#undef _posix_memalign
#undef memalign
#undef valloc
#undef pvalloc
#undef vfree
#undef cfree
#undef reallocf
#undef reallocarray
#undef reallocarr
#undef malloc_size
#undef malloc_usable_size
#undef malloc_good_size
#undef _expand
#undef _msize
#undef _recalloc
#undef _strdup
#undef _strndup
#undef _wcsdup
#undef _mbsdup
#undef _dupenv_s
#undef _wdupenv_s
#undef _aligned_malloc
#undef _aligned_realloc
#undef _aligned_recalloc
#undef _aligned_msize
#undef _aligned_free
#undef _aligned_offset_malloc
#undef _aligned_offset_realloc
#undef _aligned_offset_recalloc

/* Standard C; C23 passes the alignment before the size */
#define malloc(n)                   mi_malloc(n)
#define calloc(c, n)                mi_calloc(c, n)
#define realloc(p, n)               mi_realloc(p, n)
#define free(p)                     mi_free(p)
#define aligned_alloc(a, n)         mi_aligned_alloc(a, n)
#define free_sized(p, n)            mi_free_size(p, n)
#define free_aligned_sized(p, a, n) mi_free_size_aligned(p, n, a)

/* Strings and paths */
#define strdup(s)      mi_strdup(s)
#define strndup(s, n)  mi_strndup(s, n)
#define wcsdup(s)      mi_wcsdup(s)
#define realpath(f, n) mi_realpath(f, n)

/* POSIX, BSD and their older relatives */
#define posix_memalign(p, a, n)  mi_posix_memalign(p, a, n)
#define _posix_memalign(p, a, n) mi_posix_memalign(p, a, n)
#define memalign(a, n)           mi_memalign(a, n)
#define valloc(n)                mi_valloc(n)
#define pvalloc(n)               mi_pvalloc(n)
#define vfree(p)                 mi_free(p)
#define cfree(p)                 mi_cfree(p)
#define reallocf(p, n)           mi_reallocf(p, n)
#define reallocarray(p, c, n)    mi_reallocarray(p, c, n)
#define reallocarr(p, c, n)      mi_reallocarr(p, c, n)
#define malloc_size(p)           mi_malloc_size(p)
#define malloc_usable_size(p)    mi_malloc_usable_size(p)
#define malloc_good_size(n)      mi_malloc_good_size(n)

/* Windows; `_aligned_msize` also gets the alignment and offset, which are not needed here */
#define _expand(p, n)                           mi__expand(p, n)
#define _msize(p)                               mi_usable_size(p)
#define _recalloc(p, c, n)                      mi_recalloc(p, c, n)
#define _strdup(s)                              mi_strdup(s)
#define _strndup(s, n)                          mi_strndup(s, n)
#define _wcsdup(s)                              mi_wcsdup(s)
#define _mbsdup(s)                              mi_mbsdup(s)
#define _dupenv_s(b, n, v)                      mi_dupenv_s(b, n, v)
#define _wdupenv_s(b, n, v)                     mi_wdupenv_s(b, n, v)
#define _aligned_malloc(n, a)                   mi_malloc_aligned(n, a)
#define _aligned_realloc(p, n, a)               mi_realloc_aligned(p, n, a)
#define _aligned_recalloc(p, c, n, a)           mi_aligned_recalloc(p, c, n, a)
#define _aligned_msize(p, a, o)                 mi_usable_size(p)
#define _aligned_free(p)                        mi_free(p)
#define _aligned_offset_malloc(n, a, o)         mi_malloc_aligned_at(n, a, o)
#define _aligned_offset_realloc(p, n, a, o)     mi_realloc_aligned_at(p, n, a, o)
#define _aligned_offset_recalloc(p, c, n, a, o) mi_aligned_offset_recalloc(p, c, n, a, o)

#endif /* MIMALLOC_OVERRIDE_H */
