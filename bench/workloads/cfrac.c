// bench: objects, factors integers by continued fractions; every number is a block of its own
/* The continued-fraction method of Morrison and Brillhart (1975), on integers of 23 digits that
   are products of two primes. Numbers are immutable: each result of each operation, down to the
   quotient of every trial division, is allocated, and freed when it has been used. So there are
   millions of blocks of 12 to 36 bytes, most of them freed a few operations later, and real
   arithmetic in between: it shows what the fast path costs in a program that does something. */
#include "workload.h"

typedef uint32_t limb_t;

typedef struct {
  uint64_t count; /* limbs; the last is not 0; none: zero */
  limb_t limb[];  /* the lowest first */
} number_t;

static long operations;

static size_t bytes_of(size_t count) { return sizeof(number_t) + count * sizeof(limb_t); }

/* Numbers whose size comes out smaller than expected remember only what they have: the count of
   live bytes takes them at that. */
static number_t* new_number(size_t count) {
  number_t* x = malloc(bytes_of(count));
  CHECK(x != NULL);
  x->count = count;
  operations++;
  return x;
}

static number_t* finished(number_t* x) {
  while (x->count > 0 && x->limb[x->count - 1] == 0) { x->count--; }
  live_change((ptrdiff_t)bytes_of(x->count));
  return x;
}

static void drop(number_t* x) { give(x, bytes_of(x->count)); }

/* Puts `next` where `*x` was. */
static void replace(number_t** x, number_t* next) {
  drop(*x);
  *x = next;
}

static number_t* from(uint64_t value) {
  number_t* x = new_number(2);
  x->limb[0] = (limb_t)value;
  x->limb[1] = (limb_t)(value >> 32);
  return finished(x);
}

static number_t* copy(const number_t* a) {
  number_t* x = new_number(a->count);
  memcpy(x->limb, a->limb, a->count * sizeof(limb_t));
  return finished(x);
}

static int compare(const number_t* a, const number_t* b) {
  if (a->count != b->count) { return a->count < b->count ? -1 : 1; }
  for (size_t i = a->count; i-- > 0;) {
    if (a->limb[i] != b->limb[i]) { return a->limb[i] < b->limb[i] ? -1 : 1; }
  }
  return 0;
}

static bool is_small(const number_t* a, limb_t value) {
  return value == 0 ? a->count == 0 : a->count == 1 && a->limb[0] == value;
}

static number_t* add(const number_t* a, const number_t* b) {
  const size_t count = a->count > b->count ? a->count : b->count;
  number_t* x = new_number(count + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < count; i++) {
    carry += (uint64_t)(i < a->count ? a->limb[i] : 0) + (i < b->count ? b->limb[i] : 0);
    x->limb[i] = (limb_t)carry;
    carry >>= 32;
  }
  x->limb[count] = (limb_t)carry;
  return finished(x);
}

/* a >= b */
static number_t* subtract(const number_t* a, const number_t* b) {
  number_t* x = new_number(a->count);
  uint64_t borrow = 0;
  for (size_t i = 0; i < a->count; i++) {
    const uint64_t d = (uint64_t)a->limb[i] - (i < b->count ? b->limb[i] : 0) - borrow;
    x->limb[i] = (limb_t)d;
    borrow = d >> 63;
  }
  CHECK(borrow == 0);
  return finished(x);
}

static number_t* multiply(const number_t* a, const number_t* b) {
  number_t* x = new_number(a->count + b->count);
  memset(x->limb, 0, x->count * sizeof(limb_t));
  for (size_t i = 0; i < a->count; i++) {
    uint64_t carry = 0;
    for (size_t k = 0; k < b->count; k++) {
      carry += (uint64_t)a->limb[i] * b->limb[k] + x->limb[i + k];
      x->limb[i + k] = (limb_t)carry;
      carry >>= 32;
    }
    x->limb[i + b->count] = (limb_t)carry;
  }
  return finished(x);
}

static number_t* divide_small(const number_t* a, limb_t b, limb_t* remainder) {
  number_t* x = new_number(a->count);
  uint64_t rest = 0;
  for (size_t i = a->count; i-- > 0;) {
    rest = rest << 32 | a->limb[i];
    x->limb[i] = (limb_t)(rest / b);
    rest %= b;
  }
  *remainder = (limb_t)rest;
  return finished(x);
}

