import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { distil } from '../../src/evolution/distil.ts';
import { renderLessons } from '../../src/evolution/render-lessons.ts';
import { toCommits, withLessons } from '../../src/evolution/to-commits.ts';
import { Lesson, type Learnt } from '../../src/model/lesson.ts';
import { SabotageFile } from '../../src/model/sabotage.ts';
import { catalogOf, sampleLearnt } from './sample-learnt.ts';

let learnt: Learnt;
beforeAll(async () => {
  learnt = await sampleLearnt();
});

describe('x', () => {
  it('y', () => {
    const { lessons, notes } = distil(learnt);
    for (const lesson of lessons) Lesson.parse(JSON.parse(JSON.stringify(lesson)));
    console.log(renderLessons({ lessons, notes }, learnt.knowledge));
    const after = withLessons(lessons, learnt.knowledge);
    catalogOf(after);
    for (const [p, t] of after) if (learnt.knowledge.get(p) !== t && !p.startsWith('reports')) console.log(p, t.slice(p === 'sabotage.yaml' ? -3200 : -2500));
    for (const c of toCommits(lessons, learnt.knowledge)) console.log(c.message);
    SabotageFile.parse(parse(after.get('sabotage.yaml')!));
    expect(1).toBe(1);
  });
});
