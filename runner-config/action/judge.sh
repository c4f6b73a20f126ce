#!/usr/bin/env bash
# Judges one engine: the inputs of action.yml come as environment variables and are checked here before any use.
# Exit codes are those of `metainfer judge`: 0 passed, 1 failed, 2 to 4 refused. Its 5, not run on a device, becomes a
# warning: the runner did all that it could, and the bot's own check says that this is no pass.
set -euo pipefail

require() { # name, value, pattern of the whole value
  [[ "$2" =~ ^($3)$ ]] && return
  echo "::error::The input $1 is not what the bot sends. Dispatch this workflow through the bot: comment /metainfer retry."
  exit 2
}
require harness-sha "$HARNESS_SHA" '[0-9a-f]{40}'
require engine-sha "$ENGINE_SHA" '[0-9a-f]{40}'
require engine-path "$ENGINE_PATH" 'engines/[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?'
require request-id "$REQUEST_ID" '[0-9a-z-]{8,80}'
require constraints-sha256 "$CONSTRAINTS_SHA256" '[0-9a-f]{64}'
require labels "$LABELS" '\[["a-zA-Z0-9., _-]*\]'
require baseline "$BASELINE" 'llama\.cpp|none'

# The harness of this commit, built once on this machine. Other jobs may build it at the same time: the first one wins.
harness="$RUNNER_TOOL_CACHE/metainfer/$HARNESS_SHA"
if [[ ! -d "$harness" ]]; then
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 18) ? 0 : 1)' || {
    echo "::error::The runner has no Node.js 20.18 or newer in its PATH. Its operator can install it, see runner-config/README.md."
    exit 3
  }
  mkdir -p "$RUNNER_TOOL_CACHE/metainfer"
  part=$(mktemp -d "$RUNNER_TOOL_CACHE/metainfer/part-XXXXXX")
  trap 'rm -rf "$part"' EXIT
  cp -R "$GITHUB_ACTION_PATH/../../." "$part/"
  (cd "$part" && npm ci --ignore-scripts --no-audit --no-fund && npm run build)
  mv -T "$part" "$harness" || [[ -d "$harness" ]]
fi

# Two jobs on one GPU measure each other: one at a time holds it, whatever repository or runner they come from.
if [[ "$LABELS" == *'"gpu"'* ]]; then
  # Engines get the first GPU that this process sees. Its id is the same in every container of the machine.
  gpu=$(nvidia-smi --query-gpu=uuid --format=csv,noheader 2>/dev/null | head -n 1) || gpu=''
  if [[ "$gpu" =~ ^GPU-[0-9a-f-]{36}$ ]]; then
    minutes=${METAINFER_GPU_WAIT_MINUTES:-60}
    [[ "$minutes" =~ ^[0-9]{1,3}$ ]] || {
      echo "::error::METAINFER_GPU_WAIT_MINUTES in the runner's .env is no number of minutes."
      exit 3
    }
    lock="${METAINFER_LOCK_FOLDER:-/var/lock}/metainfer-gpu-${gpu#GPU-}"
    # Every user of the machine may hold it. Opened for reading alone: others' files in /var/lock take no more.
    [[ -e "$lock" ]] || (umask 0111 && : >"$lock") || true
    { exec 9<"$lock"; } 2>/dev/null || {
      echo "::error::The lock of the GPU, $lock, cannot be opened. The runner's operator makes that folder writable, or names another in METAINFER_LOCK_FOLDER."
      exit 3
    }
    if ! flock --exclusive --nonblock 9; then
      echo "Another job holds $gpu; waiting for it, $minutes minutes at most."
      flock --exclusive --timeout $((minutes * 60)) 9 || {
        echo "::error::Another job held $gpu for more than $minutes minutes, so nothing was judged. Comment /metainfer retry once it has ended."
        exit 3
      }
    fi
    echo "This job holds $gpu alone."
  else
    echo "No GPU answers here (nvidia-smi): this runner compiles, and checks what a CPU can check."
  fi
fi

# What a compiler or an engine prints must not be read as a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
cd "$GITHUB_WORKSPACE/engine"
node "$harness/dist/src/cli.js" judge "$ENGINE_PATH" \
  --request-id "$REQUEST_ID" --engine-commit "$ENGINE_SHA" --constraints-sha256 "$CONSTRAINTS_SHA256" \
  --harness-commit "$HARNESS_SHA" --baseline "$BASELINE" --labels "$LABELS" --runner "$RUNNER_NAME" \
  --output "$RUNNER_TEMP/metainfer" 9<&- &
child=$!
# A cancelled job must take compilers and engines along.
trap 'kill -TERM "$child" 2>/dev/null' INT TERM
status=0
wait "$child" || status=$?
# A trapped signal ends the first wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child" || status=$?; done
echo "::$token::"
if [[ "$status" -eq 5 ]]; then
  echo "::warning title=Not run on a device::This runner has no GPU: the engine was compiled and checked as far as a CPU can. This is not a pass; report.json lists what is open."
  exit 0
fi
exit "$status"
