// Solaris and illumos: POSIX, but memory comes from the upper half of the addresses where nothing
// else is asked for.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __EXTENSIONS__  // strict C hides what is not in it
// NOLINTNEXTLINE(bugprone-reserved-identifier) the system's name
#define __EXTENSIONS__
#endif
#include "port.h"

#include "unix_low.h"

#define OS_MMAP low_mmap
// Memory of which the system has not said that it is there, MAP_NORESERVE, it may fail to have when
// it is used. Without it a commit fails, which is heeded; and what is inaccessible takes nothing.
#define MAP_LAZY 0

#include "unix.c"
