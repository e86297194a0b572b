/* test: timeout=60 when="posix"
   Events as Windows gets them (src/base/etw.h), with a stand-in for the system that copies what it
   is handed as the system does. A reader that knows nothing but the format (TraceLogging) decodes
   the copy byte by byte: names, types and values come out as they went in, nothing more. What
   nobody records is not written. The manifest and the profile of packaging/windows say the same. */
#include "../../src/base/etw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

static etw_provider_t etw_provider;

/* ---- the system ---- */

typedef struct record {
  etw_kind_t kind;
  size_t provider_bytes, shape_bytes, data_bytes;
  uint8_t provider[64], shape[64], data[64];
} record_t;

static record_t last;
static int writes;
static etw_see_fun* see;
static uint8_t traits[64];
static size_t traits_bytes;
static etw_guid_t known_as;

uint32_t EtwEventRegister(const etw_guid_t* provider, etw_see_fun* callback, void* context,
                          uint64_t* handle) {
  CHECK(context == NULL);
  known_as = *provider;
  see = callback;
  *handle = 77;
  return 0;
}

uint32_t EtwEventSetInformation(uint64_t handle, uint32_t what, const void* data, uint32_t bytes) {
  CHECK(handle == 77 && what == 2 && bytes <= sizeof(traits));
  memcpy(traits, data, bytes);
  traits_bytes = bytes;
  return 0;
}

static void copy(uint8_t* to, size_t* bytes, const etw_piece_t* piece) {
  CHECK(*bytes + piece->bytes <= sizeof(last.data));
  memcpy(to + *bytes, (const void*)(uintptr_t)piece->address, piece->bytes);
  *bytes += piece->bytes;
}

uint32_t EtwEventWrite(uint64_t handle, const etw_kind_t* kind, uint32_t count,
                       const etw_piece_t* pieces) {
  CHECK(handle == 77);
  last = (record_t){.kind = *kind};
  writes++;
  for (uint32_t i = 0; i < count; i++) {
    switch (pieces[i].what) {
      case 2: copy(last.provider, &last.provider_bytes, &pieces[i]); break;
      case 1: copy(last.shape, &last.shape_bytes, &pieces[i]); break;
      default: copy(last.data, &last.data_bytes, &pieces[i]); break;
    }
  }
  return 0;
}

/* ---- the reader: 16 bits of length, tags, a name, then for each field a name and a type ---- */

enum { TYPE_UINT64 = 10, TYPE_HEX_INT64 = 21, MORE = 0x80 };

static unsigned read16(const uint8_t* p) { return p[0] | (unsigned)p[1] << 8; }

static const char* read_name(const uint8_t* bytes, size_t* at, size_t end) {
  const char* name = (const char*)bytes + *at;
  while (*at < end && bytes[*at] != 0) { (*at)++; }
  CHECK(*at < end);
  (*at)++;
  return name;
}

static uint64_t read_value(size_t* at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) { value |= (uint64_t)last.data[(*at)++] << (8 * i); }
  return value;
}

static void check_event(const char* name, uint64_t address, uint64_t bytes) {
  size_t at = 2, data = 0;
  CHECK(read16(last.provider) == last.provider_bytes);
  CHECK(strcmp(read_name(last.provider, &at, last.provider_bytes), "mimalloc") == 0);
  CHECK(at == last.provider_bytes);
  at = 2;
  CHECK(read16(last.shape) == last.shape_bytes);
  while ((last.shape[at++] & MORE) != 0) {}
  CHECK(strcmp(read_name(last.shape, &at, last.shape_bytes), name) == 0);
  CHECK(strcmp(read_name(last.shape, &at, last.shape_bytes), "Address") == 0);
  CHECK(last.shape[at++] == TYPE_HEX_INT64);
  CHECK(read_value(&data) == address);
  CHECK(strcmp(read_name(last.shape, &at, last.shape_bytes), "Bytes") == 0);
  CHECK(last.shape[at++] == TYPE_UINT64);
  CHECK(read_value(&data) == bytes);
  CHECK(at == last.shape_bytes && data == last.data_bytes);
}

static void record_at(uint32_t on, uint8_t level, uint64_t keywords) {
  see(NULL, on, level, keywords, 0, NULL, NULL);
}

static int writes_at(uint8_t level, uint64_t keywords) {
  record_at(1, level, keywords);
  writes = 0;
  track_committed(NULL, 1);
  track_taken(NULL, 1);
  return writes;
}

/* ---- what is said elsewhere ---- */

