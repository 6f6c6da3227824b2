import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Real hosts are large downloads: they take part only when they are asked for. */
const hosts =
  process.env['BMAD_TEST_HOSTS'] === undefined
    ? []
    : [
        {
          extends: true as const,
          test: {
            name: 'hosts',
            include: ['tests/hosts/**/*.test.ts'],
            testTimeout: 600_000,
            hookTimeout: 600_000,
          },
        },
      ];

export default defineConfig({
  test: {
    globalSetup: 'tests/support/global-setup.ts',
    reporters: ['default', './tests/support/closing-line.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is awaited comes at once on an idle machine; on a busy one it may take its time.
    expect: { poll: { timeout: 30_000 } },
    // Most of the time of an isolated file goes into imports that the file before it has made too.
    isolate: false,
    maxWorkers: availableParallelism(),
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { extends: true, test: { name: 'property', include: ['tests/property/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'contract',
          include: [
            'tests/*.test.ts',
            'tests/contract/**/*.test.ts',
            'tests/memory/**/*.test.ts',
            'tests/runs/**/*.test.ts',
            'tests/project/**/*.test.ts',
            'tests/state/**/*.test.ts',
          ],
        },
      },
      { extends: true, test: { name: 'surface', include: ['tests/surface/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'installs',
          include: ['tests/installs/**/*.test.ts', 'tests/search/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      { extends: true, test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'], isolate: true } },
      {
        extends: true,
        test: {
          name: 'conformance',
          isolate: true,
          include: ['tests/conformance/**/*.test.ts'],
          globalSetup: 'tests/conformance/setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      ...hosts,
    ],
  },
});
