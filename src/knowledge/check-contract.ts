import { configConstants, isConfigConstant } from '../model/config-constants.ts';
import { findConfigReferences, indexOfTokens, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { Problem } from '../model/problem.ts';
import { allowedValues, targetKeys } from '../model/target.ts';
import { checkGate } from './check-gate.ts';
import { type LoadedContract, pageProblem } from './contract-folder.ts';

const checked = new WeakMap<LoadedContract, readonly Problem[]>();

/** What must hold inside one contract: its parts agree with each other. */
export function checkContract(loaded: LoadedContract): readonly Problem[] {
  const problems = checked.get(loaded) ?? findProblems(loaded);
  checked.set(loaded, problems);
  return problems;
}

function findProblems(loaded: LoadedContract): Problem[] {
  return [
    ...checkParts(loaded),
    ...checkHeader(loaded),
    ...checkConstants(loaded),
    ...checkGate(loaded),
    ...checkRealizations(loaded),
  ];
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
