#!/bin/sh
# test: timeout=180 label=programs
# packages: default-jdk-headless
# Java: the compiler, and a program of many threads with memory outside the Java heap, which comes
# from malloc.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need javac default-jdk-headless
need java default-jre-headless

cat >"$work/Work.java" <<'END'
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import java.util.zip.*;

public class Work {
  static long pack(int seed) throws Exception {
    byte[] raw = new byte[200000];
    for (int i = 0; i < raw.length; i++) { raw[i] = (byte) ((i * 7919 + seed) % 127); }
    CRC32 sum = new CRC32();
    for (int level = 1; level <= 9; level += 4) {
      Deflater deflater = new Deflater(level);
      deflater.setInput(raw);
      deflater.finish();
      byte[] packed = new byte[raw.length + 1000];
      int n = deflater.deflate(packed);
      deflater.end();
      Inflater inflater = new Inflater();
      inflater.setInput(packed, 0, n);
      byte[] again = new byte[raw.length];
      if (inflater.inflate(again) != raw.length || !Arrays.equals(raw, again)) {
        throw new Exception("differs");
      }
      inflater.end();
      sum.update(packed, 0, n);
    }
    return sum.getValue();
  }

  static long direct(int seed) {
    List<ByteBuffer> kept = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < 400; i++) {
      ByteBuffer b = ByteBuffer.allocateDirect(1000 + (i * 7919 + seed) % 60000);
      for (int j = 0; j + 8 <= b.capacity(); j += 512) {
        sum += b.getLong(j);
        b.putLong(j, i + j);
      }
      if (i % 4 == 0) { kept.add(b); }
    }
    for (ByteBuffer b : kept) { sum += b.getLong(512); }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(6);
    List<Future<String>> all = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      final int seed = i;
      all.add(pool.submit(() -> seed + ": " + pack(seed) + " " + direct(seed)));
    }
    for (Future<String> f : all) { System.out.println(f.get()); }
    pool.shutdown();
    for (int round = 0; round < 20; round++) {
      Thread[] short_lived = new Thread[20];
      for (int i = 0; i < short_lived.length; i++) {
        short_lived[i] = new Thread(() -> new StringBuilder("x".repeat(1000)).reverse());
        short_lived[i].start();
      }
      for (Thread t : short_lived) { t.join(); }
    }
    Map<Integer, List<String>> groups =
        IntStream.range(0, 200000)
            .parallel()
            .mapToObj(i -> "v" + (i * 31L) % 9973)
            .collect(Collectors.groupingByConcurrent(String::length));
    System.out.println(new TreeMap<>(groups)
            .entrySet()
            .stream()
            .map(e -> e.getKey() + "=" + e.getValue().size())
            .collect(Collectors.joining(" ")));
    System.gc();
    System.out.println(IntStream.range(0, 300000)
            .mapToObj(Integer::toString)
            .sorted()
            .skip(150000)
            .findFirst()
            .get());
  }
}
END

work_java() {
  javac -d . "$work/Work.java"
  cksum Work.class
  java -Xmx256m -cp . Work
}

is_preloaded java -version
both work_java
