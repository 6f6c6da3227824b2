import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { completeHandoff, handoffsIn, writeHandoff, writeRequest } from './handoffs.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import type { KitWithMemory } from '../kit.ts';

const NOW = new Date(2026, 10, 15, 9, 5);
const GIVEN = { from: 'dev', to: 'qa', text: 'check the cart | now' };

async function project(files: Readonly<Record<string, string>>): Promise<{
  kit: KitWithMemory;
  read(name: string): Promise<string>;
}> {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, { '_bmad/_memory/memories.json': '[]', ...files });
  const kit = await kitIn(root);
  const memory = kit.memory ?? '';
  return { kit: { ...kit, memory }, read: (name) => readFile(join(memory, name), 'utf8') };
}

describe('handoffsIn', () => {
  it('reads rows with either arrow, done and open, and passes over heads and examples', () => {
    const text =
      '| Date | Qui | Quoi | État |\n|---|---|---|---|\n| 2026-02-28 10:00 | dev → qa | valider | ⏳ |\n' +
      '| 2026-03-01 | qa -> dev | corrigé | ✅ |\n<!-- | 2026-01-01 | a → b | exemple | ⏳ | -->\n```\n| 2026-01-01 | a → b | exemple | ⏳ |\n```\n';
    expect(handoffsIn(text)).toMatchObject([
      { from: 'dev', to: 'qa', text: 'valider', done: false, line: 3 },
      { from: 'qa', to: 'dev', text: 'corrigé', done: true, line: 4 },
    ]);
  });
});

describe('writeHandoff', () => {
  it('adds a row, once a day while it is open, in the line ends of the file', async () => {
    const { kit, read } = await project({
      '_bmad/_memory/handoff-log.md': '| 2026-02-28 10:00 | dev → qa | valider | ⏳ |\r\n',
    });
    const { id, added } = await writeHandoff(kit, GIVEN, NOW);
    expect(added).toBe(true);
    expect(await writeHandoff(kit, GIVEN, NOW)).toMatchObject({ id, added: false });
    expect(await read('handoff-log.md')).toBe(
      '| 2026-02-28 10:00 | dev → qa | valider | ⏳ |\r\n| 2026-11-15 09:05 | dev → qa | check the cart \\| now | ⏳ |\r\n',
    );
    expect(await completeHandoff(kit, id)).toMatchObject({ changed: true, text: GIVEN.text });
    expect(await completeHandoff(kit, id)).toMatchObject({ changed: false });
    expect((await read('handoff-log.md')).split('\r\n')[1]).toBe(
      '| 2026-11-15 09:05 | dev → qa | check the cart \\| now | ✅ |',
    );
    expect((await writeHandoff(kit, GIVEN, new Date(2026, 10, 15, 9, 6))).added).toBe(true);
  });

  it('ticks off rows that have another state or none', async () => {
    const { kit, read } = await project({
      '_bmad/_memory/handoff-log.md':
        '| 2026-02-28 10:00 | a → b | one | open |\n| 2026-02-28 10:00 | a → b | two |\n',
    });
    for (const { id } of handoffsIn(await read('handoff-log.md'))) await completeHandoff(kit, id);
    expect(await read('handoff-log.md')).toBe(
      '| 2026-02-28 10:00 | a → b | one | ✅ |\n| 2026-02-28 10:00 | a → b | two | ✅ |\n',
    );
  });
});

describe('writeRequest', () => {
  const inbox =
    '# C\n\n## Requêtes inter-agents\n\n<!-- Format -->\n\n- [ ] [stack→qa] tests\n\n## Fin\n\nx\n';

  it('adds to the list of the section, once while it is open, and ticks it off', async () => {
    const { kit, read } = await project({ '_bmad/_memory/shared-context.md': inbox });
    const { id } = await writeRequest(kit, GIVEN);
    expect((await writeRequest(kit, GIVEN)).added).toBe(false);
    const line = '- [ ] [dev→qa] check the cart | now\n';
    expect(await read('shared-context.md')).toBe(inbox.replace('tests\n', `tests\n${line}`));
    await completeHandoff(kit, id);
    expect(await read('shared-context.md')).toBe(
      inbox.replace('tests\n', `tests\n${line.replace('[ ]', '[x]')}`),
    );
  });

  it.each([
    ['the section is empty', '## Requêtes inter-agents\n\n<!-- Format -->\n'],
    ['there is no section', '# C\n\n## Projet\n\nx'],
    ['there is no file', undefined],
  ])('finds a place when %s', async (_what, content) => {
    const { kit, read } = await project(
      content === undefined ? {} : { '_bmad/_memory/shared-context.md': content },
    );
    await writeRequest(kit, GIVEN);
    const text = await read('shared-context.md');
    expect(text.startsWith(content?.trimEnd() ?? '')).toBe(true);
    expect(text).toMatch(
      /## Requêtes inter-agents\n\n(?:<!-- Format -->\n\n)?- \[ \] \[dev→qa\] check the cart \| now\n$/,
    );
  });

  it('leaves the same words between other agents open', async () => {
    const request = '# C\n\n## Requêtes inter-agents\n\n- [ ] [pm→architect] Review the story\n';
    const { kit, read } = await project({ '_bmad/_memory/shared-context.md': request });
    const { id } = await writeHandoff(kit, { from: 'dev', to: 'qa', text: 'Review the story' }, NOW);
    expect((await completeHandoff(kit, id)).files).toHaveLength(1);
    expect(await read('shared-context.md')).toBe(request);
  });

  it('names those that are open when there is no such id', async () => {
    const { kit } = await project({ '_bmad/_memory/shared-context.md': inbox });
    const error = await thrownBy(() => completeHandoff(kit, 'R-00000000'));
    expect(error).toMatchObject({ code: 'not_found', suggestions: [expect.stringMatching(/^R-/)] });
  });
});
