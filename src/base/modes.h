// Build modes as constants: the only place that reads the MI_… macros of the build. Everywhere else
// a mode is tested by a plain `if`, so that every mode is type-checked in every build and dead code
// vanishes.
#ifndef MI_BASE_MODES_H
#define MI_BASE_MODES_H

#ifndef MI_SECURE
#define MI_SECURE 0  // 0 none … 4 all that is cheap
#endif
#ifndef MI_DEBUG
#ifdef NDEBUG
#define MI_DEBUG 0
#else
#define MI_DEBUG 1  // 1 cheap checks, 2 internal invariants, 3 whole-structure walks
#endif
#endif
#ifndef MI_GUARDED
#define MI_GUARDED 0
#endif

#ifndef MI_XMALLOC
#define MI_XMALLOC 0
#endif

#ifndef MI_SMALL
#define MI_SMALL 0
#endif

#ifndef MI_TRACK_VALGRIND
#define MI_TRACK_VALGRIND 0
#endif
#ifndef MI_TRACK_ASAN
#define MI_TRACK_ASAN 0
#endif
#ifndef MI_TRACK_ETW
#define MI_TRACK_ETW 0
#endif

#if defined(__SANITIZE_THREAD__)
#define MI_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MI_UNDER_TSAN 1
#endif
#endif
#ifndef MI_UNDER_TSAN
#define MI_UNDER_TSAN 0
#endif

// Each mitigation is a constant of its own. MI_SECURE (1 to 5, FULL) and MI_DEBUG switch on groups
// of them; the macro of one, defined as 0 or 1, overrides its group: a test shows with it what the
// mitigation stops, a measurement what it costs. docs/security.md describes them one by one.
#ifndef MI_CHECK_FREE
#define MI_CHECK_FREE (MI_SECURE >= 1 || MI_DEBUG >= 1)
#endif
#ifndef MI_CHECK_SIZE
#define MI_CHECK_SIZE (MI_SECURE >= 1 || MI_DEBUG >= 1)
#endif
#ifndef MI_GUARD_PAGES
#define MI_GUARD_PAGES (MI_SECURE >= 2)
#endif
#ifndef MI_GUARD_FREED
#define MI_GUARD_FREED (MI_SECURE >= 2 || MI_DEBUG >= 1)
#endif
#ifndef MI_LINKS_APART
#define MI_LINKS_APART (MI_SECURE >= 3 || MI_DEBUG >= 1)
#endif
#ifndef MI_CHECK_STATE
#define MI_CHECK_STATE (MI_SECURE >= 3 || MI_DEBUG >= 1)
#endif
#ifndef MI_CANARY
#define MI_CANARY (MI_SECURE >= 4 && MI_DEBUG == 0)
#endif
#ifndef MI_REUSE_LATER
#define MI_REUSE_LATER (MI_SECURE >= 4)
#endif
#ifndef MI_RANDOM_ORDER
#define MI_RANDOM_ORDER (MI_SECURE >= 4)
#endif
#ifndef MI_RANDOM_PLACE
#define MI_RANDOM_PLACE (MI_SECURE >= 4)
#endif
#ifndef MI_ZERO_FREED
#define MI_ZERO_FREED (MI_SECURE >= 5 && MI_DEBUG == 0)
#endif
#ifndef MI_CHECK_REUSE
#define MI_CHECK_REUSE (MI_SECURE >= 5 || MI_DEBUG >= 1)
#endif
#ifndef MI_QUARANTINE
#define MI_QUARANTINE (MI_SECURE >= 5 || MI_DEBUG >= 1)
#endif
#ifndef MI_KEEP_CLASS
#define MI_KEEP_CLASS (MI_SECURE >= 5)
#endif

enum {
  // Less code: no text of messages, no options from the environment, no guards behind samples, no
  // statistics of heaps that are gone, nothing at the process's start and end.
  SMALL = MI_SMALL,
  UNDER_TSAN = MI_UNDER_TSAN,
  SECURE_LEVEL = MI_SECURE,
  DEBUG_LEVEL = MI_DEBUG,
  GUARDED_BUILD = MI_GUARDED,
  ENDS_WITHOUT_MEMORY = MI_XMALLOC,  // a request that can't be served ends the process
  TRACKED = MI_TRACK_VALGRIND || MI_TRACK_ASAN || MI_TRACK_ETW,  // a tool knows each block
  TRACKED_WAITS = TRACKED && !MI_TRACK_ETW,                      // a freed one too, for a while
  // LeakSanitizer reads all that the map of the process calls readable: guards must show there.
  GUARDS_ARE_MAPPINGS = MI_TRACK_ASAN,
  CHECKED_BUILD = MI_SECURE >= 1 || MI_DEBUG >= 1,  // misuse is reported, and ends the process

