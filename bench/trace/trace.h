// The two file formats of traces, as README.md describes them: a recording, written by record.c and
// read by resolve.c; a prepared trace, written by resolve.c and read by replay.c.
#ifndef MI_BENCH_TRACE_H
#define MI_BENCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RECORDING_MAGIC "MITRACE1"
#define PREPARED_MAGIC  "MIREPLY1"

// Both: low 3 bits of the first varint of an operation. The rest is how much higher its number (in
// a prepared trace: its time) is than that of the one before it in its chunk or thread. In the
// comments: what follows, in a recording / in a prepared trace.
enum {
  OP_MALLOC,         // size, address     / slot, size
  OP_CALLOC,         // size, address     / slot, size
  OP_ALIGNED,        // size, log2 of alignment, address / slot, size, log2
  OP_FREE,           // address           / slot
  OP_REALLOC_BEGIN,  // address           / (unused)
  OP_REALLOC_END,    // size, address     / old slot, new slot, size
  OP_THREAD_END,     // nothing           / nothing
  OPS
};

enum {
  MAGIC_BYTES = 8,
  RECORDING_HEADER_BYTES = 16,  // magic, process id (8)
  CHUNK_HEADER_BYTES = 32,      // mark, thread, bytes, operations (4 each), first number (8), 0
  CHUNK_MARK = 0x4B4E4843,      // "CHNK"
  PREPARED_HEADER_BYTES = 64,   // magic, window, operations, slots, threads, live peak, 0, 0
  THREAD_ENTRY_BYTES = 24,      // offset, bytes, first number; one per thread, after the header
  VARINT_BYTES_MAX = 10,
  OP_BYTES_MAX = 4 * VARINT_BYTES_MAX,
  ALIGN_LOG2_MAX = 40,
};
#define END_THREAD UINT32_MAX  // thread of a recording's last chunk: its first number is the total

// ---- Numbers in files: little-endian ------------------------------------------------------------

static inline void put_fixed(uint8_t* at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) { at[i] = (uint8_t)(value >> (8 * i)); }
}

static inline uint64_t get_fixed(const uint8_t* at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) { value |= (uint64_t)at[i] << (8 * i); }
  return value;
}

// 7 bits a byte, lowest first; the top bit says that more follow.
static inline uint8_t* put_varint(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *at++ = (uint8_t)value;
  return at;
}

// NULL: there is none before the end.
static inline const uint8_t* get_varint(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
    const uint8_t byte = *at++;
    result |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return NULL;
}

// Differences of addresses: small numbers of either sign become small numbers.
static inline uint64_t zigzag(uint64_t difference) {
  return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}
static inline uint64_t unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

#endif
