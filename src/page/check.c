// What checked builds do with blocks: fills, pads, notes, and what they say about misuse. See
// check.h for what they know.
#include <errno.h>

#include "../port/port.h"
#include "../service/message.h"
#include "../service/trace.h"
#include "page.h"

enum { FILL_NEW = 0xD0, FILL_FREED = 0xDF, FILL_PAD = 0xDE };

static note_t* note_of(const page_t* page, const void* p) {
  const page_checks_t* checks = page_checks(page);
  return &checks->notes[checks_number_known(checks, page_offset(page, p)) - 1];
}

RACY static size_t noted_size(const page_t* page, const void* p) {  // of others, for visits
  return (size_t)note_of(page, p)->size;
}

// ---- what free blocks hold ----

// True if all bytes are `value`.
static bool is_filled(const void* p, int value, size_t bytes) {
  const uint8_t* byte = (const uint8_t*)p;
  return bytes == 0 || (*byte == value && memcmp(byte, byte + 1, bytes - 1) == 0);
}

// The same for whole words.
static bool is_filled_words(const void* p, int value, size_t bytes) {
  const uint64_t* word = (const uint64_t*)p;
  const uint64_t wanted = (uint64_t)(uint8_t)value * 0x0101010101010101u;
  uint64_t wrong = 0;
  for (size_t i = 0; i < bytes / sizeof(*word); i++) { wrong |= word[i] ^ wanted; }
  return wrong == 0;
}

// Zero, or 0xDF: what a block was filled with when it was freed. A debug build knows of each block
// whether it was; in a FULL build all free blocks are zero, also those that were never used.
static bool was_filled(const page_t* page, const void* p) {
  return !NOTE_BLOCKS || note_of(page, p)->freed_by != 0;
}

static size_t filled_bytes(const page_t* page) { return size_min(page_room(page), FILL_MOST); }

// The first byte of a block that is filled.
static size_t fill_start(const page_t* page) {
  return FILL_BLOCKS ? load_relaxed(&page_checks(page)->preserved) : 0;
}

// From there to `bytes`.
static void fill_to(const page_t* page, void* p, int value, size_t bytes) {
  const size_t start = fill_start(page);
  if (start < bytes) { memset((uint8_t*)p + start, value, bytes - start); }
}

static bool is_filled_still(const page_t* page, const void* p, int value) {
  const size_t start = align_up(fill_start(page), sizeof(uint64_t)), end = filled_bytes(page);
  return start >= end || is_filled_words((const uint8_t*)p + start, value, end - start);
}

_Noreturn static COLD void report_use_after_free(const page_t* page, const void* p);

PRIVATE void block_check_freed(const page_t* page, const void* p) {
  if (!CHECK_REUSE || !(ZERO_FREED || FILL_BLOCKS)) { return; }
  if (page_is_single(page) && !NOTE_BLOCKS) { return; }
  const int value = ZERO_FREED ? 0 : FILL_FREED;
  if (was_filled(page, p) && unlikely(!is_filled_still(page, p, value))) {
    report_use_after_free(page, p);
  }
}

PRIVATE void block_check_zero(const page_t* page, const void* p) {
  if (ZERO_FREED && CHECK_REUSE && unlikely(!is_filled_words(p, 0, page_room(page)))) {
    report_use_after_free(page, p);
  }
}

PRIVATE void block_check_reuse(const page_t* page, const void* p) {
  block_check_freed(page, p);
  if (CHECK_REUSE && NOTE_BLOCKS) { note_of(page, p)->freed_by = 0; }
}

PRIVATE void block_filled_taken(page_t* page, void* p, size_t size) {
  block_check_reuse(page, p);
  if (FILL_BLOCKS) { fill_to(page, p, FILL_NEW, size_min(size, FILL_MOST)); }
  if (NOTE_BLOCKS) {
    note_t* note = note_of(page, p);
    note->taken_by = port_thread_number();
    note->taken_at = traces_keep();
    block_set_size(page, p, size);
  }
}

PRIVATE void block_filled_freed(page_t* page, void* p) {
  const long wanted = option_get(mi_option_fill_freed);
  if (perturb_now() != 0) {
    block_perturb_freed(page, p);
    return;
  }
  if (ZERO_FREED && page_is_single(page)) { return; }  // its memory becomes zero or goes, all of it
  const int value = FILL_BLOCKS || (wanted == 2 && !ZERO_FREED) ? FILL_FREED : 0;
  fill_to(page, p, value, filled_bytes(page));
  if (NOTE_BLOCKS) { note_of(page, p)->freed_by = port_thread_number(); }
}

// ---- the end of a block ----

PRIVATE void block_set_size(page_t* page, void* p, size_t size) {
  if (!NOTE_BLOCKS) { return; }
  note_of(page, p)->size = size & NOTE_SIZE_MOST;
  // The canary of one of several stays as it is: who frees the block behind it reads it.
  const size_t kept = page_is_single(page) ? 0 : sizeof(canary_t);
  memset((uint8_t*)p + size, FILL_PAD, page->block_bytes - kept - size);
}

PRIVATE uint16_t block_taken_at(const page_t* page, const void* p) {
  return NOTE_BLOCKS ? note_of(page, p)->taken_at : 0;
}

