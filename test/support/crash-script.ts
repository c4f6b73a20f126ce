import type { Fault } from '../../src/local/github/http-listener.ts';

/** A moment at which the app is killed, once. */
export type CrashPoint =
  | { readonly at: 'acknowledged'; readonly event: string }
  | { readonly at: 'step'; readonly step: string }
  /** `landed`: GitHub does it and the app never hears of it; `lost`: the app says it will, and GitHub never gets it. */
  | { readonly at: 'landed' | 'lost'; readonly method: string; readonly path: RegExp };

/** Kills at each point in turn, in the order of one run. */
export interface CrashScript {
  /** Points that have not come yet. */
  readonly left: () => number;
  intercept(request: { readonly method: string; readonly path: string }): Fault;
  acknowledged(event: string): void;
  stepBegan(step: string): void;
}

export function createCrashScript(points: readonly CrashPoint[], kill: () => void): CrashScript {
  const left = [...points];
  const strike = (isMet: (next: CrashPoint) => boolean): CrashPoint | undefined => {
    if (left[0] === undefined || !isMet(left[0])) return undefined;
    kill();
    return left.shift();
  };
  return {
    left: () => left.length,
    acknowledged: (event) => void strike((next) => next.at === 'acknowledged' && next.event === event),
    stepBegan: (step) => void strike((next) => next.at === 'step' && next.step === step),
    intercept({ method, path }) {
      const point = strike((next) => 'path' in next && next.method === method && next.path.test(path));
      return point?.at === 'lost' ? { status: 502 } : undefined;
    },
  };
}
