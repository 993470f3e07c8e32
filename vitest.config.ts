import { defineConfig } from 'vitest/config';
import { requirementTags } from './test/stack/requirements.ts';
import { LongestFirst } from './test/stack/setup/longest-first.ts';
import { sizedFiles } from './tools/scripts/campaigns.ts';

const unitExclude = ['test/*.test.ts', 'test/coverage/**', 'test/acceptance/**', 'test/campaigns/**'];
/** Tests that change the state of modules, replace modules, or measure the memory of their process have one of their own. */
const isolated = [
  'test/certificates/{connections,http2}.test.ts',
  'test/exports/content.test.ts',
  'test/hostile-pushes/bombs.test.ts',
  'test/publishing/replay.test.ts',
  'test/sandbox/without-groups.test.ts',
  'test/store/durable.test.ts',
  'test/telemetry/**/*.test.ts',
];

const services = { globalSetup: ['./test/stack/setup/services-setup.ts'], maxWorkers: 3 };
const stack = {
  globalSetup: ['./test/stack/setup/acceptance-setup.ts'],
  testTimeout: 120_000,
  hookTimeout: 180_000,
  maxWorkers: 2,
};

export default defineConfig({
  test: {
    // Node runs our TypeScript as it is, in tests as in production.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // Tests allocate many short-lived objects: a larger young generation saves a sixth of their CPU time.
    execArgv: ['--max-semi-space-size=64'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    // On a busy machine an expected state may take longer to appear.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongestFirst },
    tags: await requirementTags(),
    projects: [
      {
        test: {
          name: 'architecture',
          include: ['test/*.test.ts', 'test/coverage/**/*.test.ts'],
          isolate: false,
          maxWorkers: 3,
        },
      },
      {
        // Files share processes: their imports take as long as their tests.
        test: {
          ...services,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...unitExclude, ...isolated],
          isolate: false,
        },
      },
      // They alone replace modules.
      {
        test: {
          ...services,
          name: 'isolated',
          include: isolated,
          experimental: { viteModuleRunner: false, nodeLoader: true },
        },
      },
      {
        test: {
          ...stack,
          name: 'acceptance',
          include: ['test/acceptance/**/*.test.ts'],
          exclude: ['test/acceptance/start.test.ts'],
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Runs alone at the end, because it limits the time of a start.
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
      // These two run with `npm run campaigns` alone.
      {
        test: {
          ...services,
          name: 'campaigns',
          include: ['test/campaigns/*.test.ts', ...sizedFiles()],
          sequence: { groupOrder: 3 },
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...stack,
          name: 'campaigns-stack',
          include: ['test/campaigns/stack/*.test.ts'],
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