  // Level 1.
  CHECK_FREE = MI_CHECK_FREE,  // free checks that the pointer is the start of a block
  CHECK_SIZE = MI_CHECK_SIZE,  // free checks the size that it is told
  // Level 2.
  GUARD_PAGES = MI_GUARD_PAGES,  // an inaccessible OS page at the end of each page of blocks
  GUARD_FREED = MI_GUARD_FREED && !TRACKED,  // large blocks are inaccessible once freed
  // Level 3.
  LINKS_APART = MI_LINKS_APART,  // no links in free blocks
  // NOLINTNEXTLINE(misc-redundant-expression) the two are alike unless one is set by hand
  CHECK_STATE = MI_LINKS_APART && MI_CHECK_STATE,  // each block is known to be live or not
  // Level 4.
  // A secret word at the end of each block, checked by free. A tool sees the byte behind a block.
  CANARY = MI_CANARY && !TRACKED,
  REUSE_LATER = MI_LINKS_APART &&
                MI_REUSE_LATER,    // freed blocks wait until the free ones of the page are used up
  RANDOM_ORDER = MI_RANDOM_ORDER,  // a page hands out its blocks in random order
  RANDOM_PLACE = MI_RANDOM_PLACE,  // arenas and large blocks lie at random
  // Level 5, FULL.
  ZERO_FREED = MI_ZERO_FREED && !TRACKED,
  // Nobody wrote to a block between free and reuse. To a tool, free blocks are out of bounds.
  CHECK_REUSE = MI_LINKS_APART && MI_CHECK_REUSE && !TRACKED,
  QUARANTINE = CHECK_STATE && MI_QUARANTINE && !TRACKED,  // freed blocks wait for a random time
  KEEP_CLASS = MI_KEEP_CLASS,  // memory that held blocks of a class never holds other blocks

  // Of free blocks whole OS pages go back: where nothing is kept in these, see page/holes.c.
  HOLES = !CHECK_FREE && !LINKS_APART && !CANARY && !GUARD_PAGES && !TRACKED,
  // Freed blocks of shared pages may be put on rows, unknown to their page, see heap/row.h.
  KEEP_ROWS = (!CHECK_FREE || CHECK_STATE) && !QUARANTINE && !TRACKED && !SMALL,
  OPEN_ROWS = KEEP_ROWS && !CHECK_FREE,  // rows with all freed blocks of a class
  // While samples are wanted malloc takes from a list that is cut from a page's, see heap/ration.h.
  RATION_LISTS = OPEN_ROWS && !LINKS_APART && MI_DEBUG == 0,
  HOLD_NEWEST = KEEP_ROWS && CHECK_STATE && REUSE_LATER,  // the newest on a row is not used next
  FILL_BLOCKS =
      MI_DEBUG >= 1 && !TRACKED,  // 0xD0 in new blocks, 0xDF in freed ones, 0xDE behind the end
  // mallopt(M_PERTURB) fills blocks. Debug and FULL builds fill in their own way, and check that.
  PERTURBS = !SMALL && !FILL_BLOCKS && !ZERO_FREED && !TRACKED,
  PERTURBS_BY_MASK = PERTURBS && !CHECK_FREE,  // free learns of it from the page's mask
  // The size asked for, and who took and freed it, of each block. A tracked block has a label.
  NOTE_BLOCKS = MI_DEBUG >= 1 && !TRACKED,
  COUNT_EACH = FILL_BLOCKS,  // statistics count each request as it is, see heap/count.h
  // Bytes at the end of a block that the program does not get. Large blocks end at a guard instead.
  PAD_BYTES = CANARY || NOTE_BLOCKS ? 8 : 0,
  LARGE_PAD_BYTES = NOTE_BLOCKS ? 8 : 0,
  // Freed large blocks wait for the next of about their size, see page/waiting.c.
  WAITING_LARGE = GUARD_PAGES && GUARD_FREED && !NOTE_BLOCKS,
  CHECK_INVARIANTS = MI_DEBUG >= 2,  // of a page, in slow paths, see heap/verify.h
  CHECK_EVERYTHING = MI_DEBUG >= 3,  // of everything, now and then
};

// What the loader calls.
#if MI_SMALL
#define AT_LOAD   UNUSED
#define AT_UNLOAD UNUSED
#else
#define AT_LOAD   AT_START
#define AT_UNLOAD AT_END
#endif

#endif
