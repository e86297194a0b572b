// Build modes as constants: the only place that reads the MI_… macros of the build. Everywhere else
// a mode is tested by a plain `if`, so that every mode is type-checked in every build and dead code
// vanishes.
#ifndef MI_BASE_MODES_H
#define MI_BASE_MODES_H

#ifndef MI_SECURE
#define MI_SECURE 0  // 0 none … 4 all that is cheap
#endif
#ifndef MI_DEBUG
#ifdef NDEBUG
#define MI_DEBUG 0
#else
#define MI_DEBUG 1  // 1 cheap checks, 2 internal invariants, 3 whole-structure walks
#endif
#endif
#ifndef MI_GUARDED
#define MI_GUARDED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define MI_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MI_UNDER_TSAN 1
#endif
#endif
#ifndef MI_UNDER_TSAN
#define MI_UNDER_TSAN 0
#endif

enum {
  UNDER_TSAN = MI_UNDER_TSAN,
  SECURE_LEVEL = MI_SECURE,
  DEBUG_LEVEL = MI_DEBUG,
  GUARDED_BUILD = MI_GUARDED,
  CHECK_FREE = MI_DEBUG >= 1 ||
               MI_SECURE >= 1,  // free checks that the pointer is the start of a block in use
  KEEP_LOOSE = !CHECK_FREE,     // freed blocks may be set aside without their page's knowledge
  FILL_BLOCKS = MI_DEBUG >= 1,  // 0xD0 in new blocks, 0xDF in freed ones
  CHECK_INVARIANTS = MI_DEBUG >= 2,
};

#endif
