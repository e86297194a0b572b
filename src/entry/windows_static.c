// The names of the C runtime and of C++ in a program for Windows that the library is linked into.
// All names that one object of a static runtime defines are here, so the linker takes none of
// them; and as the runtime's headers may say that a name comes from a DLL, so are the pointers by
// which such a name is called.
//
// Where the runtime is a DLL, what allocates inside it (_getcwd) keeps its own heap; what it hands
// out comes back to it by way of free here.
//
// No name is weak: to mingw's linker the C++ runtime's DLL would come first. A program with
// operators of its own takes the library without these names.
#include "../port/port.h"

#if defined(_WIN32) && !defined(MI_SHARED_LIB) && defined(MI_MALLOC_OVERRIDE)
#include "windows_names.h"

#include "new.h"

#ifdef __i386__
#define BEFORE "_"  // each C name
#else
#define BEFORE ""
#endif

// Not every set of headers declares it.
EXTERN_C intptr_t get_heap_handle(void) __asm__(BEFORE "_get_heap_handle");

static HANDLE runtime_heap(void) { return (HANDLE)get_heap_handle(); }

// In the DLL that the runtime is; nothing where it is linked in.
static void runtime_find(const char* name, void* pointer) {
  void* base = NULL;
  FARPROC found = NULL;
  if (RtlPcToFileHeader((void*)(uintptr_t)&_errno, &base) != NULL) {
    found = GetProcAddress((HMODULE)base, name);
  }
  memcpy(pointer, (const void*)&found, sizeof(found));
}

// The compiler knows the names, and not as they are here: so they are told to the linker alone.
#define C_FUNCTION(type, name, ...)                                                  \
  EXTERN_C type static_##name(__VA_ARGS__) __asm__(BEFORE #name);                    \
  EXTERN_C void* const import_##name __asm__("__imp_" BEFORE #name);                 \
  __attribute__((used)) void* const import_##name = (void*)(uintptr_t)static_##name; \
  type static_##name(__VA_ARGS__)

// ---- C ----

C_FUNCTION(void*, malloc, size_t size) { return crt_malloc(size); }
C_FUNCTION(void*, calloc, size_t count, size_t size) { return crt_calloc(count, size); }
C_FUNCTION(void*, realloc, void* p, size_t size) { return crt_realloc(p, size); }
C_FUNCTION(void, free, void* p) { crt_free(p); }
C_FUNCTION(size_t, _msize, void* p) { return crt_msize(p); }
C_FUNCTION(void*, _expand, void* p, size_t size) { return crt_expand(p, size); }
C_FUNCTION(void*, _recalloc, void* p, size_t count, size_t size) {
  return crt_recalloc(p, count, size);
}

// ---- the universal runtime's inner names ----

C_FUNCTION(void*, _malloc_base, size_t size) { return crt_malloc(size); }
C_FUNCTION(void*, _calloc_base, size_t count, size_t size) { return crt_calloc(count, size); }
C_FUNCTION(void*, _realloc_base, void* p, size_t size) { return crt_realloc(p, size); }
C_FUNCTION(void, _free_base, void* p) { crt_free(p); }
C_FUNCTION(size_t, _msize_base, void* p) { return crt_msize(p); }
C_FUNCTION(void*, _expand_base, void* p, size_t size) { return crt_expand(p, size); }
C_FUNCTION(void*, _recalloc_base, void* p, size_t count, size_t size) {
  return crt_recalloc(p, count, size);
}

// ---- aligned: there no other function may free or resize what these hand out ----

C_FUNCTION(void*, _aligned_malloc, size_t size, size_t alignment) {
  return mi_malloc_aligned(size, alignment);
}

C_FUNCTION(void*, _aligned_offset_malloc, size_t size, size_t alignment, size_t offset) {
  return mi_malloc_aligned_at(size, alignment, offset);
}

