import { configConstants, isConfigConstant } from '../model/config-constants.ts';
import { findConfigReferences, indexOfTokens, tokenizeCpp } from '../model/cpp-tokens.ts';
import { gateNames } from '../model/failure-mode.ts';
import type { Problem } from '../model/problem.ts';
import { allowedValues, targetKeys } from '../model/target.ts';
import type { LoadedContract } from './contract-folder.ts';

/** What must hold inside one contract: its parts agree with each other. */
export function checkContract(loaded: LoadedContract): Problem[] {
  return [
    ...checkParts(loaded),
    ...checkHeader(loaded),
    ...checkConstants(loaded),
    ...checkGate(loaded),
    ...checkRealizations(loaded),
  ];
}

function pageProblem(
  loaded: LoadedContract,
  code: string,
  path: (string | number)[],
  message: string,
): Problem {
  const file = `contracts/${loaded.contract.folder}/contract.md`;
  return { severity: 'error', code, file, ...loaded.yaml.locate(path), path: path.join('.'), message };
}

function checkParts(loaded: LoadedContract): Problem[] {
  const { contract } = loaded;
  const front = contract.frontMatter;
  const problems: Problem[] = [];
  const headerOnly = front.provides.header_only === true;
  if (front.numerics !== undefined && contract.gate === undefined) {
    problems.push(
      pageProblem(loaded, 'no-gate', ['numerics'], 'states numerics but has no gate.yaml that checks them'),
    );
  }
  if (front.numerics !== undefined && !contract.hasReference) {
    problems.push(
      pageProblem(
        loaded,
        'no-reference',
        ['numerics'],
        'states numerics but has no reference.ts that defines them',
      ),
    );
  }
  if (contract.gate !== undefined && contract.shim === undefined) {
    problems.push(
      pageProblem(
        loaded,
        'no-shim',
        ['gates'],
        'has gate.yaml but no shim.cpp through which the gate can call it',
      ),
    );
  }
  if (contract.gate !== undefined && !contract.hasReference) {
    problems.push(
      pageProblem(loaded, 'no-reference', ['gates'], 'has gate.yaml but no reference.ts to compare with'),
    );
  }
  if (headerOnly && contract.realizations.length > 0) {
    problems.push(
      pageProblem(
        loaded,
        'header-only-realized',
        ['provides', 'header_only'],
        'is header-only but has realizations',
      ),
    );
  }
  return problems;
}

function checkHeader(loaded: LoadedContract): Problem[] {
  const { header, frontMatter } = loaded.contract;
  const tokens = tokenizeCpp(header.text);
  return frontMatter.provides.symbols.flatMap((symbol, index) => {
    const path = ['provides', 'symbols', index, 'signature'];
    const wanted = tokenizeCpp(declaredPart(symbol.signature));
    if (indexOfTokens(tokens, wanted) >= 0) return [];
    const name = symbolName(symbol.signature);
    const declared = tokens.some((token) => token.text === name);
    return declared
      ? [
          pageProblem(
            loaded,
            'header-signature-differs',
            path,
            `${header.name} declares ${name} in another way than "${symbol.signature}"`,
          ),
        ]
      : [pageProblem(loaded, 'header-symbol-missing', path, `${header.name} does not declare ${name}`)];
  });
}

