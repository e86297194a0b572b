#!/bin/sh
# test: timeout=120 label=programs
# packages: lua5.4
# Lua: tables, strings, coroutines, garbage collection in both modes.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need lua5.4 lua5.4

cat >"$work/work.lua" <<'END'
for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  local seed = 1
  local function next_number() seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed >> 8 end
  local words = {}
  for i = 1, 200000 do
    words[i] = string.rep(string.char(97 + next_number() % 26), next_number() % 40) .. i
  end
  table.sort(words)
  print(mode, #words, words[1], words[100000])
  local text = table.concat(words, " ")
  local n, total = 0, 0
  for w in text:gmatch("%a+") do n = n + 1; total = (total * 31 + #w) % 1000003 end
  print(#text, n, total, #text:gsub("(%a)(%d)", "%2%1"))
  local function tree(d)
    if d == 0 then return {} end
    return { tree(d - 1), tree(d - 1), name = "n" .. d }
  end
  local function count(t) return 1 + (t[1] and count(t[1]) + count(t[2]) or 0) end
  for d = 4, 15 do print(d, count(tree(d))) end
  local made = {}
  for i = 1, 20000 do
    made[i] = coroutine.wrap(function(a) while true do a = coroutine.yield(a * i) end end)
  end
  local sum = 0
  for round = 1, 3 do for i = 1, #made do sum = (sum + made[i](round)) % 1000000007 end end
  print(sum)
  local weak = setmetatable({}, { __mode = "k" })
  for i = 1, 50000 do weak[{ i }] = i end
  collectgarbage()
  print(next(weak))
  local s = ""
  for i = 1, 6000 do s = s .. i end
  print(#s, s:sub(-20))
end
END

work_lua() { lua5.4 "$work/work.lua"; }

is_preloaded lua5.4 -v
both work_lua
