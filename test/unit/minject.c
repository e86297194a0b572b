/* test: timeout=60
   tools/minject.c on programs made here, 32 and 64 bits: what the table of imports then says, how
   the checksum comes out, and what is refused with which reason. Files cut short or with a byte
   changed are refused or done, but never read past their end. */
#define MINJECT_NO_MAIN
#include "../../tools/minject.c"

#include "../check.h"

enum { HEADER_BYTES = 0x400, SECTION_START = 0x1000, SECTION_RAW = 0x200, PE_AT = 0x80 };
enum { IMPORT_START = SECTION_START, NAMES = 0x100 };

/* A program that imports from two DLLs; its headers end where the section's bytes begin. */
static pe_t program(bool wide, size_t header_bytes) {
  pe_t pe = {.data = NULL};
  CHECK(grow(&pe, header_bytes + SECTION_RAW));
  const size_t optional_bytes = (wide ? 112 : 96) + 16 * DIRECTORY_BYTES;
  uint8_t* file = pe.data + PE_AT + 4;
  uint8_t* head = file + 20;
  memcpy(pe.data, "MZ", 2);
  put32(pe.data + 60, PE_AT);
  memcpy(pe.data + PE_AT, "PE\0\0", 4);
  put16(file, wide ? 0x8664 : 0x14C);
  put16(file + 2, 1);
  put16(file + 16, (unsigned)optional_bytes);
  put16(head, wide ? 0x20B : 0x10B);
  put32(head + 32, 0x1000);
  put32(head + 36, 0x200);
  put32(head + 56, 0x2000);
  put32(head + 60, (uint32_t)header_bytes);
  put32(head + (wide ? 108 : 92), 16);
  uint8_t* imports = head + (wide ? 112 : 96) + DIR_IMPORT * DIRECTORY_BYTES;
  put32(imports, IMPORT_START);
  put32(imports + 4, 3 * ENTRY_BYTES);
  uint8_t* section = head + optional_bytes;
  memcpy(section, ".rdata", 6);
  put32(section + 8, SECTION_RAW);
  put32(section + 12, SECTION_START);
  put32(section + 16, SECTION_RAW);
  put32(section + 20, (uint32_t)header_bytes);
  uint8_t* raw = pe.data + header_bytes;
  for (uint32_t i = 0; i < 2; i++) {
    put32(raw + i * ENTRY_BYTES, SECTION_START + 0x180);
    put32(raw + i * ENTRY_BYTES + 12, SECTION_START + NAMES + i * 32);
    put32(raw + i * ENTRY_BYTES + 16, SECTION_START + 0x1C0);
  }
  strcpy((char*)raw + NAMES, "KERNEL32.dll");
  strcpy((char*)raw + NAMES + 32, "ucrtbase.dll");
  return pe;
}

/* The same with as many bytes as there are, so that a sanitizer sees each one too many. */
static pe_t copy_of(const pe_t* from, size_t bytes) {
  pe_t copy = {.data = (uint8_t*)malloc(bytes == 0 ? 1 : bytes), .bytes = bytes};
  memcpy(copy.data, from->data, bytes);
  return copy;
}

static const wish_t plain = {.dll = "mimalloc.dll", .function = "mi_version"};

/* "a b c": the DLLs in order. */
static bool imports_are(pe_t* pe, const char* names) {
  char list[200] = "";
  imports_t imports;
  if (pe_read(pe) != NULL || imports_read(pe, &imports) != NULL) { return false; }
  for (unsigned i = 0; i < imports.count; i++) {
    if (i > 0) { strcat(list, " "); }
    strcat(list, entry_name(pe, entry_at(pe, &imports, i)));
  }
  return strcmp(list, names) == 0;
}

static bool checksum_is_right(const pe_t* pe) {
  const size_t at = (size_t)(checksum(pe) - pe->data);
  uint64_t sum = 0;
  for (size_t i = 0; i < pe->bytes; i++) {
    if (i < at || i >= at + 4) { sum += (uint64_t)pe->data[i] << (i % 2 * 8); }
  }
  while (sum >> 16 != 0) { sum = (sum & 0xFFFF) + (sum >> 16); }
  return get32(checksum(pe)) == sum + pe->bytes;
}

/* The function that the first entry names, by each of its lists. */
static bool function_is(const pe_t* pe, const char* name) {
  imports_t imports;
  if (imports_read(pe, &imports) != NULL) { return false; }
  const uint8_t* entry = entry_at(pe, &imports, 0);
  const uint32_t lists[2] = {get32(entry), get32(entry + 16)};
  for (int i = 0; i < 2; i++) {
    const size_t at = offset_of(pe, lists[i], pe->is_wide ? 16 : 8);
    const size_t hint = at == 0 ? 0 : offset_of(pe, get32(pe->data + at), 2 + strlen(name) + 1);
    if (hint == 0 || strcmp((const char*)pe->data + hint + 2, name) != 0) { return false; }
    if (get32(pe->data + at + (pe->is_wide ? 8 : 4)) != 0) { return false; }
  }
  return true;
}

static bool says(const char* error, const char* part) {
  return error != NULL && strstr(error, part) != NULL;
}

