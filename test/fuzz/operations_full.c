/* test: timeout=300 when="glibc release threads" */
/* The same with every mitigation on. */
#undef MI_SECURE
#define MI_SECURE 5
#include "operations.c"
