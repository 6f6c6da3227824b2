import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../../../tests/support/app.ts';
import { analyse } from '../../meaning/analyse.ts';
import { TERMS_FILE, withTerms } from './word-index.ts';

it('gives the terms that every prepared text has, and analyses other texts', async () => {
  const file = await readFile(join(repository, 'dist', TERMS_FILE));
  const texts = Object.keys(JSON.parse(file.toString('utf8')) as Record<string, string>);
  expect(texts.length).toBeGreaterThan(300);
  const terms = withTerms(file);
  for (const text of [...texts, 'Nous déployons la version 1.3', 'the of'])
    expect(terms(text), text).toEqual(analyse(text));
});

it.each([undefined, Buffer.from('{')])('analyses everything without a file that can be read', (file) => {
  expect(withTerms(file)('Write the stories')).toEqual(analyse('Write the stories'));
});
