#!/bin/sh
# test: label=long timeout=86400 serial when="release"
# The soak test for SOAK_MINUTES, an hour by default: see soak.c.
program=$MI_BUILD_DIR/test/soak.soak
[ -x "$program" ] || exit 77
exec "$program" $((${SOAK_MINUTES:-60} * 60)) "${SOAK_SEED:-$(date +%s)}"
