#!/usr/bin/env bash
# Judges one engine: the inputs of action.yml come as environment variables and are checked here before any use.
# Exit codes are those of `metainfer judge`: 0 passed, 1 failed, 2 to 4 refused.
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

# What a compiler or an engine prints must not be read as a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
cd "$GITHUB_WORKSPACE/engine"
node "$harness/dist/src/cli.js" judge "$ENGINE_PATH" \
  --request-id "$REQUEST_ID" --engine-commit "$ENGINE_SHA" --constraints-sha256 "$CONSTRAINTS_SHA256" \
  --harness-commit "$HARNESS_SHA" --baseline "$BASELINE" --labels "$LABELS" --runner "$RUNNER_NAME" \
  --output "$RUNNER_TEMP/metainfer" &
child=$!
# A cancelled job must take compilers and engines along.
trap 'kill -TERM "$child" 2>/dev/null' INT TERM
status=0
wait "$child" || status=$?
# A trapped signal ends the first wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child" || status=$?; done
echo "::$token::"
exit "$status"
