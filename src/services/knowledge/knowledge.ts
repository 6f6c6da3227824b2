import { basename, dirname } from 'node:path/posix';
import { once } from '../../base/async.ts';
import { attempt, BmadError, orElse, ParseError, quoted, unlessShort } from '../../base/errors.ts';
import { csvRows, parseCsv } from '../../base/parse/parse.ts';
import { outline, withoutComments } from '../../base/text/markdown.ts';
import { forAll, say, t } from '../../base/text/message.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import { present, push } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import { type BmadRecord, shortName, STARTABLE } from '../../model/record.ts';

/** One piece of knowledge, small enough to be loaded alone. */
export interface KnowledgeFragment {
  id: string;
  title?: string;
  description: string;
  tags: readonly string[];
  /** Content path. */
  path: string;
}

/** Knowledge that belongs together: what an index lists, or the files of a data folder. */
export interface KnowledgeDomain {
  /** What to ask for it by; with its module where two modules have one of that name. */
  name: string;
  module: string;
  aliases: readonly string[];
  fragments: readonly KnowledgeFragment[];
}

export type Knowledge = ReturnType<typeof createKnowledge>;

/** Folders in which modules and skills keep what is read on demand. */
const FOLDERS = new Set(['data', 'knowledge', 'resources', 'references']);
const TEXT_FILE = /\.(?:md|csv|ya?ml|json|xml|txt|toml)$/i;
const INDEX = /-index\.csv$/i;

/** The test architect's knowledge is called by both names, and each release names its folder differently. */
const OTHER_NAMES = new Map([
  ['tea', 'testarch'],
  ['testarch', 'tea'],
]);

const NAMED_IN_HINT = 40;

const FROM_TEA =
  'The knowledge of the test architect comes with the module TEA, which is not part of this content; an install of BMAD that has it brings it along.';

const HELD_IN_HINT = 6;

/** What the nearest domain holds: by its name, else one that has a fragment of that name. */
function nearestContents(wanted: string, all: readonly KnowledgeDomain[]): string | undefined {
  const [near] = nearest(
    wanted,
    all.map(({ name }) => name),
  );
  const domain =
    all.find(({ name }) => name === near) ??
    all.find(({ fragments }) => fragments.some(({ id }) => fold(id).includes(wanted)));
  if (domain === undefined) return undefined;
  const ids = domain.fragments.map(({ id }) => id);
  return t`${domain.name} holds ${ids.slice(0, HELD_IN_HINT).join(', ')}${ids.length > HELD_IN_HINT ? ', …' : ''}.`;
}

export function createKnowledge(catalogue: Catalogue) {
  const domains = once(() => forAll(readDomains));

  async function readDomains(): Promise<readonly KnowledgeDomain[]> {
    const places = new Places(catalogue);
    const shelf = new DomainShelf();
    const paths = [...(await catalogue.files.all()).keys()];
    const known = new Set(paths);
    const covered: string[] = [];
    for (const index of paths.filter((path) => INDEX.test(path))) {
      const fragments = (await indexRows(catalogue, index)).filter(({ path }) => known.has(path));
      if (fragments.length === 0) continue;
      covered.push(`${dirname(index)}/`);
      const stem = basename(index).replace(INDEX, '');
      const folder = basename(dirname(index));
      const name = FOLDERS.has(folder) ? stem : folder;
      const other = OTHER_NAMES.get(name);
      shelf.add(name, places.moduleOf(index), other === undefined ? [stem] : [stem, other], fragments);
    }
    for (const [folder, files] of dataFolders(paths, covered)) {
      const module = places.moduleOf(`${folder}/x`);
      const owner = basename(dirname(folder)).replace(/^\.(?=.)/, '');
      const name = owner === '' ? basename(folder) : owner === module ? module : shortName(owner);
      shelf.add(
        name,
        module,
        [],
        files.map((path) => places.fragment(folder, path)),
      );
    }
    return shelf.all();
  }

  /** What is asked for across domains; loaded when no domain has the name. */
  async function topic(
    name: string,
    all: readonly KnowledgeDomain[],
    isOwn: (path: string) => boolean = () => true,
  ): Promise<KnowledgeDomain | undefined> {
    const places = new Places(catalogue);
    const own = all.map((each) => ({ ...each, fragments: each.fragments.filter(({ path }) => isOwn(path)) }));
    return topicNamed(name, own, {
      paths: [...(await catalogue.files.all()).keys()].filter(isOwn),
      records: catalogue.winners,
      moduleOf: (path) => places.moduleOf(path),
    });
  }

  return {
    domains,
    /** The domain of that name, or the topic; an error that lists the domains when there is none. */
    async domain(name: string): Promise<KnowledgeDomain> {
      const all = await domains();
      const wanted = fold(name.trim());
      const exact = all.filter((domain) => fold(domain.name) === wanted);
      const found =
        exact.length > 0
          ? exact
          : all.filter(({ aliases }) => aliases.some((alias) => fold(alias) === wanted));
      // What is built in and of another version than the project hides nothing that the project has about it.
      const { aside, files } = catalogue;
      const origins = await files.all();
      const isOwn = (path: string): boolean => aside === undefined || origins.get(path) !== aside;
      const own = found.filter(({ fragments }) => fragments.some(({ path }) => isOwn(path)));
      const gathered = own.length === 0 ? await topic(name, all, isOwn) : undefined;
      const [only, other] = gathered === undefined ? (own.length > 0 ? own : found) : [gathered];
      const domain = only ?? (await topic(name, all));
      if (domain !== undefined && other === undefined) {
        const fragments = await Promise.all(
          domain.fragments.map((fragment) => withWords(fragment, catalogue.files)),
        );
        return { ...domain, fragments };
      }
      const names = (found.length > 0 ? found : all).map((each) => each.name);
      const listed = names.slice(0, NAMED_IN_HINT).join(', ');
      const more = names.length > NAMED_IN_HINT ? t` and ${names.length - NAMED_IN_HINT} more` : '';
      throw found.length > 0
        ? new BmadError('ambiguous', t`${quoted(name)} is the name of ${found.length} domains.`, {
            subject: cut(name, 200),
            hint: t`Use one of: ${listed}${more}.`,
          })
        : new BmadError('not_found', t`There is no knowledge domain ${quoted(name)}.`, {
            reason: 'content',
            subject: cut(name, 200),
            suggestions: nearest(name, names),
            hint: [
              OTHER_NAMES.has(wanted) ? say(FROM_TEA) : undefined,
              nearestContents(wanted, all),
              names.length === 0 ? t`This content has none.` : t`Domains here: ${listed}${more}.`,
            ]
              .filter((part) => part !== undefined)
              .join(' '),
          });
    },
  };
}

