import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunRecord } from '../../src/model/run-record.ts';
import { type AgentWorld, patienceSeconds, selection, startAgentWorld } from './agent-world.ts';

describe('an engine that agents write from contracts alone', () => {
  let agents: AgentWorld;
  let run: RunRecord;
  let issue: number;
  const written = selection.contracts.filter(({ status }) => status === 'agent');

  beforeAll(
    async () => {
      agents = await startAgentWorld();
      agents.world.startRunner('passes');
      issue = await agents.ask('written');
      run = await agents.ended(issue);
    },
    (patienceSeconds + 100) * 1000,
  );

  afterAll(() => agents.stop());

  it('passes, with a commit for each phase on a draft that the first one opened', async () => {
    expect([run.state.status, run.state.failure]).toEqual(['passed', undefined]);
    const { pullNumber } = run.state.github!;
    const commits = await agents.get(`pulls/${pullNumber}/commits`);
    expect(
      commits.map(
        ({ commit }: { commit: { message: string } }) => /^Metainfer-Phase: (.*)$/m.exec(commit.message)?.[1],
      ),
    ).toEqual(['foundations', 'text', 'operations', 'model', 'interfaces', 'report']);
    const pull = await agents.get(`pulls/${pullNumber}`);
    expect([pull.draft, pull.body.includes(`Closes #${issue}`)]).toEqual([false, true]);
    expect(pull.body).toContain(`**${written.length} written by a model**`);
  });

  it('has every source from an agent, asked once for each, and says so in its provenance', async () => {
    const asked = agents.server.log
      .filter(({ role }) => role === 'implementer')
      .map(({ contract }) => contract);
    expect(asked.toSorted()).toEqual(written.map(({ contract }) => contract.frontMatter.id).toSorted());
    const { branch, enginePath } = run.state.github!;
    const { content } = await agents.get(`contents/${enginePath}/provenance.yaml?ref=${branch}`);
    const { files } = parse(Buffer.from(content, 'base64').toString());
    const sources = files.filter(({ path }: { path: string }) => path.endsWith('.cpp'));
    expect(sources.map(({ origin }: { origin: { kind: string } }) => origin.kind)).toEqual(
      written.map(() => 'agent'),
    );
  });

  it('was shown no line of a realization: no prompt holds one that is long enough to be told by', () => {
    const lines = written.flatMap(({ contract }) =>
      contract.realizations.flatMap(({ text }) => text.split('\n').filter((line) => line.trim().length > 60)),
    );
    // A definition repeats the signature of its contract, however that is wrapped.
    const contracts = written
      .flatMap(({ contract }) => [
        ...[contract.body, contract.header.text],
        ...contract.frontMatter.provides.symbols.map(({ signature }) => signature),
      ])
      .join('\n')
      .replace(/\s+/g, ' ');
    const telling = lines.filter((line) => !contracts.includes(line.trim().replace(/\s+/g, ' ')));
    expect(telling.length).toBeGreaterThan(100);
    const prompts = agents.server.log
      .filter(({ role, attempt }) => role === 'implementer' && attempt === 1)
      .map(({ prompt }) => prompt)
      .join('\n');
    expect(telling.filter((line) => prompts.includes(line.trim()))).toEqual([]);
  });

  it('is told in few words: one sticky comment, one at the end, and no more writes than phases need', async () => {
    const comments = await agents.bodies(`issues/${issue}/comments`);
    expect(comments).toHaveLength(2);
    const { writes, notifying } = agents.app.client.requestCounts;
    expect(writes).toBeLessThanOrEqual(45);
    expect(notifying).toBeLessThanOrEqual(6);
    expect(agents.world.watch.problems).toEqual([]);
  });
});
