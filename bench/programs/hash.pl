# Hashes, arrays of arrays, regular expressions and string growth.
use strict;
use warnings;

my $seed = 11;
sub random { $seed = ($seed * 1103515245 + 12345) % 2147483648; return int($seed / 65536) % $_[0] }

my (%count, @rows, $text);
for my $i (1 .. 150000) {
  my $word = join '', map { chr(97 + random(26)) } 0 .. 2 + random(6);
  $count{$word}++;
  push @rows, [$word, $i, { length => length $word }] if $i % 3 == 0;
  $text .= "$word ";
}
my %initial;
push @{ $initial{substr $_, 0, 2} }, $_ for keys %count;
my @sorted = sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @rows;
my $changed = 0;
for my $round (1 .. 3) {
  my $copy = $text;
  $changed += $copy =~ s/\b([aeiou])(\w+)\b/$2$1/g;
  my @parts = split / /, $copy;
  $changed += @parts;
}
print scalar(keys %initial), " ", scalar(@sorted), " $changed\n";
