/** A moment at which the app is killed, once. */
export type CrashPoint =
  | { readonly at: 'acknowledged'; readonly event: string }
  | { readonly at: 'step'; readonly step: string }
  /** A POST that GitHub gets and carries out, and whose answer the app never hears. */
  | { readonly at: 'landed'; readonly path: RegExp };

/** Kills at each point in turn, in the order of one run. */
export interface CrashScript {
  /** Points that have not come yet. */
  readonly left: () => number;
  intercept(request: { readonly method: string; readonly path: string }): undefined;
  acknowledged(event: string): void;
  stepBegan(step: string): void;
}

export function createCrashScript(points: readonly CrashPoint[], kill: () => void): CrashScript {
  const left = [...points];
  const strike = (isMet: (next: CrashPoint) => boolean): void => {
    if (left[0] === undefined || !isMet(left[0])) return;
    kill();
    left.shift();
  };
  return {
    left: () => left.length,
    acknowledged: (event) => strike((next) => next.at === 'acknowledged' && next.event === event),
    stepBegan: (step) => strike((next) => next.at === 'step' && next.step === step),
    intercept({ method, path }) {
      if (method === 'POST') strike((next) => next.at === 'landed' && next.path.test(path));
    },
  };
}
