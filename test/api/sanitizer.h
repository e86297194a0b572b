/* UNDER_SANITIZER: memory and speed are the sanitizer's, not ours. */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { UNDER_SANITIZER = 1 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { UNDER_SANITIZER = 1 };
#else
enum { UNDER_SANITIZER = 0 };
#endif
#else
enum { UNDER_SANITIZER = 0 };
#endif

#endif
