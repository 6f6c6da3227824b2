import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../bundle.ts';
import type { Shipped } from './shipped.ts';

export const LICENCES_FILE = 'THIRD_PARTY_LICENSES.txt';

/** Copyright lines of what is within other packages, whose own licence texts are not there. All of it has the MIT licence. */
const HOLDERS: Readonly<Record<string, string>> = {
  '@cfworker/json-schema': 'Copyright (c) Jeremy Danyow',
  'content-type': 'Copyright (c) 2015 Douglas Christopher Wilson',
};

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The licences of all that is in the package and not ours, and the credits that the sources of the model ask for. */
export async function licenceTexts(shipped: readonly Shipped[], credits: string): Promise<string> {
  const texts: string[] = [];
  for (const each of shipped.filter(({ way }) => way !== 'optional'))
    texts.push(`${each.name} ${each.version} (${each.licence})\n\n${await textOf(each)}`);
  texts.push(
    `The word vectors in embedder.bin are made from texts of others, who are credited here:\n\n${credits}`,
  );
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

async function textOf({ name, path, licence }: Shipped): Promise<string> {
  if (path === undefined) {
    const holder = HOLDERS[name];
    if (holder === undefined || licence !== 'MIT') throw new Error(`There is no licence text of ${name}.`);
    return `${holder}\n\n${MIT}`;
  }
  const folder = join(root, path);
  const files = (await readdir(folder)).filter((file) =>
    /^(?:licen[cs]e|notice)(?:\.(?:md|txt))?$/i.test(file),
  );
  if (!files.some((file) => /^licen/i.test(file))) throw new Error(`${name} ships no text of its licence.`);
  const texts = await Promise.all(files.sort().map((file) => readFile(join(folder, file), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n');
}

/** The list at the end of the part of the model card that says what it was trained on. */
export function creditsIn(card: string): string {
  const [, after = ''] = card.split('Credits that the sources ask for:');
  const [credits = ''] = after.split('\n## ');
  if (credits.trim() === '') throw new Error('The model card has no credits.');
  return credits.trim();
}

/** What the first line of the model card calls the model: its name, a dash and its version. */
export function modelName(card: string): { name: string; version: string } {
  const [, name, version] = /^# Model card: (\S+)-(\d+)$/m.exec(card) ?? [];
  if (name === undefined || version === undefined) throw new Error('The model card does not name the model.');
  return { name, version };
}