/** The part of a signature that the header must hold word for word: of a type, its name; its members may be explained. */
function declaredPart(signature: string): string {
  const isType = /^(?:struct|class|enum)\b/.test(signature.trim());
  return isType ? signature.replace(/\s*[{:;][\s\S]*$/, '') : signature.replace(/;\s*$/, '');
}

/** `void rms_norm(Context& ctx)` → rms_norm; `struct Row { … }` → Row; `using Sink = …` → Sink. */
export function symbolName(signature: string): string {
  const type =
    /\b(?:struct|class|using|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?([A-Za-z_]\w*)\s*(?:[:{=;]|$)/.exec(
      signature.trim(),
    );
  const call = /([A-Za-z_]\w*)\s*\(/.exec(signature);
  const last = /([A-Za-z_]\w*)\s*(?:[={;].*)?$/.exec(signature.trim());
  return type?.[1] ?? call?.[1] ?? last?.[1] ?? signature;
}

function checkConstants(loaded: LoadedContract): Problem[] {
  const { contract } = loaded;
  const listed = contract.frontMatter.config;
  const unknown = listed.flatMap((name, index) =>
    isConfigConstant(name)
      ? []
      : [
          pageProblem(
            loaded,
            'unknown-constant',
            ['config', index],
            `${name} is not a constant of config.h; known: ${Object.keys(configConstants).join(', ')}`,
          ),
        ],
  );
  const root = `contracts/${contract.folder}`;
  const texts = [
    { file: `${root}/${contract.header.name}`, text: contract.header.text },
    ...contract.realizations.map((entry) => ({
      file: `${root}/realizations/${entry.file}`,
      text: entry.text,
    })),
  ];
  const unlisted = texts.flatMap(({ file, text }) =>
    [...findConfigReferences(tokenizeCpp(text))]
      .filter(([name]) => !listed.includes(name))
      .map(
        ([name, line]): Problem => ({
          severity: 'error',
          code: 'unlisted-constant',
          file,
          line,
          message: `uses config::${name}, which ${root}/contract.md does not list under config`,
        }),
      ),
  );
  return [...unknown, ...unlisted];
}

function checkGate(loaded: LoadedContract): Problem[] {
  const { contract, gateYaml, referenceText } = loaded;
  const { gate, frontMatter } = contract;
  const problems: Problem[] = [];
  const caseIds = new Set(gate?.cases.map((entry) => entry.id));
  frontMatter.invariants.forEach((invariant, index) => {
    const found = invariantGateExists(invariant.gate, caseIds);
    if (!found)
      problems.push(
        pageProblem(
          loaded,
          'dangling-gate',
          ['invariants', index, 'gate'],
          `${invariant.gate} does not exist; expected gate.yaml#<case id> or one of ${gateNames.join(', ')}`,
        ),
      );
  });
  frontMatter.gates.forEach((name, index) => {
    const exists =
      name === 'gate.yaml' ? gate !== undefined : (gateNames as readonly string[]).includes(name);
    if (!exists)
      problems.push(
        pageProblem(
          loaded,
          'dangling-gate',
          ['gates', index],
          `${name} does not exist; expected gate.yaml or one of ${gateNames.join(', ')}`,
        ),
      );
  });
  if (gate === undefined || gateYaml === undefined) return problems;
  const report = (code: string, path: (string | number)[], message: string) =>
    problems.push({
      severity: 'error',
      code,
      file: `contracts/${contract.folder}/gate.yaml`,
      ...gateYaml.locate(path),
      path: path.join('.'),
      message,
    });
  if (gate.contract !== frontMatter.id)
    report('gate-of-another', ['contract'], `expected ${frontMatter.id}, found ${gate.contract}`);
  if (!frontMatter.gates.includes('gate.yaml'))
    report('gate-not-listed', ['contract'], 'contract.md does not list gate.yaml under gates');
  gate.configs.forEach((config, index) => {
    for (const name of Object.keys(config)) {
      if (!isConfigConstant(name))
        report('unknown-constant', ['configs', index, name], `${name} is not a constant of config.h`);
    }
  });
  const seen = new Set<string>();
  gate.cases.forEach((entry, index) => {
    if (seen.has(entry.id))
      report('duplicate-case', ['cases', index, 'id'], `the case ${entry.id} is stated twice`);
    seen.add(entry.id);
    if (
      referenceText !== undefined &&
      !new RegExp(`\\b${entry.op.replace(/\W/g, '\\$&')}\\b`).test(referenceText)
    ) {
      report('unknown-op', ['cases', index, 'op'], `reference.ts has no op ${entry.op}`);
    }
  });
  return problems;
}

function invariantGateExists(written: string, caseIds: ReadonlySet<string>): boolean {
  if (written.startsWith('gate.yaml#')) return caseIds.has(written.slice('gate.yaml#'.length));
  return (gateNames as readonly string[]).includes(written);
}

function checkRealizations(loaded: LoadedContract): Problem[] {
  const { contract } = loaded;
  const outer = contract.frontMatter.applies_when;
  return contract.realizations.flatMap((realization) =>
    targetKeys.flatMap((key): Problem[] => {
      const wide = allowedValues(outer, key);
      const excess =
        allowedValues(realization.applies, key)?.filter((value) => wide?.includes(value) === false) ?? [];
      if (excess.length === 0) return [];
      const file = `contracts/${contract.folder}/realizations/${realization.file}`;
      const message = `applies to ${key} = ${excess.join(', ')}, which exceeds the contract's applies_when: ${wide?.join(', ')}`;
      return [{ severity: 'error', code: 'applies-exceeds', file, line: 1, message }];
    }),
  );
}
