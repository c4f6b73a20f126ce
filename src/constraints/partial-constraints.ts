import type { Constraints } from '../model/constraints.ts';
import type { WrittenConstraints } from './written-constraints.ts';

type Loose<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Loose<T[K]> | undefined }
    : T;

/** What could be understood of a file: every part that is there is valid, none has to be there. */
export type PartialWritten = Loose<WrittenConstraints>;
export type PartialConstraints = Loose<Constraints>;

/** `value` without the parts at `paths`; own properties only, nothing is changed in place. */
export function withoutPaths(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return paths.length > 0 ? undefined : value;
  const below = new Map<string, (readonly PropertyKey[])[]>();
  for (const [first, ...rest] of paths) {
    const key = String(first);
    const known = below.get(key);
    if (known === undefined) below.set(key, [rest]);
    else known.push(rest);
  }
  const kept = Object.entries(value).flatMap(([key, child]) => {
    const inner = below.get(key);
    const rest = inner === undefined ? child : withoutPaths(child, inner);
    return rest === undefined ? [] : [[key, rest] as const];
  });
  return Object.fromEntries(kept);
}
