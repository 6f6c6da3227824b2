import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { grouped } from '../../src/base/values.ts';

/**
 * Files that take long, or wait long for programs; the longest first. In a fresh clone, installs and the conformance suite are
 * fetched meanwhile: whoever needs them comes after those who need none.
 */
const LONGEST = [
  'tests/page/views',
  'tests/page/hard-days',
  'tests/steps/every-step',
  'src/base/files/file-lock',
  'tests/memory/qdrant',
  'tests/e2e/first-answers',
  'tests/e2e/terminal',
  'tests/page/sessions',
  'tests/e2e/many-folders',
  'tests/faults/errors',
  'tests/faults/kills',
  'tests/page/decisions',
  'src/operations/completion/run-completion-contract',
  'src/services/completion/builtin',
  'tests/e2e/contract',
  'tests/e2e/http-bad-input',
  'tests/e2e/http-access',
  'tests/e2e/again',
  'tests/e2e/page',
  'tests/e2e/protocol-faults',
  'src/base/parse/parse-hostile',
  'tests/memory/shared-lines',
  'tests/e2e/delegation',
  'tests/e2e/cli',
  'tests/e2e/git-processes',
  'src/services/codebase/codebase',
  'src/services/codebase/indexer',
  'tests/installs/delivered-texts',
  'tests/installs/transcripts',
  'tests/installs/live-content',
  'src/operations/project/next',
  'tests/installs/left-out',
  'tests/conformance/conformance',
  'tests/e2e/consent',
  'tests/e2e/skills',
  'src/services/diagnosis/findings',
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
    // The workers of a project have imported what its files need, so projects stay together. One of few files goes first: it
    // takes few workers, and the others go on beside it.
    const projects = [...grouped(sorted, ({ project }) => project.name).values()];
    return projects
      .sort((one, other) => one.length - other.length)
      .flatMap((own) => {
        const first = LONGEST.flatMap((end) => own.filter(({ moduleId }) => moduleId.endsWith(end)));
        return [...first, ...own.filter((file) => !first.includes(file))];
      });
  }
}
