#!/bin/sh
# test: timeout=120 label=programs
# packages: openssl
# OpenSSL: keys, certificates, ciphers, digests, and a TLS conversation over a local socket.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need openssl openssl

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/cert" -days 30 \
  -subj /CN=test 2>/dev/null || fail "openssl req"
awk 'BEGIN { for (i = 0; i < 200000; i++) print "line", i, (i * 7919) % 1009 }' >"$work/data"

work_openssl() {
  for digest in md5 sha1 sha256 sha512 sha3-256 blake2b512; do
    openssl dgst -$digest "$work/data"
  done
  secret='-pbkdf2 -iter 2000 -S 0011223344556677 -pass pass:secret'
  for cipher in aes-256-cbc aes-128-ctr camellia-128-cbc chacha20; do
    # shellcheck disable=SC2086  # words
    openssl enc -$cipher $secret -in "$work/data" -out enc
    cksum <enc
    # shellcheck disable=SC2086
    openssl enc -d -$cipher $secret -in enc | cmp - "$work/data"
  done
  openssl dgst -sha256 -sign "$work/key" -hex "$work/data"  # PKCS #1: the same each time
  openssl x509 -in "$work/cert" -noout -text
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out fresh 2>/dev/null
  openssl rsa -in fresh -check -noout
  openssl ecparam -name prime256v1 -genkey -noout -out curve
  openssl dgst -sha256 -sign curve -out signature "$work/data"
  openssl ec -in curve -pubout -out public 2>/dev/null
  openssl dgst -sha256 -verify public -signature signature "$work/data"
  openssl cms -encrypt -binary -aes256 -in "$work/data" -outform DER -out cms "$work/cert"
  openssl cms -decrypt -in cms -inform DER -recip "$work/cert" -inkey "$work/key" -binary |
    cmp - "$work/data"
  openssl asn1parse -in "$work/cert" | cksum
  openssl prime -generate -bits 64 -hex >/dev/null
  openssl speed -seconds 1 -bytes 4096 -multi 2 sha256 >/dev/null 2>&1
}

# The server sends back what the client says, each line reversed.
work_tls() {
  timeout --foreground 60 openssl s_server -unix tls.socket -cert "$work/cert" -key "$work/key" \
    -rev -quiet >server.log 2>&1 &
  server=$!
  until_true 20 test -S tls.socket
  for version in tls1_2 tls1_3 tls1_3; do
    (head -n 300 "$work/data"; sleep 0.5) |
      timeout 20 openssl s_client -unix tls.socket -$version -quiet -no_ign_eof -verify_quiet \
        -CAfile "$work/cert" 2>/dev/null | cksum
  done
  kill $server
  wait $server || true
  server=
}

is_preloaded openssl version
both work_openssl
both work_tls
