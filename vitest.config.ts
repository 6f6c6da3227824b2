import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { hostsTakePart } from './tests/support/host-packages.ts';
import LongestFirst from './tests/support/longest-first.ts';
import { hasPostgres } from './tests/support/postgres.ts';

/** Tests beside the code that start programs: git, shells, other copies of what they test. */
const BESIDE_WITH_PROCESSES = [
  'src/base/files/{file-lock,open-file}.test.ts',
  'src/base/process/**/*.test.ts',
  'src/sources/git/**/*.test.ts',
  'src/services/completion/{builtin,receipts}.test.ts',
  'src/services/git-sources/**/*.test.ts',
  'src/operations/{completion,git-sources}/**/*.test.ts',
  'src/services/codebase/{codebase,indexer}.test.ts',
  'src/operations/codebase/**/*.test.ts',
  'src/app/git-sources.test.ts',
];

/** Tests beside the code that look at real installs, which are fetched on first use. */
const BESIDE_WITH_INSTALLS = [
  'src/operations/activation/{agent-tools,start-work}.test.ts',
  'src/operations/catalogue/{describe-agents,get-knowledge,prefer,work-lists,workflow-details}.test.ts',
  'src/operations/project/{next,reconcile}.test.ts',
  'src/readers/compiled/installs.test.ts',
  'src/readers/loose/loose-reader.test.ts',
  'src/readers/v4/{agent,v4-install}.test.ts',
  'src/services/diagnosis/findings.test.ts',
  'src/services/knowledge/knowledge.test.ts',
  'src/sources/discover.test.ts',
  'src/surfaces/cli/program.test.ts',
];

/** The same in folders of their own. */
const WITH_PROCESSES = [
  'tests/memory/{busy,crash,disks,half-written,index-file,lost-lines,open,reembedding,shared-lines}.test.ts',
  'tests/{faults,live,postgres,project,runs,state}/**/*.test.ts',
  'tests/installs/transcripts.test.ts',
];

/**
 * Trials that repeat one thing many times: kills at every step, every fault of a disk, growth, many processes at once. They
 * are for `npm run test:deep`, and left out where time is short.
 */
const DEEP = [
  'tests/faults/{kills,errors,sqlite-room}.test.ts',
  'tests/memory/many-kills.test.ts',
  'tests/property/{growth,live-edits}.test.ts',
  'tests/e2e/{many-folders,process-spaces,rerank,replicas,git-processes,http-shutdown}.test.ts',
  'tests/{runs/crash-steps,project/log-processes,live/kept-cache}.test.ts',
  'tests/installs/{own-generation,next-rules,next-agents,transcripts}.test.ts',
  'tests/e2e/{git-bad-input,git-review,http-load,what-is-a-project,a2a-bad-input}.test.ts',
  'tests/{conformance/inspector,page/{decisions,team},postgres/{kills,move-kills},memory/service-on-qdrant}.test.ts',
  'tests/e2e/{accounts,compile-cache,usage}.test.ts',
];
const isDeep = process.argv.includes('deep');
/** What a usual run tries with fewer versions of BMAD, fewer rounds and a fifth of the generated cases: whatever asks how much. */
const DEEPER = isDeep ? ['src', 'tests'].flatMap(filesThatAskHowMuch) : [];

function filesThatAskHowMuch(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(folder, path))
    .filter((path) => /how-much\.ts'|from 'fast-check'/.test(readFileSync(path, 'utf8')));
}

const cores = availableParallelism();
/** A worker whose test waits for processes leaves its core to others; on a large machine each keeps about two busy. */
const waiting = { maxWorkers: Math.max(5, Math.ceil(cores / 2)), sequence: { groupOrder: 1 } };
/** Room for what is fetched on first use. */
const fetching = { testTimeout: 300_000, hookTimeout: 600_000 };

type Settings = NonNullable<TestProjectInlineConfiguration['test']>;

function project(
  name: string,
  include: readonly string[],
  more: Settings = {},
): TestProjectInlineConfiguration {
  const exclude = [...(more.exclude ?? []), ...(isDeep ? [] : DEEP)];
  return { extends: true, test: { name, include: [...include], ...more, exclude } };
}

/** What a part of the tests needs to be run by itself; a whole run joins them. */
const FAST = [
  'src/**/*.test.ts',
  'tests/*.test.ts',
  'tests/{contract,surface}/**/*.test.ts',
  'tests/page/built.test.ts',
];
/**
 * What takes long and hangs on few files: generated cases, the stores of memories, the search for slow expressions, hostile
 * input, what asks every operation the same, and operations over what a project keeps, which write and read it all anew in
 * each test.
 */
