import { beforeAll, describe, expect, it } from 'vitest';
import { checkAgentFile } from '../../../src/generation/agents/check-agent-file.ts';
import { rightText } from '../../support/model-server/knowledge-replies.ts';
import { type AgentWorld, agentContracts, exampleFiles, openAgentWorld, taskOf } from './agent-world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});

function right(id: string): string {
  const engine = world.engines.get('tiny-qwen3.yaml')!;
  const selected = agentContracts(engine).find(({ contract }) => contract.frontMatter.id === id)!;
  return rightText(selected, engine.selection);
}

function faultsOf(id: string, text: string) {
  const task = taskOf(world, id);
  return checkAgentFile({ path: task.path, text }, task);
}

describe('the static rules for an agent’s file', () => {
  it.each(exampleFiles)('find nothing in our realizations for %s', (file) => {
    const engine = world.engines.get(file)!;
    const faults = agentContracts(engine).flatMap((selected) => {
      const task = taskOf(world, selected.contract.frontMatter.id, {}, file);
      return checkAgentFile({ path: task.path, text: rightText(selected, engine.selection) }, task);
    });
    expect(faults).toEqual([]);
  });

  const insert = (line: string) => (text: string) =>
    text.replace('#include "norm_rms.h"\n', `#include "norm_rms.h"\n${line}\n`);
  it.each<[string, (text: string) => string, RegExp]>([
    ['no licence line', (text) => text.slice(text.indexOf('\n') + 1), /licence/],
    [
      'a comment that names another contract',
      (text) => text.replace('// norm.rms', '// norm.layer'),
      /second line/,
    ],
    [
      'another header instead of its own',
      (text) => text.replace('"norm_rms.h"', '"runtime_context.h"'),
      /own header/,
    ],
    ['a header of a contract that it does not require', insert('#include "linear_dense.h"'), /not allowed/],
    ['a library header off the list', insert('#include <regex>'), /not allowed/],
    ['a macro', insert('#define EPS 1e-5f'), /directive/],
    ['a pragma', insert('#pragma GCC optimize("O3")'), /directive/],
    ['an embedded file', insert('static const int table[] = {\n#embed "/etc/passwd"\n};'), /directive/],
    ['inline assembly', insert('static void pause() { asm("pause"); }'), /asm is not allowed/],
    [
      'a constructor that runs before main',
      insert('__attribute__((constructor)) static void f() {}'),
      /attribute/,
    ],
    ['a process', insert('static int f() { return std::system("id"); }'), /system is not allowed/],
    [
      'a constant of another contract',
      insert('static int f() { return config::hidden_size; }'),
      /hidden_size/,
    ],
    [
      'a constant that nobody has',
      insert('static int f() { return config::epsilon; }'),
      /no constant epsilon/,
    ],
    ['a helper that nothing calls', insert('static int twice(int x) { return 2 * x; }'), /nothing refers/],
    ['a missing symbol', (text) => text.replace('void rms_norm(', 'void rms_normalise('), /defined nowhere/],
    ['a digraph', (text) => text.replace(/\{/, '<%'), /digraph/],
    ['a control character', (text) => text.replace('sums', 's\u0000ums'), /control character/],
    [
      'text that reads otherwise than it is compiled',
      insert('// \u202e } if (x) { \u2066 note'),
      /invisible/,
    ],
    ['a letter that only looks like another', insert('static int \u0430dd = 1;'), /another script/],
    ['brackets without end', (text) => `${text}${'{'.repeat(20_000)}`, /depth/],
    ['too many lines', (text) => `${text}${'//\n'.repeat(500)}`, /too long/],
    ['too many bytes', (text) => `${text}// ${'x'.repeat(70_000)}\n`, /too large/],
  ])('refuse %s', (_, change, message) => {
    const text = change(right('norm.rms'));
    const faults = faultsOf('norm.rms', text);
    expect(faults.map((fault) => fault.message)).toContainEqual(expect.stringMatching(message));
    for (const fault of faults) {
      expect(fault).toMatchObject({ contract: 'norm.rms', source: 'static', file: 'norm_rms.cpp' });
      for (const part of [fault.expected, fault.got, fault.clause]) expect(part).toMatch(/\S/);
    }
  });

  it('name the line', () => {
    const [fault] = faultsOf('norm.rms', insert('#include <regex>')(right('norm.rms')));
    expect(fault).toMatchObject({ line: 5, got: '#include <regex>' });
  });

  it('let only the command line write files', () => {
    const text = right('interface.cli');
    expect(text).toContain('ofstream');
    expect(faultsOf('interface.cli', text)).toEqual([]);
    expect(faultsOf('norm.rms', insert('static std::ofstream log("x");')(right('norm.rms')))).not.toEqual([]);
  });

  it('demand members of classes and opaque types as well', () => {
    const faults = faultsOf(
      'attention.block',
      right('attention.block').replace('struct AttentionWeights', 'struct Other'),
    );
    expect(faults.map(({ message }) => message)).toContain(
      'AttentionWeights is declared in the header and defined nowhere',
    );
  });
});