PRIVATE size_t block_size(const page_t* page, const void* p) {
  if (!NOTE_BLOCKS) { return page_room(page); }
  return checks_number(page_checks(page), page_offset(page, p)) != 0 ? noted_size(page, p) : 0;
}

// Bytes behind the end that are as they were.
static size_t padding_intact_bytes(const page_t* page, const void* p) {
  size_t at = noted_size(page, p);
  const uint8_t* byte = (const uint8_t*)p;
  while (at < page->block_bytes && byte[at] == FILL_PAD) { at++; }
  return at - noted_size(page, p);
}

PRIVATE bool block_padding_is_intact(const page_t* page, const void* p) {
  const size_t size = noted_size(page, p);
  return is_filled((const uint8_t*)p + size, FILL_PAD, page->block_bytes - size);
}

// ---- reports ----

enum { WHO_CHARS = 120 };

// Who had to do with the block, or how to find out.
static const char* who(const page_t* page, const void* block, char text[WHO_CHARS]) {
  if (!NOTE_BLOCKS) {
    return "; the debug build tells by which thread, MIMALLOC_GUARDED_SAMPLE_RATE=100 from where";
  }
  const note_t* note = note_of(page, block);
  char* end = text;
  end += format_text(end, WHO_CHARS, "; taken by thread %u", note->taken_by);
  if (note->freed_by != 0) {
    format_text(end, (size_t)(text + WHO_CHARS - end), ", freed by thread %u", note->freed_by);
  }
  return text;
}

_Noreturn static COLD void report_use_after_free(const page_t* page, const void* p) {
  char text[WHO_CHARS];
  message_fatal("%zu-byte block %p was written to after it was freed%s", block_size(page, p), p,
                who(page, p, text));
}

_Noreturn PRIVATE COLD void report_bad_list(const page_t* page, const void* p) {
  char text[WHO_CHARS];
  message_fatal(
      "corrupt list of free blocks: %zu-byte block %p is on it and in use; it was freed "
      "twice at the same time%s",
      page_room(page), p, who(page, p, text));
}

_Noreturn PRIVATE COLD void report_endless_list(const page_t* page) {
  message_fatal(
      "corrupt list of free blocks of %zu bytes: it never ends; one of them was freed twice, or "
      "written to after it was freed",
      page_room(page));
}

_Noreturn PRIVATE COLD void report_bad_link(const page_t* page, const void* link) {
  message_fatal(
      "corrupt list of free blocks of %zu bytes: it leads to %p, which is none of them; a block "
      "was written to after it was freed",
      page_room(page), link);
}

// The block that an address is in.
static const uint8_t* block_around(const page_t* page, const void* p) {
  const size_t offset = page_offset(page, p);
  return page->start + (page_is_single(page) ? 0 : offset - offset % page->block_bytes);
}

static bool is_within(const page_t* page, const void* p) {
  return page_offset(page, p) < (size_t)page->reserved * page->block_bytes;
}

static COLD void report_not_a_start(const page_t* page, const void* p, const char* what) {
  char text[WHO_CHARS] = "";
  if (!is_within(page, p)) {
    message_error(EINVAL, "%s of %p, which is between blocks of %zu bytes", what, p,
                  page_room(page));
    return;
  }
  const uint8_t* block = block_around(page, p);
  if (HAS_CHECKS) { (void)who(page, block, text); }
  message_error(EINVAL, "%s of %p, which is inside a block of %zu bytes, not at its start, %p%s",
                what, p, page_room(page), (const void*)block, text);
}

static COLD void report_overflow(const page_t* page, const void* p, const char* what) {
  char text[WHO_CHARS];
  if (!NOTE_BLOCKS) {
    message_error(EFAULT, "overflow of %zu-byte block %p, seen at its %s%s", page_room(page), p,
                  what, who(page, p, text));
    return;
  }
  const size_t size = noted_size(page, p);
  message_error(EFAULT, "overflow of %zu-byte block %p, seen at its %s: byte %zu was written%s",
                size, p, what, size + padding_intact_bytes(page, p), who(page, p, text));
}

PRIVATE COLD void report_bad_block(const page_t* page, const void* p, const char* what) {
  char text[WHO_CHARS];
  const uint32_t number = HAS_CHECKS ? checks_number(page_checks(page), page_offset(page, p)) : 0;
  if (!HAS_CHECKS && page_has_block(page, p)) {
    message_error(EAGAIN, "%s of %zu-byte block %p%s",
                  *what == 'f' ? "double free" : "realloc after free", page->block_bytes, p,
                  who(page, p, text));
  } else if (number == 0) {
    report_not_a_start(page, p, what);
  } else if (!page_is_single(page) && number > page->capacity) {
    message_error(EINVAL, "%s of %p, a block of %zu bytes that was never allocated", what, p,
                  page_room(page));
  } else if (block_is_free(page, p, number)) {
    message_error(EAGAIN, "%s of %zu-byte block %p%s",
                  *what == 'f' ? "double free" : "realloc after free", block_size(page, p), p,
                  who(page, p, text));
  } else if (HAS_CANARIES && !page_is_single(page) &&
             canary_damage(page, canary_of(page, p)) == 0 &&
             canary_before_damage(page, p, number) != 0) {
    report_overflow(page, (const uint8_t*)p - page->block_bytes, "neighbour's free");
  } else {
    report_overflow(page, p, what);
  }
}
