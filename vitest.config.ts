import { defineConfig } from 'vitest/config';

const isFull = process.env.METAINFER_TEST_TIER === 'full';

// Two tiers: *.test.ts always, *.full.test.ts only in `npm run test:full`.
// Two workers: compilers and engines are started by the tests, and the smallest supported machine has two cores.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', ...(isFull ? [] : ['test/**/*.full.test.ts'])],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
