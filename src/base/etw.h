// Events of Windows (ETW), for builds with MI_TRACK=ETW: each has an address and a length in bytes.
//
//   memory: Reserve, Release, Commit, Decommit, Protect     block: Alloc, Free
//
// They describe themselves (TraceLogging): with each goes the provider's name, and the event's with
// those of its two fields and their types. So who reads a recording needs nothing else. The system
// copies what an event points to, and tells which events somebody records; when nobody does, an
// event costs one load.
//
// The provider's GUID is what its name gives by the rule for event sources, so tools find it by
// either. For those that know events by number alone there is a manifest, packaging/windows/mi.man.
// Recording: packaging/windows/mi.wprp; docs/platforms.md. Test: test/unit/etw.c.
#ifndef MI_BASE_ETW_H
#define MI_BASE_ETW_H

#include "atomic.h"
#include "attributes.h"

typedef enum {
  ETW_RESERVE,
  ETW_RELEASE,
  ETW_COMMIT,
  ETW_DECOMMIT,
  ETW_PROTECT,
  ETW_ALLOC,
  ETW_FREE,
  ETW_EVENTS
} etw_event_t;

enum { ETW_MEMORY = 1, ETW_BLOCKS = 2 };                  // keywords
enum { ETW_LEVEL_MEMORY = 4, ETW_LEVEL_BLOCKS = 5 };      // information, verbose
enum { ETW_SELF_DESCRIBING = 11 };                        // a channel
enum { ETW_PLAIN, ETW_EVENT_SHAPE, ETW_PROVIDER_SHAPE };  // what a piece of an event is

// ---- as ntdll.dll has it ----

#ifdef _WIN32
#define ETW_CALL __stdcall
#else
#define ETW_CALL
#endif

typedef struct etw_guid {
  uint32_t a;
  uint16_t b, c;
  uint8_t d[8];
} etw_guid_t;

typedef struct etw_kind {
  uint16_t id;
  uint8_t version, channel, level, opcode;
  uint16_t task;
  uint64_t keyword;
} etw_kind_t;

typedef struct etw_piece {
  uint64_t address;
  uint32_t bytes, what;
} etw_piece_t;

typedef void ETW_CALL etw_see_fun(const etw_guid_t* who, uint32_t on, uint8_t level, uint64_t any,
                                  uint64_t all, void* filter, void* context);

EXTERN_C uint32_t ETW_CALL EtwEventRegister(const etw_guid_t* provider, etw_see_fun* see,
                                            void* context, uint64_t* handle);
EXTERN_C uint32_t ETW_CALL EtwEventUnregister(uint64_t handle);
EXTERN_C uint32_t ETW_CALL EtwEventSetInformation(uint64_t handle, uint32_t what, const void* data,
                                                  uint32_t bytes);
EXTERN_C uint32_t ETW_CALL EtwEventWrite(uint64_t handle, const etw_kind_t* kind, uint32_t count,
                                         const etw_piece_t* pieces);

// ---- what describes ----

typedef struct etw_shape {
  uint16_t bytes;
  char text[30];
} etw_shape_t;

#define ETW_FIELDS \
  "Address\0\x15"  \
  "Bytes\0\x0A"  // 64 bits each: shown as hexadecimal, and decimal
#define ETW_SHAPE(text) {(uint16_t)(sizeof(uint16_t) + sizeof(text) - 1), text}
#define ETW_EVENT(name) ETW_SHAPE("\0" name "\0" ETW_FIELDS)  // 0: no tags

typedef struct etw_provider {
  uint64_t handle;
  _Atomic(uint64_t) wanted;  // keywords of what somebody records
} etw_provider_t;

SHARED_DATA(etw_provider_t, etw_provider);

// The system calls it when somebody begins or ends to record. A level of 0 is all.
UNUSED static void ETW_CALL etw_see(const etw_guid_t* who, uint32_t on, uint8_t level, uint64_t any,
                                    uint64_t all, void* filter, void* context) {
  uint64_t wanted = 0;
  (void)who, (void)all, (void)filter, (void)context;
  if (level == 0 || level >= ETW_LEVEL_MEMORY) { wanted |= ETW_MEMORY; }
  if (level == 0 || level >= ETW_LEVEL_BLOCKS) { wanted |= ETW_BLOCKS; }
  if (any != 0) { wanted &= any; }
  store_relaxed(&etw_provider.wanted, on == 0 ? 0 : wanted);
}

