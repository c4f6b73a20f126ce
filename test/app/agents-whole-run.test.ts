import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../src/model/run-record.ts';
import { type AgentWorld, startAgentWorld } from './agent-world.ts';

describe('an engine that agents write from contracts alone', () => {
  let agents: AgentWorld;
  let run: RunRecord;
  let issue: number;

  beforeAll(async () => {
    agents = await startAgentWorld();
    agents.world.startRunner('passes');
    issue = await agents.ask('written');
    run = await agents.ended(issue);
  }, 300_000);

  afterAll(() => agents.stop());

  it('passes, phase by phase: a commit for each, the pull request with the first', async () => {
    expect([run.state.status, run.state.failure]).toEqual(['passed', undefined]);
    const { branch, pullNumber } = run.state.github!;
    const commits = await agents.get(`pulls/${pullNumber}/commits`);
    const phases = commits.map(
      ({ commit }: { commit: { message: string } }) => /^Metainfer-Phase: (.*)$/m.exec(commit.message)?.[1],
    );
    console.log(branch, phases, run.state.agents!.spent, agents.server.count());
    const pull = await agents.get(`pulls/${pullNumber}`);
    console.log(pull.title, '\n', pull.body);
    for (const body of await agents.bodies(`issues/${issue}/comments`)) console.log('-----', body);
    for (const body of await agents.bodies(`issues/${pullNumber}/comments`)) console.log('-----PR', body);
    for (const body of await agents.bodies(`pulls/${pullNumber}/reviews`)) console.log('-----REVIEW', body);
    console.log((await agents.app.store.readTimeline(run.id)).map(({ text }) => text).join('\n'));
  });
});
