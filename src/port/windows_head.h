// Windows' headers, without the names that are macros there and ours here.
#ifndef MI_PORT_WINDOWS_HEAD_H
#define MI_PORT_WINDOWS_HEAD_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#undef near
#undef far
#undef NEAR
#undef FAR
#undef small
#undef IN
#undef OUT

#endif