static const etw_shape_t etw_name = ETW_SHAPE("mimalloc\0");

UNUSED static void track_start(void) {
  enum { TRAITS = 2 };
  static const etw_guid_t guid = {
      0x0db9bd71, 0xe111, 0x5d55, {0xce, 0xe1, 0xa6, 0x46, 0xf2, 0xfc, 0x0e, 0x58}};
  if (EtwEventRegister(&guid, etw_see, NULL, &etw_provider.handle) != 0) { return; }
  (void)EtwEventSetInformation(etw_provider.handle, TRAITS, &etw_name, etw_name.bytes);
}

UNUSED static void track_stop(void) { (void)EtwEventUnregister(etw_provider.handle); }

UNUSED static COLD void etw_write_wanted(etw_event_t event, const void* p, size_t size) {
  static const etw_shape_t shapes[ETW_EVENTS] = {
      ETW_EVENT("Reserve"), ETW_EVENT("Release"), ETW_EVENT("Commit"), ETW_EVENT("Decommit"),
      ETW_EVENT("Protect"), ETW_EVENT("Alloc"),   ETW_EVENT("Free")};
  const bool of_block = event >= ETW_ALLOC;
  const etw_kind_t kind = {.id = (uint16_t)(event + 1),  // as in the manifest
                           .channel = ETW_SELF_DESCRIBING,
                           .level = of_block ? ETW_LEVEL_BLOCKS : ETW_LEVEL_MEMORY,
                           .keyword = of_block ? ETW_BLOCKS : ETW_MEMORY};
  const uint64_t address = (uintptr_t)p, bytes = size;
  const etw_piece_t pieces[] = {
      {(uintptr_t)&etw_name, etw_name.bytes, ETW_PROVIDER_SHAPE},
      {(uintptr_t)&shapes[event], shapes[event].bytes, ETW_EVENT_SHAPE},
      {(uintptr_t)&address, sizeof(address), ETW_PLAIN},
      {(uintptr_t)&bytes, sizeof(bytes), ETW_PLAIN},
  };
  (void)EtwEventWrite(etw_provider.handle, &kind, sizeof(pieces) / sizeof(pieces[0]), pieces);
}

FAST void etw_write(etw_event_t event, const void* p, size_t bytes) {
  const uint64_t keyword = event >= ETW_ALLOC ? ETW_BLOCKS : ETW_MEMORY;
  if (unlikely((load_relaxed(&etw_provider.wanted) & keyword) != 0)) {
    etw_write_wanted(event, p, bytes);
  }
}

// ---- what track.h asks for ----

FAST void track_quiet(void) {}
FAST void track_loud(void) {}
FAST void track_taken(void* p, size_t bytes) { etw_write(ETW_ALLOC, p, bytes); }
FAST void track_given(void* p, size_t bytes) { etw_write(ETW_FREE, p, bytes); }
FAST void track_resized(void* p, size_t old_bytes, size_t bytes) {
  track_given(p, old_bytes);
  track_taken(p, bytes);
}
FAST void track_hide(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_show(void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_mapped(void* p, size_t bytes) { etw_write(ETW_RESERVE, p, bytes); }
FAST void track_unmapped(void* p, size_t bytes) { etw_write(ETW_RELEASE, p, bytes); }
FAST void track_committed(const void* p, size_t bytes) { etw_write(ETW_COMMIT, p, bytes); }
FAST void track_decommitted(const void* p, size_t bytes) { etw_write(ETW_DECOMMIT, p, bytes); }
FAST void track_protected(const void* p, size_t bytes) { etw_write(ETW_PROTECT, p, bytes); }
FAST void track_wrong(const void* p, size_t bytes) { (void)p, (void)bytes; }
FAST void track_refused(void* p) { (void)p; }

#endif