static number_t* shift_left(const number_t* a, unsigned bits) { /* 0 to 31 */
  number_t* x = new_number(a->count + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < a->count; i++) {
    carry |= (uint64_t)a->limb[i] << bits;
    x->limb[i] = (limb_t)carry;
    carry >>= 32;
  }
  x->limb[a->count] = (limb_t)carry;
  return finished(x);
}

/* One step of long division: the digit of the quotient at `place`, taken off `rest`, which has one
   limb more than `place` and the divisor together; the divisor's top bit is set. */
static limb_t divide_step(limb_t* rest, const number_t* b, size_t place) {
  const size_t n = b->count;
  limb_t* r = rest + place;
  const uint64_t top = (uint64_t)r[n] << 32 | r[n - 1];
  uint64_t digit = top / b->limb[n - 1];
  uint64_t over = top % b->limb[n - 1];
  while (digit >> 32 != 0 || digit * b->limb[n - 2] > (over << 32 | r[n - 2])) {
    digit--;
    over += b->limb[n - 1];
    if (over >> 32 != 0) { break; }
  }
  uint64_t borrow = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t product = digit * b->limb[i] + borrow;
    borrow = (product >> 32) + (r[i] < (limb_t)product ? 1 : 0);
    r[i] -= (limb_t)product;
  }
  const bool too_much = r[n] < borrow;
  r[n] -= (limb_t)borrow;
  if (too_much) {
    uint64_t carry = 0;
    digit--;
    for (size_t i = 0; i < n; i++) {
      carry += (uint64_t)r[i] + b->limb[i];
      r[i] = (limb_t)carry;
      carry >>= 32;
    }
    r[n] += (limb_t)carry;
  }
  return (limb_t)digit;
}

/* Knuth's algorithm D. */
static number_t* divide(const number_t* a, const number_t* b, number_t** remainder) {
  CHECK(b->count > 0);
  if (b->count == 1 || compare(a, b) < 0) {
    limb_t rest = 0;
    number_t* q = b->count == 1 ? divide_small(a, b->limb[0], &rest) : from(0);
    *remainder = b->count == 1 ? from(rest) : copy(a);
    return q;
  }
  unsigned bits = 0;
  while ((b->limb[b->count - 1] << bits & 0x80000000u) == 0) { bits++; }
  number_t* divisor = shift_left(b, bits);
  number_t* shifted = shift_left(a, bits);
  const size_t places = a->count - b->count + 1;
  number_t* rest = new_number(a->count + 1);
  memset(rest->limb, 0, rest->count * sizeof(limb_t));
  memcpy(rest->limb, shifted->limb, shifted->count * sizeof(limb_t));
  number_t* q = new_number(places);
  for (size_t i = places; i-- > 0;) { q->limb[i] = divide_step(rest->limb, divisor, i); }
  drop(shifted);
  drop(divisor);
  number_t* r = new_number(b->count);
  for (size_t i = 0; i < b->count; i++) {
    r->limb[i] = (limb_t)(((uint64_t)rest->limb[i + 1] << 32 | rest->limb[i]) >> bits);
  }
  drop(finished(rest));
  *remainder = finished(r);
  return finished(q);
}

static number_t* quotient(const number_t* a, const number_t* b) {
  number_t* rest;
  number_t* x = divide(a, b, &rest);
  drop(rest);
  return x;
}

static number_t* modulo(const number_t* a, const number_t* b) {
  number_t* rest;
  drop(divide(a, b, &rest));
  return rest;
}

static number_t* multiply_modulo(const number_t* a, const number_t* b, const number_t* n) {
  number_t* product = multiply(a, b);
  number_t* x = modulo(product, n);
  drop(product);
  return x;
}

static number_t* square_root(const number_t* n) { /* Newton's method, from above */
  number_t* x = copy(n);
  for (;;) {
    number_t* other = quotient(n, x);
    number_t* sum = add(x, other);
    limb_t odd;
    number_t* next = divide_small(sum, 2, &odd);
    drop(sum);
    drop(other);
    if (compare(next, x) >= 0) {
      drop(next);
      return x;
    }
    replace(&x, next);
  }
}

