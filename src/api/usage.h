// What the process has used.
#ifndef MI_API_USAGE_H
#define MI_API_USAGE_H

#include "../base/attributes.h"

PRIVATE void usage_begin(void);  // the time that has elapsed counts from the first call on

#endif
