import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './app.ts';

/**
 * Configuration of many tools, all of it made up, in `tests/fixtures/secrets`: the first line of a file says what it is
 * called, the others are its text. What has to vanish stands in ⟦…⟧; what may vanish with it in ‹…›; all else has to stay.
 * A ¦ is left out: it keeps what looks like a token from being taken for a real one where this repository is hosted.
 */
export interface CorpusFile {
  tool: string;
  path: string;
  lines: CorpusLine[];
}

export interface CorpusLine {
  text: string;
  secrets: string[];
  /** Whether this is the line with its secrets masked, and nothing else changed. */
  isMasked(shown: string): boolean;
}

const folder = join(repository, 'tests', 'fixtures', 'secrets');

export async function secretCorpus(): Promise<CorpusFile[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => corpusFile(name, await readFile(join(folder, name), 'utf8'))));
}

function corpusFile(name: string, content: string): CorpusFile {
  const [head = '', ...lines] = content.replaceAll('¦', '').trimEnd().split('\n');
  if (!head.startsWith('file: ')) throw new Error(`${name} does not say what file it is.`);
  return {
    tool: name.replace(/\.txt$/, ''),
    path: head.slice('file: '.length),
    lines: lines.map(corpusLine),
  };
}

function corpusLine(marked: string): CorpusLine {
  const secrets = [...marked.matchAll(/⟦([^⟧]*)⟧/g)].map(([, secret = '']) => secret);
  const pieces = marked.split(/(‹[^›]*›|⟦[^⟧]*⟧)/).map((piece) => {
    if (piece.startsWith('⟦')) return '\\*\\*\\*';
    return piece.startsWith('‹') ? '.*\\*\\*\\*.*' : piece.replace(/[$()*+.?[\\\]^{|}/-]/g, '\\$&');
  });
  const masked = new RegExp(`^${pieces.join('')}$`);
  return {
    text: marked.replace(/[⟦⟧‹›]/g, ''),
    secrets,
    isMasked: (shown) => masked.test(shown) && !secrets.some((secret) => shown.includes(secret)),
  };
}

/** A text of the same lines, as a program that shows the file would read it. */
export function textOf({ lines }: CorpusFile): string {
  return `${lines.map(({ text }) => text).join('\n')}\n`;
}
