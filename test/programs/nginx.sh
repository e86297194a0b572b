#!/bin/sh
# test: timeout=300 label=long
# packages: nginx-core curl
# nginx with two workers on a local socket, under concurrent requests: files, compression, a proxy
# to itself, an upload refused, and its configuration read again meanwhile.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
PATH=$PATH:/usr/sbin
need nginx nginx-core
need curl curl

cat >"$work/nginx.conf" <<END
worker_processes 2;
daemon off;
$([ "$(id -u)" != 0 ] || echo 'user root;')
pid $work/run/nginx.pid;
error_log $work/run/error.log warn;
events { worker_connections 256; }
http {
  access_log off;
  types { text/plain txt; }
  gzip on; gzip_types text/plain; gzip_min_length 1; gzip_http_version 1.0;
  client_body_temp_path $work/run/t1; proxy_temp_path $work/run/t2;
  fastcgi_temp_path $work/run/t3; uwsgi_temp_path $work/run/t4; scgi_temp_path $work/run/t5;
  upstream self { server unix:$work/run/http; keepalive 8; }
  server {
    listen unix:$work/run/http;
    root $work/run/files;
    location /proxy/ {
      proxy_pass http://self/; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffers 4 8k;
    }
    location /made/ { return 200 "\$uri \$arg_a \$request_method\n"; }
    location /pattern {
      if (\$arg_n ~* "^([0-9]+)[a-z]\$") { return 200 "number \$1\n"; }
      return 404;
    }
  }
}
END

get() { curl -s -S --max-time 60 --unix-socket "$work/run/http" "$@"; }
get_many() { get --parallel --parallel-max 24 "$@"; }

work_nginx() {
  mkdir files got t1 t2 t3 t4 t5
  for i in 1 2 3 4 5 6 7 8; do
    awk -v n=$i 'BEGIN { for (i = 0; i < n * n * 300; i++) print "line", i, i * n % 97 }' \
      >files/$i.txt
  done
  timeout --foreground 200 nginx -p "$work/run" -c "$work/nginx.conf" >start.log 2>&1 &
  server=$!
  until_true 20 get http://x/made/up || { cat start.log error.log; return 1; }
  master=$(cat nginx.pid)
  [ "$side" = system ] || has_library "$master"
  for _ in 1 2 3; do
    get_many "http://x/[1-8].txt?[1-60]" -o "got/plain-#1-#2"
    get_many --compressed "http://x/[1-8].txt?[1-30]" -o "got/packed-#1-#2"
    get_many "http://x/proxy/[1-8].txt?[1-30]" -o "got/proxy-#1-#2"
    kill -HUP "$master"
    get_many "http://x/made/name[1-500]?a=[1-2]" -o "got/made-#1-#2"
    get_many "http://x/pattern?n=[1-400]x" -o "got/pattern-#1"
    find got -type f | sort | xargs cksum | cksum
    rm -f got/*
  done
  get --data-binary @files/8.txt -o /dev/null -w '%{http_code}\n' http://x/3.txt
  get -o /dev/null -w '%{http_code}\n' http://x/none
  kill -QUIT "$master"
  wait $server
  server=
  if grep -e emerg -e alert -e crit error.log; then return 1; fi
}

is_preloaded nginx -V
both work_nginx
