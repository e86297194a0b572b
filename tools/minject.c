// minject: puts a DLL at the head of the table of DLLs that a Windows program loads, so that the
// program allocates by it without being built anew. Nothing of the program's code is touched.
//
//   minject --list PROGRAM            prints the DLLs of the table, in order
//   minject [OPTIONS] PROGRAM         writes a copy, PROGRAM-mi.exe
//     -o, --output FILE               writes the copy there
//     -i, --in-place                  changes PROGRAM itself
//     -f, --force                     replaces a copy that is there already
//     --dll NAME                      the DLL, mimalloc.dll
//     --function NAME                 a function that it exports, mi_version
//     --drop-signature                also changes a signed program, which is then not signed
//
// Programs and DLLs for any processor, 32 and 64 bits ("PE/COFF Specification", Microsoft). It runs
// on any system itself. Exit status: 0 done, 1 not done, with the reason, 2 wrong use.
//
// The new table goes into a section of its own, or where the headers have no room for one more, to
// the end of the last section. If the program loads the DLL already, its entry moves to the head.
// Test: test/unit/minject.c.
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIR_IMPORT = 1, DIR_SIGNATURE = 4, DIR_BOUND = 11 };
enum { ENTRY_BYTES = 20, SECTION_BYTES = 40, DIRECTORY_BYTES = 8, NAME_MOST = 260 };
enum { SECTIONS_MOST = 96, ENTRIES_MOST = 4096 };

typedef struct pe {
  uint8_t* data;
  size_t bytes;
  size_t file_header, optional, directories, sections;  // offsets in the file
  unsigned section_count, directory_count;
  bool is_wide;  // 64 bits
} pe_t;

// ---- bytes ----

static unsigned get16(const uint8_t* p) { return p[0] | (unsigned)p[1] << 8; }
static uint32_t get32(const uint8_t* p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }

static void put16(uint8_t* p, unsigned value) {
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t* p, uint32_t value) {
  put16(p, value & 0xFFFF);
  put16(p + 2, value >> 16);
}

