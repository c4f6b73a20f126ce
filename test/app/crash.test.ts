import { afterAll, beforeAll, describe, it } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../support/app-process.ts';
import { countEffects, onlyOnce } from '../support/count-effects.ts';
import type { CrashPoint } from '../support/crash-script.ts';
import {
  isPostgresLacking,
  type PrivatePostgres,
  startPrivatePostgres,
} from '../support/private-postgres.ts';
import { readDatabase, type Survival, surviveCrashes } from '../support/survive-crashes.ts';

const landed = (path: RegExp): CrashPoint => ({ at: 'landed', path });

/** In the order in which a run comes to them. */
const untilThePull: readonly CrashPoint[] = [
  { at: 'acknowledged', event: 'issues' },
  landed(/\/issues\/1\/comments$/),
  { at: 'step', step: 'generate' },
  landed(/\/pulls$/),
];
const toTheEnd: readonly CrashPoint[] = [
  landed(/\/check-runs$/),
  landed(/\/dispatches$/),
  landed(/\/reviews$/),
  landed(/\/issues\/1\/comments$/),
];

/**
 * On PostgreSQL a step of a dead instance is free after ten seconds without a heartbeat: two runs wait for that at the
 * same time. In a folder of its own the app takes it up again at once.
 */
const plans = [
  { database: 'PGlite', deaths: 'eight deaths', points: [...untilThePull, ...toTheEnd] },
  { database: 'PostgreSQL', deaths: 'four deaths until the pull request', points: untilThePull },
  { database: 'PostgreSQL', deaths: 'four deaths from there to the end', points: toTheEnd },
] as const;

describe('an app that is killed again and again', () => {
  const survivals: Survival[] = [];
  let programs: CompiledPrograms;
  let postgres: PrivatePostgres | undefined;

  beforeAll(async () => {
    programs = await compilePrograms('app-child');
    if (!isPostgresLacking()) postgres = startPrivatePostgres();
  });

  afterAll(async () => {
    for (const { world } of survivals) await world.stop();
    postgres?.stop();
    programs.remove();
  });

  for (const [index, { database, deaths, points }] of plans.entries()) {
    const isLacking = database === 'PostgreSQL' && isPostgresLacking();
    it.skipIf(isLacking).concurrent(
      `does everything once and loses nothing: ${database}, ${deaths}`,
      async ({ expect }) => {
        const target =
          database === 'PGlite'
            ? undefined
            : ({ kind: 'postgres', url: postgres!.createDatabase(`crash${index}`) } as const);
        const survival = await surviveCrashes(points, programs, target);
        survivals.push(survival);
        expect(survival.starts).toBe(points.length + 1);
        expect(await countEffects(survival.world, 1, 2)).toEqual(onlyOnce);
        const { runs, outcomes } = await readDatabase(
          survival.world.settings.database,
          survival.acknowledged,
        );
        expect(runs).toEqual([{ status: 'passed', attempt: 1 }]);
        expect([...outcomes].toSorted()).toEqual(['done', 'ignored']);
        expect(survival.world.watch.problems).toEqual([]);
      },
      600_000,
    );
  }
});
