// Faults and stacks on Windows. See fault.h.
#include "windows_head.h"

#include "fault.h"

#include <string.h>

#include "port.h"

// Not every set of headers declares it.
EXTERN_C __declspec(dllimport) USHORT NTAPI RtlCaptureStackBackTrace(ULONG skip, ULONG most,
                                                                     void** frames, ULONG* hash);

// ---- stacks ----

PRIVATE void port_stack_prepare(void) {}

PRIVATE NOINLINE size_t port_stack(void** frames, size_t most) {
  return RtlCaptureStackBackTrace(1, (DWORD)most, frames, NULL);
}

// A function without a table of its frame calls nothing: its return address lies on the stack.
#if defined(__x86_64__)
static void to_caller(CONTEXT* at) {
  DWORD64 base = 0, frame;
  void* data;
  PRUNTIME_FUNCTION table = RtlLookupFunctionEntry(at->Rip, &base, NULL);
  if (table != NULL) {
    (void)RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, at->Rip, table, at, &data, &frame, NULL);
  } else {
    memcpy(&at->Rip, (const void*)at->Rsp, sizeof(at->Rip));
    at->Rsp += sizeof(at->Rip);
  }
}

PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  CONTEXT at = *(const CONTEXT*)fault->context;
  size_t count = 0;
  while (count < most && at.Rip != 0) {
    frames[count++] = (void*)at.Rip;
    to_caller(&at);
  }
  return count;
}
#else
PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  (void)most;
  frames[0] = ((const EXCEPTION_POINTERS*)fault->context)->ExceptionRecord->ExceptionAddress;
  return 1;
}
#endif

// ---- names: what a module exports ----

EXTERN_C const IMAGE_DOS_HEADER __ImageBase;  // of the module that this library is in

static const IMAGE_NT_HEADERS* headers_of(const uint8_t* base) {
  return (const IMAGE_NT_HEADERS*)(base + ((const IMAGE_DOS_HEADER*)base)->e_lfanew);
}

static const IMAGE_EXPORT_DIRECTORY* exports_or_null(const uint8_t* base) {
  const IMAGE_DATA_DIRECTORY* at =
      &headers_of(base)->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
  return at->Size == 0 ? NULL : (const IMAGE_EXPORT_DIRECTORY*)(base + at->VirtualAddress);
}

// The last function that begins before the code, if it has a name.
static void locate_symbol(const uint8_t* base, const IMAGE_EXPORT_DIRECTORY* exports,
                          port_place_t* out) {
  const DWORD* functions = (const DWORD*)(base + exports->AddressOfFunctions);
  const DWORD* names = (const DWORD*)(base + exports->AddressOfNames);
  const WORD* ordinals = (const WORD*)(base + exports->AddressOfNameOrdinals);
  for (DWORD i = 0; i < exports->NumberOfNames; i++) {
    const DWORD start = functions[ordinals[i]];
    if (start > out->offset || (out->symbol != NULL && out->offset - start >= out->into_symbol)) {
      continue;
    }
    out->symbol = (const char*)(base + names[i]);
    out->into_symbol = out->offset - start;
  }
}

PRIVATE void port_locate(const void* code, port_place_t* out) {
  void* found = NULL;
  *out = (port_place_t){0};
  if (RtlPcToFileHeader((void*)(uintptr_t)code, &found) == NULL) { return; }
  const uint8_t* base = (const uint8_t*)found;
  const bool is_program = (headers_of(base)->FileHeader.Characteristics & IMAGE_FILE_DLL) == 0;
  const IMAGE_EXPORT_DIRECTORY* exports = exports_or_null(base);
  out->offset = (uintptr_t)code - (uintptr_t)base;
  out->module = is_program || exports == NULL ? "program" : (const char*)(base + exports->Name);
  out->is_ours = !is_program && found == (const void*)&__ImageBase;
  if (exports != NULL) { locate_symbol(base, exports, out); }
}

// ---- faults: we are asked first, and leave it to the others ----

static port_see_fault* see_fault;
static void* fault_handler;  // NULL: none yet

static LONG CALLBACK on_exception(EXCEPTION_POINTERS* info) {
  const EXCEPTION_RECORD* record = info->ExceptionRecord;
  if (record->ExceptionCode == EXCEPTION_ACCESS_VIOLATION && record->NumberParameters >= 2) {
    const port_fault_t fault = {.address = (const void*)record->ExceptionInformation[1],
                                .is_known_write = record->ExceptionInformation[0] == 1,
                                .is_known_read = record->ExceptionInformation[0] == 0,
                                .context = info->ContextRecord};
    see_fault(&fault);
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

PRIVATE int port_watch_faults(port_see_fault* see) {
  enum { BEFORE_ALL_OTHERS = 1 };
  see_fault = see;
  fault_handler = AddVectoredExceptionHandler(BEFORE_ALL_OTHERS, on_exception);
  return fault_handler == NULL;
}

UNUSED PRIVATE void port_unwatch_faults(void) {
  if (fault_handler != NULL) { (void)RemoveVectoredExceptionHandler(fault_handler); }
}
