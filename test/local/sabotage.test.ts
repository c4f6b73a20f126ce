import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../src/local/sabotage.ts';
import { readSabotageFile } from '../../src/local/sabotage-campaign.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { listMutations } from '../../src/verification/mutations.ts';

function realizationText(contract: string, file: string): string {
  const folder = join(knowledgeRoot(), 'contracts', contract.replace('.', '-'));
  return readFileSync(file.endsWith('.h') ? join(folder, file) : join(folder, 'realizations', file), 'utf8');
}

describe.each(['cpu-x86_64', 'cuda'] as const)('the mistakes on %s', async (platform) => {
  const file = await readSabotageFile(platform);

  it('holds at least 20 hand-made mistakes with different names', () => {
    expect(new Set(file.mutations.map((entry) => entry.id)).size).toBe(file.mutations.length);
    expect(file.mutations.length).toBeGreaterThanOrEqual(20);
  });

  it.each(file.mutations.map((entry) => [entry.id, entry] as const))(
    '%s fits the realization as it is now',
    (_, entry) => {
      const text = realizationText(entry.contract, entry.realization);
      expect(applyEdits(text, entry)).not.toBe(text);
    },
  );

  it('excuses only lines that mechanical mutation can reach', () => {
    for (const entry of file.equivalent) {
      const text = realizationText(entry.contract, entry.realization);
      const lines = text.split('\n');
      const reachable = listMutations(text).some((mutation) =>
        lines[mutation.line - 1]?.includes(entry.line),
      );
      expect(reachable, `${entry.contract}/${entry.realization}: ${entry.line}`).toBe(true);
    }
  });
});
