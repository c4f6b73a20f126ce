import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentWorld, patienceSeconds, startAgentWorld } from './agent-world.ts';

const testMinutes = (patienceSeconds + 100) * 1000;

describe('what a model may spend', () => {
  let agents: AgentWorld;

  beforeAll(async () => {
    agents = await startAgentWorld({
      gaps: ['norm-rms', 'text-stop'],
      replies: { contracts: { 'norm.rms': 'prose' } },
      config: 'generation: { auto_approve_tokens: 1000 }\n',
    });
  }, testMinutes);

  afterAll(() => agents.stop());

  const lastComment = async (issue: number) => (await agents.bodies(`issues/${issue}/comments`)).at(-1)!;

  it(
    'is asked for where the plan expects more than the repository spends by itself, and begins at a word',
    async () => {
      const issue = await agents.ask('asked-for');
      const held = await agents.waitFor(issue, 'the wait', ({ state }) => state.waitingFor === 'approval');
      expect(agents.server.log).toEqual([]);
      const plan = (await agents.app.store.readDocument(held.id, 'plan'))!;
      expect(plan.cost.contracts.map(({ contract }) => contract)).toEqual(['text.stop', 'norm.rms']);
      const said = await lastComment(issue);
      expect(said).toContain('because a model has to write 2 contracts: about');
      expect(said).toContain(`about ${plan.cost.modelTokens!.toLocaleString('en-US')} tokens`);
      expect(said).toContain('This repository spends up to 1,000 without asking');

      await agents.say(issue, '/metainfer generate');
      const run = await agents.ended(issue);
      expect([run.state.status, run.state.failure?.code, run.state.failure?.step]).toEqual([
        ...['failed', 'VERDICT_FAILED', 'generate'],
      ]);
    },
    testMinutes,
  );

  it('ends at the limit of attempts where the model never gets it right: with a branch, a report of it, and what to do', async () => {
    const [run] = await agents.app.store.listRuns({ limit: 1 });
    const { pullNumber, branch } = run!.state.github!;
    const asked = agents.server.log.filter(
      ({ contract, role }) => contract === 'norm.rms' && role === 'implementer',
    );
    expect(asked).toHaveLength(3);
    const end = await lastComment(run!.source.number);
    expect(end).toContain('was stopped: the model did not get norm.rms right');
    expect(end).toContain('norm.rms was not right after 3 attempts');
    expect(end).toContain('answer: There is no file in the answer; expected norm_rms.cpp.');
    expect(end).toContain('`/metainfer fix <what is wrong>` on a line of it');
    expect(end).toContain(`#${pullNumber}`);
    const pull = await agents.get(`pulls/${pullNumber}`);
    expect([pull.draft, pull.state]).toEqual([true, 'open']);
    expect(pull.body).toContain('**Incomplete**');
    const folder: { name: string }[] = await agents.get(`contents/engines/asked-for?ref=${branch}`);
    const names = folder.map(({ name }) => name);
    expect(names).toContain('text_stop.cpp');
    expect(names).not.toContain('norm_rms.cpp');
  });

  it(
    'never passes the budget of the constraint file, as the endpoint counts it',
    async () => {
      const before = agents.server.count().tokens;
      const budget = 9000;
      const issue = await agents.ask('cheap', [
        [/\s*$/, `\ngeneration:\n  budget:\n    tokens: ${budget}\n`],
      ]);
      await agents.waitFor(issue, 'the wait', ({ state }) => state.waitingFor === 'approval');
      await agents.say(issue, '/metainfer generate');
      const run = await agents.ended(issue);
      expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'BUDGET_EXHAUSTED']);
      expect(agents.server.count().tokens - before).toBeLessThanOrEqual(budget);
      const end = await lastComment(issue);
      expect(end).toContain('was stopped: the tokens that it may use are used up');
      expect(end).toContain(
        'Raise `generation.budget.tokens` in the constraint file, which starts a new run',
      );
    },
    testMinutes,
  );
});
