import { afterEach, describe, expect, it } from 'vitest';
import { createProgress, type Progress } from '../../src/cli/progress.ts';

/** Keeps what is written to it. */
function makeTerminal(isTTY: boolean): {
  write(text: string): void;
  isTTY: boolean;
  columns: number;
  text: string;
} {
  return {
    isTTY,
    columns: 40,
    text: '',
    write(text) {
      this.text += text;
    },
  };
}

describe('progress', () => {
  let progress: Progress | undefined;
  afterEach(() => progress?.close());

  it('is plain lines with the elapsed time where nobody watches', () => {
    const terminal = makeTerminal(false);
    progress = createProgress(terminal, false);
    progress.start('verify');
    progress.detail('trace');
    progress.note('build passed');
    progress.end('passed');
    expect(terminal.text).toMatch(/^ {2}build passed\nverify: passed \(\d+\.\d s\)\n$/);
  });

  it('is one line that changes on a terminal, never wider than it', () => {
    const terminal = makeTerminal(true);
    progress = createProgress(terminal, false);
    progress.start('verify');
    progress.detail('a very long detail that does not fit into forty columns at all');
    progress.end('passed');
    const lines = terminal.text.split('\r\u001b[2K').slice(1);
    expect(lines.at(-1)).toMatch(/^verify: passed \(\d+\.\d s\)\n$/);
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThan(40);
    expect(lines.some((line) => line.includes('a very long'))).toBe(true);
  });

  it('says that a step was stopped when the program ends in the middle of it', () => {
    const terminal = makeTerminal(false);
    progress = createProgress(terminal, false);
    progress.start('bench');
    progress.close();
    expect(terminal.text).toMatch(/^bench: stopped/);
  });

  it('is nothing at all with --quiet', () => {
    const terminal = makeTerminal(true);
    progress = createProgress(terminal, true);
    progress.start('bench');
    progress.note('x');
    progress.end('done');
    expect(terminal.text).toBe('');
  });
});
