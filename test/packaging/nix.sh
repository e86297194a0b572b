#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: nix-bin pkg-config
# The expression for nix: it is evaluated, with stand-ins for what nixpkgs gives, and the library is
# configured, built and tried with the flags and the script that come out.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need nix-instantiate python3

export NIX_STATE_DIR="$work/nix" NIX_STORE_DIR="$work/store" HOME="$work"
evaluate() {  # arguments of the expression
  nix-instantiate --eval --strict --json --expr "
    (import $dist/packaging/nix/package.nix {
      lib = {
        cmakeBool = name: value: \"-D\${name}:BOOL=\${if value then \"TRUE\" else \"FALSE\"}\";
        licenses.mit = \"MIT\";
        platforms.linux = [ \"x86_64-linux\" ];
      };
      stdenv.mkDerivation = attributes: attributes;
      fetchurl = attributes: attributes;
      cmake = \"cmake\";
      $1
    })" 2>"$work/log" || { cat "$work/log"; fail "not evaluated"; }
}
logged nix-instantiate --parse "$dist/packaging/nix/package.nix"
for arguments in "" "secure = true;" "guarded = true;"; do
  evaluate "$arguments" >package.json
  python3 - >flags <<'END' || fail "another version or checksum"
import hashlib, json
package = json.load(open("package.json"))
archive = open(f"dist/mimalloc-{package['version']}.tar.gz", "rb").read()
assert package["src"]["sha256"] == hashlib.sha256(archive).hexdigest()
open("check.sh", "w").write(package["installCheckPhase"])
print("\n".join(package["cmakeFlags"]))
END
  rm -rf "mimalloc-$version" prefix
  tar -xzf "$archive"
  # shellcheck disable=SC2046  # a list of options
  logged cmake -S "mimalloc-$version" -B "mimalloc-$version/build" -DCMAKE_INSTALL_PREFIX="$work/prefix" $(cat flags)
  if grep "no option" "$work/log"; then fail "options that are none"; fi
  logged cmake --build "mimalloc-$version/build" --target install
  (cd "mimalloc-$version/build" && logged sh -e "$work/check.sh")
done
consume "$work/prefix" mimalloc-guarded
echo "nix: $(nix-instantiate --version)"
