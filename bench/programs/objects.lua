-- Tables, closures and strings: words are made, counted, sorted and joined; trees grow and go.
local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n + 1
end

local function word()
  local letters = {}
  for i = 1, 2 + random(9) do letters[i] = string.char(96 + random(26)) end
  return table.concat(letters)
end

local function tree(depth)
  if depth == 0 then return { value = random(100) } end
  return { left = tree(depth - 1), right = tree(depth - 1), value = depth }
end

local function sum(node)
  if not node.left then return node.value end
  return node.value + sum(node.left) + sum(node.right)
end

local counts, total = {}, 0
for round = 1, 8 do
  local text = {}
  for i = 1, 25000 do text[i] = word() end
  for w in table.concat(text, " "):gmatch("%a+") do counts[w] = (counts[w] or 0) + 1 end
  local lines = {}
  for i = 1, #text, 10 do lines[#lines + 1] = table.concat(text, ",", i, math.min(i + 9, #text)) end
  table.sort(lines)
  total = total + sum(tree(13)) + #table.concat(lines, "\n"):upper()
end
local kept = {}
for w, n in pairs(counts) do kept[#kept + 1] = w .. "=" .. n end
table.sort(kept)
print(#kept, total)
