import { defineConfig } from 'vitest/config';

const isFull = process.env.METAINFER_TEST_TIER === 'full';

// Files that only call functions: nothing is started, and no module keeps what a test did to it. They share a worker's
// modules, since reading them anew for each file took longer than the tests.
const pure = [
  'test/{constraints,delivery,model,pipeline,plan,webhooks}/**/*.test.ts',
  'test/{config,pipeline}.test.ts',
  'test/generation/{compose-engine,config-header,find-dead-code}.test.ts',
  'test/knowledge/{load-catalog,knowledge-base,select-realizations}.test.ts',
  'test/local/sabotage.test.ts',
  'test/local/ablation/*.test.ts',
];

const never = ['node_modules/**', 'dist/**', ...(isFull ? [] : ['test/**/*.full.test.ts'])];

// Two tiers: *.test.ts always, *.full.test.ts only in `npm run test:full`.
// Two workers: compilers and engines are started by the tests, and the smallest supported machine has two cores.
export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, exclude: never, isolate: false } },
      { extends: true, test: { name: 'rest', include: ['test/**/*.test.ts'], exclude: [...never, ...pure] } },
    ],
  },
});