const THOROUGH = [
  'tests/{memory,property}/**/*.test.ts',
  'tests/patterns.test.ts',
  'tests/contract/{fairness,hostile-project,reading,repository-shapes,upstream}.test.ts',
  'src/app/built-in-modules.test.ts',
  'src/base/{parse/parse-hostile,text/hidden}.test.ts',
  'src/operations/own-state.test.ts',
  'src/operations/{delegation,handover,inbox,memory,project,runs,server,tasks}/**/*.test.ts',
  'src/{lines/files,catalogue/{kept-readings,renewed},services/{codebase/vectors,search/kept-index,tasks/task-lines}}.test.ts',
  'src/surfaces/{http/**/*,a2a/routes,cli/french*}.test.ts',
  'tests/contract/bad-files.test.ts',
];
const INSTALLS = [...BESIDE_WITH_INSTALLS, 'tests/{installs,journeys,search,steps}/**/*.test.ts'];
const PROCESSES = [...BESIDE_WITH_PROCESSES, ...WITH_PROCESSES, 'tests/e2e/**/*.test.ts'];
const BROWSER = ['tests/page/**/*.test.ts'];
const CONFORMANCE = ['tests/conformance/**/*.test.ts'];
const BUILT_PAGE = 'tests/page/built.test.ts';

/**
 * All in one: a worker imports what it needs once, and while some tests wait for programs, others have the cores. So there
 * are two workers more than cores.
 */
const WHOLE = [
  project('all', [...FAST, ...THOROUGH, ...INSTALLS, ...PROCESSES, ...BROWSER, ...CONFORMANCE], {
    ...fetching,
    maxWorkers: cores + 2,
  }),
];

const PARTS = [
  project('fast', FAST, {
    exclude: [...BESIDE_WITH_PROCESSES, ...BESIDE_WITH_INSTALLS, ...WITH_PROCESSES, ...THOROUGH],
    // What asks for an install here is told where it belongs.
    env: { BMAD_TEST_INSTALLS: 'none' },
  }),
  project('thorough', THOROUGH, { exclude: WITH_PROCESSES }),
  project('installs', INSTALLS, { exclude: WITH_PROCESSES, ...fetching }),
  project('processes', PROCESSES, waiting),
  project('browser', BROWSER, { exclude: [BUILT_PAGE], ...fetching, ...waiting }),
  project('conformance', CONFORMANCE, { ...fetching, ...waiting }),
  ...(isDeep ? [project('deep', [...DEEP, ...DEEPER], { ...fetching, ...waiting })] : []),
];

const isPart = process.argv.some((word) => word.startsWith('--project'));
/** What is tried on files and, unchanged, on a database where there is PostgreSQL: all of it if it is asked for by its name. */
const ON_POSTGRES = 'tests/postgres/same-tests.ts';
const MORE_ON_POSTGRES = [
  'src/operations/{tasks,runs}/*.test.ts',
  'src/operations/completion/{receipts,receipts-hostile,run-completion-contract,whole-proof}.test.ts',
];
const onPostgres = project('on-postgres', [ON_POSTGRES, ...(isPart ? MORE_ON_POSTGRES : [])], {
  ...fetching,
  // As many workers as a whole run has: so it goes beside the rest, and not after it.
  ...(isPart ? waiting : { maxWorkers: cores + 2 }),
  exclude: [
    // What git brings from another machine is not in a database.
    'src/operations/tasks/decided-elsewhere.test.ts',
    // These are in that one file.
    'src/operations/{tasks/task-work,runs/run-progress}.test.ts',
  ],
  env: { BMAD_TEST_ON: 'postgres' },
  globalSetup: ['tests/support/postgres-setup.ts'],
});

const projects = [
  ...(isPart ? PARTS : WHOLE),
  ...(hasPostgres() ? [onPostgres] : []),
  // Real hosts are large downloads: they take part where they have been fetched, or when they are asked for.
  ...(process.argv.includes('hosts') || hostsTakePart(import.meta.dirname)
    ? [
        project('hosts', ['tests/hosts/**/*.test.ts'], {
          testTimeout: 600_000,
          hookTimeout: 600_000,
          ...waiting,
        }),
      ]
    : []),
];

/**
 * Most code runs a few times in a worker and is not worth optimising: a tenth of the time of the workers went into that. Later
 * versions of Node have no such option, and wait longer by themselves.
 */
const OPTIMISED_LATE = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];

export default defineConfig({
  test: {
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: 'tests/support/fixed-seed.ts',
    // Whatever language the developer reads.
    env: { LC_ALL: 'C', ...(isDeep ? { BMAD_TEST_DEEP: '1' } : {}) },
    reporters: ['default', './tests/support/closing-line.ts'],
    // A limit for what hangs, not for what is slow: a busy machine may take ten times as long.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // What is awaited comes at once on an idle machine; on a busy one it may take its time.
    expect: { poll: { timeout: 60_000 } },
    // Most of the time of an isolated file goes into imports that the file before it has made too.
    isolate: false,
    // Otherwise every use of an import from Node or a package goes through a proxy: a twentieth of the time in the tests' own process.
    deps: { interopDefault: false },
    // What was compiled for one run, or for one project of it, need not be for the next.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/modules' },
    // One more than there are cores: a test waits for a seventh of its time, and another worker costs less than that.
    maxWorkers: cores + 1,
    // Tests make much that is needed for a moment: in more room, a seventh less of the time goes into collecting it. The cores
    // have other workers to run, so that further threads for it only cost.
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc', ...OPTIMISED_LATE],
    sequence: { sequencer: LongestFirst },
    projects,
  },
});
