import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/stack/setup/longest-first.ts';

export default defineConfig({
  test: {
    // Node runs our TypeScript as it is, in tests as in production.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Of a state that is waited for: on a busy machine it comes, and later.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: 'architecture', include: ['test/*.test.ts', 'test/coverage/**/*.test.ts'] } },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/*.test.ts', 'test/coverage/**', 'test/acceptance/**'],
          globalSetup: ['./test/stack/setup/services-setup.ts'],
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'acceptance',
          include: ['test/acceptance/**/*.test.ts'],
          exclude: ['test/acceptance/start.test.ts'],
          globalSetup: ['./test/stack/setup/acceptance-setup.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        // By itself, when all else is done: it holds a start to its seconds.
        test: {
          name: 'start',
          include: ['test/acceptance/start.test.ts'],
          globalSetup: ['./test/stack/setup/start-setup.ts'],
          sequence: { groupOrder: 2 },
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
