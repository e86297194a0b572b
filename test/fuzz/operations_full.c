/* test: timeout=300 when="glibc release" */
/* The same with every mitigation on. */
#undef MI_SECURE
#define MI_SECURE 5
#include "operations.c"
