/** Where the workflow lies in a repository that asks for engines. */
export const workflowPath = '.github/workflows/metainfer-engine.yml';
/** How long GitHub lets the job run once a runner has taken it. */
export const workflowTimeoutMinutes = 180;

/** The step that holds the harness, by which a pinned text is known: `uses: <home>/runner-config/action@<sha>`. */
export interface WorkflowPins {
  /** owner/name of the home repository, whose action holds the harness. */
  readonly homeRepository: string;
  /** Commit of the home repository. */
  readonly homeSha: string;
}

// Both are pinned by commit; the comment names the release that it is.
const checkout = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';
const uploadArtifact = 'actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0';

/**
 * The exact text that a person adds at `workflowPath` of the default branch, and that the bot compares with what is
 * there before each dispatch. Inputs reach no shell here; the action checks each before it uses it.
 */
export function renderWorkflow(pins: WorkflowPins): string {
  return `# MetaInfer Bot: judges one engine on a self-hosted runner. The bot compares this file with the text it expects
# before every dispatch, so please don't edit it; where it must change, the bot gives the new text.
name: metainfer engine
run-name: metainfer \${{ inputs.request_id }}

on:
  workflow_dispatch:
    inputs:
      engine_sha:
        description: Commit that holds the engine
        required: true
        type: string
      request_id:
        description: Id that the bot gave this request
        required: true
        type: string
      constraints_sha256:
        description: Hash of the constraint file that the engine is for
        required: true
        type: string
      engine_path:
        description: Folder of the engine, engines/<name>
        required: true
        type: string
      labels:
        description: Labels of the runner, as a JSON list
        required: true
        type: string
      baseline:
        description: What the engine is timed beside, llama.cpp or none
        required: true
        type: string

permissions:
  contents: read

jobs:
  judge:
    runs-on: \${{ fromJSON(inputs.labels) }}
    timeout-minutes: ${workflowTimeoutMinutes}
    steps:
      - name: Check out the engine as data
        uses: ${checkout}
        with:
          ref: \${{ inputs.engine_sha }}
          path: engine
          sparse-checkout: \${{ inputs.engine_path }}
          persist-credentials: false
      - name: Verify and time it
        uses: ${pins.homeRepository}/runner-config/action@${pins.homeSha}
        with:
          harness-sha: ${pins.homeSha}
          engine-sha: \${{ inputs.engine_sha }}
          engine-path: \${{ inputs.engine_path }}
          request-id: \${{ inputs.request_id }}
          constraints-sha256: \${{ inputs.constraints_sha256 }}
          labels: \${{ inputs.labels }}
          baseline: \${{ inputs.baseline }}
      - name: Hand in the report
        if: \${{ !cancelled() }}
        uses: ${uploadArtifact}
        with:
          name: metainfer-\${{ inputs.request_id }}
          path: \${{ runner.temp }}/metainfer
          if-no-files-found: error
          retention-days: 7
`;
}
