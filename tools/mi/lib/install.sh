# Which tools there are, and their Debian packages, which are installed only where that was asked
# for. A part of ./mi.

# yes: by --install or by the variable that CI systems set. ask: at a terminal. Else no.
install=ask
case ${CI:-} in '' | 0 | false) ;; *) install=yes ;; esac

# True if these packages may be installed, and can be. Where there is nobody to ask, those without
# which a command can do nothing at all are; no others.
may_install() {  # needed|useful packages...
  local answer need=$1
  shift
  [ "$(id -u)" = 0 ] && have apt-get || return
  [ "$install" = ask ] || return 0
  if ! { [ -t 0 ] && [ -t 2 ]; }; then
    [ "$need" = needed ]
    return
  fi
  read -r -p "mi: install these packages: $*? [y/N] " answer || return
  case $answer in [yY]*) ;; *) return 1 ;; esac
}

apt_updated=no
apt_get() {  # packages...
  say "mi: installing $*"
  if [ $apt_updated = no ]; then
    apt-get update -qq </dev/null >/dev/null 2>&1
    apt_updated=yes
  fi
  # Another one may be at work, as it often is when a system has just started.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" </dev/null >/dev/null 2>&1
}

# Installs Debian packages without which a command can do nothing; false if that may not or cannot be.
apt_install() { may_install needed "$@" && apt_get "$@"; }  # packages...

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }

# Installs those of the packages that are missing, as far as that may and can be done. What needs
# the others is skipped later, or its command fails.
install_missing() {  # packages...
  local list=() package
  have dpkg-query || return 0
  for package in "$@"; do
    is_installed "$package" || list+=("$package")
  done
  [ ${#list[@]} = 0 ] && return
  if ! may_install useful "${list[@]}"; then
    say "mi: what needs these packages may be skipped (--install gets them): ${list[*]}"
    return
  fi
  apt_get "${list[@]}" && return
  for package in "${list[@]}"; do  # one by one: some of them may not exist here
    apt_get "$package" || say "mi: $package cannot be installed: what needs it is skipped"
  done
}

# ---- Compilers and what builds -------------------------------------------------------------------

first_of() {  # commands: prints the first that there is
  local c
  for c in "$@"; do have "$c" && echo "$c" && return; done
  return 1
}
c_compiler() { first_of ${CC:+"$CC"} cc gcc clang; }
cxx_compiler() { first_of ${CXX:+"$CXX"} c++ g++ clang++; }

missing_packages() {  # of those that $1 (run or test) cannot do without
  local list=()
  have cmake || list+=(cmake)
  have make || have ninja || list+=(make)
  [ -n "$(c_compiler)" ] || list+=(gcc libc6-dev)
  if [ "$1" = test ]; then
    [ -n "$(cxx_compiler)" ] || list+=(g++)
    have nm || list+=(binutils)
  fi
  echo "${list[*]}"
}

need_tools() {  # run or test
  local packages version
  packages=$(missing_packages "$1")
  # shellcheck disable=SC2086  # a list of words
  if [ -n "$packages" ] && ! { apt_install $packages && [ -z "$(missing_packages "$1")" ]; }; then
    die "these are missing: $packages. As root on Debian, ./mi --install installs them"
  fi
  version=$(cmake --version | sed -n '1s/.* //p')
  if [ "$(printf '%s\n' 3.21 "$version" | sort -V | head -n 1)" != 3.21 ]; then
    die "cmake $version is too old for this script, which uses presets: 3.21 is needed"
  fi
  have make || export CMAKE_GENERATOR=Ninja
}
