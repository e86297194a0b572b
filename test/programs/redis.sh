#!/bin/sh
# test: timeout=300 label=long
# packages: redis-server redis-tools
# Redis under redis-benchmark, on a local socket; then data whose digest is compared, also after
# saving and loading it. (Debian links Redis with jemalloc: a preloaded library precedes it.)
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need redis-server redis-server
need redis-benchmark redis-tools

cat >"$work/fill.lua" <<'END'
for i = 1, 20000 do
  redis.call('SET', 's' .. i, string.rep('v', i % 300) .. i)
  redis.call('HSET', 'h' .. i % 97, 'field' .. i, string.rep('f', i % 100))
  redis.call('ZADD', 'z' .. i % 13, (i * 7919) % 10007, 'member' .. i)
  redis.call('RPUSH', 'l' .. i % 31, 'element' .. i)
  redis.call('SADD', 'set' .. i % 7, (i * 31) % 5003)
  if i % 3 == 0 then redis.call('APPEND', 's' .. i - 1, string.rep('a', 500)) end
  if i % 5 == 0 then redis.call('DEL', 's' .. i - 2) end
end
return redis.call('DBSIZE')
END

cli() { redis-cli -s "$work/run/redis.socket" "$@"; }

start_redis() {
  timeout --foreground 200 redis-server --port 0 --unixsocket "$work/run/redis.socket" \
    --save '' --appendonly no --enable-debug-command local --lazyfree-lazy-user-del yes \
    --maxclients 200 >server.log 2>&1 &
  server=$!
  until_true 20 cli PING || { cat server.log; return 1; }
  [ "$side" = system ] ||
    has_library "$(cli INFO server | tr -d '\r' | sed -n 's/^process_id://p')"
}

work_redis() {
  start_redis
  redis-benchmark -s "$work/run/redis.socket" -q -n 30000 -c 40 -P 8 -r 20000 -d 300 >bench.log
  redis-benchmark -s "$work/run/redis.socket" -q -n 8000 -c 20 -r 3000 -d 5000 \
    -t set,get,lpush,mset >>bench.log
  tr '\r' '\n' <bench.log | grep -c 'requests per second'
  cli FLUSHALL
  cli EVAL "$(cat "$work/fill.lua")" 0
  cli DEBUG DIGEST
  cli ZRANGE z3 0 -1 WITHSCORES | cksum
  cli LRANGE l5 0 -1 | cksum
  cli SAVE
  cli DEBUG RELOAD
  cli DEBUG DIGEST
  cli MEMORY PURGE >/dev/null
  cli FLUSHALL ASYNC
  cli DBSIZE
  cli SHUTDOWN NOSAVE || true
  wait $server
  server=
}

is_preloaded redis-server --version
both work_redis