static uint64_t up_to(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static bool is_in_file(const pe_t* pe, uint64_t offset, uint64_t bytes) {
  return offset <= pe->bytes && bytes <= pe->bytes - offset;
}

static bool grow(pe_t* pe, size_t bytes) {
  uint8_t* data = (uint8_t*)realloc(pe->data, bytes);
  if (data == NULL) { return false; }
  memset(data + pe->bytes, 0, bytes - pe->bytes);
  pe->data = data;
  pe->bytes = bytes;
  return true;
}

// ---- headers: fields by their places in the specification ----

static uint8_t* optional(const pe_t* pe, size_t at) { return pe->data + pe->optional + at; }
static uint8_t* section_alignment(const pe_t* pe) { return optional(pe, 32); }
static uint8_t* file_alignment(const pe_t* pe) { return optional(pe, 36); }
static uint8_t* image_bytes(const pe_t* pe) { return optional(pe, 56); }
static uint8_t* header_bytes(const pe_t* pe) { return optional(pe, 60); }
static uint8_t* checksum(const pe_t* pe) { return optional(pe, 64); }
static uint8_t* dll_flags(const pe_t* pe) { return optional(pe, 70); }

static uint8_t* directory(const pe_t* pe, unsigned index) {
  return pe->data + pe->directories + (size_t)index * DIRECTORY_BYTES;
}

static uint32_t directory_bytes(const pe_t* pe, unsigned index) {
  return index < pe->directory_count ? get32(directory(pe, index) + 4) : 0;
}

static void clear_directory(const pe_t* pe, unsigned index) {
  if (index < pe->directory_count) { memset(directory(pe, index), 0, DIRECTORY_BYTES); }
}

typedef struct section {
  uint8_t* header;
  uint32_t bytes, start, raw_bytes, raw_start;
} section_t;

static section_t section_at(const pe_t* pe, unsigned index) {
  uint8_t* p = pe->data + pe->sections + (size_t)index * SECTION_BYTES;
  return (section_t){.header = p,
                     .bytes = get32(p + 8),
                     .start = get32(p + 12),
                     .raw_bytes = get32(p + 16),
                     .raw_start = get32(p + 20)};
}

static uint64_t section_end(const section_t* section) {
  const uint32_t bytes = section->bytes > section->raw_bytes ? section->bytes : section->raw_bytes;
  return (uint64_t)section->start + bytes;
}

// NULL, or why it is none that can be read.
static const char* pe_read(pe_t* pe) {
  static const char not_pe[] = "it is no Windows program";
  enum { MZ = 0x5A4D, PE = 0x4550, MAGIC_32 = 0x10B, MAGIC_64 = 0x20B, FILE_HEADER_BYTES = 20 };
  if (pe->bytes < 64 || get16(pe->data) != MZ) { return not_pe; }
  const size_t signature = get32(pe->data + 60);
  pe->file_header = signature + 4;
  pe->optional = pe->file_header + FILE_HEADER_BYTES;
  if (!is_in_file(pe, signature, 4 + FILE_HEADER_BYTES + 2)) { return not_pe; }
  if (get32(pe->data + signature) != PE) { return not_pe; }
  const unsigned magic = get16(optional(pe, 0));
  const size_t optional_bytes = get16(pe->data + pe->file_header + 16);
  pe->is_wide = magic == MAGIC_64;
  if (magic != MAGIC_64 && magic != MAGIC_32) { return "its format is not known"; }
  const size_t fixed = pe->is_wide ? 112 : 96;
  pe->section_count = get16(pe->data + pe->file_header + 2);
  pe->sections = pe->optional + optional_bytes;
  pe->directories = pe->optional + fixed;
  if (optional_bytes < fixed || !is_in_file(pe, pe->optional, optional_bytes) ||
      !is_in_file(pe, pe->sections, (uint64_t)pe->section_count * SECTION_BYTES)) {
    return "its headers end too early";
  }
  pe->directory_count = get32(optional(pe, fixed - 4));
  const size_t room = (optional_bytes - fixed) / DIRECTORY_BYTES;
  if (pe->directory_count > room) { pe->directory_count = (unsigned)room; }
  const uint32_t alignment = get32(file_alignment(pe));
  if (pe->section_count == 0 || pe->section_count > SECTIONS_MOST || alignment == 0 ||
      alignment > 0x10000 || get32(section_alignment(pe)) == 0 ||
      get32(section_alignment(pe)) > 0x1000000) {
    return "its headers make no sense";
  }
  return NULL;
}

// Where in the file the bytes are that are loaded at `address`; 0: nowhere.
static size_t offset_of(const pe_t* pe, uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < pe->section_count; i++) {
    const section_t section = section_at(pe, i);
    const uint64_t into = address - section.start;
    if (address >= section.start && into + bytes <= section.raw_bytes &&
        is_in_file(pe, section.raw_start + into, bytes)) {
      return (size_t)(section.raw_start + into);
    }
  }
  return 0;
}

// ---- the table of imports: of each DLL an entry, and one of zeros ----

typedef struct imports {
  size_t table;  // offset in the file; 0: there is none
  unsigned count;
} imports_t;

static uint8_t* entry_at(const pe_t* pe, const imports_t* imports, unsigned index) {
  return pe->data + imports->table + (size_t)index * ENTRY_BYTES;
}

static uint32_t entry_dll(const uint8_t* entry) { return get32(entry + 12); }
static uint32_t entry_addresses(const uint8_t* entry) { return get32(entry + 16); }

// NULL if it is not in the file, or too long.
static const char* entry_name(const pe_t* pe, const uint8_t* entry) {
  const size_t at = offset_of(pe, entry_dll(entry), 1);
  if (at == 0) { return NULL; }
  const size_t most = pe->bytes - at < NAME_MOST ? pe->bytes - at : NAME_MOST;
  return memchr(pe->data + at, 0, most) == NULL ? NULL : (const char*)(pe->data + at);
}

