import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { execute } from '../execute.ts';
import { operations } from '../index.ts';

const CANARY = 'XLEAKX';
/** As Markdown, as settings and as a log it says something, and none of it has a name that would be masked. */
const SECRET = `# Notes ${CANARY}\n- [2026-01-01] dev: ${CANARY} was chosen\n## ${CANARY} heading\nSTAGE=${CANARY}\n`;

/** Where a project may put a link to a file that is not its own, in which nobody would look for secrets. */
const PLACES = [
  '_bmad/_memory/decisions-log.md',
  '_bmad/_memory/failure-museum.md',
  '_bmad/_memory/shared-context.md',
  '_bmad/_memory/session-state.md',
  '_bmad/_memory/memories.json',
  '_bmad/agents/eve.md',
  '_bmad/config.toml',
  '_bmad/custom/config.toml',
  '_bmad/notes.md',
  '_bmad-output/.runs/main/dev-story-20260227-143022/summary.md',
  '_bmad-output/contracts/dc-1.md',
  '_bmad-output/implementation-artifacts/1-1-story.md',
  '_bmad-output/implementation-artifacts/sprint-status.yaml',
  '_bmad-output/planning-artifacts/architecture.md',
  '_bmad-output/planning-artifacts/epics.md',
  '_bmad-output/planning-artifacts/prd.md',
  'BMAD_TRACE.md',
  'docs/prd.md',
  'project-context.md',
  'project-context.yaml',
];

/** What the operations need that cannot do without. */
const INPUT: Record<string, object> = {
  compile_context: { name: 'dev' },
  execute: { name: 'dev' },
  explain: { name: 'dev' },
  get_agent_memory: { agent: 'dev' },
  check_failures: { text: 'heading' },
  search: { query: 'heading' },
  search_codebase: { query: 'heading chosen' },
  recall_structured: { query: 'heading chosen' },
  read: { path: 'notes.md' },
};

it.skipIf(process.platform === 'win32')(
  'no operation shows the .env of a project under another name (S-25)',
  async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, {
      '.env': SECRET,
      // Version 4 names its files in a setting.
      '.bmad-core/agents/pm.md': '# pm\n',
      '.bmad-core/core-config.yaml': 'prd:\n  prdFile: .env\narchitecture:\n  architectureFile: .env\n',
    });
    for (const place of PLACES) {
      await mkdir(dirname(join(folder, place)), { recursive: true });
      await symlink(relative(dirname(place), '.env'), join(folder, place));
    }
    const context = await contextIn(folder);
    const leaks: string[] = [];
    let answered = 0;
    for (const operation of operations.filter(({ effect }) => effect === 'read')) {
      const outcome = await execute(operation, INPUT[operation.name] ?? {}, context, testCall());
      if (outcome.ok) answered += 1;
      const said = outcome.ok ? JSON.stringify([outcome.data, outcome.answer]) : outcome.error.text;
      if (said.includes(CANARY)) leaks.push(operation.name);
    }
    expect(leaks).toEqual([]);
    expect(answered).toBeGreaterThan(20);
  },
);
