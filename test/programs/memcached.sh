#!/bin/sh
# test: timeout=300 label=long
# packages: memcached perl
# memcached with four threads on a local socket, under eight clients at once; its cache overflows.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need memcached memcached
need perl perl

cat >"$work/client.pl" <<'END'
use strict; use warnings; use Socket; use IO::Handle;
my ($path, $id) = @ARGV;
my $s;
socket($s, PF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un($path)) or die "connect: $!";
$s->autoflush(1);
my ($sum, $bad, $missing) = (0, 0, 0);
sub value { my $n = shift; return chr(97 + ($n + $id) % 26) x (1 + ($n * 7919) % 9000); }
sub get { my $n = shift;
  print $s "get k$id.$n\r\n";
  my $line = <$s>;
  return if $line =~ /^END/;
  $line =~ /^VALUE \S+ \d+ (\d+)/ or die $line;
  read $s, my $data, $1 + 2; $line = <$s>;
  return substr $data, 0, -2;
}
for my $n (1 .. 3000) {
  my $v = value($n);
  print $s "set k$id.$n 0 0 ", length $v, "\r\n$v\r\n";
  <$s> =~ /^STORED/ or $bad++;
  my $back = get($n);   # just stored: it must be there, and as it was
  if (!defined $back) { $missing++ } elsif ($back ne $v) { $bad++ } else { $sum += length $back }
  my $older = get(1 + ($n * 31) % $n);  # may have been dropped, but may not be another
  $bad++ if defined $older and $older ne value(1 + ($n * 31) % $n);
  if ($n % 10 == 0) { print $s "delete k$id.$n\r\n"; <$s>; }
}
print "client $id: $sum bytes, $bad wrong, $missing missing\n";
exit($bad ? 1 : 0);
END

work_memcached() {
  user=
  [ "$(id -u)" != 0 ] || user='-u root'
  # shellcheck disable=SC2086  # two words or none
  timeout --foreground 200 memcached $user -s "$work/run/socket" -a 0700 -P "$work/run/pid" -t 4 \
    -m 32 -c 100 >server.log 2>&1 &
  server=$!
  until_true 20 test -S socket -a -s pid || { cat server.log; return 1; }
  [ "$side" = system ] || has_library "$(cat pid)"
  clients=
  for id in 1 2 3 4 5 6 7 8; do
    perl "$work/client.pl" socket $id >client.$id &
    clients="$clients $!"
  done
  for pid in $clients; do wait "$pid"; done
  cat client.*
  kill -TERM $server
  wait $server || true
  server=
}

is_preloaded memcached -V
both work_memcached
