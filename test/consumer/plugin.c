// A plug-in that tells which copy of the library it uses.
#include "copy.h"

copy_t plugin_copy(void);
copy_t plugin_copy(void) { return copy_here(); }
