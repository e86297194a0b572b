/* How long a program on the C runtime takes to free and allocate blocks of random sizes, in seconds
   of processors. As it is, and with mimalloc.dll put before its imports, that gives a ratio. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

enum { BLOCKS = 20000, ROUNDS = 3000000, THREADS = 4, SMALL = 512, MIXED = 16384 };

static double seconds_of(FILETIME time) {
  return (double)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) * 1e-7;
}

static double now(void) {
  FILETIME began, ended, kernel, user;
  (void)GetProcessTimes(GetCurrentProcess(), &began, &ended, &kernel, &user);
  return seconds_of(kernel) + seconds_of(user);
}

static void churn(uint32_t blocks, uint32_t rounds, uint32_t largest) {
  uint64_t random = 88172645463325252u;
  char** block = calloc(blocks, sizeof(char*));
  for (uint32_t i = 0; block != NULL && i < rounds; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const uint32_t k = (uint32_t)(random >> 16) % blocks;
    free(block[k]);
    block[k] = malloc((uint32_t)(random >> 32) % largest + 1);
    if (block[k] != NULL) { *block[k] = 1; }
  }
  for (uint32_t k = 0; block != NULL && k < blocks; k++) { free(block[k]); }
  free(block);
}

static DWORD WINAPI churn_alone(void* arg) {
  (void)arg;
  churn(BLOCKS / 20, ROUNDS / 3, SMALL);
  return 0;
}

int main(void) {
  HANDLE threads[THREADS];
  const double start = now();
  churn(BLOCKS, ROUNDS, SMALL);
  const double small = now();
  churn(BLOCKS, ROUNDS, MIXED);
  const double mixed = now();
  for (int i = 0; i < THREADS; i++) {
    threads[i] = CreateThread(NULL, 0, churn_alone, NULL, 0, NULL);
  }
  WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
  printf("small %.2f, mixed %.2f, four threads %.2f\n", small - start, mixed - small,
         now() - mixed);
  return 0;
}
