import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { examine, type Finding } from './findings.ts';

async function findingsIn(files: Record<string, string>): Promise<Finding[]> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  return examine((await context.workspace()).catalogue);
}

const agent = (name: string, description = 'Does it'): string =>
  `---\nname: "${name}"\ndescription: "${description}"\n---\n\n<agent id="${name}" name="${name}" title="T">\n</agent>\n`;

describe('hidden characters', () => {
  it('are told, a finding for each file, with what and where (S-13)', async () => {
    const found = await findingsIn({
      '_bmad/core/agents/mole.md': `${agent('mole', 'Digs\u200B here')}\n\nTell no one: \u{E0041}\u{E0042}.\n`,
      '_bmad/core/agents/plain.md': agent('plain', 'Family 👨‍👩‍👧‍👦, می‌خواهم'),
      '_bmad/core/data/notes.txt': 'One\n\u202Etwo\n',
      '_bmad/core/data/bom.csv': '\uFEFFname,value\n',
      '_bmad/core/data/names.txt': '葛\u{E0100}城\n1️⃣ 2️⃣\n⚠️ ❤️\n',
    });
    expect(found.filter(({ about }) => about === 'hidden-characters').map(({ text }) => text)).toEqual([
      'Project: "core/agents/mole.md" has hidden characters: \\u200b in line 3, \\u{e0041} in line 10, \\u{e0042} in line 10. Lists leave them out; models get the file as it is.',
      'Project: "core/data/notes.txt" has hidden characters: \\u202e in line 2. Lists leave them out; models get the file as it is.',
    ]);
    expect(found.every(({ level }) => level === 'notice')).toBe(true);
  });

  it('are told when they are variants of characters that carry a message (N-07)', async () => {
    const message = [...Buffer.from('rm -rf ~/project')];
    const behind = (base: (at: number) => number): string =>
      message.map((byte, at) => String.fromCodePoint(base(at), 0xe_00_f0 + byte)).join('');
    const found = await findingsIn({
      '_bmad/core/agents/plain.md': agent('plain'),
      '_bmad/core/data/han.txt': behind((at) => 0x4e_00 + at),
      '_bmad/core/data/digits.txt': behind((at) => 0x30 + (at % 10)),
    });
    expect(found.filter(({ about }) => about === 'hidden-characters').map(({ text }) => text)).toEqual(
      ['digits', 'han'].map((name): unknown =>
        expect.stringMatching(
          new RegExp(
            `^Project: "core/data/${name}\\.txt" has hidden characters: \\\\u\\{e0162\\} in line 1, .* and 11 more\\.`,
          ),
        ),
      ),
    );
  });

  it('are told by name for fifty files, and counted beyond', async () => {
    const files = Array.from({ length: 52 }, (_, at) => [`_bmad/core/data/n${at}.txt`, 'a\u200Bb\n']);
    const texts = (
      await findingsIn({
        '_bmad/core/agents/plain.md': agent('plain'),
        ...(Object.fromEntries(files) as Record<string, string>),
      })
    ).map(({ text }) => text);
    expect(texts).toHaveLength(51);
    expect(texts.at(-1)).toMatch(/^2 more files with hidden characters\./);
  });
});

describe('names that look like another', () => {
  it('are told with the letters that differ (S-13)', async () => {
    const found = await findingsIn({ '_bmad/core/agents/аrchitect.md': agent('аrchitect') });
    expect(found.filter(({ about }) => about === 'look-alike').map(({ text }) => text)).toEqual([
      'Project: "аrchitect" (U+0430), the agent in "core/agents/аrchitect.md", looks like "architect", the agent "bmm/bmad-agent-architect" of BMAD 6.12.0 (built in), but is not.',
    ]);
  });

  it('are none when it is the same name', async () => {
    const found = await findingsIn({ '_bmad/core/agents/architect.md': agent('architect') });
    expect(found.filter(({ about }) => about === 'look-alike')).toEqual([]);
  });
});

it('files that have not changed are not read again for what is hidden in them', async () => {
  const folder = join(await temporaryFolder(afterAll), 'project');
  await writeFiles(folder, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
    '_bmad/bmm/docs/a.md': 'plain\n',
    '_bmad/bmm/docs/b.md': 'plain\n',
  });
  const context = await contextIn(folder);
  const diagnosis = await context.diagnosis();
  const examined = async (): Promise<readonly Finding[]> =>
    diagnosis.examine((await context.workspace()).catalogue);
  const opened = async (): Promise<string[]> =>
    (await filesOpened(join(folder, '_bmad/bmm/docs'), examined)).toSorted();
  const told = async (): Promise<string> => (await examined()).map(({ text }) => text).join();
  expect(await opened()).toEqual(['a.md', 'b.md']);
  expect(await opened()).toEqual([]);
  await writeFile(join(folder, '_bmad/bmm/docs/b.md'), 'not so plain\u200b\n');
  expect(await opened()).toEqual(['b.md']);
  expect(await told()).toContain('b.md');
  // Not read again in the catalogue that came with the change of the other: a change of this one counts all the same.
  expect(await told()).not.toContain('a.md');
  await writeFile(join(folder, '_bmad/bmm/docs/a.md'), 'p\u200b\n');
  expect(await told()).toContain('a.md');
  await rm(join(folder, '_bmad/bmm/docs/b.md'));
  expect(await told()).not.toContain('b.md');
});
