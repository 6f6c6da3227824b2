import { type CsvRow, textField } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { detailsOf } from '../reading.ts';
import { gather, kitFiles, type Understanding } from './gather.ts';
import type { Finding, Install, Shelf } from './install.ts';
import { descriptionText, fileOf, frontMatter, type LoadedFile, nameText, stemOf } from './manifests.ts';

/** Agents compiled to XML in Markdown: those of the manifest, of the modules, and of the custom kit. */
export async function readAgents(install: Install, shelf: Shelf): Promise<void> {
  const ofKit = new Set(await kitFiles(install, 'agents'));
  const files = install.files.filter(isAgentFile);
  for (const file of files.filter(isTemplate))
    install.problems.push({ file, message: t`it is a template, and not served as an agent`, mild: true });
  for (const file of install.files.filter((path) => /^[^/]+\/agents\/.*\.agent\.ya?ml$/is.test(path)))
    install.problems.push({
      file,
      message: t`left out: agents in YAML are served once BMAD's installer has compiled them`,
      mild: true,
    });
  const onDisk = [...new Set([...files.filter((file) => !isTemplate(file)), ...ofKit])];
  await gather(install, shelf, { ...agentsIn(install, ofKit), onDisk: () => onDisk });
}

/** How an agent is understood. */
export const agentsIn = (install: Install, ofKit: ReadonlySet<string>): Understanding => ({
  kind: 'agent',
  manifest: 'agent-manifest.csv',
  // Templates are no agents, even where a manifest lists them.
  suffix: /(?<!\.(?:tpl|template|proposed))\.md$/i,
  understand: (file, row) => agent(install, file, row, ofKit.has(file.path)),
  formatOf: () => 'compiled-agent',
});

/** `bmm/agents/pm.md`, `bmm/agents/tech-writer/tech-writer.md`; not the documentation beside them. */
function isAgentFile(path: string): boolean {
  return /^[^/]+\/agents\/(?!(?:.*\/)?docs\/).*\.md$/is.test(path) && !/^readme\b/i.test(fileOf(path));
}

const isTemplate = (path: string): boolean => /\.(?:tpl|template|proposed)\.md$/i.test(path);

function agent(
  { problems }: Install,
  file: LoadedFile,
  row: CsvRow | undefined,
  ofKit: boolean,
): Partial<Finding> | undefined {
  const text = file.text();
  if (text.trim() === '' && row === undefined) {
    problems.push({ file: file.path, message: t`the file is empty` });
    return undefined;
  }
  const tag = firstTag(text, 'agent');
  const isAgent = tag !== undefined || (ofKit && text.includes('<activation'));
  // Teams write agents in plain Markdown too; front matter tells them from notes.
  if (!isAgent && row === undefined && !/^\uFEFF?---[ \t]*\r?\n/.test(text)) {
    problems.push({
      file: file.path,
      message: t`left out: it has neither an <agent> tag nor a table at the top`,
      mild: true,
    });
    return undefined;
  }
  // What an installer has made has one; what people write by hand may say it otherwise.
  if (tag !== undefined && row !== undefined && firstTag(text, 'persona') === undefined)
    problems.push({ file: file.path, message: t`it has no persona`, mild: true });
  const data = frontMatter(file.path, text, problems);
  const shown = (name: string): string | undefined =>
    nameText(tag?.get(name)) ?? nameText(row?.cell(name === 'name' ? 'displayName' : name));
  const displayName = shown('name');
  const title = shown('title');
  return {
    ...(isAgent ? {} : { format: 'document' }),
    displayName,
    title,
    icon: shown('icon'),
    details: detailsOf(
      (name) => row?.cell(name),
      (name) => elementText(text, name),
    ),
    description:
      descriptionText(textField(data, 'description')) ??
      title ??
      descriptionText(row?.cell('description')) ??
      descriptionText(row?.cell('role')),
    aliases: [
      displayName,
      title,
      nameText(row?.cell('canonicalId')),
      nameText(textField(data, 'name')),
      nameText(row?.cell('name')),
    ].filter((alias) => alias !== stemOf(file.path)),
  };
}

/** Attributes of one XML-like tag, as they are written: entities are not decoded. */
type Attributes = ReadonlyMap<string, string>;

/** More of a tag than this is never looked at; real ones have a few hundred characters. */
const TAG_LENGTH = 8_192;

/** A file that only talks about the tag may name it a few times before the tag itself comes. */
const TAGS_TRIED = 20;

/**
 * The attributes of the first `<name …>` in a text; of the first that has any, should there be several. Compiled agents
 * are not always well-formed XML, and a comment above may mention the tag, so this is a scanner and not a parser.
 */
export function firstTag(text: string, name: string): Attributes | undefined {
  const opening = `<${name}`;
  let bare: Attributes | undefined;
  let tried = 0;
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + opening.length)) {
    if (!/[\s/>]/.test(text.charAt(at + opening.length))) continue;
    const attributes = attributesIn(text.slice(at + opening.length, at + opening.length + TAG_LENGTH));
    if (attributes.size > 0) return attributes;
    bare ??= attributes;
    tried += 1;
    if (tried === TAGS_TRIED) break;
  }
  return bare;
}

/** The text of the first `<name>…</name>`, as it is written. */
function elementText(text: string, name: string): string | undefined {
  const start = text.indexOf(`<${name}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${name}>`, start);
  return end === -1 ? undefined : text.slice(start + name.length + 2, end);
}

/** What follows a quotation mark that really ends a value: the end of the tag, or another attribute. */
const AFTER_VALUE = /\s*(?:\/?>|[\w:.-]+\s*=\s*["'])/y;

/** So many quotation marks a value may have inside; the limit keeps odd texts from being searched again and again. */
const QUOTES_TRIED = 20;

const ATTRIBUTE = /\s*([\w:.-]+)\s*=\s*(["'])/y;

/** Reads up to the `>` that ends the tag. What is neither an attribute nor the end is stepped over. */
function attributesIn(tag: string): Attributes {
  const found = new Map<string, string>();
  let at = 0;
  while (at < tag.length && tag[at] !== '>' && tag[at] !== '<') {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(tag);
    if (match === null) {
      at = afterWord(tag, at);
      continue;
    }
    const [, name = '', quote = '"'] = match;
    const start = ATTRIBUTE.lastIndex;
    const end = endOfValue(tag, start, quote);
    if (!found.has(name)) found.set(name, tag.slice(start, end));
    at = end + 1;
  }
  return found;
}

/** The place after the next word: white space is stepped over in one go, so that no run of it is looked at twice. */
function afterWord(tag: string, at: number): number {
  let next = at;
  while (/\s/.test(tag[next] ?? '')) next += 1;
  while (/[^\s<>]/.test(tag[next] ?? '')) next += 1;
  return Math.max(next, at + 1);
}

/** The compiler does not escape values, so a quotation mark may be part of one; a line break or another tag may not. */
function endOfValue(tag: string, start: number, quote: string): number {
  const first = tag.indexOf(quote, start);
  if (first === -1) return tag.length;
  const beyond = tag.slice(first).search(/[<\n]/);
  const last = beyond === -1 ? tag.length : first + beyond;
  let at = first;
  for (let tried = 0; tried < QUOTES_TRIED && at !== -1 && at < last; tried += 1) {
    AFTER_VALUE.lastIndex = at + 1;
    if (AFTER_VALUE.test(tag)) return at;
    at = tag.indexOf(quote, at + 1);
  }
  return first;
}
