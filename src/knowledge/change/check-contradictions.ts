import type { GpuDevice } from '../../model/catalog.ts';
import type { Problem } from '../../model/problem.ts';
import { canOverlap } from '../../model/target.ts';
import { type LoadedContract, pageProblem, readYamlFile } from '../contract-folder.ts';
import { PlatformFile } from '../platform-file.ts';
import { checkHeaderComments } from './header-comments.ts';
import { type KnowledgeChange, type KnowledgeSide, lineOf, realizationPath } from './knowledge-side.ts';

/** Two places of knowledge that say different things of the same. */
export function checkContradictions({ before, after }: KnowledgeChange): Problem[] {
  return [
    ...checkArchitectures(after),
    ...checkDevices(after),
    ...[...after.contracts.values()].flatMap((loaded) => [
      ...checkHeaderComments(loaded),
      ...checkTolerance(loaded),
      ...checkOpeningComments(loaded),
    ]),
    ...checkStates(before, after),
  ];
}

/** An architecture names one family; a model's config names one that its family knows. */
function checkArchitectures({ families, models, tree }: KnowledgeSide): Problem[] {
  const tell = (family: string, wanted: string, message: string): Problem => {
    const file = `models/${family}.yaml`;
    const line = lineOf(tree.get(file)?.text ?? '', wanted);
    return { severity: 'error', code: 'contradicting-fact', file, line, path: 'architectures', message };
  };
  const claimed = families.flatMap(({ family, architectures }, index) =>
    architectures.flatMap((name) => {
      const rival = families.slice(0, index).find((other) => other.architectures.includes(name));
      return rival === undefined
        ? []
        : [
            tell(
              family,
              'architectures:',
              `${name} is also an architecture of models/${rival.family}.yaml; it names one family`,
            ),
          ];
    }),
  );
  const foreign = models.flatMap(({ id, family, config }) => {
    const known = families.find((entry) => entry.family === family)?.architectures ?? [];
    return [config.architectures ?? []].flat().flatMap((name) => {
      if (typeof name !== 'string' || known.includes(name)) return [];
      const message = `${id} has the architecture ${name}; this family has ${known.join(', ')}`;
      return [tell(family, `"${name}"`, message)];
    });
  });
  return [...claimed, ...foreign];
}

/** The same device in two platform files has the same figures. */
function checkDevices({ platforms, tree }: KnowledgeSide): Problem[] {
  const placed = platforms.flatMap(({ id: platform, gpu }) =>
    (gpu?.devices ?? []).map((device, index) => ({ device, index, file: `platforms/${platform}.yaml` })),
  );
  return placed.flatMap(({ device, index, file }, at): Problem[] => {
    const earlier = placed.slice(0, at).find((other) => other.device.id === device.id);
    if (earlier === undefined) return [];
    const differing = (Object.keys(device) as (keyof GpuDevice)[]).filter(
      (key) => key !== 'arch' && device[key] !== earlier.device[key],
    );
    if (differing.length === 0) return [];
    const place = readYamlFile(tree.get(file), PlatformFile).yaml?.locate(['gpu', 'devices', index, 'id']);
    const message = `${device.id} also stands in ${earlier.file}, with another ${differing.join(', ')}`;
    return [{ severity: 'error', code: 'contradicting-fact', file, ...place, message }];
  });
}

/** gate.yaml and the front matter state one tolerance. */
function checkTolerance(loaded: LoadedContract): Problem[] {
  const { gate, frontMatter } = loaded.contract;
  const stated = frontMatter.numerics?.tolerance;
  if (gate === undefined || stated === undefined) return [];
  return (['nmse', 'max_abs'] as const).flatMap((name) => {
    if (gate.tolerance[name] === stated[name]) return [];
    const message = `gate.yaml has ${name} ${gate.tolerance[name]}, the contract says ${stated[name]}; they state one tolerance`;
    return [pageProblem(loaded, 'contradicting-tolerance', ['numerics', 'tolerance', name], message)];
  });
}

/** An absolute bound, or a tolerance by name, in the comment that a realization opens with. */
function checkOpeningComments(loaded: LoadedContract): Problem[] {
  const limits = loaded.contract.frontMatter.numerics?.tolerance;
  if (limits === undefined) return [];
  return loaded.contract.realizations.flatMap(({ file, text }) => {
    const lines = text.split('\n');
    const end = lines.findIndex((line) => !line.startsWith('//'));
    return lines.slice(0, end).flatMap((line, index): Problem[] => {
      const message = contradictingBound(line, limits);
      const place = { file: realizationPath(loaded, file), line: index + 1 };
      return message === undefined
        ? []
        : [{ severity: 'error', code: 'contradicting-tolerance', ...place, message }];
    });
  });
}

function contradictingBound(
  line: string,
  limits: { readonly nmse: number; readonly max_abs: number },
): string | undefined {
  const number = String.raw`~?(\d[\d.]*(?:e[-+]?\d+)?)`;
  const bound = new RegExp(String.raw`max \|(?:error|Δ)\| ${number}(?!\S*\s*\*)(?![\de]|\.\d)`).exec(
    line,
  )?.[1];
  if (bound !== undefined && Number(bound) > limits.max_abs)
    return `states an error of up to ${bound}; the contract allows ${limits.max_abs}`;
  for (const name of ['nmse', 'max_abs'] as const) {
    const stated = new RegExp(String.raw`\b${name}[ :=<≤]+${number}`, 'i').exec(line)?.[1];
    if (stated !== undefined && Number(stated) !== limits[name])
      return `states ${name} ${stated}; the contract says ${limits[name]}`;
  }
  return undefined;
}

interface Statement {
  readonly loaded: LoadedContract;
  readonly index: number;
  readonly key: string;
  readonly value: string | number | boolean;
}

/** What two contracts of one engine state by the same key is the same. */
function checkStates(before: KnowledgeSide, after: KnowledgeSide): Problem[] {
  const all = [...after.contracts.values()].flatMap(listStatements);
  const isOld = ({ loaded, key, value }: Statement) => {
    const old = before.contracts.get(loaded.contract.frontMatter.id);
    return (
      old !== undefined && listStatements(old).some((entry) => entry.key === key && entry.value === value)
    );
  };
  // What stood before is right until shown otherwise: the newer statement is the one to look at.
  const ordered = [...all.filter(isOld), ...all.filter((entry) => !isOld(entry))];
  return ordered.flatMap((statement, at) => {
    const { loaded, index, key, value } = statement;
    const rival = ordered.slice(0, at).find((other) => {
      const [a, b] = [other.loaded.contract.frontMatter, loaded.contract.frontMatter];
      return other.key === key && other.value !== value && canOverlap(a.applies_when, b.applies_when);
    });
    if (rival === undefined) return [];
    const message = `states ${key} = ${value}, where ${rival.loaded.contract.frontMatter.id} states ${rival.value}; both can stand in one engine`;
    return [pageProblem(loaded, 'contradicting-invariant', ['invariants', index, 'states', key], message)];
  });
}

function listStatements(loaded: LoadedContract): Statement[] {
  return loaded.contract.frontMatter.invariants.flatMap(({ states }, index) =>
    Object.entries(states ?? {}).map(([key, value]) => ({ loaded, index, key, value })),
  );
}
