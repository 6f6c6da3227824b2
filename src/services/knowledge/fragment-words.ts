import { t } from '../../base/text/message.ts';
import { basename } from 'node:path/posix';
import { attempt, orElse, unlessShort } from '../../base/expected.ts';
import { parseCsv } from '../../base/parse/parse.ts';
import { outline, withoutComments } from '../../base/text/markdown.ts';
import { fold } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { KnowledgeFragment } from './knowledge.ts';

const TITLE_LENGTH = 120;
const SENTENCE_LENGTH = 200;
/** Headings and first sentences are at the top. */
const HEAD_LENGTH = 16_000;
const COLUMNS_NAMED = 6;

/** A fragment with a title and a sentence, whoever wrote it: its own, else what its file begins with. */
export async function withWords(
  fragment: KnowledgeFragment,
  files: ContentFiles,
): Promise<KnowledgeFragment> {
  const { title, description, path } = fragment;
  const named = title !== undefined && fold(title) !== fold(fragment.id);
  if (named && description !== '') return fragment;
  const text = await files
    .read(path)
    .then(({ bytes }) => bytes.toString('utf8').slice(0, HEAD_LENGTH))
    .catch(unlessShort(''));
  const own = wordsOf(path, text);
  return {
    ...fragment,
    title: named ? title : own.title,
    description: description === '' ? own.sentence : description,
  };
}

function wordsOf(path: string, text: string): { title: string; sentence: string } {
  if (/\.csv$/i.test(path)) return { title: spoken(path), sentence: tableWords(path, text) };
  if (!/\.(?:md|txt)$/i.test(path))
    return { title: spoken(path), sentence: t`Data of the file ${basename(path)}.` };
  const body = withoutComments(withoutFrontMatter(text));
  const [top, next] = outline(body);
  const title = oneLine(top?.title ?? '', TITLE_LENGTH);
  const start = top === undefined ? 0 : body.indexOf('\n', top.start);
  const sentence =
    firstSentence(start === -1 ? '' : body.slice(start, next?.start)) ??
    firstSentence(next === undefined ? '' : body.slice(body.indexOf('\n', next.start)));
  return {
    title: title === '' ? spoken(path) : title,
    sentence: sentence ?? sectionWords(body),
  };
}

function withoutFrontMatter(text: string): string {
  if (!text.startsWith('---')) return text;
  const end = text.indexOf('\n---', 3);
  return end === -1 ? text : text.slice(end + 4);
}

/** The first line that is a sentence, and of it the first sentence. */
function firstSentence(text: string): string | undefined {
  for (const line of text.split('\n')) {
    const plain = line.replaceAll(/[*`_>]/g, '').trim();
    if (plain.startsWith('#')) return undefined;
    if (!/^\p{L}/u.test(plain) || plain.split(' ').length < 4) continue;
    const end = plain.indexOf('. ');
    return oneLine(end === -1 ? plain : plain.slice(0, end + 1), SENTENCE_LENGTH);
  }
  return undefined;
}

function sectionWords(text: string): string {
  const titles = outline(text)
    .map(({ title }) => title)
    .slice(1, 1 + COLUMNS_NAMED);
  return titles.length === 0 ? t`A short text.` : oneLine(`On ${titles.join(', ')}.`, SENTENCE_LENGTH);
}

function tableWords(path: string, text: string): string {
  const [header = []] = attempt(() => parseCsv(path, text.split('\n', 1)[0] ?? ''), orElse([]));
  const columns = header.map((name) => name.trim()).filter(Boolean);
  const more = columns.length > COLUMNS_NAMED ? ', …' : '';
  return columns.length === 0
    ? t`A table.`
    : oneLine(t`A table of ${columns.slice(0, COLUMNS_NAMED).join(', ')}${more}.`, SENTENCE_LENGTH);
}

/** `domain-complexity.csv` as people say it: Domain complexity. */
function spoken(path: string): string {
  const name = basename(path);
  const dot = name.lastIndexOf('.');
  const words = (dot > 0 ? name.slice(0, dot) : name).replaceAll(/[-_.]/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
