#!/bin/sh
# test: timeout=120 label=programs
# packages: sqlite3
# SQLite: tables, indexes, joins, window functions, JSON, text search, VACUUM, a dump.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need sqlite3 sqlite3

cat >"$work/work.sql" <<'END'
PRAGMA cache_size = -20000;
CREATE TABLE item(id INTEGER PRIMARY KEY, a INT, b INT, name TEXT, data BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
  INSERT INTO item SELECT i, (i * 7919) % 10007, (i * 104729) % 997,
    printf('item %d of %d', i, (i * 31) % 101), zeroblob(i % 300) FROM n;
CREATE INDEX item_a ON item(a, b);
CREATE INDEX item_name ON item(name COLLATE NOCASE);
SELECT count(*), sum(a), sum(length(name)), sum(length(data)) FROM item;
SELECT x.b, count(*), max(y.a) FROM item x JOIN item y ON x.a = y.b
  GROUP BY x.b HAVING count(*) > 700 ORDER BY 2 DESC, 1 LIMIT 50;
SELECT id, sum(a) OVER (PARTITION BY b ORDER BY id ROWS 9 PRECEDING) s FROM item
  ORDER BY s DESC, id LIMIT 40;
SELECT length(group_concat(name, ';')) FROM (SELECT name FROM item ORDER BY name DESC);
SELECT json_extract(j, '$.a[3].n') FROM
  (SELECT json_object('a', json_group_array(json_object('n', name, 'b', b))) j FROM item
    WHERE id < 5000);
UPDATE item SET name = name || ' and more of it ' || a WHERE b % 3 = 0;
DELETE FROM item WHERE a % 5 = 0;
CREATE VIRTUAL TABLE words USING fts5(body);
INSERT INTO words SELECT name || ' ' || a FROM item;
SELECT count(*), min(rowid) FROM words WHERE words MATCH 'more AND item';
VACUUM;
PRAGMA integrity_check;
SELECT * FROM item ORDER BY a, b, id;
.dump item
END

work_sqlite() {
  sqlite3 test.db <"$work/work.sql"
  sqlite3 test.db 'SELECT name, sum(pgsize) FROM dbstat GROUP BY 1 ORDER BY 1' 2>/dev/null || true
  cksum <test.db
}

is_preloaded sqlite3 -version
both work_sqlite
