/* UNDER_SANITIZER: memory and speed are the sanitizer's, not ours. BLOCKS_TRACKED: the library is
 * built for a memory tool; blocks are as long as was asked for, and take more room. */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

#ifdef MI_TEST_TRACKED
enum { BLOCKS_TRACKED = 1 };
#else
enum { BLOCKS_TRACKED = 0 };
#endif

#if defined(MI_TEST_TRACKED) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { UNDER_SANITIZER = 1 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || \
    __has_feature(memory_sanitizer)
enum { UNDER_SANITIZER = 1 };
#else
enum { UNDER_SANITIZER = 0 };
#endif
#else
enum { UNDER_SANITIZER = 0 };
#endif

#endif
