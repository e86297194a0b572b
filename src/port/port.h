// The calls that a platform must answer: each port does, see local.h. docs/porting.md tells how one
// is made.
//
// A port prints nothing, reads no option and keeps no policy: it returns 0 or an error number. No
// call changes errno, so that `free` keeps it. Every call is legal before constructors have run and
// after destructors, from any thread.
//
// What systems differ in are constants of a port's header, see local.h, which are tested by a plain
// `if`:
//
//   PORT_DECOMMIT_STAYS  memory that was decommitted stays accessible, and reads as zero. Else
//                        port_commit has to bring it back first, which may fail; and there are no
//                        huge pages by advice.
//   PORT_CAN_RELEASE     memory goes back to the OS. Else it only grows: nothing is given back, and
//                        what comes next lies behind what came last, which port_lengthen then
//                        makes longer, unless somebody else had memory in between.
//   PORT_CAN_MOVE        the OS can exchange page tables: port_move, port_put_away
//   PORT_HAS_THREADS     there may be more threads than one
//   PORT_FIRST_ARENA     bytes that the first arena has
//   PORT_ARENA_ALIGN     what arenas start at a multiple of, if they are so long
//   PORT_WIDE_VARIABLES  the environment has wide characters too
//   PORT_EXIT_ROUNDS     how often port_thread_arm has its effect again as a thread ends
//   PORT_ENDS_ARE_TOLD   no thread ends without a call of what port_thread_arm arms. Else a later
//                        thread can come by the id of one that is still known.
//   PORT_SLOT_STAYS      the slot is the id's: a later thread with the same one finds what is there
//   PORT_NATIVE_TLS      a macro: thread-local variables are reached without a call, and may have
//                        an initial value. Else there is the slot.
#ifndef MI_PORT_PORT_H
#define MI_PORT_PORT_H

#include "../base/atomic.h"
#include "../base/attributes.h"
#include "local.h"

// ---- memory: sizes and addresses are multiples of port_page_bytes() unless said otherwise ----

// Bytes of an OS page, 4 KiB to 64 KiB.
PRIVATE size_t port_page_bytes(void);
// What a mapping starts at a multiple of: a shorter one takes so much address space. Whole OS
// pages.
PRIVATE size_t port_granularity(void);
// Bytes of a transparent huge page, which the OS gives by advice; 0: it does not.
PRIVATE size_t port_huge_bytes(void);
// Reserves address space without access, its start a multiple of `align`. *out is where it should
// be, or NULL; it becomes where it is.
PRIVATE int port_reserve(size_t bytes, size_t align, void** out);
// Maps zeroed readable and writable memory; physical memory comes with the first touch.
PRIVATE int port_map(size_t bytes, size_t align, void** out);
// Makes reserved memory, and what was decommitted, readable and writable: it reads as zero, and
// what is so already stays as it is. Non-zero: there is no memory, and some of the range may be
// inaccessible.
PRIVATE int port_commit(void* start, size_t bytes);
// Makes memory resident that will be used soon; non-zero: it is as it was, or a part of it is.
PRIVATE int port_populate(void* start, size_t bytes);
// Gives the physical memory back at once. Non-zero: all is as it was, or a part of it reads as
// zero. See PORT_DECOMMIT_STAYS.
PRIVATE int port_decommit(void* start, size_t bytes);
// Gives back what physical memory can be had back while the range stays accessible; its contents
// become undefined.
PRIVATE int port_purge(void* start, size_t bytes);
// Lets the OS take the physical memory when it needs some; the contents become undefined.
PRIVATE int port_reset(void* start, size_t bytes);
// As port_reset, or port_decommit, with several ranges by one call: with PORT_HAS_GIVE_ALL in the
// port's header, else false. False: some may be as they were.
//   bool port_give_all(const port_range_t* ranges, size_t count, bool resets)
typedef struct port_range {
  void* start;
  size_t bytes;
} port_range_t;
// In the port's header, with PORT_HAS_REUSE; else nothing:
//   void port_reuse(void* start, size_t bytes)  before memory is used that was given to port_reset
// Unmaps a whole mapping, never a part of one.
PRIVATE int port_release(void* start, size_t bytes);
// Makes a mapping longer that ends where memory ends, by memory that reads as zero; non-zero: there
// is no more, or somebody else's lies behind. Where memory only grows.
PRIVATE int port_lengthen(void* start, size_t old_bytes, size_t new_bytes);
// Moves the pages of one mapping to `to`: its old mapping is replaced, and the rest of it is fresh.
PRIVATE int port_move(void* from, size_t from_bytes, void* to, size_t to_bytes);
// Gives the end of a mapping back; what is left is the mapping from then on.
PRIVATE int port_shorten(void* start, size_t old_bytes, size_t new_bytes);
// Makes memory inaccessible; its contents and physical memory go. Non-zero: it is as it was, or a
// part of it is. `port_unguard` brings it back, as zeros where it was inaccessible; non-zero: some
// of it may not be. Where decommitted memory does not stay accessible, port_commit brings it back
// too.
PRIVATE int port_guard(void* start, size_t bytes);
PRIVATE int port_unguard(void* start, size_t bytes);
// Makes committed memory inaccessible, with what it holds, or brings it back. Costs up to two
// mappings.
PRIVATE int port_seal(void* start, size_t bytes, bool on);
// The same by moving the pages to another place, reserved for that, and back: by exchanging page
// tables, so that little of it depends on the length where both lie alike in port_huge_bytes.
PRIVATE int port_put_away(void* start, size_t bytes, void* place);
PRIVATE int port_bring_back(void* start, size_t bytes, void* place);
// In the port's header, with PORT_HAS_MEMORY_TAG; else nothing:
//   void port_tag_memory(long tag)  what the OS's listings call memory that is mapped from now on

