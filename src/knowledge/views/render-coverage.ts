import { type CoverageMatrix, coverageMeaning, coverageStates } from '../../model/coverage.ts';

/** For a terminal: the matrix, then what stands behind each verified cell, then what keeps the others from it. */
export function renderCoverageText(matrix: CoverageMatrix): string {
  const head = ['', ...matrix.columns.map(({ platform, weights }) => `${platform} ${weights}`)];
  const rows = matrix.rows.map(({ name, cells }) => [name, ...cells.map(({ state }) => state)]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const proofs = listProofs(matrix).flatMap(({ names, repeat }) => [
    `${names.join('\n')}\n  repeat with: ${repeat.join(' && ')}`,
  ]);
  const reasons = listReasons(matrix).map(({ says, cells }) => `  ${countCells(cells)}: ${says}`);
  return [
    lines.join('\n'),
    sumUp(matrix),
    ...(proofs.length === 0 ? [] : [`Verified:\n${proofs.join('\n')}`]),
    ...(reasons.length === 0 ? [] : [`Why the others are not:\n${reasons.join('\n')}`]),
  ].join('\n\n');
}

/** For a page or a comment. Names of rows hold no bar and no markup: they are made of knowledge's own words. */
export function renderCoverageMarkdown(matrix: CoverageMatrix): string {
  const head = ['Model', ...matrix.columns.map(({ platform, weights }) => `${platform}<br>${weights}`)];
  const rows = matrix.rows.map(({ name, cells }) => [
    name,
    ...cells.map(({ state }) => (state === 'verified' ? '**verified**' : state)),
  ]);
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  const proofs = listProofs(matrix).map(
    ({ names, repeat }) =>
      `${names.map((name) => `- ${name}`).join('\n')}\n\n\`\`\`sh\n${repeat.join('\n')}\n\`\`\``,
  );
  const reasons = listReasons(matrix).map(({ says, cells }) => `- ${countCells(cells)}: ${says}`);
  const legend = coverageStates.map((state) => `- *${state}*: ${coverageMeaning[state]}`);
  return `${[
    '## Coverage',
    sumUp(matrix),
    table.join('\n'),
    legend.join('\n'),
    ...(proofs.length === 0 ? [] : ['### Verified, and how to repeat it', ...proofs]),
    ...(reasons.length === 0 ? [] : ['### Why the others are not verified', reasons.join('\n')]),
  ].join('\n\n')}\n`;
}

function sumUp({ counts }: CoverageMatrix): string {
  return coverageStates.map((state) => `${counts[state]} ${state}`).join(', ');
}

/** Verified cells that rest on the same runs stand together. */
function listProofs(matrix: CoverageMatrix): { names: string[]; repeat: readonly string[] }[] {
  const proofs = new Map<string, { names: string[]; repeat: readonly string[] }>();
  for (const { name, cells } of matrix.rows) {
    for (const { state, platform, arch, weights, repeat } of cells) {
      if (state !== 'verified') continue;
      const key = repeat.join('\n');
      const names = proofs.get(key)?.names ?? [];
      proofs.set(key, { names: [...names, `${name} (${platform} ${arch}, ${weights})`], repeat });
    }
  }
  return [...proofs.values()];
}

/** Most frequent first. How many parts lack a run differs from cell to cell; why they do is what cells share. */
function listReasons(matrix: CoverageMatrix): { says: string; cells: number }[] {
  const counts = new Map<string, number>();
  for (const { state, says } of matrix.rows.flatMap(({ cells }) => cells)) {
    const reason = `${state}, ${says.replace(/^\d+ of \d+ parts(?:, the first [^:]+)?: /, 'parts without proof: ')}`;
    if (state !== 'verified') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([says, cells]) => ({ says, cells })).sort((a, b) => b.cells - a.cells);
}

function countCells(count: number): string {
  return count === 1 ? '1 cell' : `${count} cells`;
}
