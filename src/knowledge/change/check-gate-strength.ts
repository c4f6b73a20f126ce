import type { Gate } from '../../model/contract.ts';
import type { Problem } from '../../model/problem.ts';
import type { LoadedContract } from '../contract-folder.ts';
import type { KnowledgeChange, KnowledgeSide } from './knowledge-side.ts';

/** NMSE of an output that is all zeros is 1, and one tenth of its size off everywhere is 1e-2: no gate that lets it pass sees anything. */
const loosestNmse = 1e-2;
/** Activations of the cases are around 1. */
const loosestError = 1;

/** Gates that are new or changed can fail, and something made to fail is aimed at them. */
export function checkGateStrength({ before, after }: KnowledgeChange): Problem[] {
  return [...after.contracts].flatMap(([id, loaded]) => {
    const old = before.contracts.get(id)?.contract;
    const { gate, gateSha256 } = loaded.contract;
    if (gate === undefined || old?.gateSha256 === gateSha256) return [];
    return [
      ...checkTolerances(loaded, gate),
      ...checkCases(loaded, gate),
      ...checkLoosened(loaded, old?.gate, gate),
      ...checkMutations(loaded, after),
    ];
  });
}

function gateProblem(
  loaded: LoadedContract,
  path: (string | number)[],
  code: string,
  message: string,
): Problem {
  const file = `contracts/${loaded.contract.folder}/gate.yaml`;
  return {
    severity: 'error',
    code,
    file,
    ...loaded.gateYaml?.locate(path),
    path: path.join('.'),
    message,
  };
}

function checkTolerances(loaded: LoadedContract, gate: Gate): Problem[] {
  const stated = [
    { path: ['tolerance'] as (string | number)[], tolerance: gate.tolerance },
    ...gate.cases.flatMap(({ tolerance }, index) =>
      tolerance === undefined ? [] : [{ path: ['cases', index, 'tolerance'], tolerance }],
    ),
  ];
  return stated.flatMap(({ path, tolerance }) => [
    ...(tolerance.nmse >= loosestNmse
      ? [
          gateProblem(
            loaded,
            [...path, 'nmse'],
            'gate-cannot-fail',
            `an NMSE of ${tolerance.nmse} lets almost any output pass; expected below ${loosestNmse}`,
          ),
        ]
      : []),
    ...(tolerance.max_abs >= loosestError
      ? [
          gateProblem(
            loaded,
            [...path, 'max_abs'],
            'gate-cannot-fail',
            `an error of ${tolerance.max_abs} in one element lets almost any output pass; expected below ${loosestError}`,
          ),
        ]
      : []),
  ]);
}

function checkCases(loaded: LoadedContract, gate: Gate): Problem[] {
  const isNothing = (entry: Gate['cases'][number]) => {
    const inputs = Object.values(entry.inputs);
    return (
      inputs.length > 0 &&
      inputs.every(({ fill, shape, scale, text }) =>
        fill === 'text'
          ? (text ?? '') === ''
          : fill === 'zeros' || scale === 0 || (shape.includes(0) && fill !== 'values'),
      )
    );
  };
  const empty = gate.cases.every(isNothing)
    ? [gateProblem(loaded, ['cases'], 'gate-cannot-fail', 'every case feeds zeros or nothing at all')]
    : [];
  // Integers and bytes are compared bit for bit unless a case says otherwise; a tolerance of them is a way around that.
  const inexact = gate.cases.flatMap(({ exact, inputs }, index) =>
    exact === false && Object.values(inputs).every(({ dtype }) => dtype !== 'f32')
      ? [
          gateProblem(
            loaded,
            ['cases', index, 'exact'],
            'gate-cannot-fail',
            'integers and bytes are compared exactly; leave `exact` out',
          ),
        ]
      : [],
  );
  const configs =
    gate.configs.length === 0 && loaded.contract.frontMatter.config.length > 0
      ? [
          gateProblem(
            loaded,
            ['configs'],
            'gate-cannot-fail',
            'no small configuration to run the cases at; write at least [{}]',
          ),
        ]
      : [];
  return [...empty, ...inexact, ...configs];
}

/** Not forbidden, but somebody should look: a gate that was red may now be green. */
function checkLoosened(loaded: LoadedContract, old: Gate | undefined, gate: Gate): Problem[] {
  if (old === undefined) return [];
  const looser = (['nmse', 'max_abs'] as const).filter((name) => gate.tolerance[name] > old.tolerance[name]);
  const gone = old.cases.filter(({ id }) => !gate.cases.some((entry) => entry.id === id));
  const warn = (path: (string | number)[], message: string): Problem => ({
    ...gateProblem(loaded, path, 'gate-weakened', message),
    severity: 'warning',
  });
  return [
    ...looser.map((name) =>
      warn(
        ['tolerance', name],
        `${name} was ${old.tolerance[name]}: what failed may pass now; say why in the text`,
      ),
    ),
    ...gone.map(({ id }) => warn(['cases'], `the case ${id} is gone: what it saw, nothing sees now`)),
  ];
}

function checkMutations(loaded: LoadedContract, { sabotage }: KnowledgeSide): Problem[] {
  const { id } = loaded.contract.frontMatter;
  const aimed = sabotage.some(({ value }) =>
    value.mutations.some(({ contract, also }) => contract === id || also.includes(id)),
  );
  if (aimed) return [];
  const message = `no mutation of sabotage.yaml is aimed at ${id}: nothing shows that this gate can turn red`;
  return [gateProblem(loaded, ['contract'], 'no-mutation', message)];
}