C_FUNCTION(void*, _aligned_offset_realloc, void* p, size_t size, size_t alignment, size_t offset) {
  if (p == NULL || size != 0) { return mi_realloc_aligned_at(p, size, alignment, offset); }
  block_free(p);
  return NULL;
}

C_FUNCTION(void*, _aligned_realloc, void* p, size_t size, size_t alignment) {
  return static__aligned_offset_realloc(p, size, alignment, 0);
}

C_FUNCTION(void*, _aligned_offset_recalloc, void* p, size_t count, size_t size, size_t alignment,
           size_t offset) {
  if (p == NULL || (count != 0 && size != 0)) {
    return mi_aligned_offset_recalloc(p, count, size, alignment, offset);
  }
  block_free(p);
  return NULL;
}

C_FUNCTION(void*, _aligned_recalloc, void* p, size_t count, size_t size, size_t alignment) {
  return static__aligned_offset_recalloc(p, count, size, alignment, 0);
}

C_FUNCTION(size_t, _aligned_msize, void* p, size_t alignment, size_t offset) {
  (void)alignment, (void)offset;
  return block_usable(p);
}

C_FUNCTION(void, _aligned_free, void* p) { block_free(p); }

// ---- strings ----

C_FUNCTION(char*, strdup, const char* s) { return mi_strdup(s); }
C_FUNCTION(char*, _strdup, const char* s) { return mi_strdup(s); }
C_FUNCTION(wchar_t*, wcsdup, const wchar_t* s) { return mi_wcsdup(s); }
C_FUNCTION(wchar_t*, _wcsdup, const wchar_t* s) { return mi_wcsdup(s); }
C_FUNCTION(unsigned char*, _mbsdup, const unsigned char* s) { return mi_mbsdup(s); }

C_FUNCTION(int, _dupenv_s, char** buffer, size_t* size, const char* name) {
  return mi_dupenv_s(buffer, size, name);
}

C_FUNCTION(int, _wdupenv_s, wchar_t** buffer, size_t* size, const wchar_t* name) {
  return mi_wdupenv_s(buffer, size, name);
}

// ---- C++: by the names that its two ABIs make of `operator new` and `operator delete` ----

#undef DELETE  // a right to files, of Windows' headers

#ifdef __MINGW32__
#ifdef _WIN64
#define SIZED "y"
#else
#define SIZED "j"
#endif
#define NEW(rest)          BEFORE "_Znw" SIZED rest
#define NEW_ARRAY(rest)    BEFORE "_Zna" SIZED rest
#define DELETE(rest)       BEFORE "_ZdlPv" rest
#define DELETE_ARRAY(rest) BEFORE "_ZdaPv" rest
#define UNTHROWN           "RKSt9nothrow_t"
#define ALIGNED_TO         "St11align_val_t"
#define ALIGNED_UNTHROWN   ALIGNED_TO UNTHROWN
#else
#ifdef _WIN64
#define POINTER   "PEAX"
#define SIZED     "_K"
#define REFERENCE "AEB"
#else
#define POINTER   "PAX"
#define SIZED     "I"
#define REFERENCE "AB"
#endif
#define NEW(rest)          "??2@YA" POINTER SIZED rest "@Z"
#define NEW_ARRAY(rest)    "??_U@YA" POINTER SIZED rest "@Z"
#define DELETE(rest)       "??3@YAX" POINTER rest "@Z"
#define DELETE_ARRAY(rest) "??_V@YAX" POINTER rest "@Z"
#define UNTHROWN           REFERENCE "Unothrow_t@std@@"
#define ALIGNED_TO         "W4align_val_t@std@@"
#define ALIGNED_UNTHROWN   ALIGNED_TO REFERENCE "Unothrow_t@1@"
#endif
#define PLAIN ""

#define OPERATOR(type, name, symbol, ...)          \
  EXTERN_C type name(__VA_ARGS__) __asm__(symbol); \
  type name(__VA_ARGS__)

OPERATOR(void*, cxx_new, NEW(PLAIN), size_t size) { return new_block(size); }
OPERATOR(void*, cxx_new_array, NEW_ARRAY(PLAIN), size_t size) { return cxx_new(size); }

