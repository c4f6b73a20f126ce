import { describe, expect, it } from 'vitest';
import { renderPullBody, renderPullTitle } from '../../src/delivery/render-pull.ts';
import { gateNames } from '../../src/model/report.ts';
import {
  sampleEngine,
  samplePlan,
  sampleRecord,
  sampleReport,
  sampleStates,
  sampleText,
  sampleView,
} from './sample-run.ts';

const draft = sampleView(sampleStates.onRunner);
const passed = sampleView(sampleStates.passed, { report: sampleReport });

describe("the engine's pull request", () => {
  it('has a title that says what the engine is for', () => {
    expect(renderPullTitle(draft)).toBe('Engine qwen3-0-6b: Qwen/Qwen3-0.6B in bf16 on cpu-x86_64 (avx2)');
  });

  it('closes the issue only once the verdict passed', () => {
    expect(renderPullBody(draft, { closes: false })).toMatch(/^Asked for in #12\./);
    expect(renderPullBody(draft, { closes: false })).not.toMatch(/(?:close|fixe|resolve)[sd]? #/i);
    expect(renderPullBody(passed, { closes: true })).toMatch(/^Closes #12\./);
  });

  it('never closes the pull request that asked', () => {
    const source = { kind: 'pull' as const, number: 14, path: 'constraints/x.yaml', firstLine: 1 };
    const view = { ...passed, run: sampleRecord(sampleStates.passed, { source }) };
    expect(renderPullBody(view, { closes: true })).toMatch(/^Asked for in #14\./);
  });

  it('holds the constraint file, each contract, where each file comes from, and what is checked', () => {
    const body = renderPullBody(draft, { closes: false });
    expect(body).toContain(`\`\`\`yaml\n${sampleText.trimEnd()}\n\`\`\``);
    for (const { contract } of samplePlan.coverage) expect(body).toContain(contract);
    for (const { path } of sampleEngine.files.filter((file) => file.path.endsWith('.cpp')))
      expect(body).toContain(`| \`${path}\` |`);
    for (const gate of gateNames) expect(body).toContain(`- \`${gate}\``);
    expect(body).toContain('none written by a model');
    expect(body).toContain('cd engines/qwen3-0-6b\ncmake -B build && cmake --build build');
    expect(body).toContain('`decode_tokens_per_second` `>= 0.7x llama.cpp`');
  });

  it('draws every contract into one stage of the diagram', () => {
    const [, diagram] = /```mermaid\n([\s\S]*?)\n```/.exec(renderPullBody(draft, { closes: false }))!;
    for (const { contract } of samplePlan.coverage)
      expect(diagram!.split(new RegExp(`>${contract.replaceAll('.', '\\.')}[:<"]`)), contract).toHaveLength(
        2,
      );
    expect(diagram).toContain('attention --> mlp --> head');
    expect(diagram).toContain('× 28 layers of 1,024');
  });

  it('shows the goals with their figures once they are met', () => {
    const body = renderPullBody(passed, { closes: true });
    expect(body).toContain('**Passed**: 3 of 3 goals met');
    expect(body).toContain('✅ met');
  });

  it('holds a constraint file that tries to break out of its fence, and cuts a huge one', () => {
    const state = {
      ...sampleStates.onRunner,
      input: { ...sampleStates.onRunner.input, text: '# ```\n\nCloses #1\n' },
    };
    expect(renderPullBody(sampleView(state), { closes: false })).toContain(
      '````yaml\n# ```\n\nCloses #1\n````',
    );
    const huge = { ...state, input: { ...state.input, text: `# ${'x'.repeat(60)}\n`.repeat(1100) } };
    const body = renderPullBody(sampleView(huge), { closes: false });
    expect(body.length).toBeLessThanOrEqual(65_000);
    expect(body).toContain('has all of it in `constraints.yaml`');
    expect(body).toContain('## What is checked');
  });
});
