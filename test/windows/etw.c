/* A build with MI_TRACK=ETW, with a stand-in for the system's functions linked into the program:
   each block that is handed out and each that is freed is an event with its address and the size
   that was asked for; what is reserved, committed and given back is too; and nothing is written
   before somebody records. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "mimalloc.h"

typedef struct piece {
  uint64_t address;
  uint32_t bytes, what;
} piece_t;

typedef void __stdcall see_fun(const void* who, uint32_t on, uint8_t level, uint64_t any,
                               uint64_t all, void* filter, void* context);

enum { KINDS = 7, BLOCKS = 1000 };
static const char* const names[KINDS] = {"Reserve", "Release", "Commit", "Decommit",
                                         "Protect", "Alloc",   "Free"};
static see_fun* see;
static long counts[KINDS];
static uint64_t last_address[KINDS], last_bytes[KINDS];
static int failures;

static void expect(const char* what, int condition) {
  if (condition) { return; }
  printf("failed: %s\n", what);
  failures++;
}

uint32_t __stdcall EtwEventRegister(const void* provider, see_fun* callback, void* context,
                                    uint64_t* handle) {
  (void)provider, (void)context;
  see = callback;
  *handle = 5;
  return 0;
}

uint32_t __stdcall EtwEventSetInformation(uint64_t handle, uint32_t what, const void* data,
                                          uint32_t bytes) {
  return handle != 5 || what != 2 || bytes != 11 || data == NULL;
}

uint32_t __stdcall EtwEventWrite(uint64_t handle, const void* kind, uint32_t count,
                                 const piece_t* pieces) {
  int which = 0;
  if (handle != 5 || kind == NULL || count != 4) { return 1; }
  while (which < KINDS - 1 &&
         strcmp((const char*)(uintptr_t)pieces[1].address + 3, names[which]) != 0) {
    which++;
  }
  counts[which]++;
  memcpy(&last_address[which], (const void*)(uintptr_t)pieces[2].address, 8);
  memcpy(&last_bytes[which], (const void*)(uintptr_t)pieces[3].address, 8);
  return 0;
}

enum { RESERVE, RELEASE, COMMIT, DECOMMIT, PROTECT, ALLOC, FREE };

int main(void) {
  static void* blocks[BLOCKS];
  expect("the provider is registered before main", see != NULL);
  mi_free(mi_malloc(10));
  expect("nothing is written before somebody records", counts[ALLOC] == 0 && counts[FREE] == 0);
  see(NULL, 1, 5, 0, 0, NULL, NULL);
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = mi_malloc(i * i + 1);
    expect("Alloc has the address and the size",
           last_address[ALLOC] == (uintptr_t)blocks[i] && last_bytes[ALLOC] == i * i + 1);
  }
  expect("each block is an event", counts[ALLOC] == BLOCKS);
  expect("memory is reserved or committed", counts[RESERVE] + counts[COMMIT] > 0);
  for (size_t i = 0; i < BLOCKS; i++) {
    mi_free(blocks[i]);
    expect("Free has the address and the size",
           last_address[FREE] == (uintptr_t)blocks[i] && last_bytes[FREE] == i * i + 1);
  }
  expect("each free is an event", counts[FREE] == BLOCKS);
  const long reserved = counts[RESERVE];
  void* large = mi_malloc((size_t)3 << 30);
  expect("a large block is reserved", large != NULL && counts[RESERVE] > reserved);
  mi_free(large);
  mi_collect(true);
  expect("memory goes back", counts[DECOMMIT] + counts[RELEASE] > 0);
  see(NULL, 0, 0, 0, 0, NULL, NULL);
  const long allocated = counts[ALLOC];
  mi_free(mi_malloc(10));
  expect("nothing is written when nobody records any more", counts[ALLOC] == allocated);
  return failures != 0;
}
