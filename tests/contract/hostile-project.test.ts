import { describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { operations } from '../../src/operations/index.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';

const MEMORY = '_bmad/_memory';
const PROSE = 'An ordinary sentence about the shop, with a word or two more. ';

/** As long as the hostile text, and nothing in it that a pattern could stumble over. */
function prose(length: number): string {
  return `# Shop\n\n${`${PROSE.repeat(3)}\n`.repeat(Math.ceil(length / PROSE.length / 3))}`;
}

const many = (text: string): string => text.repeat(30_000);
/** Lines that nothing ends as a bullet, a label, a heading or a row should. */
const lines = [
  `# a${many(' ')}a`,
  `- a${many(' ')}\u2028x`,
  `**Cause${many(' ')}\u2028x`,
  `## ${many('#')} a`,
  `- [ ] [${many(' ')}`,
  `| a | ${many('{{')} |`,
].join('\n');
const FILES: readonly (readonly [path: string, text: string])[] = [
  [`${MEMORY}/shared-context.md`, `## Projet\n${lines}\n## Requêtes inter-agents\n${lines}\n`],
  [`${MEMORY}/failure-museum.md`, `## [2026-01-01] [a] b\n${lines}\n`],
  [`${MEMORY}/decisions-log.md`, lines],
  [`${MEMORY}/session-state.md`, lines],
  ['.ignore', `a${' '.repeat(100_000)}b\n${'['.repeat(100_000)}\n`],
  ['.gitignore', `a${' '.repeat(100_000)}b\n`],
  ['_bmad-output/planning-artifacts/prd.md', `# PRD\n\n${'\t'.repeat(60_000)}x\n`],
  ['_bmad-output/planning-artifacts/epics.md', `# Epics\n\n## Epic 1${' '.repeat(60_000)}\u2028x\n`],
  ['_bmad-output/implementation-artifacts/1-1-a.md', `# Story 1.1\n\nStatus:${' '.repeat(60_000)}\u2028\n`],
  ['.claude/skills/slow/SKILL.md', `---\nname: slow\ndescription: Slow.\n---\n${'_'.repeat(60_000)}\n`],
];

async function cpuFor(name: string, input: object, hostile: boolean): Promise<number> {
  const folder = await temporaryFolder(onTestFinished);
  const files = FILES.map(([path, text]) => {
    const front = path.endsWith('SKILL.md') ? '---\nname: slow\ndescription: Slow.\n---\n' : '';
    return [path, hostile ? text : front + prose(text.length)] as const;
  });
  await writeFiles(folder, Object.fromEntries(files));
  await writeFiles(folder, {
    'project-context.yaml': 'project:\n  name: "Shop"\n',
    '_bmad/_config/skill-manifest.csv':
      'canonicalId,name,description,module,path\n"slow","slow","x","tea","_bmad/tea/slow/SKILL.md"\n',
  });
  const context = await contextIn(folder);
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  const before = process.cpuUsage();
  expect((await execute(operation, input, context, testCall())).ok).toBe(true);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('a project whose files are made to keep the server busy (S-06)', () => {
  it.each([
    ['get_project_context', {}],
    ['next', {}],
    ['execute', { name: 'slow' }],
    ['execute', { name: 'architect' }],
    ['doctor', {}],
    ['get_failure_museum', {}],
    ['search_codebase', { query: 'shop' }],
    ['recall_structured', { query: 'shop' }],
  ])('%s takes about as long as for ordinary text %#', async (name, input) => {
    const ordinary = await cpuFor(name, input, false);
    // Minutes, before; the first call of a kind loads what it needs, so the ordinary one comes first.
    expect(await cpuFor(name, input, true)).toBeLessThan(5 * ordinary + 2_000);
  });
});
