#!/bin/bash
# Runs ./demo until the page answers, then ./check, on bare systems: each a root folder made by
# debootstrap from a mirror of this machine's apt sources, with a fresh clone of HEAD. Writes the results
# into docs/tests.md. As root; needs debootstrap.
set -euo pipefail

usage="usage: npm run test:systems -- [--until demo|check] [SYSTEM...]
  --until STEP  the last step, demo or check (./check); default check
  SYSTEM        debian-12, debian-13, ubuntu-22.04 or ubuntu-24.04; default all
The root folders are in /var/tmp/eigenscope-systems, or in \$EIGENSCOPE_SYSTEMS_DIR, until the end. Logs stay there."
known="debian-12 debian-13 ubuntu-22.04 ubuntu-24.04"
until=check
systems=()

refuse() {
  printf '%s\n' "$1" "$usage" >&2
  exit 2
}

while [ $# != 0 ]; do
  case $1 in
    --until)
      case ${2:-} in
        demo | check) until=$2 && shift ;;
        *) refuse "--until must be demo or check, found ${2:-no value}" ;;
      esac
      ;;
    --help) echo "$usage" && exit ;;
    -*) refuse "there is no option $1" ;;
    *)
      case " $known " in *" $1 "*) systems+=("$1") ;; *) refuse "SYSTEM must be one of $known, found $1" ;; esac
      ;;
  esac
  shift
