import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../src/model/run-record.ts';
import { type AgentWorld, startAgentWorld } from './agent-world.ts';

const mistake = { find: 'static void norm_row(', replace: '// MISTAKE\nstatic void norm_row(' };

describe('a file of a model that the runner finds wrong', () => {
  let agents: AgentWorld;
  let run: RunRecord;
  let issue: number;

  beforeAll(async () => {
    agents = await startAgentWorld({
      gaps: ['norm-rms', 'text-stop'],
      replies: { contracts: { 'norm.rms': [{ edits: [mistake] }, 'right'] } },
    });
    agents.world.startRunner('finds-mistake');
    issue = await agents.ask('repaired');
    run = await agents.ended(issue);
  }, 700_000);

  afterAll(() => agents.stop());

  it('is repaired by the model, told what the gate found, and judged again', async () => {
    expect([run.state.status, run.state.failure, run.state.attempt]).toEqual(['passed', undefined, 2]);
    const { pullNumber } = run.state.github!;
    const commits = await agents.get(`pulls/${pullNumber}/commits`);
    console.log(
      commits.map(({ commit }: { commit: { message: string } }) => commit.message).join('\n====\n'),
    );
    console.log(agents.server.log.map((entry) => JSON.stringify(entry).slice(0, 300)).join('\n'));
    for (const body of await agents.bodies(`issues/${issue}/comments`)) console.log('-----', body);
    for (const body of await agents.bodies(`issues/${pullNumber}/comments`)) console.log('-----PR', body);
    for (const body of await agents.bodies(`pulls/${pullNumber}/reviews`)) console.log('-----REVIEW', body);
    for (const body of await agents.bodies(`pulls/${pullNumber}/comments`)) console.log('-----LINE', body);
    console.log((await agents.app.store.readTimeline(run.id)).map(({ text }) => text).join('\n'));
    console.log(JSON.stringify((await agents.app.store.readDocument(run.id, 'report'))!.generation, null, 1));
  });
});
