-- A database in memory: insert, index, join, group, text, update, delete, vacuum.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price INTEGER, note TEXT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, item INTEGER, count INTEGER, day INTEGER);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 40009), i * 31 % 9973,
  substr('the quick brown fox jumps over the lazy dog', 1 + i % 20, 5 + i % 23) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO sale SELECT i, 1 + i * 104729 % 40000, 1 + i % 9, i * 7 % 365 FROM n;
COMMIT;
CREATE INDEX sale_item ON sale(item);
CREATE INDEX item_name ON item(name);
SELECT count(*), sum(s.count * i.price) FROM sale s JOIN item i ON i.id = s.item
  WHERE i.name LIKE 'item 1%';
SELECT day, count(DISTINCT item), group_concat(id) IS NOT NULL FROM sale GROUP BY day
  ORDER BY 2 DESC, 1 LIMIT 3;
SELECT i.note, sum(s.count) AS n FROM item i JOIN sale s ON s.item = i.id GROUP BY i.note
  ORDER BY n DESC, i.note LIMIT 3;
UPDATE item SET note = upper(note) || ' ' || name WHERE id % 3 = 0;
DELETE FROM sale WHERE day % 5 = 0;
VACUUM;
SELECT count(*), max(length(note)) FROM item;