static number_t* common_divisor(const number_t* a, const number_t* b) {
  number_t* x = copy(a);
  number_t* y = copy(b);
  while (y->count > 0) {
    number_t* rest = modulo(x, y);
    replace(&x, copy(y));
    replace(&y, rest);
  }
  drop(y);
  return x;
}

/* ---- The factor base and the relations --------------------------------------------------------*/

enum { BASE = 96, WORDS = 4, RELATIONS = BASE + 32 };

typedef struct {
  uint64_t word[WORDS];
} bits_t;

static void flip(bits_t* b, size_t i) { b->word[i / 64] ^= (uint64_t)1 << (i % 64); }
static bool has(const bits_t* b, size_t i) { return (b->word[i / 64] >> (i % 64) & 1) != 0; }

/* A * A = (-1)^sign * product of base[i]^power[i], modulo n */
typedef struct {
  number_t* a;
  uint8_t power[BASE + 1]; /* the last: the sign */
} relation_t;

typedef struct {
  bits_t odd;  /* which powers of the product are odd */
  bits_t from; /* of which relations it is the product */
  size_t pivot;
} row_t;

typedef struct {
  number_t* n;
  limb_t base[BASE];
  relation_t* relations[RELATIONS];
  row_t* rows[RELATIONS];
  size_t relation_count, row_count;
  number_t* factor;
} search_t;

static bool is_prime(limb_t p) {
  for (limb_t d = 2; d * d <= p; d++) {
    if (p % d == 0) { return false; }
  }
  return p >= 2;
}

static bool is_square_modulo(limb_t a, limb_t p) { /* Euler's criterion */
  uint64_t power = 1, factor = a % p;
  for (limb_t e = (p - 1) / 2; e > 0; e /= 2) {
    if (e % 2 == 1) { power = power * factor % p; }
    factor = factor * factor % p;
  }
  return power <= 1;
}

static void choose_base(search_t* s) {
  size_t count = 0;
  for (limb_t p = 2; count < BASE; p++) {
    limb_t rest;
    if (!is_prime(p)) { continue; }
    drop(divide_small(s->n, p, &rest));
    if (p == 2 || is_square_modulo(rest, p)) { s->base[count++] = p; }
  }
}

/* A relation, if q has no other prime factors than those of the base. */
static relation_t* try_relation(const search_t* s, const number_t* q) {
  uint8_t power[BASE + 1] = {0};
  number_t* left = copy(q);
  for (size_t i = 0; i < BASE && !is_small(left, 1); i++) {
    for (;;) {
      limb_t rest;
      number_t* part = divide_small(left, s->base[i], &rest);
      if (rest != 0) {
        drop(part);
        break;
      }
      replace(&left, part);
      power[i]++;
    }
  }
  relation_t* r = NULL;
  if (is_small(left, 1)) {
    r = take(sizeof(relation_t));
    r->a = NULL;
    memcpy(r->power, power, sizeof(power));
  }
  drop(left);
  return r;
}

/* x * x = y * y modulo n: a factor in half of the cases. */
static void try_factor(search_t* s, const bits_t* chosen) {
  number_t* x = from(1);
  number_t* y = from(1);
  unsigned sum[BASE + 1] = {0};
  for (size_t i = 0; i < s->relation_count; i++) {
    if (!has(chosen, i)) { continue; }
    replace(&x, multiply_modulo(x, s->relations[i]->a, s->n));
    for (size_t k = 0; k <= BASE; k++) { sum[k] += s->relations[i]->power[k]; }
  }
  CHECK(sum[BASE] % 2 == 0);
  for (size_t k = 0; k < BASE; k++) {
    CHECK(sum[k] % 2 == 0);
    number_t* p = from(s->base[k]);
    for (unsigned e = 0; e < sum[k] / 2; e++) { replace(&y, multiply_modulo(y, p, s->n)); }
    drop(p);
  }
  number_t* difference = compare(x, y) >= 0 ? subtract(x, y) : subtract(y, x);
  number_t* divisor = common_divisor(difference, s->n);
  if (!is_small(divisor, 1) && compare(divisor, s->n) != 0) {
    s->factor = divisor;
  } else {
    drop(divisor);
  }
  drop(difference);
  drop(x);
  drop(y);
}

