/* A module that is told to open others, and to allocate: dlopen_deepbind.c. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Not as a jump: then whoever calls this would be who opens. */
void* opens(const char* name, int mode) {
  void* volatile module = dlopen(name, mode);
  return module;
}

void* (*volatile allocate)(size_t) = malloc;
void (*volatile release)(void*) = free;

char* copies(const char* text) {
  char* copy = (char*)allocate(strlen(text) + 1);
  return copy == NULL ? NULL : strcpy(copy, text);
}

void releases(void* p) { release(p); }

void* its_malloc(void) { return (void*)allocate; }
