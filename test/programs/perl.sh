#!/bin/sh
# test: timeout=120 label=programs
# packages: perl
# Perl: hashes, regular expressions, sorting, closures, long strings, fork, and threads if built in.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need perl perl
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0

cat >"$work/work.pl" <<'END'
use strict; use warnings; use Config;
my $seed = 12345;
sub next_number { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return $seed >> 8; }

my (%count, @words);
for (1 .. 150000) {
  my $word = join '', map { chr(97 + next_number() % 26) } 1 .. 1 + next_number() % 5;
  $count{$word}++;
  push @words, $word if $_ % 3 == 0;
}
printf "%d words, %d kinds\n", scalar @words, scalar keys %count;
my @often = sort { $count{$b} <=> $count{$a} or $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @often[0 .. 40];

my $text = join ' ', @words;
my $changed = ($text =~ s/\b(\w)(\w+)\b/$2 . uc $1/ge);
print "changed $changed, ", unpack('%32C*', $text), "\n";
my @parts = split /(?<=A) /, $text;
printf "%d parts, longest %d\n", scalar @parts, (sort { $b <=> $a } map { length } @parts)[0];

my @tree;
for my $i (1 .. 20000) {
  push @{ $tree[$i % 100]{ $i % 17 } }, { id => $i, text => 'x' x ($i % 200) };
}
my $sum = 0;
for my $branch (@tree) {
  for my $key (sort keys %$branch) { $sum += length $_->{text} for @{ $branch->{$key} }; }
}
print "tree $sum\n";
@tree = ();

my $long = '';
$long .= chr(33 + $_ % 90) x ($_ % 50) for 1 .. 60000;
print length($long), ' ', unpack('%32C*', $long), "\n";
my @closures = map { my $n = $_; my @own = (1 .. $n % 30); sub { $n + @own } } 1 .. 20000;
my $total = 0; $total += $_->() for @closures; print "closures $total\n";

pipe my $read, my $write or die;
defined(my $pid = fork) or die;
if ($pid == 0) {
  close $read;
  my %h = map { $_ => "v$_" } 1 .. 20000;
  print $write join(',', map { $h{$_} } sort { $a <=> $b } keys %h);
  close $write;
  exit 0;
}
close $write;
my $got = do { local $/; <$read> };
waitpid $pid, 0;
print "child ", length $got, " status $?\n";

if ($Config{useithreads}) {
  require threads;
  my $work = sub {
    my ($n, $s, %h) = (shift, 0);
    $h{"$n.$_"} = $_ x 3 for 1 .. 5000;
    $s += length for values %h;
    return $s;
  };
  my @threads = map { threads->create($work, $_) } 1 .. 4;
  print 'threads ', join(' ', map { $_->join } @threads), "\n";
}
END

work_perl() { perl "$work/work.pl"; }

is_preloaded perl -e 1
both work_perl
