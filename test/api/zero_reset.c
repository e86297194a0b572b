/* test: timeout=60 env="MIMALLOC_PURGE_DECOMMITS=0 MIMALLOC_PURGE_DELAY=0" when="release|debug|secure|guarded" */
/* What zero.c checks, when unused memory is reset, so that it need not read as zero when it is used
 * again. */
#include "zero.c"
