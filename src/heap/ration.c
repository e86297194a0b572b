// Rations. See ration.h.
#include "ration.h"

#include "../memory/meta.h"
#include "guard.h"
#include "row.h"

enum { RATION_BLOCKS = 64, HEARTBEAT_REQUESTS = 64 };
enum { SPECIAL_SAMPLED = SPECIAL_SAMPLES | SPECIAL_BYTES };

static bool is_sampled(const theap_t* theap) { return (theap->special & SPECIAL_SAMPLED) != 0; }

// ---- drawing and counting ----

static uint32_t draw_requests(theap_t* theap) {
  return (theap->special & SPECIAL_SAMPLES) != 0 ? guard_gap(theap) - 1 : UINT32_MAX;
}

static size_t draw_bytes(theap_t* theap) {
  return (theap->special & SPECIAL_BYTES) != 0 ? guard_gap_bytes(theap) : SIZE_MAX;
}

static void large_draw(theap_t* theap) {
  theap->rations->large_left = draw_requests(theap);
  theap->rations->large_bytes = draw_bytes(theap);
}

// What is chosen by bytes is a byte of a block, perhaps one that is not asked for. By count it is
// the first one.
PRIVATE void ration_draw(theap_t* theap, unsigned bin) {
  if (bin == BIN_LARGE) {
    large_draw(theap);
    return;
  }
  const uint32_t requests = draw_requests(theap);
  const size_t bytes = draw_bytes(theap), each = bin_bytes(bin), blocks = bytes / each;
  theap->rations->left[bin] = (uint32_t)size_min(requests, blocks);
  theap->rations->at[bin] = blocks < requests ? (uint32_t)(bytes % each) : 0;
}

static bool large_is_due(const rations_t* rations, size_t size) {
  return rations->large_left == 0 || rations->large_bytes < size;
}

// Is there something left of the class's ration?
static bool is_handed_out(const theap_t* theap, unsigned bin) {
  return OPEN_ROWS && theap->rows.open ? theap->row[bin].taken != ROW_STOP
                                       : theap->rations->list[bin].free != NULL;
}

// A block of no bytes counts as one of a byte.
PRIVATE bool ration_is_due(const theap_t* theap, unsigned bin, size_t size) {
  const rations_t* rations = theap->rations;
  if (!is_sampled(theap)) { return false; }
  if (bin == BIN_LARGE) { return large_is_due(rations, size); }
  return rations->left[bin] == 0 && rations->at[bin] < size_max(size, 1) &&
         !is_handed_out(theap, bin);
}

static void large_pass(rations_t* rations, size_t size) {
  rations->large_left -= rations->large_left != 0;
  rations->large_bytes -= size_min(rations->large_bytes, size);
}

PRIVATE void ration_pass(theap_t* theap, unsigned bin, size_t size) {
  rations_t* rations = theap->rations;
  rations->heartbeat -= rations->heartbeat != 0;
  if (bin == BIN_LARGE) {
    large_pass(rations, size);
  } else if (rations->left[bin] != 0) {
    rations->left[bin]--;
  } else if (rations->at[bin] != 0 || !is_sampled(theap)) {
    ration_draw(theap, bin);
  }
}

// ---- beginning and end ----

PRIVATE void ration_beat(theap_t* theap) {
  const bool wanted = (theap->special & SPECIAL_HEARTBEAT) != 0;
  theap->rations->heartbeat = wanted ? HEARTBEAT_REQUESTS : UINT32_MAX;
}

static void rations_begin(theap_t* theap) {
  rations_t* rations = (rations_t*)meta_alloc(sizeof(rations_t));
  theap->rations = rations;
  for (unsigned bin = 1; rations != NULL && bin < BIN_COUNT; bin++) {
    rations->list[bin].block_bytes = bin_bytes(bin);
  }
}

PRIVATE COLD NOINLINE void rations_free(theap_t* theap) {
  meta_free(theap->rations, sizeof(rations_t));
  theap->rations = NULL;
}

PRIVATE void rations_follow(theap_t* theap) {
  const bool wanted = (theap->special & (SPECIAL_SAMPLED | SPECIAL_HEARTBEAT)) != 0;
  if (!wanted && theap->rations != NULL) { rations_free(theap); }
  if (wanted && theap->rations == NULL) { rations_begin(theap); }
  if (theap->rations == NULL) {
    theap->special &= (uint8_t)~(SPECIAL_SAMPLED | SPECIAL_HEARTBEAT);
    return;
  }
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) { ration_draw(theap, bin); }
  large_draw(theap);
  ration_beat(theap);
}

// ---- rations ----

static uint32_t ration_most(const rations_t* rations, unsigned bin) {
  return (uint32_t)size_min(RATION_BLOCKS, size_min(rations->heartbeat, rations->left[bin]));
}

static void count_handed(rations_t* rations, unsigned bin, uint32_t count) {
  rations->heartbeat -= count;
  rations->left[bin] -= count;
}

// `left`: requests that the open row serves before malloc takes its slow path.
static void row_limit(theap_t* theap, unsigned bin, size_t left) {
  row_set_taken(theap, bin, ROW_STOP - left);
}

// The request is one that was counted, or it passes and the row gets its next ration.
static void ration_of_row(theap_t* theap, unsigned bin, size_t size) {
  size_t left = ROW_STOP - theap->row[bin].taken;
  if (left != 0) {
    left--;
  } else {
    ration_pass(theap, bin, size);
    left = ration_most(theap->rations, bin);
    count_handed(theap->rations, bin, (uint32_t)left);
  }
  row_limit(theap, bin, left);
}

PRIVATE NOINLINE block_t* ration_cut(theap_t* theap, unsigned bin, block_t* block) {
  rations_t* rations = theap->rations;
  uint32_t count = 0;
  rations->list[bin].free = page_cut_list(theap->first[bin], ration_most(rations, bin), &count);
  count_handed(rations, bin, count);
  return block;
}

PRIVATE block_t* ration_take(theap_t* theap, unsigned bin, size_t size) {
  if (OPEN_ROWS && theap->rows.open) {
    ration_of_row(theap, bin, size);
    return NULL;
  }
  if (is_handed_out(theap, bin)) { return page_pop(&theap->rations->list[bin]); }
  block_t* block = page_pop(theap->first[bin]);
  ration_pass(theap, bin, size);
  if (!RATION_LISTS || block == NULL || unlikely(theap_fills(theap))) { return block; }
  return ration_cut(theap, bin, block);
}

static void ration_return(theap_t* theap, unsigned bin) {
  rations_t* rations = theap->rations;
  size_t count = page_add_list(theap->first[bin], rations->list[bin].free);
  rations->list[bin].free = NULL;
  if (OPEN_ROWS && theap->rows.open) {
    count = ROW_STOP - theap->row[bin].taken;
    row_limit(theap, bin, 0);
  }
  rations->left[bin] += (uint32_t)count;
  rations->heartbeat += (uint32_t)count;
}

PRIVATE NOINLINE void rations_return(theap_t* theap) {
  for (unsigned bin = 1; theap->rations != NULL && bin < BIN_COUNT; bin++) {
    ration_return(theap, bin);
  }
}

PRIVATE NOINLINE void rations_forget(theap_t* theap) {
  for (unsigned bin = 1; theap->rations != NULL && bin < BIN_COUNT; bin++) {
    theap->rations->list[bin].free = NULL;
  }
}
