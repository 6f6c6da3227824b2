import { describe, expect, it } from 'vitest';
import { list } from '../../src/operations/catalogue/list.ts';
import { listPrompts } from '../../src/operations/client/prompts.ts';
import { listResources } from '../../src/operations/client/resources.ts';
import { phrasesOf } from '../../src/operations/generation-words.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { instructionsFor } from '../../src/surfaces/mcp/instructions.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';
import { testCall } from '../support/app.ts';
import { project, projectAt } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
import { usually } from '../support/how-much.ts';

const OLDER: readonly Version[] = ['4.44.3', '6.0.0-alpha.7', '6.0.0-alpha.22', '6.0.4', '6.3.0', '6.8.0'];

/** Everything a model reads of the server before its first call. */
async function opening({ context }: Awaited<ReturnType<typeof projectAt>>): Promise<string> {
  return [
    context.worded(instructionsFor(context.tools)),
    ...(await toolList(context, testCall())).map((tool) => JSON.stringify(tool)),
  ].join('\n');
}

/** The calls that a text shows, and the names it gives as examples of what to execute. */
function shownIn(text: string): Record<string, unknown>[] {
  const plain = text.replaceAll('\\"', '"');
  const calls = [...plain.matchAll(/\{((?:\w+:"[^"]*"(?:, )?)+)\}/g)].map(([, inside = '']) =>
    Object.fromEntries([...inside.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = '', value]) => [key, value])),
  );
  const named = (before: RegExp, key: string) =>
    [...plain.matchAll(before)].flatMap(([, words = '']) =>
      words
        .split(', ')
        .filter((word) => /^[\w/-]+$/.test(word))
        .map((word) => ({ operation: 'execute', [key]: word })),
    );
  return [
    ...calls.filter(({ uri, query }) => uri === undefined && query !== 'words'),
    ...named(/agents? \(([^)]+)\)/g, 'agent'),
    ...named(/(?:workflows?|tasks?) \(([^)]+)\)/g, 'workflow'),
    ...named(
      /(?:architect|manager|analyst|developer|designer|master|QA|owner|expert) \(([A-Z]\w+)\)/g,
      'agent',
    ),
  ];
}

describe('M-40: the project’s generation leads', () => {
  it.each(usually(OLDER))(
    'lists of %s have nothing of another version, and say how to see it',
    async (version) => {
      const { ask, rows } = await project(version);
      for (const what of ['agents', 'workflows', 'tasks', 'skills', 'modules', 'resources']) {
        const items = await rows(list, { what, limit: 200 });
        expect(
          items.filter(({ origin }) => /built in/.test(String(origin))),
          what,
        ).toEqual([]);
      }
      const { answer } = await ask(list, { what: 'workflows' });
      expect(answer.note).toMatch(/BMAD 6\.12\.0 \(built in\) has \d+ more, of another version\./);
      expect(answer.steps).toContainEqual({
        operation: 'list',
        args: { what: 'workflows', origin: 'package' },
        why: 'List what is built in',
      });
      for (const operation of [listPrompts, listResources]) {
        const items = await rows(operation);
        expect(items.length).toBeGreaterThan(0);
        expect(items.filter((item) => /built in/.test(String(item['origin'])))).toEqual([]);
      }
    },
  );

  it('a list of what only the built-in version has is given to whoever names it', async () => {
    const { rows, ask } = await project('4.44.3');
    expect((await rows(list, { what: 'workflows', module: 'bmm' })).length).toBeGreaterThan(5);
    expect((await rows(list, { what: 'workflows', version: '6.12' })).length).toBeGreaterThan(5);
    expect((await rows(list, { what: 'agents', origin: 'package' })).length).toBe(5);
    const { data } = await ask(bmad, { operation: 'execute', workflow: 'bmm/bmad-build' });
    expect(data['result']).toMatchObject({ name: 'bmm/bmad-build' });
  });

  it('a project of the built-in version lists both', async () => {
    const { answer } = await (await project('6.12.0')).ask(list, { what: 'workflows' });
    expect(answer.note).not.toContain('of another version');
  });

  it.each(usually([...OLDER, '6.12.0']))(
    'every example in the opening words works in %s',
    async (version) => {
      const opened = await project(version);
      const { ask } = opened;
      const shown = shownIn(await opening(opened));
      expect(shown.length).toBeGreaterThan(10);
      for (const args of shown) {
        const { answer } = await ask(bmad, args);
        expect(answer.body.split('\n', 1)[0], JSON.stringify(args)).not.toMatch(/built in|^In BMAD/);
      }
    },
  );

  it('every phrase that is said otherwise in an older version is in the opening words of today', async () => {
    const folder = await installOf('6.12.0');
    const today = (
      await Promise.all(
        ['bmad', 'workflows', 'agents'].map(async (toolsets) =>
          opening(await projectAt(folder, { toolsets })),
        ),
      )
    ).join('\n');
    const stale = ['4.44.3', '6.0.0-alpha.7', '6.0.4']
      .flatMap(phrasesOf)
      .map(([phrase]) => phrase)
      .filter((phrase) => !today.replaceAll('\\"', '"').includes(phrase));
    expect(stale).toEqual([]);
  });
});
