import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { desk, done, failed } from '../../../tests/support/delegation-desk.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';

describe('the context of a delegation', () => {
  const files = {
    ...KIT_FILES,
    'docs/prd.md': 'The shop sells bread.\n',
    'docs/api.md': 'POST /cart\n',
    '.env': 'TOKEN=abc\n',
    'docs/my file.md': 'Bread is baked.\n',
    'app/(shop)/[id]/page.md': 'A page.\n',
  };

  it.each([
    ['a line', 'See:\n@docs/prd.md', ['The shop sells bread.', 'See:'], []],
    ['several in a line', '@docs/prd.md, @docs/api.md', ['The shop sells bread.', 'POST /cart'], []],
    ['a list', '- @docs/prd.md\n- @docs/api.md', ['The shop sells bread.', 'POST /cart'], ['Context from']],
    ['a sentence', 'As (@docs/prd.md) says, @ada.', ['The shop sells bread.', 'says, @ada.'], []],
    ['paths alone', 'docs/prd.md\ndocs/api.md', ['The shop sells bread.', 'POST /cart'], ['Context from']],
    ['a word like a path', 'Node.js', ['# Context from the requester\n\nNode.js'], ['# File']],
    ['quotes', '@"docs/my file.md"', ['Bread is baked.'], ['Context from']],
    ['a path with brackets', 'See (@app/(shop)/[id]/page.md).', ['A page.', 'See ('], []],
    ['a numbered list', '1. @docs/prd.md\n2. @docs/api.md', ['The shop sells', 'POST /cart'], ['Context']],
    ['a name and no file', 'Look.\n@bob', ['Look.\n@bob'], ['# File']],
    ['a folder in a sentence', 'What @docs and @docs/ say', ['What @docs and @docs/ say'], ['# File']],
    ['a folder alone', 'app/(shop)', ['app/(shop)'], ['# File']],
    ['a package', 'We use @types/node here', ['We use @types/node here'], ['# File']],
  ])('takes files named in %s', async (_what, context, has, hasNot) => {
    const own = await desk(files);
    done(await own.call({ context }, 'ok'));
    const prompt = own.asked[0]?.prompt ?? '';
    for (const text of has) expect(prompt).toContain(text);
    for (const text of hasNot) expect(prompt).not.toContain(text);
  });

  it('takes files that the task names, each once', async () => {
    const own = await desk(files);
    done(await own.call({ task: 'What does @docs/prd.md lack, @ada?', context: '@docs/prd.md' }, 'ok'));
    done(await own.call({ task: 'What does @docs/api.md lack?' }, 'ok'));
    expect(own.asked[0]?.prompt.split('The shop sells bread.')).toHaveLength(2);
    expect(own.asked[1]?.prompt).toContain('POST /cart');
  });

  it.each([
    ['outside', '@../secret.txt', 'forbidden'],
    ['that is not there', '@docs/none.md', 'not_found'],
    ['of a numbered list that is not there', '1. @docs/prd.md\n2. @docs/none.md', 'not_found'],
    ['of secrets', '@.env', 'forbidden'],
    ['of secrets in a sentence', 'Look at @.env please', 'forbidden'],
    ['of secrets without the sign', '.env', 'forbidden'],
  ])('refuses a file %s, before anybody is asked', async (_what, context, code) => {
    const own = await desk(files);
    const error = failed(await own.call({ context }, 'ok'));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^context: /);
    expect(error.hint).toBeTruthy();
    expect(own.asked).toHaveLength(0);
  });

  it('refuses a link that leads to a file of secrets', async () => {
    const own = await desk(files);
    await symlink('.env', join(own.folder, 'notes.txt'));
    const told = JSON.stringify(await own.call({ context: '@notes.txt' }, 'ok'));
    expect(told).not.toContain('abc');
    const error = failed(await own.call({ context: '@notes.txt' }, 'ok'));
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(error.message).toContain('contains secrets');
    expect(own.asked).toHaveLength(0);
  });

  it('comes to an end with a line made to hold it up', async () => {
    const own = await desk(files);
    done(await own.call({ context: `${'@a'.repeat(90_000)} !` }, 'ok'));
    done(await own.call({ context: `${'@a'.repeat(36)} !` }, 'ok'));
    done(await own.call({ context: Array.from({ length: 20_000 }, (_, n) => `@a${n}`).join(' ') }, 'ok'));
    expect(own.asked).toHaveLength(3);
  });

  it('refuses more files than can be of use, and takes the beginning of large ones', async () => {
    const many = Array.from({ length: 60 }, (_, n) => `docs/${n}.md`);
    const own = await desk({
      ...files,
      ...Object.fromEntries(many.map((name) => [name, name])),
      ...Object.fromEntries(
        many.slice(0, 12).map((name) => [`${name}.txt`, 'bread and milk\n'.repeat(120_000)]),
      ),
    });
    const list = (names: readonly string[]): string => names.map((name) => `@${name}`).join('\n');
    expect(failed(await own.call({ context: list(many) }, 'ok'))).toMatchObject({ code: 'invalid_input' });
    const large = many.slice(0, 12).map((name) => `${name}.txt`);
    expect(failed(await own.call({ context: list(large) }, 'ok'))).toMatchObject({ code: 'too_large' });
    const { data } = done(await own.call({ context: list(large.slice(0, 2)) }, 'ok'));
    expect(own.asked).toHaveLength(1);
    // The whole file counts, also where only its beginning was looked at.
    expect(data['left_out']).toContainEqual(
      expect.stringMatching(/^docs\/0\.md\.txt: the last [34]\d{5} of/),
    );
  });

  it.each(['Node.js', 'CI/CD', 'thanks @bob', '@bob', 'See @docs/prd.md there'])(
    'is plain text where there is no project: %s',
    async (context) => {
      const own = await desk({}, { cwd: '/' });
      done(await own.call({ context }, 'ok'));
      expect(own.asked[0]?.prompt).toContain(`# Context from the requester\n\n${context}`);
    },
  );

  it('refuses a link that leads out', async () => {
    const own = await desk(files);
    await symlink('/etc/hostname', join(own.folder, 'link.md'));
    expect(failed(await own.call({ context: '@link.md' }, 'ok')).code).toBe('forbidden');
  });
});
