/* test: label=long timeout=600 cflags="-fsanitize=thread" */
// The model remote with links that lie apart from the blocks.
#define REMOTE_APART
#include "remote.c"