done
if [ ${#systems[@]} = 0 ]; then read -ra systems <<<"$known"; fi

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${EIGENSCOPE_SYSTEMS_DIR:-/var/tmp/eigenscope-systems}
[ "$(id -u)" = 0 ] || { echo "debootstrap and chroot must be started as root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
mkdir -p "$folder"

# In namespaces that end with their first process, and that ends with this one, however this one ends: no
# mount and no process of the systems is left.
if [ -z "${EIGENSCOPE_SYSTEMS_INSIDE:-}" ]; then
  exec 9>"$folder/lock"
  flock -n 9 || { echo "$folder must have one user at a time, found another run" >&2; exit 1; }
  EIGENSCOPE_SYSTEMS_INSIDE=1 setpriv --pdeathsig KILL \
    unshare --mount --pid --fork --kill-child --mount-proc "$0" --until "$until" "${systems[@]}" &
  inside=$!
  # shellcheck disable=SC2317,SC2329 # called by the trap
  remove_roots() {
    local name
    kill -KILL $inside 2>/dev/null || true
    wait $inside 2>/dev/null || true
    for name in "${systems[@]}" host; do
      # Twice: the last processes inside may still be ending.
      rm -rf --one-file-system "${folder:?}/$name" 2>/dev/null ||
        { sleep 2 && rm -rf --one-file-system "${folder:?}/$name"; }
    done
  }
  trap remove_roots EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  wait $inside
  exit
fi

# What this machine reaches its mirrors with. It is held in memory, in the systems' /run/host, and passed by
# environment variables: nothing of it stays in the root folders.
host=$folder/host
mkdir -p "$host"
mount -t tmpfs -o mode=700,size=64m tmpfs "$host"
authority=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [ -e "$authority" ]; then cp "$authority" "$host/ca.crt"; fi
cat /etc/apt/auth.conf /etc/apt/auth.conf.d/*.conf >"$host/auth.conf" 2>/dev/null || true
{
  apt-config dump | grep -iE '^Acquire::(http|https|Retries|Check-)' || true
  echo 'Dir::Etc::netrc "/run/host/auth.conf";'
  if [ -e "$host/ca.crt" ]; then echo 'Acquire::https::CaInfo "/run/host/ca.crt";'; fi
} >"$host/apt.conf"
for file in "$(npm config get globalconfig)" "$(npm config get userconfig)"; do
  if [ -e "$file" ]; then cat "$file" && echo; fi
done >"$host/npmrc"

variables=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
  APT_CONFIG=/run/host/apt.conf npm_config_userconfig=/run/host/npmrc)
if [ -e "$host/ca.crt" ]; then
  variables+=(SSL_CERT_FILE=/run/host/ca.crt NODE_EXTRA_CA_CERTS=/run/host/ca.crt
    npm_config_cafile=/run/host/ca.crt)
fi
while IFS= read -r name; do
  variables+=("$name=${!name}")
done < <(compgen -e | grep -iE '^((https?|all|no|ftp)_proxy|npm_config_(registry|proxy|https_proxy|noproxy))$' || true)

# The first repository of this machine's apt sources that has the release of this distribution, if any.
mirror_of() {
  local suite=$1 origin=$2 uri
  while IFS= read -r uri; do
    rm -f "$host/release"
    if /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$suite/Release" "$host/release" \
      >/dev/null 2>&1 </dev/null && grep -q "^Origin: $origin\$" "$host/release"; then
      echo "${uri%/}"
      return
    fi
  done < <(apt-get indextargets --format '$(REPO_URI)' | grep -E '^(https?|file):' | sort -u)
  return 1
}

# in_system <command...>: in the root folder $here.
in_system() { chroot "$here" env -i "${variables[@]}" "$@"; }

install_system() {
  local suite=$1 components=$2 keyring=$3 mirror=$4
  rm -rf --one-file-system "$here"
  # debootstrap knows the proxy of apt from the environment alone.
  local proxy=
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase --force-check-gpg --keyring="$keyring" \
    --components="$components" "$suite" "$here" "$mirror"
  echo "deb $mirror $suite ${components//,/ }" >"$here/etc/apt/sources.list"
  echo force-unsafe-io >"$here/etc/dpkg/dpkg.cfg.d/unsafe-io" # fewer waits for the disk
  cp /etc/resolv.conf /etc/hosts "$here/etc/"
  git clone --quiet --depth 1 "file://$root" "$here/root/eigenscope"
  commit=$(git -C "$here/root/eigenscope" rev-parse --short HEAD)
}

mount_system() {
  mount -t proc proc "$here/proc"
  mount --rbind /dev "$here/dev"
  mkdir -p "$here/run/host"
  mount --bind "$host" "$here/run/host"
}

# Runs ./demo --no-open until the page answers with status 200 at the address that it prints.
run_demo() {
  local log=$folder/$system.demo.log address status
  : >"$log" # before the first look at it
  # Not by in_system, whose shell would get the signal in place of ./demo.
  chroot "$here" env -i "${variables[@]}" /root/eigenscope/demo --no-open >"$log" 2>&1 </dev/null &
  local demo=$!
  until address=$(sed -n 's/^Eigenscope: //p' "$log") && [ -n "$address" ]; do
    if ! kill -0 $demo 2>/dev/null; then
      tail -n 30 "$log" >&2
      return 1
    fi
    sleep 2
  done
  status=$(node -e 'fetch(process.argv[1]).then((it) => console.log(it.status))' "$address")
  kill $demo 2>/dev/null
  wait $demo 2>/dev/null || true
  [ "$status" = 200 ] || { echo "$address must answer with status 200, found $status" >&2; return 1; }
}

run_check() {
  local log=$folder/$system.check.log
  in_system /root/eigenscope/check >"$log" 2>&1 </dev/null || { tail -n 60 "$log" >&2; return 1; }
}

# record <command> <result> <seconds>: a row of the table, with the versions that the system has.
record() {
  local versions
  versions=$(in_system sh -c 'echo "clang-$(clang++ -dumpversion)"; sed "s/\"//g" /usr/share/emscripten/emscripten-version.txt' \
    2>/dev/null | paste -sd ' ') || true
  node "$root/tests/systems/table.mjs" "$system" "$1" "$2" "$3" "$commit" "$versions"
}

failed=0
# step <name> <command in the table>: runs run_<name> and records it.
step() {
  local begin=$SECONDS result
  echo "$system: $2"
  if "run_$1"; then
    result="HTTP 200"
    if [ "$1" = check ]; then result=$(tail -n 1 "$folder/$system.check.log"); fi
  else
    result=failed
    if [ "$1" = check ]; then result="failed: $(tail -n 1 "$folder/$system.check.log")"; fi
    failed=1
  fi
  echo "$system: $2: $result"
  record "$2" "$result" $((SECONDS - begin))
  [ "${result#failed}" = "$result" ]
}

for system in "${systems[@]}"; do
  here=$folder/$system
  origin=Debian components=main keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  case $system in
    debian-12) suite=bookworm ;;
    debian-13) suite=trixie ;;
    ubuntu-22.04) suite=jammy ;;
    ubuntu-24.04) suite=noble ;;
  esac
  case $system in ubuntu-*)
    origin=Ubuntu components=main,universe keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg ;;
  esac
  if ! mirror=$(mirror_of $suite $origin) || [ ! -e $keyring ]; then
    echo "$system: not tried: no repository of this machine's apt sources, or no keyring, for it"
    node "$root/tests/systems/table.mjs" "$system" "not tried"
    continue
  fi
  echo "$system: debootstrap"
  install_system $suite $components $keyring "$mirror" >"$folder/$system.install.log" 2>&1 ||
    { tail -n 30 "$folder/$system.install.log" >&2; exit 1; }
  mount_system
  if step demo "./demo --no-open" && [ $until = check ]; then step check "./check" || true; fi
done
exit $failed
