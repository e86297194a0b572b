#!/bin/sh
# test: timeout=240 label=programs
# packages: postgresql
# PostgreSQL: initdb, a server on a local socket, pgbench with concurrent clients, queries.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
bin=$(find /usr/lib/postgresql/*/bin -name initdb 2>/dev/null | sort -V | tail -n 1)
bin=${bin%/initdb}
[ -z "$bin" ] || PATH=$bin:$PATH
need initdb postgresql
need pgbench postgresql

# The server refuses to run as root.
if [ "$(id -u)" = 0 ]; then
  need setpriv util-linux
  as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  chmod 777 "$work/home"
else
  as_user() { "$@"; }
fi

query() { as_user psql -h "$work/run" -U tester -d postgres -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# initdb says how it chose the number of connections and buffers: its output is no result.
work_postgres() {
  chmod 777 .
  as_user initdb -D data -U tester -A trust -E UTF8 --locale=C --no-sync >initdb.log
  cat >>data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$work/run'
fsync = off
max_connections = 20
shared_buffers = 16MB
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
END
  as_user timeout --foreground 150 postgres -D data >server.log 2>&1 &
  server=$!
  until_true 30 query -c 'SELECT 1' || { cat server.log; return 1; }
  [ "$side" = system ] || has_library "$(head -n 1 data/postmaster.pid)"
  as_user pgbench -h "$work/run" -U tester -i -q -s 1 postgres >/dev/null 2>&1
  as_user pgbench -h "$work/run" -U tester -n -c 4 -j 2 -t 150 postgres >bench.log 2>&1
  grep 'transactions actually processed' bench.log
  query -f "$work/work.sql"
  as_user pg_dump -h "$work/run" -U tester --inserts -t made postgres |
    grep -v -i -e '^--' -e restrict | cksum
  as_user pg_ctl -D data -m fast -w stop >/dev/null
  wait $server || true
  server=
}

cat >"$work/work.sql" <<'SQL'
SELECT count(*), sum(delta) = (SELECT sum(abalance) FROM pgbench_accounts) FROM pgbench_history;
CREATE TABLE made AS
  SELECT i, (i * 7919) % 10007 AS a, repeat('x', i % 50) AS t FROM generate_series(1, 50000) i;
CREATE INDEX ON made(a);
ANALYZE made;
SELECT a % 10, count(*), sum(i), max(length(t)) FROM made GROUP BY 1 ORDER BY 1;
SELECT x.a, count(*) FROM made x JOIN made y ON x.a = y.a WHERE x.a < 30 GROUP BY 1 ORDER BY 1;
SELECT md5(string_agg(t || a, ',' ORDER BY i)) FROM made;
SELECT jsonb_agg(jsonb_build_object('i', i, 'a', a) ORDER BY i) #> '{40,a}' FROM made
  WHERE i < 3000;
WITH RECURSIVE r(n, s) AS
  (SELECT 1, 1::numeric UNION ALL SELECT n + 1, s * (n + 1) FROM r WHERE n < 200)
  SELECT max(s) FROM r;
DO $$ BEGIN FOR k IN 1..200 LOOP
  BEGIN EXECUTE 'SELECT 1/0'; EXCEPTION WHEN division_by_zero THEN NULL; END;
  END LOOP; END $$;
SELECT i, sum(a) OVER (ORDER BY i ROWS 20 PRECEDING) FROM made ORDER BY 2 DESC, 1 LIMIT 10;
SELECT regexp_replace(t, '(x{3})', '<\1>', 'g') FROM made WHERE i % 5000 = 49;
VACUUM FULL made;
SQL

# A server that a failure left behind: its parent is gone, its pid file is not.
stop_left_server() {
  pid_file=$work/run/data/postmaster.pid
  [ ! -e "$pid_file" ] || kill -QUIT "$(head -n 1 "$pid_file")" 2>/dev/null
}
trap 'stop_left_server; rm -rf "$work"' EXIT

is_preloaded initdb --version
is_preloaded postgres --version
both work_postgres