static const char* imports_read(const pe_t* pe, imports_t* out) {
  static const char broken[] = "its table of imports is broken";
  *out = (imports_t){0};
  if (directory_bytes(pe, DIR_IMPORT) == 0) { return NULL; }
  const uint64_t start = get32(directory(pe, DIR_IMPORT));
  out->table = offset_of(pe, start, ENTRY_BYTES);
  if (out->table == 0) { return broken; }
  for (;; out->count++) {
    const uint64_t at = (uint64_t)out->count * ENTRY_BYTES;
    if (offset_of(pe, start + at, ENTRY_BYTES) != out->table + at) { return broken; }
    const uint8_t* entry = entry_at(pe, out, out->count);
    if (entry_dll(entry) == 0 || entry_addresses(entry) == 0) { return NULL; }
    if (out->count == ENTRIES_MOST || entry_name(pe, entry) == NULL) { return broken; }
  }
}

static bool is_same_name(const char* a, const char* b) {
  while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b)) { a++, b++; }
  return *a == *b;
}

static unsigned imports_find(const pe_t* pe, const imports_t* imports, const char* dll) {
  unsigned i = 0;
  while (i < imports->count && !is_same_name(entry_name(pe, entry_at(pe, imports, i)), dll)) {
    i++;
  }
  return i;
}

// ---- what stands in the way ----

enum { FORCE_INTEGRITY = 0x80 };

static const char* drop_signature(pe_t* pe) {
  if (directory_bytes(pe, DIR_SIGNATURE) != 0) {
    const uint64_t at = get32(directory(pe, DIR_SIGNATURE));  // here an offset in the file
    const uint64_t end = up_to(at + directory_bytes(pe, DIR_SIGNATURE), 8);
    if (at < pe->sections || at > pe->bytes) { return "its signature is out of place"; }
    if (end >= pe->bytes) { pe->bytes = (size_t)at; }
  }
  clear_directory(pe, DIR_SIGNATURE);
  put16(dll_flags(pe), get16(dll_flags(pe)) & ~(unsigned)FORCE_INTEGRITY);
  return NULL;
}

static bool is_signed(const pe_t* pe) {
  return directory_bytes(pe, DIR_SIGNATURE) != 0 || (get16(dll_flags(pe)) & FORCE_INTEGRITY) != 0;
}

// Bound imports hold addresses from another day. With their names at hand the loader finds the
// functions itself.
static const char* unbind(const pe_t* pe, const imports_t* imports) {
  if (directory_bytes(pe, DIR_BOUND) == 0) { return NULL; }
  for (unsigned i = 0; i < imports->count; i++) {
    uint8_t* entry = entry_at(pe, imports, i);
    const bool is_bound = get32(entry + 4) != 0;
    if (is_bound && get32(entry) == 0) { return "its imports are bound, and their names are gone"; }
    if (is_bound) { memset(entry + 4, 0, 8); }
  }
  const uint64_t at = get32(directory(pe, DIR_BOUND));
  const uint64_t end = at + directory_bytes(pe, DIR_BOUND);
  const size_t after = pe->sections + (size_t)pe->section_count * SECTION_BYTES;
  if (at >= after && end <= get32(header_bytes(pe)) && is_in_file(pe, at, end - at)) {
    memset(pe->data + at, 0, (size_t)(end - at));  // room for a section's header
  }
  clear_directory(pe, DIR_BOUND);
  return NULL;
}

// ---- room for a new table ----

static bool has_room_for_section(const pe_t* pe) {
  const size_t at = pe->sections + (size_t)pe->section_count * SECTION_BYTES;
  uint64_t end = get32(header_bytes(pe));
  for (unsigned i = 0; i < pe->section_count; i++) {
    const section_t section = section_at(pe, i);
    if (section.raw_bytes != 0 && section.raw_start < end) { end = section.raw_start; }
  }
  if (at + SECTION_BYTES > end || !is_in_file(pe, at, SECTION_BYTES)) { return false; }
  for (size_t i = 0; i < SECTION_BYTES; i++) {
    if (pe->data[at + i] != 0) { return false; }
  }
  return pe->section_count < SECTIONS_MOST;
}

static unsigned last_section(const pe_t* pe) {
  unsigned last = 0;
  for (unsigned i = 1; i < pe->section_count; i++) {
    if (section_at(pe, i).start > section_at(pe, last).start) { last = i; }
  }
  return last;
}

