/** Progress for a person: one changing line with elapsed time on a terminal, plain lines elsewhere. Goes to stderr. */
export interface Progress {
  /** Begins a step; ends the one before it. */
  readonly start: (label: string) => void;
  /** A detail of the running step; only the newest is shown on a terminal. */
  readonly detail: (text: string) => void;
  /** A line that stays: part of the running step is finished. */
  readonly note: (text: string) => void;
  /** Ends the running step with its outcome. */
  readonly end: (outcome: string) => void;
  readonly close: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export function createProgress(terminal: Terminal, isQuiet: boolean): Progress {
  if (isQuiet) return { start() {}, detail() {}, note() {}, end() {}, close() {} };
  return terminal.isTTY === true ? liveProgress(terminal) : plainProgress(terminal);
}

function plainProgress(terminal: Terminal): Progress {
  let label: string | undefined;
  let started = 0;
  const end = (outcome: string): void => {
    if (label !== undefined) terminal.write(`${label}: ${outcome} (${seconds(started)})\n`);
    label = undefined;
  };
  return {
    start(next) {
      end('done');
      label = next;
      started = performance.now();
    },
    detail() {},
    note: (text) => terminal.write(`  ${text}\n`),
    end,
    close: () => end('stopped'),
  };
}

function liveProgress(terminal: Terminal): Progress {
  let label: string | undefined;
  let note = '';
  let started = 0;
  const draw = (): void => {
    if (label === undefined) return;
    const line = `${label} ${seconds(started)}${note === '' ? '' : ` · ${note}`}`;
    terminal.write(`\r\x1b[2K${line.slice(0, (terminal.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, 200);
  timer.unref();
  const end = (outcome: string): void => {
    if (label !== undefined) terminal.write(`\r\x1b[2K${label}: ${outcome} (${seconds(started)})\n`);
    label = undefined;
    note = '';
  };
  return {
    start(next) {
      end('done');
      label = next;
      started = performance.now();
      draw();
    },
    detail(text) {
      note = text;
      draw();
    },
    note(text) {
      terminal.write(`\r\x1b[2K  ${text}\n`);
      draw();
    },
    end,
    close() {
      end('stopped');
      clearInterval(timer);
    },
  };
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
