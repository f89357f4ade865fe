#!/usr/bin/env bash
# Builds the wheels of a release into dist/: `make wheels`. The same commit and the same compilers give the same bytes.
#
#   contrib/wheels/build.sh [TARGET …]        x86_64-unknown-linux-gnu, and aarch64-… where Rust has its library
#
# What is built is a copy of what git tracks, so nothing that lies around gets in. zig (from PyPI) is the C compiler
# and the linker: it brings the C library of manylinux_2_28, and compiles for aarch64 too. Times in the wheel are
# those of the commit (SOURCE_DATE_EPOCH overrides), and paths of this machine are replaced.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
glibc=2.28
tools=${NETLOOM_WHEEL_TOOLS:-$root/build/wheel-tools}
stage=$root/build/wheel-source
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export PIP_DISABLE_PIP_VERSION_CHECK=1 LC_ALL=C TZ=UTC CARGO_INCREMENTAL=0
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CFLAGS CONDA_PREFIX PYO3_PYTHON

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; }
targets=("$@")
if ((${#targets[@]} == 0)); then
    targets=(x86_64-unknown-linux-gnu)
    if has_target aarch64-unknown-linux-gnu; then
        targets+=(aarch64-unknown-linux-gnu)
    else
        echo 'aarch64: skipped, Rust has no library for it here (rustup target add aarch64-unknown-linux-gnu)' >&2
    fi
fi
for target in "${targets[@]}"; do
    has_target "$target" || { echo "wheels: error: Rust has no library for $target: rustup target add $target" >&2; exit 1; }
done

# The tools that make bytes, to the version (contrib/wheels/requirements.txt).
"${PYTHON:-python3}" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet -r contrib/wheels/requirements.txt
PATH=$tools/bin:$PATH

rm -rf "$stage" && mkdir -p "$stage" dist && rm -f dist/netloom_hpc-*.whl dist/SHA256SUMS
git ls-files -z --cached --others --exclude-standard | while IFS= read -rd '' file; do
    if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null --files-from=- -cf - | tar -xf - -C "$stage"

cargo_home=${CARGO_HOME:-$HOME/.cargo}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
# Paths of this machine would be in messages of panics, and differ from machine to machine.
export RUSTFLAGS="--remap-path-prefix=$stage=/netloom --remap-path-prefix=$cargo_home=/cargo"
for target in "${targets[@]}"; do
    (
        cd "$stage"
        zig_target=${target%%-*}-linux-gnu.$glibc
        rm -rf python/netloom/native
        make --no-print-directory native PYTHON=python CC="python -m ziglang cc -target $zig_target -s"
        maturin build --release --locked --strip --zig --target "$target" --compatibility "manylinux_${glibc/./_}" \
            --interpreter python3.10 --out "$root/dist"
    )
    for wheel in "$root"/dist/netloom_hpc-*_"${target%%-*}".whl; do
        python "$root/contrib/wheels/neutral.py" "$wheel" "$stage" /netloom
    done
done
rm -rf "$stage"

wheels=("$root"/dist/netloom_hpc-*.whl)
twine check --strict "${wheels[@]}"
for wheel in "${wheels[@]}"; do
    auditwheel show "$wheel"
    (($(stat -c %s "$wheel") <= 15000000)) || { echo "wheels: error: $wheel: larger than 15 MB" >&2; exit 1; }
done
(cd dist && sha256sum netloom_hpc-*.whl | tee SHA256SUMS)
