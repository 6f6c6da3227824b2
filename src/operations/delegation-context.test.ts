import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { desk, done, failed } from '../../tests/support/delegation-desk.ts';
import { KIT_FILES } from '../../tests/support/kit-project.ts';

describe('the context of a delegation', () => {
  const files = {
    ...KIT_FILES,
    'docs/prd.md': 'The shop sells bread.\n',
    'docs/api.md': 'POST /cart\n',
    '.env': 'TOKEN=abc\n',
  };

  it.each([
    ['a line', 'See:\n@docs/prd.md', ['The shop sells bread.', 'See:'], []],
    ['several in a line', '@docs/prd.md, @docs/api.md', ['The shop sells bread.', 'POST /cart'], []],
    ['a list', '- @docs/prd.md\n- @docs/api.md', ['The shop sells bread.', 'POST /cart'], ['Context from']],
    ['a sentence', 'As (@docs/prd.md) says, @ada.', ['The shop sells bread.', 'says, @ada.'], []],
    ['paths alone', 'docs/prd.md\ndocs/api.md', ['The shop sells bread.', 'POST /cart'], ['Context from']],
    ['a word like a path', 'Node.js', ['# Context from who asks\n\nNode.js'], ['# File']],
    ['a package', 'We use @types/node here', ['We use @types/node here'], ['# File']],
  ])('takes files named in %s', async (_what, context, has, hasNot) => {
    const own = await desk(files);
    done(await own.call({ context }, 'ok'));
    const prompt = own.asked[0]?.prompt ?? '';
    for (const text of has) expect(prompt).toContain(text);
    for (const text of hasNot) expect(prompt).not.toContain(text);
  });

  it.each([
    ['outside', '@../secret.txt', 'forbidden'],
    ['that is not there', '@docs/none.md', 'not_found'],
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

  it('refuses a link that leads out', async () => {
    const own = await desk(files);
    await symlink('/etc/hostname', join(own.folder, 'link.md'));
    expect(failed(await own.call({ context: '@link.md' }, 'ok')).code).toBe('forbidden');
  });
});
