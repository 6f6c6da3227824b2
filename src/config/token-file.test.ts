import { appendFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { readTokens, tokenLines } from './token-file.ts';

const A = 'token-of-ada-0123456789';
const B = 'token-of-ben-0123456789';

describe('a file with tokens', () => {
  it.each<[line: string, expected: object]>([
    [A, { mayWrite: true }],
    [`${A} # ada`, { mayWrite: true, name: 'ada' }],
    [`${A} ada write`, { mayWrite: true, name: 'ada' }],
    [`${A} read ada # of the office`, { mayWrite: false, name: 'ada' }],
    [`${A}\tada@example.com\ta2a`, { mayWrite: true, only: 'a2a', name: 'ada@example.com' }],
    [`${A} # Zoé \u001b[31m Martin`, { mayWrite: true, name: 'Zoé  [31m Martin' }],
    [`${A} person # lead`, { mayWrite: true, person: true, name: 'lead' }],
    [
      `${A} ci read project=/srv/shop project=/srv/b/../a toolset=memory,project tasks=5 memories=70 calls=600`,
      {
        mayWrite: false,
        name: 'ci',
        bounds: {
          projects: ['/srv/shop', '/srv/a'],
          toolsets: ['memory', 'project'],
          tasks: 5,
          memories: 70,
          calls: 600,
        },
      },
    ],
    [`${A} write callum`, { mayWrite: true, name: 'callum' }],
    [`\uFEFF${A}\r`, { mayWrite: true }],
  ])('%j', (line, expected) => {
    expect(tokenLines(line)).toEqual({ tokens: [{ token: A, ...expected }], bad: [] });
  });

  it('has lines that do not count, and the others count all the same', () => {
    const text = [
      '# tokens',
      A,
      'short',
      `${A} read write`,
      `${A} ada ben read`,
      `${A} project=shop`,
      'not a token at all!',
      ...[
        'readonly',
        'Read',
        'A2A',
        'tasks=-1',
        'calls=0',
        'calls=1 calls=2',
        'toolset=',
        'quota=9',
        'Person',
        'read toolset=memroy',
        'read toolset=memory,',
        'read toolset:memory',
        'write toolset-memory',
        'write project./srv/shop',
        'write projects',
        'write Calls60',
        'read porject=/srv/shop',
        'raed',
        'readonly # ada',
      ].map((word) => `${A} ${word}`),
      '',
      B,
    ].join('\n');
    const { tokens, bad } = tokenLines(text);
    expect(tokens.map(({ token }) => token)).toEqual([A, B]);
    expect(bad).toEqual(Array.from({ length: 24 }, (_, index) => index + 3));
  });

  it('that is being written is read when its last line is whole, or nobody writes any more', async () => {
    const file = join(await temporaryFolder(onTestFinished), 'tokens');
    await writeFile(file, A);
    const read = readTokens(file);
    // Long enough to have read what is there.
    for (let count = 0; count < 50; count += 1) await stat(file);
    await appendFile(file, ' read # ada\n');
    expect((await read).tokens).toEqual([{ token: A, mayWrite: false, name: 'ada' }]);
    await writeFile(file, `${A} a2a`);
    await utimes(file, 1, 1);
    expect((await readTokens(file)).tokens).toEqual([{ token: A, mayWrite: true, only: 'a2a' }]);
  });
});