typedef struct room {
  size_t offset;     // in the file
  uint32_t address;  // where it is loaded
} room_t;

static const uint32_t data_to_read_and_write = 0xC0000040;

static const char too_large[] = "it would become too large";

static const char* room_in_new_section(pe_t* pe, uint32_t bytes, room_t* out) {
  const section_t last = section_at(pe, last_section(pe));
  const uint64_t address = up_to(section_end(&last), get32(section_alignment(pe)));
  const uint64_t offset = up_to(pe->bytes, get32(file_alignment(pe)));
  const uint64_t raw_bytes = up_to(bytes, get32(file_alignment(pe)));
  if (offset + raw_bytes > UINT32_MAX / 2 || address + bytes > UINT32_MAX / 2) { return too_large; }
  if (!grow(pe, (size_t)(offset + raw_bytes))) { return strerror(ENOMEM); }
  uint8_t* header = pe->data + pe->sections + (size_t)pe->section_count * SECTION_BYTES;
  memcpy(header, ".minject", 8);
  put32(header + 8, bytes);
  put32(header + 12, (uint32_t)address);
  put32(header + 16, (uint32_t)raw_bytes);
  put32(header + 20, (uint32_t)offset);
  put32(header + 36, data_to_read_and_write);
  put16(pe->data + pe->file_header + 2, ++pe->section_count);
  *out = (room_t){(size_t)offset, (uint32_t)address};
  return NULL;
}

static const char* room_in_last_section(pe_t* pe, uint32_t bytes, room_t* out) {
  static const uint32_t discardable = 0x02000000;
  const unsigned index = last_section(pe);
  section_t last = section_at(pe, index);
  const uint64_t into = up_to(section_end(&last), 16) - last.start;
  const uint64_t raw_bytes = up_to(into + bytes, get32(file_alignment(pe)));
  if (last.raw_start == 0 || up_to((uint64_t)last.raw_start + last.raw_bytes, 8) < pe->bytes) {
    return "it has no room for another section's header, and data after its last section";
  }
  if (last.raw_start + raw_bytes > UINT32_MAX / 2 || section_end(&last) > UINT32_MAX / 2) {
    return too_large;
  }
  if (last.raw_start + raw_bytes < pe->bytes) { return "its last section is out of place"; }
  if (!grow(pe, (size_t)(last.raw_start + raw_bytes))) { return strerror(ENOMEM); }
  last = section_at(pe, index);
  put32(last.header + 8, (uint32_t)(into + bytes));
  put32(last.header + 16, (uint32_t)raw_bytes);
  put32(last.header + 36, (get32(last.header + 36) | data_to_read_and_write) & ~discardable);
  *out = (room_t){last.raw_start + (size_t)into, last.start + (uint32_t)into};
  return NULL;
}

// ---- inject ----

typedef struct wish {
  const char *dll, *function;
  bool drop_signature;
} wish_t;

