/* A library that does nothing: what it takes to load any. It needs the libraries that ours needs:
   before glibc 2.34 threads are in one of their own. */
#include <features.h>

#if defined(__GLIBC__) && __GLIBC__ == 2 && __GLIBC_MINOR__ < 34
#include <pthread.h>
extern int (*module_empty)(pthread_key_t, const void*);
int (*module_empty)(pthread_key_t, const void*) = pthread_setspecific;
#else
extern int module_empty;
int module_empty;
#endif
