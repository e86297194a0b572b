#!/bin/sh
# test: timeout=120 label=programs
# packages: z3
# Z3: integer puzzles, bit vectors, quantifiers; one thread and several.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need z3 z3

# A grid of different numbers with given sums, and a multiplication to undo.
awk 'BEGIN {
  n = 6
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
    x = "x" i j
    printf "(declare-const %s Int)\n(assert (and (>= %s 1) (<= %s %d)))\n", x, x, x, n
  }
  for (i = 0; i < n; i++) {
    r = ""; c = ""
    for (j = 0; j < n; j++) { r = r " x" i j; c = c " x" j i }
    printf "(assert (distinct%s))\n(assert (distinct%s))\n", r, c
  }
  for (i = 0; i < n - 1; i++) printf "(assert (< x%d%d (+ x%d%d 3)))\n", i, i, i + 1, i
  print "(check-sat)"
  for (i = 0; i < n; i++) printf "(get-value (x%d0 x%d1 x%d2 x%d3 x%d4 x%d5))\n", i, i, i, i, i, i
}' >"$work/grid.smt2"
cat >"$work/bits.smt2" <<'END'
(set-logic QF_BV)
(declare-const a (_ BitVec 34))
(declare-const b (_ BitVec 34))
(assert (= (bvmul a b) #b0000000001011010110100111010100101))
(assert (bvult #b0000000000000000000000000000000001 a))
(assert (bvult a #b0000000000000000010000000000000000))
(assert (bvult b #b0000000000000000010000000000000000))
(check-sat)
(assert (bvult b a))
(check-sat)
END
cat >"$work/forall.smt2" <<'END'
(declare-fun f (Int) Int)
(assert (forall ((x Int))
  (! (=> (and (>= x 0) (< x 200)) (= (f (+ x 1)) (+ (f x) x 1))) :pattern ((f x)))))
(assert (= (f 0) 0))
(push) (assert (not (= (f 12) 78))) (check-sat) (pop)
(declare-fun g (Int) Int)
(declare-const a (Array Int Int))
(assert (forall ((x Int) (y Int)) (! (=> (< x y) (< (g x) (g y))) :pattern ((g x) (g y)))))
(assert (= (select (store (store a 3 (g 7)) (g 2) 5) 3) (g 1)))
(assert (> (g 2) 3))
(assert (= (g 3) (g 4)))
(check-sat)
END

work_z3() {
  for file in grid bits forall; do
    echo "$file"
    z3 -T:60 "$work/$file.smt2"
  done
}
work_z3_threads() { z3 -T:60 parallel.enable=true parallel.threads.max=3 "$work/bits.smt2"; }

is_preloaded z3 --version
both work_z3
both work_z3_threads