// The sum of all 16-bit words, and the length.
static void set_checksum(pe_t* pe) {
  uint32_t sum = 0;
  put32(checksum(pe), 0);
  for (size_t i = 0; i < pe->bytes; i += 2) {
    sum += pe->data[i] | (i + 1 < pe->bytes ? (uint32_t)pe->data[i + 1] << 8 : 0);
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  put32(checksum(pe), sum + (uint32_t)pe->bytes);
}

static void move_to_head(const pe_t* pe, const imports_t* imports, unsigned index) {
  uint8_t entry[ENTRY_BYTES];
  memcpy(entry, entry_at(pe, imports, index), ENTRY_BYTES);
  memmove(entry_at(pe, imports, 1), entry_at(pe, imports, 0), (size_t)index * ENTRY_BYTES);
  memcpy(entry_at(pe, imports, 0), entry, ENTRY_BYTES);
}

// What follows the table: names of functions, their addresses once loaded (each a list with one
// word of zeros behind), the function's name after a hint of two bytes, the DLL's name.
static const char* add_to_head(pe_t* pe, const imports_t* imports, const wish_t* wish) {
  const uint32_t word = pe->is_wide ? 8 : 4;
  const uint32_t names = (uint32_t)up_to((uint64_t)(imports->count + 2) * ENTRY_BYTES, 8);
  const uint32_t addresses = names + 2 * word, function = addresses + 2 * word;
  const uint32_t dll = function + 2 + (uint32_t)strlen(wish->function) + 1;
  const uint32_t bytes = dll + (uint32_t)strlen(wish->dll) + 1;
  room_t room = {0, 0};
  const char* error = has_room_for_section(pe) ? room_in_new_section(pe, bytes, &room)
                                               : room_in_last_section(pe, bytes, &room);
  if (error != NULL) { return error; }
  uint8_t* p = pe->data + room.offset;
  put32(p, room.address + names);
  put32(p + 12, room.address + dll);
  put32(p + 16, room.address + addresses);
  if (imports->count > 0) {
    memcpy(p + ENTRY_BYTES, entry_at(pe, imports, 0), (size_t)imports->count * ENTRY_BYTES);
  }
  put32(p + names, room.address + function);
  put32(p + addresses, room.address + function);
  memcpy(p + function + 2, wish->function, strlen(wish->function) + 1);
  memcpy(p + dll, wish->dll, strlen(wish->dll) + 1);
  put32(directory(pe, DIR_IMPORT), room.address);
  put32(directory(pe, DIR_IMPORT) + 4, (imports->count + 2) * ENTRY_BYTES);
  put32(image_bytes(pe),
        (uint32_t)up_to((uint64_t)room.address + bytes, get32(section_alignment(pe))));
  return NULL;
}

// NULL, or why it was not done.
static const char* pe_inject(pe_t* pe, const wish_t* wish) {
  imports_t imports;
  const char* error = pe_read(pe);
  if (error == NULL) { error = imports_read(pe, &imports); }
  if (error != NULL) { return error; }
  const unsigned found = imports_find(pe, &imports, wish->dll);
  if (imports.count > 0 && found == 0) { return "it loads that DLL first already"; }
  if (pe->directory_count <= DIR_IMPORT) { return "its headers have no place for imports"; }
  if (is_signed(pe) && !wish->drop_signature) { return "it is signed: see --drop-signature"; }
  if (is_signed(pe)) { error = drop_signature(pe); }
  if (error == NULL) { error = unbind(pe, &imports); }
  if (error != NULL) { return error; }
  if (found < imports.count) {
    move_to_head(pe, &imports, found);
  } else {
    error = add_to_head(pe, &imports, wish);
  }
  if (error == NULL) { set_checksum(pe); }
  return error;
}

// ---- the program ----

#ifndef MINJECT_NO_MAIN

static const char usage[] =
    "minject --list PROGRAM\n"
    "minject [-o FILE | -i] [-f] [--dll NAME] [--function NAME] [--drop-signature] PROGRAM\n";

static int fail(const char* name, const char* why) {
  fprintf(stderr, "minject: %s: %s\n", name, why);
  return 1;
}

static const char* file_read(const char* name, pe_t* out) {
  enum { STEP = 1 << 20 };
  FILE* file = fopen(name, "rb");
  size_t got = STEP;
  if (file == NULL) { return strerror(errno); }
  while (got == STEP && grow(out, out->bytes + STEP)) {
    got = fread(out->data + out->bytes - STEP, 1, STEP, file);
    out->bytes -= STEP - got;
  }
  const bool failed = ferror(file) != 0 || got == STEP;
  (void)fclose(file);
  return failed ? "it cannot be read" : NULL;
}

// Under another name first, so that a full disk leaves what was there.
static const char* file_write(const char* name, const pe_t* pe) {
  static const char suffix[] = ".minject";
  char* other = (char*)malloc(strlen(name) + sizeof(suffix));
  if (other == NULL) { return strerror(ENOMEM); }
  strcpy(other, name);
  strcat(other, suffix);
  FILE* file = fopen(other, "wb");
  bool done = file != NULL && fwrite(pe->data, 1, pe->bytes, file) == pe->bytes;
  if (file != NULL) { done = fclose(file) == 0 && done; }
  if (done && rename(other, name) != 0) {  // Windows does not replace a file so
    (void)remove(name);
    done = rename(other, name) == 0;
  }
  const char* error = done ? NULL : strerror(errno);
  if (!done) { (void)remove(other); }
  free(other);
  return error;
}

static int list(const char* name, pe_t* pe) {
  imports_t imports;
  const char* error = pe_read(pe);
  if (error == NULL) { error = imports_read(pe, &imports); }
  if (error != NULL) { return fail(name, error); }
  for (unsigned i = 0; i < imports.count; i++) { puts(entry_name(pe, entry_at(pe, &imports, i))); }
  return 0;
}

// game.exe: game-mi.exe
static char* name_of_copy(const char* name) {
  const char* dot = strrchr(name, '.');
  char* copy = (char*)malloc(strlen(name) + sizeof("-mi"));
  if (copy == NULL) { return NULL; }
  if (dot == NULL || strpbrk(dot, "/\\") != NULL) { dot = name + strlen(name); }
  (void)sprintf(copy, "%.*s-mi%s", (int)(dot - name), name, dot);
  return copy;
}

static bool exists(const char* name) {
  FILE* file = fopen(name, "rb");
  if (file != NULL) { (void)fclose(file); }
  return file != NULL;
}

typedef struct request {
  const char *program, *output;
  bool list, in_place, force;
  wish_t wish;
} request_t;

static int inject(const request_t* request, pe_t* pe) {
  char* copy =
      request->output == NULL && !request->in_place ? name_of_copy(request->program) : NULL;
  const char* output = copy != NULL ? copy : request->output;
  if (request->in_place) { output = request->program; }
  int status = 0;
  const char* error = pe_inject(pe, &request->wish);
  if (error != NULL) {
    status = fail(request->program, error);
  } else if (output == NULL) {
    status = fail(request->program, strerror(ENOMEM));
  } else if (!request->in_place && !request->force && exists(output)) {
    status = fail(output, "it is there already: see --force");
  } else if ((error = file_write(output, pe)) != NULL) {
    status = fail(output, error);
  }
  free(copy);
  return status;
}

static bool is_option(const char* text, const char* brief, const char* name) {
  return strcmp(text, brief) == 0 || strcmp(text, name) == 0;
}

// False: wrong use.
static bool take_options(int argc, char** argv, request_t* out) {
  for (int i = 1; i < argc; i++) {
    const char* text = argv[i];
    const char** value = NULL;
    if (is_option(text, "-l", "--list")) {
      out->list = true;
    } else if (is_option(text, "-i", "--in-place")) {
      out->in_place = true;
    } else if (is_option(text, "-f", "--force")) {
      out->force = true;
    } else if (strcmp(text, "--drop-signature") == 0) {
      out->wish.drop_signature = true;
    } else if (is_option(text, "-o", "--output")) {
      value = &out->output;
    } else if (strcmp(text, "--dll") == 0) {
      value = &out->wish.dll;
    } else if (strcmp(text, "--function") == 0) {
      value = &out->wish.function;
    } else if (text[0] == '-' || out->program != NULL) {
      return false;
    } else {
      out->program = text;
    }
    if (value != NULL && ++i == argc) { return false; }
    if (value != NULL) { *value = argv[i]; }
  }
  return out->program != NULL && !(out->in_place && out->output != NULL) &&
         strlen(out->wish.dll) < NAME_MOST && strlen(out->wish.function) < NAME_MOST;
}

int main(int argc, char** argv) {
  request_t request = {.wish = {.dll = "mimalloc.dll", .function = "mi_version"}};
  pe_t pe = {0};
  if (!take_options(argc, argv, &request)) {
    fputs(usage, stderr);
    return 2;
  }
  const char* error = file_read(request.program, &pe);
  int status = 0;
  if (error != NULL) {
    status = fail(request.program, error);
  } else if (request.list) {
    status = list(request.program, &pe);
  } else {
    status = inject(&request, &pe);
  }
  free(pe.data);
  return status;
}

#endif
