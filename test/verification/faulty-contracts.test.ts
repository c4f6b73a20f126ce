import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { renderConfigHeader } from '../../src/generation/config-header.ts';
import { writeEngine } from '../../src/generation/write-engine.ts';
import { engineUnderTest } from '../../src/local/judge-engine.ts';
import { composePrepared } from '../../src/preparation/prepare-engine.ts';
import { diagnose } from '../../src/verification/diagnose.ts';
import { verifyEngine } from '../../src/verification/verify-engine.ts';
import { isLacking } from '../fixtures/needed-tool.ts';
import { openSubject, replacing, withText } from '../local/agents/agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-faulty-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.skipIf(isLacking('bubblewrap'))(
  'one report names every faulty contract of an engine that agents wrote, though it does not build',
  async () => {
    const { prepared, files, toolchain } = await openSubject(root);
    const broken = withText(files, 'kv.cache', (text) => `${text}int x = undeclared;\n`);
    const twice = withText(broken, 'norm.rms', replacing(' + config::rms_norm_eps', ''));
    const agentFiles = withText(twice, 'text.utf8', replacing('lead < 0xC2', 'lead < 0xC0'));
    const folder = join(root, 'subject');
    await writeEngine(composePrepared(prepared, { agentFiles }), folder);
    const { gates } = await verifyEngine({
      ...{ engine: engineUnderTest(prepared, folder), toolchain, renderConfigHeader, runSeed: 2 },
      checkpointFolder: prepared.request.model.folder!,
      checkProvenance: async () => [],
      ...{ gates: ['build', 'unit', 'trace'], effort: { variants: false, sanitize: false } },
    });
    expect(gates.map(({ gate, status }) => `${gate} ${status}`)).toEqual([
      'build failed',
      'unit failed',
      'trace skipped',
    ]);
    const unit = gates[1]!.findings;
    // Whatever needs the file that does not compile fails with it; it is told once, to its owner.
    expect(unit.filter(({ contract }) => contract === 'kv.cache')).toHaveLength(1);
    const { guilty, isContractLevel } = diagnose({
      ...{ gates, selection: prepared.selection, written: new Set(files.keys()) },
    });
    expect(isContractLevel).toBe(true);
    expect(guilty.map(({ contract }) => contract).sort()).toEqual(['kv.cache', 'norm.rms', 'text.utf8']);
    expect(guilty.every(({ findings }) => findings.length > 0)).toBe(true);
  },
);