static void test_new_section(bool wide) {
  pe_t pe = program(wide, HEADER_BYTES);
  CHECK(imports_are(&pe, "KERNEL32.dll ucrtbase.dll"));
  CHECK(pe_inject(&pe, &plain) == NULL);
  CHECK(imports_are(&pe, "mimalloc.dll KERNEL32.dll ucrtbase.dll"));
  CHECK(pe.section_count == 2 && section_at(&pe, 1).start == 0x2000);
  CHECK(get32(image_bytes(&pe)) == 0x3000 && pe.bytes % 0x200 == 0);
  CHECK(function_is(&pe, "mi_version") && checksum_is_right(&pe));
  CHECK(says(pe_inject(&pe, &plain), "first already"));
  free(pe.data);
}

static void test_last_section(bool wide) {
  const size_t header_bytes = 0x200; /* no room behind the one section's header */
  pe_t pe = program(wide, header_bytes);
  put16(pe.data + PE_AT + 4 + 16, 0x200 - PE_AT - 24 - SECTION_BYTES);
  memmove(pe.data + 0x200 - SECTION_BYTES,
          pe.data + PE_AT + 24 + (wide ? 112 : 96) + 16 * DIRECTORY_BYTES, SECTION_BYTES);
  CHECK(pe_inject(&pe, &plain) == NULL);
  CHECK(imports_are(&pe, "mimalloc.dll KERNEL32.dll ucrtbase.dll"));
  CHECK(pe.section_count == 1 && section_at(&pe, 0).bytes > SECTION_RAW);
  CHECK(function_is(&pe, "mi_version") && checksum_is_right(&pe));
  free(pe.data);
}

static void test_moved(bool wide) {
  const wish_t wish = {.dll = "UCRTBASE.DLL", .function = "malloc"};
  pe_t pe = program(wide, HEADER_BYTES);
  const size_t bytes = pe.bytes;
  CHECK(pe_inject(&pe, &wish) == NULL && pe.bytes == bytes);
  CHECK(imports_are(&pe, "ucrtbase.dll KERNEL32.dll") && checksum_is_right(&pe));
  free(pe.data);
}

static void test_signed(bool wide) {
  wish_t wish = plain;
  pe_t pe = program(wide, HEADER_BYTES);
  const size_t at = pe.bytes;
  CHECK(pe_read(&pe) == NULL && grow(&pe, at + 64));
  put32(directory(&pe, DIR_SIGNATURE), (uint32_t)at);
  put32(directory(&pe, DIR_SIGNATURE) + 4, 64);
  CHECK(says(pe_inject(&pe, &wish), "signed"));
  wish.drop_signature = true;
  CHECK(pe_inject(&pe, &wish) == NULL && directory_bytes(&pe, DIR_SIGNATURE) == 0);
  CHECK(imports_are(&pe, "mimalloc.dll KERNEL32.dll ucrtbase.dll") && checksum_is_right(&pe));
  CHECK(section_at(&pe, 1).raw_start == at);
  free(pe.data);
}

static void test_bound(bool wide) {
  pe_t pe = program(wide, HEADER_BYTES);
  CHECK(pe_read(&pe) == NULL);
  const size_t after = pe.sections + SECTION_BYTES;
  put32(directory(&pe, DIR_BOUND), (uint32_t)after);
  put32(directory(&pe, DIR_BOUND) + 4, 16);
  memset(pe.data + after, 0xBB, 16);
  put32(pe.data + HEADER_BYTES + 4, 0xFFFFFFFF);
  CHECK(pe_inject(&pe, &plain) == NULL && pe.section_count == 2);
  CHECK(imports_are(&pe, "mimalloc.dll KERNEL32.dll ucrtbase.dll"));
  imports_t imports;
  CHECK(imports_read(&pe, &imports) == NULL && get32(entry_at(&pe, &imports, 1) + 4) == 0);
  free(pe.data);
  pe = program(wide, HEADER_BYTES);
  CHECK(pe_read(&pe) == NULL);
  put32(directory(&pe, DIR_BOUND) + 4, 16);
  put32(pe.data + HEADER_BYTES, 0);
  put32(pe.data + HEADER_BYTES + 4, 0xFFFFFFFF);
  CHECK(says(pe_inject(&pe, &plain), "bound"));
  free(pe.data);
}

static void test_broken(bool wide) {
  pe_t whole = program(wide, HEADER_BYTES);
  for (size_t bytes = 0; bytes < whole.bytes; bytes++) {
    pe_t cut = copy_of(&whole, bytes);
    CHECK(bytes >= HEADER_BYTES + NAMES + 32 + 13 || pe_inject(&cut, &plain) != NULL);
    free(cut.data);
  }
  for (size_t at = 0; at < whole.bytes; at++) {
    for (int value = 0; value < 256; value += 85) {
      pe_t changed = copy_of(&whole, whole.bytes);
      changed.data[at] = (uint8_t)value;
      if (pe_inject(&changed, &plain) == NULL) { CHECK(checksum_is_right(&changed)); }
      free(changed.data);
    }
  }
  free(whole.data);
}

int main(void) {
  for (int wide = 0; wide < 2; wide++) {
    test_new_section(wide != 0);
    test_last_section(wide != 0);
    test_moved(wide != 0);
    test_signed(wide != 0);
    test_bound(wide != 0);
    test_broken(wide != 0);
  }
  return check_done();
}
