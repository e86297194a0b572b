/* Work for libraries of others, of which programs.sh makes programs for macOS: what they print must
   be the same whoever allocates. WITH_LUA, WITH_QUICKJS, WITH_SQLITE or WITH_ZSTD is defined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_LUA
#include "lauxlib.h"
#include "lualib.h"

static const char script[] =
    "local t, words = {}, {}\n"
    "for i = 1, 200000 do t[i] = tostring(i * 7919 % 100003) .. ':' .. i end\n"
    "table.sort(t)\n"
    "for i = 1, #t do words[t[i]:sub(1, 3)] = (words[t[i]:sub(1, 3)] or 0) + #t[i] end\n"
    "local keys = {}\n"
    "for k in pairs(words) do keys[#keys + 1] = k end\n"
    "table.sort(keys)\n"
    "for _, k in ipairs(keys) do print(k, words[k]) end\n"
    "local make = {}\n"
    "for i = 1, 200 do make[i] = coroutine.wrap(function() for k = 1, 50 do\n"
    "  coroutine.yield(string.rep(tostring(k), i)) end end) end\n"
    "local bytes = 0\n"
    "for k = 1, 50 do for i = 1, 200 do bytes = bytes + #make[i]() end end\n"
    "print(bytes, pcall(error, 'caught'))\n";

int main(void) {
  lua_State* lua = luaL_newstate();
  luaL_openlibs(lua);
  if (luaL_dostring(lua, script) != 0) {
    fputs(lua_tostring(lua, -1), stderr);
    return 1;
  }
  lua_close(lua);
  return 0;
}
#endif

#ifdef WITH_QUICKJS
#include "quickjs.h"

/* It asks malloc_size for the size of each block. */
static const char script[] =
    "const words = new Map(), trees = [];\n"
    "for (let i = 0; i < 100000; i++) {\n"
    "  const key = String(i * 7919 % 1009).padStart(4, '0') + /[0-9]+$/.exec('n' + i)[0][0];\n"
    "  words.set(key, (words.get(key) ?? '') + i.toString(36));\n"
    "}\n"
    "const tree = (n) => n == 0 ? null : { left: tree(n - 1), right: tree(n - 1), size: [n] };\n"
    "for (let i = 0; i < 20; i++) { trees[i % 3] = tree(10); trees[i % 3].self = trees; }\n"
    "const sums = [...words].map(([k, v]) => [v.length, k]).sort((a, b) => b[0] - a[0] ||\n"
    "  (a[1] < b[1] ? -1 : 1));\n"
    "let big = 1n;\n"
    "for (let i = 1n; i < 300n; i++) { big *= i; }\n"
    "JSON.stringify({ sums: sums.slice(0, 200), big: big.toString(16),\n"
    "  tree: trees[1].left.right.size, text: 'x'.repeat(100000).length });";

int main(void) {
  JSRuntime* runtime = JS_NewRuntime();
  JSContext* context = JS_NewContext(runtime);
  JSValue result = JS_Eval(context, script, sizeof(script) - 1, "script", JS_EVAL_TYPE_GLOBAL);
  const char* text = JS_ToCString(context, result);
  const int failed = JS_IsException(result) || text == NULL;
  puts(failed ? "failed" : text);
  JS_FreeCString(context, text);
  JS_FreeValue(context, result);
  JS_FreeContext(context);
  JS_FreeRuntime(runtime);
  return failed;
}
#endif

#ifdef WITH_SQLITE
#include "sqlite3.h"

static int print_row(void* unused, int count, char** values, char** names) {
  (void)unused, (void)names;
  for (int i = 0; i < count; i++) { printf("%s%c", values[i], i + 1 < count ? '|' : '\n'); }
  return 0;
}

int main(void) {
  static const char* const statements[] = {
      "create table t(id integer primary key, name text, size integer)",
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) "
      "insert into t select i, hex(i * 7919 % 100003) || printf('-%d', i), i * 31 % 977 from n",
      "create index by_size on t(size, name)",
      "select size % 10, count(*), sum(length(name)), min(name), group_concat(distinct size) from "
      "t "
      "group by 1 order by 1",
      "update t set name = name || name where size % 3 = 0",
      "delete from t where size % 5 = 0",
      "select count(*), sum(length(name)), max(name) from t",
      "select a.size, count(*) from t a join t b on a.size = b.size + 1 where a.id < 2000 and "
      "b.id < 2000 group by 1 order by 2 desc, 1 limit 50",
  };
  sqlite3* db = NULL;
  char* error = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) { return 1; }
  for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
    if (sqlite3_exec(db, statements[i], print_row, NULL, &error) == SQLITE_OK) { continue; }
    fprintf(stderr, "%s: %s\n", statements[i], error);
    return 1;
  }
  return sqlite3_close(db) != SQLITE_OK;
}
#endif

#ifdef WITH_ZSTD
#include "zstd.h"

enum { BYTES = 3000000, THREADS = 4 };

int main(void) {
  char* text = malloc(BYTES);
  unsigned seed = 1;
  for (size_t i = 0; i < BYTES; i++) {
    if (i % 24 == 0) { seed = seed * 1103515245 + 12345; }
    text[i] = i > 5000 ? text[i - 1 - (seed >> 16) % 5000] : (char)(i * i >> 5);
  }
  for (int level = 1; level <= 15; level += 2) {
    const size_t most = ZSTD_compressBound(BYTES);
    char *packed = malloc(most), *back = malloc(BYTES);
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, THREADS);
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, BYTES / THREADS);
    const size_t bytes = ZSTD_compress2(context, packed, most, text, BYTES);
    ZSTD_freeCCtx(context);
    const size_t unpacked = ZSTD_decompress(back, BYTES, packed, bytes);
    printf("level %d: %zu bytes, %s\n", level, bytes,
           unpacked == BYTES && memcmp(text, back, BYTES) == 0 ? "the same" : "differs");
    free(packed);
    free(back);
  }
  free(text);
  return 0;
}
#endif