// Advises for or against transparent huge pages.
PRIVATE int port_advise_huge(void* start, size_t bytes, bool wanted);
// Maps memory on explicit huge OS pages of 2 MiB or 1 GiB; `node` is a NUMA node or -1.
PRIVATE int port_map_huge(size_t bytes, size_t huge_bytes, int node, void** out);

// The most address space the process may have (RLIMIT_AS); SIZE_MAX without a limit.
PRIVATE size_t port_address_limit(void);
// Is there a limit of memory that is writable (RLIMIT_DATA)?
PRIVATE bool port_data_is_limited(void);

// ---- process, threads, time ----

UNUSED PRIVATE const char* port_getenv(const char* name);  // NULL also in a set-user-id program
PRIVATE char* const* port_environ(void);                   // may be NULL
// What the program's environment has, with the 0 at the end: how many characters; 0 if there is no
// such name. They are copied if they are at most so many. The wide form where there is a wide
// environment.
PRIVATE size_t port_variable(const char* name, char* out, size_t most);
PRIVATE size_t port_variable_wide(const wchar_t* name, wchar_t* out, size_t most);
// If standard error is closed, a file that the program opens later may get its number: then nothing
// is written to it.
PRIVATE void port_check_stderr(void);
// Keeps a copy, which is closed at exec, for what is written after the program has closed it.
PRIVATE void port_keep_stderr(void);
PRIVATE void port_write_stderr(const char* text, size_t length);
PRIVATE int64_t port_clock_ms(void);   // monotonic, coarse, without a system call
PRIVATE uint64_t port_clock_ns(void);  // monotonic; a system call
PRIVATE int port_process_id(void);
PRIVATE const char* port_program_name(void);
// As realpath of POSIX, errno included, into a buffer of the most bytes that a path may have.
PRIVATE char* port_realpath(const char* name, char* resolved);
PRIVATE _Noreturn void port_abort(void);
PRIVATE int port_numa_count(void);
// Random bytes, at most 256; without waiting. Non-zero: only the 16 bytes that the kernel gave at
// exec are in `out`, or nothing at all.
PRIVATE int port_random(void* out, size_t bytes);
// Unless the port has a lock of its own (PORT_OWN_LOCK, in its header: port_lock and port_unlock of
// a word that is 0 when free, which may be set to that in the child of a fork).
#ifndef PORT_OWN_LOCK
PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value);  // returns when woken, or soon
PRIVATE void port_wake_one(_Atomic(uint32_t)* word);
#endif