/* Takes the relation into the triangle of rows, or finds that it completes a square. */
static void add_relation(search_t* s, relation_t* r) {
  row_t row = {0};
  for (size_t k = 0; k <= BASE; k++) {
    if (r->power[k] % 2 == 1) { flip(&row.odd, k); }
  }
  flip(&row.from, s->relation_count);
  s->relations[s->relation_count++] = r;
  for (size_t i = 0; i < s->row_count; i++) {
    const row_t* other = s->rows[i];
    if (!has(&row.odd, other->pivot)) { continue; }
    for (size_t w = 0; w < WORDS; w++) {
      row.odd.word[w] ^= other->odd.word[w];
      row.from.word[w] ^= other->from.word[w];
    }
  }
  while (row.pivot <= BASE && !has(&row.odd, row.pivot)) { row.pivot++; }
  if (row.pivot > BASE) {
    try_factor(s, &row.from);
    return;
  }
  s->rows[s->row_count] = take(sizeof(row_t));
  *s->rows[s->row_count++] = row;
}

/* ---- The expansion of the square root ---------------------------------------------------------*/

/* Returns a factor of n, which is none of 1 and n itself. */
static number_t* factor(const number_t* n) {
  search_t* s = take_zeroed(sizeof(search_t));
  s->n = copy(n);
  choose_base(s);
  number_t* root = square_root(n);
  number_t* p = from(0);
  number_t* q = from(1);
  number_t* a = copy(root); /* the partial quotient */
  number_t* last = from(1); /* convergents' numerators, modulo n */
  number_t* numerator = copy(root);
  for (uint8_t sign = 1; s->factor == NULL; sign ^= 1) {
    CHECK(s->relation_count < RELATIONS);
    number_t* product = multiply(a, q);
    replace(&p, subtract(product, p));
    replace(&product, multiply(p, p));
    replace(&product, subtract(n, product));
    replace(&q, quotient(product, q));
    replace(&product, add(root, p));
    replace(&a, quotient(product, q));

    relation_t* r = try_relation(s, q);
    if (r != NULL) {
      r->a = copy(numerator);
      r->power[BASE] = sign;
      add_relation(s, r);
    }
    replace(&product, multiply(a, numerator));
    replace(&product, add(product, last));
    replace(&last, copy(numerator));
    replace(&numerator, modulo(product, n));
    drop(product);
  }
  number_t* result = s->factor;
  number_t* used[] = {root, p, q, a, last, numerator, s->n};
  for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) { drop(used[i]); }
  for (size_t i = 0; i < s->relation_count; i++) {
    drop(s->relations[i]->a);
    give(s->relations[i], sizeof(relation_t));
  }
  for (size_t i = 0; i < s->row_count; i++) { give(s->rows[i], sizeof(row_t)); }
  give(s, sizeof(search_t));
  return result;
}

static const uint64_t primes[] = {
    177838314649, 247685936383, 153554147543, 269742196651, 251553581453, 222114326617,
    204212819621, 219072338011, 203118070979, 273261268439, 182288870941, 137906922971,
    210789444403, 171305512171, 190895608957, 227037307229, 228625891867, 189194989427,
    163235985281, 210452855309, 218992817873, 235723674583, 247480538579, 186714920867,
};
enum { PRIMES = sizeof(primes) / sizeof(primes[0]) };

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long numbers = scaled(32);
  for (long i = 0; i < numbers; i++) {
    const size_t first = (size_t)i % PRIMES;
    const size_t second = (first + 1 + (size_t)i / PRIMES) % PRIMES;
    number_t* p = from(primes[first]);
    number_t* q = from(primes[second]);
    number_t* n = multiply(p, q);
    number_t* found = factor(n);
    CHECK(compare(found, p) == 0 || compare(found, q) == 0);
    number_t* all[] = {p, q, n, found};
    for (size_t k = 0; k < 4; k++) { drop(all[k]); }
  }
  return report(operations);
}
