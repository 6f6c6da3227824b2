import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long, or wait long for programs; the longest first. */
const LONGEST = [
  'tests/page/views',
  'tests/steps/every-step',
  'tests/installs/transcripts',
  'tests/page/decisions',
  'tests/e2e/many-folders',
  'tests/faults/errors',
  'tests/faults/kills',
  'tests/installs/delivered-texts',
  'tests/conformance/conformance',
  'tests/e2e/git-processes',
  'tests/e2e/terminal',
  'tests/e2e/http-access',
  'tests/e2e/delegation',
  'tests/e2e/cli',
  'src/operations/project/next',
  'src/base/files/file-lock',
  'tests/e2e/consent',
  'tests/installs/live-content',
  'src/services/codebase/indexer',
  'tests/e2e/skills',
  'src/operations/completion/run-completion-contract',
  'tests/e2e/contract',
  'tests/e2e/protocol-faults',
  'src/services/diagnosis/findings',
  'src/services/completion/builtin',
  'tests/page/sessions',
  'tests/e2e/git-addresses',
  'tests/e2e/git-bad-input',
  'tests/e2e/git-review',
  'tests/conformance/inspector',
  'tests/memory/lost-lines',
  'src/operations/server/warm',
  'tests/e2e/memory',
  'tests/runs/crash-steps',
].map((name) => `/${name}.test.ts`);

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
