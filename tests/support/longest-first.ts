import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a quarter of a minute and more on one core, the longest first. */
const LONGEST = [
  'steps/every-step',
  'installs/transcripts',
  'page/views',
  'page/decisions',
  'e2e/many-folders',
  'faults/errors',
  'faults/kills',
  'conformance/conformance',
  'e2e/git-processes',
  'e2e/terminal',
  'e2e/consent',
  'e2e/git-bad-input',
  'conformance/inspector',
  'e2e/delegation',
  'e2e/memory',
  'e2e/http-access',
  'runs/crash-steps',
  'e2e/library',
  'e2e/protocol-faults',
  'live/told',
  'e2e/git-review',
  'e2e/skills',
  'e2e/cli',
  'e2e/http-load',
  'e2e/a2a-bad-input',
  'e2e/lifecycle',
  'page/sessions',
  'e2e/contract',
].map((name) => `/tests/${name}.test.ts`);

/**
 * Begun last, a long file would keep one core busy while all others have nothing left to do. Runs before tell the
 * runner how long a file takes; a fresh clone has had none, and there the size of a file would decide.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // The workers of a project have imported what its files need, so projects stay together.
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      const first = LONGEST.flatMap((end) => own.filter(({ moduleId }) => moduleId.endsWith(end)));
      return [...first, ...own.filter((file) => !first.includes(file))];
    });
  }
}