OPERATOR(void*, cxx_new_unthrown, NEW(UNTHROWN), size_t size, const void* tag) {
  (void)tag;
  return new_block_nothrow(size);
}

OPERATOR(void*, cxx_new_array_unthrown, NEW_ARRAY(UNTHROWN), size_t size, const void* tag) {
  return cxx_new_unthrown(size, tag);
}

OPERATOR(void*, cxx_new_aligned, NEW(ALIGNED_TO), size_t size, size_t alignment) {
  return new_aligned(size, alignment);
}

OPERATOR(void*, cxx_new_array_aligned, NEW_ARRAY(ALIGNED_TO), size_t size, size_t alignment) {
  return cxx_new_aligned(size, alignment);
}

OPERATOR(void*, cxx_new_aligned_unthrown, NEW(ALIGNED_UNTHROWN), size_t size, size_t alignment,
         const void* tag) {
  (void)tag;
  return new_aligned_nothrow(size, alignment);
}

OPERATOR(void*, cxx_new_array_aligned_unthrown, NEW_ARRAY(ALIGNED_UNTHROWN), size_t size,
         size_t alignment, const void* tag) {
  return cxx_new_aligned_unthrown(size, alignment, tag);
}

OPERATOR(void, cxx_delete, DELETE(PLAIN), void* p) { crt_free(p); }
OPERATOR(void, cxx_delete_array, DELETE_ARRAY(PLAIN), void* p) { cxx_delete(p); }

OPERATOR(void, cxx_delete_unthrown, DELETE(UNTHROWN), void* p, const void* tag) {
  (void)tag;
  cxx_delete(p);
}

OPERATOR(void, cxx_delete_array_unthrown, DELETE_ARRAY(UNTHROWN), void* p, const void* tag) {
  (void)tag;
  cxx_delete_array(p);
}

OPERATOR(void, cxx_delete_sized, DELETE(SIZED), void* p, size_t size) {
  (void)size;
  cxx_delete(p);
}

OPERATOR(void, cxx_delete_array_sized, DELETE_ARRAY(SIZED), void* p, size_t size) {
  (void)size;
  cxx_delete_array(p);
}

OPERATOR(void, cxx_delete_aligned, DELETE(ALIGNED_TO), void* p, size_t alignment) {
  (void)alignment;
  block_free(p);
}

OPERATOR(void, cxx_delete_array_aligned, DELETE_ARRAY(ALIGNED_TO), void* p, size_t alignment) {
  cxx_delete_aligned(p, alignment);
}

OPERATOR(void, cxx_delete_sized_aligned, DELETE(SIZED ALIGNED_TO), void* p, size_t size,
         size_t alignment) {
  (void)size;
  cxx_delete_aligned(p, alignment);
}

OPERATOR(void, cxx_delete_array_sized_aligned, DELETE_ARRAY(SIZED ALIGNED_TO), void* p, size_t size,
         size_t alignment) {
  (void)size;
  cxx_delete_array_aligned(p, alignment);
}

OPERATOR(void, cxx_delete_aligned_unthrown, DELETE(ALIGNED_UNTHROWN), void* p, size_t alignment,
         const void* tag) {
  (void)tag;
  cxx_delete_aligned(p, alignment);
}

OPERATOR(void, cxx_delete_array_aligned_unthrown, DELETE_ARRAY(ALIGNED_UNTHROWN), void* p,
         size_t alignment, const void* tag) {
  (void)tag;
  cxx_delete_array_aligned(p, alignment);
}

#undef NEW
#undef NEW_ARRAY
#undef DELETE
#undef DELETE_ARRAY
#undef UNTHROWN
#undef ALIGNED_TO
#undef ALIGNED_UNTHROWN
#undef PLAIN
#undef OPERATOR
#undef POINTER
#undef SIZED
#undef REFERENCE
#undef BEFORE
#undef C_FUNCTION
#endif