// In the port's header, since reading errno may allocate where the C library makes it for each
// thread: nothing above this folder names errno itself.
//   FAST int port_errno_keep(void)          the system's last error, for code that calls the
//                                           program or the C library in between
//   FAST void port_errno_restore(int kept)
//   FAST int port_errno_get(void)           what the program sees; only where it has just called
//   FAST void port_errno_set(int error)     what the program is told

typedef struct port_usage {
  uint64_t user_ms, system_ms;
  size_t rss_bytes, peak_rss_bytes;
  size_t page_faults;  // of all threads, those that are over included
} port_usage_t;
PRIVATE void port_usage(port_usage_t* out);
// The page faults alone; 0 where there are no huge pages.
PRIVATE size_t port_page_faults(void);

// True only if no other thread exists: it is true for all threads that there will be, until one of
// them begins another. False if the platform cannot tell: with PORT_TELLS_SINGLE in the port's
// header, that has it.
#ifndef PORT_TELLS_SINGLE
FAST bool port_is_single_threaded(void) { return !PORT_HAS_THREADS; }
#endif
// Calls `on_exit` in each later thread that has called port_thread_arm, late in its end. Non-zero:
// no such service.
PRIVATE int port_thread_exit_init(void (*on_exit)(void*));
PRIVATE int port_thread_arm(void* argument);
// Runs the three around every fork.
PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
// Takes the lock of the C library's list of streams, as its own fork does after `prepare`. Who
// holds that list may wait for a stream, and who holds a stream for malloc: so it comes before our
// locks.
PRIVATE void port_lock_streams_for_fork(void);
PRIVATE void port_unlock_streams_after_fork(bool child);

// In the port's header:
//   FAST uintptr_t port_thread_id(void)  an even address that no two live threads share; never 0
//                                        or 2
//   FAST void* port_slot_get(void)       the calling thread's word, NULL until it is set; only
//                                        without PORT_NATIVE_TLS. Neither call allocates.
//   bool port_slot_set(void* value)      false: there is no room for one more thread's

// Where the OS ends all other threads, wherever they are, before the process hears of its own end.
// In the port's header:
//   FAST bool port_is_ending(void)  they are no more: what they held nobody gives back
//   port_end_init(void (*on_end)(void)), port_see_end()
//                                   the latter calls on_end, the first time

// In the port's header, where memory may be refused for a moment, since a page file is growing.
//   FAST void port_retry_for(long ms)  for so long port_commit and port_map ask again

// In the port's header, for who is given a block that is none of ours: false where the C library
// has no malloc but ours. Else they have its own free and realloc see to it.
//   FAST bool port_free_foreign(void* p)
//   FAST bool port_realloc_foreign(void* p, size_t size, void** out)

// The calling thread, as the OS numbers it; never 0. A system call the first time, and after a fork
// if the child has called port_forget_threads.
PRIVATE uint32_t port_thread_number(void);
// In the child of a fork, where no other thread is.
PRIVATE void port_forget_threads(void);

#ifndef PORT_HAS_REUSE
FAST void port_reuse(void* start, size_t bytes) { (void)start, (void)bytes; }
#endif
#ifdef PORT_HAS_GIVE_ALL
PRIVATE bool port_give_all(const port_range_t* ranges, size_t count, bool resets);
#else
FAST bool port_give_all(const port_range_t* ranges, size_t count, bool resets) {
  (void)ranges, (void)count, (void)resets;
  return false;
}
#endif
#ifndef PORT_HAS_MEMORY_TAG
FAST void port_tag_memory(long tag) { (void)tag; }
#endif

FAST void port_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

#endif
