#!/bin/sh
# test: timeout=120 label=programs
# packages: php-cli php-xml php-mbstring
# PHP, which opens its extensions with RTLD_DEEPBIND: XML in three ways, character sets, sorting.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need php php-cli
php -m | grep -q '^dom$' || { echo "skipped: no XML for PHP here (Debian package php-xml)"; exit 77; }
php -m | grep -q '^mbstring$' || {
  echo "skipped: no mbstring for PHP here (Debian package php-mbstring)"
  exit 77
}

cat >"$work/work.php" <<'END'
<?php
$seed = 1;
function next_number() { global $seed; return ($seed = ($seed * 1103515245 + 12345) & 0x7fffffff) >> 8; }
$words = [];
for ($i = 0; $i < 100000; $i++) { $words[] = str_repeat(chr(97 + next_number() % 26), next_number() % 40) . $i; }
sort($words);
echo count($words), ' ', $words[0], ' ', $words[50000], ' ', md5(implode(' ', $words)), "\n";
$document = new DOMDocument();
$root = $document->appendChild($document->createElement('words'));
for ($i = 0; $i < 20000; $i++) {
  $element = $root->appendChild($document->createElement('word', htmlspecialchars($words[$i * 5])));
  $element->setAttribute('number', $i);
}
$text = $document->saveXML();
echo strlen($text), ' ', md5($text), "\n";
$again = new DOMDocument();
$again->loadXML($text);
$path = new DOMXPath($again);
echo $path->query('//word[@number > 100 and @number < 200]')->length, "\n";
echo count(simplexml_load_string($text)->word), "\n";
$parser = xml_parser_create();
xml_set_element_handler($parser, function () { global $starts; $starts++; }, function () {});
echo xml_parse($parser, $text, true), ' ', $starts, "\n";
$wide = mb_convert_encoding(str_repeat('äöü€', 50000), 'UTF-16', 'UTF-8');
echo strlen($wide), ' ', mb_strlen($wide, 'UTF-16'), ' ', md5(mb_strtoupper(mb_substr(str_repeat('äß', 9999), 5))), "\n";
echo preg_match_all('/number="(\d+)"/', $text, $found), ' ', array_sum($found[1]), "\n";
END

work_php() { php "$work/work.php"; }

is_preloaded php -v
both work_php
