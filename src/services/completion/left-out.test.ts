import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import { leftOutOf } from './tree.ts';

/** Which of some paths are left out where the configuration names an output folder. */
async function leftOut(output: string, paths: readonly string[], state = 'elsewhere'): Promise<string[]> {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, { '_bmad/core/config.yaml': `output_folder: ${JSON.stringify(output)}\n` });
  return paths.filter(leftOutOf(await kitIn(root), root, join(root, '..', state)));
}

/** Files of a project that are what it is made of. */
const SOURCES = [
  'main.go',
  'README.md',
  'src/cart.ts',
  'src/data.json',
  'src/.tasks/cart.ts',
  'src/.receipts/run',
  'deploy/service.yaml',
  'deploy/README',
  '_bmad/bmm/agents/dev.md',
  '_bmad/_config/custom/cc-verify.sh',
  '_bmad/_memory/bridge.py',
  '_bmad/_memory/.bmad-memory/cart.js',
  '_bmad-output/lib/cart.ts',
  '_bmad-output/Makefile',
  '_bmad-output-2/notes.md',
  '_bmad-outputs.md',
];

describe('what is left out of the files that are verified', () => {
  it.each([
    '_bmad-output',
    '{project-root}',
    '.',
    './',
    '..',
    '../other',
    '.git',
    'src/../.git/hooks',
    '_bmad',
  ])('is no source, though %s is said to be the output folder (N-06)', async (output) => {
    expect(await leftOut(output, SOURCES)).toEqual([]);
  });

  it.each(['src', '{project-root}/src', 'src/', 'deploy', '{project-root}\\\\src', 'docs/bmad', 'SRC'])(
    'is no code or data, though it is in the output folder %s (N-06)',
    async (output) => {
      expect(await leftOut(output, SOURCES)).toEqual([]);
    },
  );

  it('is what agents and this server write', async () => {
    const usual = [
      '_bmad-output/planning/prd.md',
      '_bmad-output/sprint-status.yaml',
      '_bmad-output/matrix.json',
      '_bmad-output/.receipts/receipts.jsonl',
      '_bmad-output/.receipts/trees/0a.gz',
      '_bmad-output/.runs/main/.gitkeep',
      '_bmad-output/.tasks/.lock',
      '_grimoire-output/diagram.excalidraw',
      '_bmad/_memory/decisions-log.md',
      '_bmad/_memory/.bmad-memory/.bmad-memory.db-wal',
      '_bmad/memory/notes.txt',
    ];
    expect(await leftOut('_bmad-output', usual)).toEqual(usual);
    const documents = [
      'docs/prd.md',
      'docs/stories/1-1.md',
      'docs/bmm-workflow-status.yaml',
      'docs/.runs/a.json',
    ];
    expect(await leftOut('{project-root}/docs', [...documents, 'docs/api.yaml', 'docs/conf.py'])).toEqual(
      documents,
    );
    const apps = ['apps/bmad-ui/index.html', 'apps/bmad-ui/package.json', 'apps/bmad-ui/openapi.yaml'];
    expect(await leftOut('apps/bmad-ui', [...apps, 'apps/bmad-ui/plan.md'])).toEqual([
      'apps/bmad-ui/plan.md',
    ]);
    expect(await leftOut('bmad-server', ['bmad-server/schema.json', 'bmad-server/logo.svg'])).toEqual([]);
    const named = ['work/bmad-output/page.html', 'work/bmad-output/coverage.csv'];
    expect(await leftOut('work/bmad-output', [...named, 'work/bmad-output/page.js'])).toEqual(named);
  });

  it('is all that the user keeps for the server, where that is in the project', async () => {
    const root = await temporaryFolder(onTestFinished);
    const leaves = leftOutOf(await kitIn(root), root, join(root, '.state/bmad'));
    expect(['.state/bmad/usage/x', '.state/bmad.ts', 'main.go'].filter(leaves)).toEqual([
      '.state/bmad/usage/x',
    ]);
  });
});
