/* test: timeout=60 when="release linux" not-emulated="the emulator ignores MADV_FREE"
   Pages that fall empty wait for the next ones, 4 MiB of them; but in a process that gives memory
   back, as it shrinks, only 1 MiB. They begin anew with their blocks in order. */
#include "../lifecycle/process.h"
#include "api.h"

enum { BLOCK = 4096, FEW = 2 * MIB / BLOCK, MANY = 100 * MIB / BLOCK };

static unsigned char* blocks[MANY];

static void churn(int count, int times) {
  for (int time = 0; time < times; time++) {
    for (int i = 0; i < count; i++) { memset(blocks[i] = mi_malloc(BLOCK), 1, BLOCK); }
    for (int i = 0; i < count; i++) { mi_free(blocks[i]); }
  }
}

/* A list in the order in which blocks were freed is a chain of cache misses: the next request needs
   what the last one has read. Blocks in order do not wait for each other. */
static void test_blocks_are_in_order(void) {
  churn(FEW, 1);
  for (int i = 0; i < FEW; i++) { blocks[i] = mi_malloc(BLOCK); }
  for (int i = 0; i < FEW; i++) { mi_free(blocks[(i * 77 + 5) % FEW]); }
  int neighbours = 0;
  for (int i = 0; i < FEW; i++) {
    blocks[i] = mi_malloc(BLOCK);
    if (i > 0 && blocks[i] == blocks[i - 1] + BLOCK) { neighbours++; }
  }
  for (int i = 0; i < FEW; i++) { mi_free(blocks[i]); }
  CHECK(neighbours >= FEW * 3 / 4);
}

/* In other orders, and with another class in between: no block is lost or comes twice. */
static void test_all_blocks_are_there(void) {
  for (int time = 0; time < 6; time++) {
    for (int i = 0; i < FEW; i++) { memset(blocks[i] = mi_malloc(BLOCK), i % 251, BLOCK); }
    for (int i = 0; i < FEW; i++) {
      CHECK(blocks[i][0] == i % 251 && blocks[i][BLOCK - 1] == i % 251);
    }
    for (int i = 0; i < FEW; i++) { mi_free(blocks[(i * 77 + 5) % FEW]); }
    if (time % 2 == 1) {
      for (int i = 0; i < FEW; i++) { memset(blocks[i] = mi_malloc(2 * BLOCK), 7, 2 * BLOCK); }
      for (int i = 0; i < FEW; i++) { mi_free(blocks[i]); }
    }
  }
}

static void test_zeroed(void) {
  churn(FEW, 1);
  for (int i = 0; i < FEW; i++) {
    blocks[i] = mi_zalloc(BLOCK);
    CHECK(is_zero(blocks[i], BLOCK));
  }
  for (int i = 0; i < FEW; i++) { mi_free(blocks[i]); }
}

static void test_few_stay_when_memory_goes_back(void) {
  memset(blocks, 0, sizeof(blocks));
  const size_t before = held_kib();
  churn(MANY, 5);
  const size_t now = held_kib();
  printf("%zu KiB more than before\n", now - before);
  CHECK(before != 0 && now <= before + 8192);
}

int main(void) {
  test_blocks_are_in_order();
  test_all_blocks_are_there();
  test_zeroed();
  test_few_stay_when_memory_goes_back();
  return check_done();
}