static char* read_text(const char* name) {
  static char text[1 << 16];
  const char* source = getenv("MI_SOURCE_DIR"); /* else where the tests are compiled */
  char path[1000];
  snprintf(path, sizeof(path), "%s/packaging/windows/%s", source == NULL ? "." : source, name);
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  text[file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file)] = 0;
  if (file != NULL) { fclose(file); }
  return text;
}

static int count_of(const char* text, const char* what) {
  int count = 0;
  for (const char* at = text; (at = strstr(at, what)) != NULL; at++) { count++; }
  return count;
}

static void check_guid(const char* text, int count) {
  char guid[64];
  snprintf(guid, sizeof(guid), "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", known_as.a,
           known_as.b, known_as.c, known_as.d[0], known_as.d[1], known_as.d[2], known_as.d[3],
           known_as.d[4], known_as.d[5], known_as.d[6], known_as.d[7]);
  CHECK(count_of(text, guid) == count);
}

static void check_manifest(const char* const* names) {
  const char* text = read_text("mi.man");
  check_guid(text, 1);
  CHECK(count_of(text, "<event ") == ETW_EVENTS);
  CHECK(count_of(text, "<keyword name=\"Memory\" mask=\"0x1\"/>") == 1 && ETW_MEMORY == 1);
  CHECK(count_of(text, "<keyword name=\"Blocks\" mask=\"0x2\"/>") == 1 && ETW_BLOCKS == 2);
  CHECK(count_of(text, "<data name=\"Address\" inType=\"win:HexInt64\"/>\n") == 1);
  CHECK(count_of(text, "<data name=\"Bytes\" inType=\"win:UInt64\"/>\n") == 1);
  for (int i = 0; i < ETW_EVENTS; i++) {
    char event[200];
    etw_write((etw_event_t)i, NULL, 0);
    snprintf(event, sizeof(event),
             "<event value=\"%d\" symbol=\"%s\" level=\"win:%s\" keywords=\"%s\"", last.kind.id,
             names[i], last.kind.level == 4 ? "Informational" : "Verbose",
             last.kind.keyword == ETW_MEMORY ? "Memory" : "Blocks");
    CHECK(count_of(text, event) == 1);
  }
  check_guid(read_text("mi.wprp"), 2);
}

int main(void) {
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
    puts("Windows is little-endian");
    return 77;
  }
  static const char* const names[ETW_EVENTS] = {"Reserve", "Release", "Commit", "Decommit",
                                                "Protect", "Alloc",   "Free"};
  _Static_assert(sizeof(etw_kind_t) == 16 && sizeof(etw_piece_t) == 16, "as the system has them");
  etw_write(ETW_ALLOC, &last, 1);
  track_start();
  etw_write(ETW_ALLOC, &last, 1);
  CHECK(writes == 0);
  CHECK(known_as.a == 0x0db9bd71 && known_as.d[7] == 0x58);
  CHECK(traits_bytes == 11 && read16(traits) == 11 && strcmp((char*)traits + 2, "mimalloc") == 0);

  record_at(1, 0, 0);
  for (int i = 0; i < ETW_EVENTS; i++) {
    const uint64_t address = 0x123456789ABC0 + (uint64_t)i, bytes = 1000000007u * (uint64_t)i;
    etw_write((etw_event_t)i, (const void*)(uintptr_t)address, (size_t)bytes);
    CHECK(writes == i + 1);
    check_event(names[i], (uintptr_t)address, (size_t)bytes);
    CHECK(last.kind.channel == 11 && last.kind.id == i + 1 && last.kind.task == 0);
    CHECK(last.kind.level == (i < ETW_ALLOC ? 4 : 5) &&
          last.kind.keyword == (i < ETW_ALLOC ? 1 : 2));
  }
  check_manifest(names);
  writes = 0;
  track_resized(&last, 100, 200);
  CHECK(writes == 2);
  check_event("Alloc", (uintptr_t)&last, 200);

  CHECK(writes_at(0, 0) == 2 && writes_at(5, 3) == 2 && writes_at(255, ~(uint64_t)0) == 2);
  CHECK(writes_at(4, 0) == 1 && writes_at(5, ETW_MEMORY) == 1 && writes_at(3, 0) == 0);
  CHECK(writes_at(5, ETW_BLOCKS) == 1 && writes_at(5, 4) == 0 && writes_at(4, ETW_BLOCKS) == 0);
  record_at(0, 5, 3);
  writes = 0;
  track_taken(&last, 1);
  CHECK(writes == 0);
  return check_done();
}