/** Gathers fragments under the name and module of their domain; copies of the same fragment count once. */
class DomainShelf {
  readonly #domains = new Map<
    string,
    { short: string; module: string; aliases: Set<string>; fragments: Map<string, KnowledgeFragment> }
  >();

  add(short: string, module: string, aliases: readonly string[], found: readonly KnowledgeFragment[]): void {
    if (found.length === 0) return;
    const key = `${fold(module)}/${fold(short)}`;
    const domain = this.#domains.get(key) ?? { short, module, aliases: new Set(), fragments: new Map() };
    this.#domains.set(key, domain);
    for (const alias of aliases) if (fold(alias) !== fold(short)) domain.aliases.add(alias);
    for (const fragment of found) {
      const known = domain.fragments.get(fold(fragment.id));
      if (known === undefined) domain.fragments.set(fold(fragment.id), fragment);
      // Files of two folders may share a name; rows of an index with one id are copies of each other.
      else if (fragment.tags.length === 0 && known.path !== fragment.path)
        domain.fragments.set(fold(fragment.path), { ...fragment, id: fragment.path });
    }
  }

  /** All domains in a fixed order. */
  all(): KnowledgeDomain[] {
    const found = [...this.#domains.values()];
    const shared = (short: string): boolean =>
      found.filter((other) => fold(other.short) === fold(short)).length > 1;
    return found
      .map(({ short, module, aliases, fragments }) => ({
        name: shared(short) ? `${module}/${short}` : short,
        module,
        aliases: [short, `${module}/${short}`, ...aliases],
        fragments: [...fragments.values()],
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Which module a path belongs to, and what the catalogue says about the file. */
class Places {
  readonly #byPath = new Map<string, BmadRecord>();
  readonly #byFolder = new Map<string, string>();

  constructor({ winners }: Catalogue) {
    for (const record of winners) {
      const { bmadRelativePath: path } = record;
      if (!this.#byPath.has(path) || record.kind === 'knowledge') this.#byPath.set(path, record);
      const folder = dirname(path);
      if (!this.#byFolder.has(folder)) this.#byFolder.set(folder, record.moduleName);
    }
  }

  moduleOf(path: string): string {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      const module = this.#byFolder.get(folder);
      if (module !== undefined) return module;
    }
    return path.split('/', 1)[0]?.replace(/^\.(?=.)/, '') ?? '';
  }

  fragment(folder: string, path: string): KnowledgeFragment {
    const record = this.#byPath.get(path);
    return {
      id: path.slice(folder.length + 1).replace(/\.md$/i, ''),
      ...present({ title: record?.displayName }),
      description: oneLine(record?.description ?? '', 300),
      tags: [],
      path,
    };
  }
}

/** The text files of each data folder that no index covers, by the outermost such folder. */
function dataFolders(paths: readonly string[], covered: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const segments = path.split('/').slice(0, -1);
    const at = segments.findIndex((segment) => FOLDERS.has(segment.toLowerCase()));
    if (at === -1 || !TEXT_FILE.test(path) || covered.some((folder) => path.startsWith(folder))) continue;
    const folder = segments.slice(0, at + 1).join('/');
    push(folders, folder, path);
  }
  return folders;
}

/** The rows of an index, whose paths are relative to it. A broken index is the doctor's matter and lists nothing. */
async function indexRows({ files }: Catalogue, index: string): Promise<KnowledgeFragment[]> {
  try {
    const rows = csvRows(index, (await files.read(index)).bytes.toString('utf8'));
    return rows.flatMap(({ cell }) => {
      const file = cell('fragment_file').trim().replaceAll('\\', '/');
      if (file === '' || file.split('/').includes('..') || file.startsWith('/')) return [];
      return [
        {
          id: oneLine(cell('id').trim() || file, 120),
          ...present({ title: oneLine(cell('name'), 120) || undefined }),
          description: oneLine(cell('description'), 300),
          tags: cell('tags')
            .split(/[,;|]/)
            .map((tag) => oneLine(tag, 60))
            .filter(Boolean),
          path: `${dirname(index)}/${file.replace(/^(?:\.\/)+/, '')}`,
        },
      ];
    });
  } catch (error) {
    if (error instanceof ParseError || error instanceof BmadError) return [];
    throw error;
  }
}

/**
 * What people ask for across domains, and the words by which files and fragments are about it. Releases keep it in
 * different places: version 4 has the test architect's knowledge among its data, the alphas have patterns of architecture
 * beside the workflow that uses them.
 */
const TOPICS: ReadonlyMap<string, readonly string[]> = new Map([
  ['patterns', ['pattern']],
  ['architecture', ['architecture', 'architectural']],
  ['testarch', ['test', 'testing']],
  ['tea', ['test', 'testing']],
]);

const REFERENCE = /\.(?:md|csv|ya?ml|json|xml|txt)$/i;
/** What a workflow is made of is followed, not looked up. */
const MADE_OF =
  /^(?:skill|workflow|instructions?|readme|step-|customize|module|config)|checklist|template|tmpl/i;
const NOT_HERE = /(?:^|-)steps(?:-|$)|^_|^(?:agents|tasks|teams|agent-teams|templates|checklists)$/i;

/** Words as people compare them: without the ending of a plural. */
const wordsOf = (text: string): string[] =>
  fold(text)
    .split(/[^\p{L}\d]+/u)
    .map((word) => word.replace(/(?<=\w{3})s$/, ''));

/** All that the content has about a topic, in the form of a domain; nothing for a name that is no topic, or has nothing. */
function topicNamed(
  name: string,
  domains: readonly KnowledgeDomain[],
  content: {
    paths: readonly string[];
    records: readonly BmadRecord[];
    moduleOf(path: string): string;
  },
): KnowledgeDomain | undefined {
  const about = TOPICS.get(fold(name));
  if (about === undefined) return undefined;
  const isAbout = (...texts: readonly string[]): boolean =>
    texts.some((text) => wordsOf(text).some((word) => about.includes(word)));
  const found: KnowledgeFragment[] = domains.flatMap((domain) =>
    domain.fragments.filter(({ id, title = '', tags }) => isAbout(domain.name, id, title, ...tags)),
  );
  const covered = new Set(domains.flatMap(({ fragments }) => fragments.map(({ path }) => path)));
  const started = new Set(
    content.records.filter(({ kind }) => STARTABLE.includes(kind)).map((each) => each.bmadRelativePath),
  );
  for (const path of content.paths) {
    const [file, folder] = [basename(path), basename(dirname(path))];
    if (covered.has(path) || started.has(path) || !REFERENCE.test(file) || MADE_OF.test(file)) continue;
    if (path.split('/').some((part) => NOT_HERE.test(part))) continue;
    if (isAbout(file, folder))
      found.push({ id: file.replace(/\.md$/i, ''), description: '', tags: [], path });
  }
  if (found.length === 0) return undefined;
  const each = [...new Map(found.map((fragment) => [fragment.path, fragment])).values()];
  const shared = (id: string): boolean => each.filter((other) => fold(other.id) === fold(id)).length > 1;
  return {
    name: fold(name),
    module: [...new Set(each.map(({ path }) => content.moduleOf(path)))].join(', '),
    aliases: [],
    fragments: each.map((fragment) => (shared(fragment.id) ? { ...fragment, id: fragment.path } : fragment)),
  };
}

const TITLE_LENGTH = 120;
const SENTENCE_LENGTH = 200;
/** Headings and first sentences are at the top. */
const HEAD_LENGTH = 16_000;
const COLUMNS_NAMED = 6;

/** A fragment with a title and a sentence, whoever wrote it: its own, else what its file begins with. */
async function withWords(fragment: KnowledgeFragment, files: ContentFiles): Promise<KnowledgeFragment> {
  const { title, description, path } = fragment;
  const named = title !== undefined && fold(title) !== fold(fragment.id);
  if (named && description !== '') return fragment;
  const text = await files
    .read(path)
    .then(({ bytes }) => bytes.toString('utf8').slice(0, HEAD_LENGTH))
    .catch(unlessShort(''));
  const own = titleWordsOf(path, text);
  return {
    ...fragment,
    title: named ? title : own.title,
    description: description === '' ? own.sentence : description,
  };
}

function titleWordsOf(path: string, text: string): { title: string; sentence: string } {
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
