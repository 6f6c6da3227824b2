import { say, t } from '../../base/text/message.ts';
import { ParseError } from '../../base/expected.ts';
import { basename, dirname } from 'node:path/posix';
import { once } from '../../base/async.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { parseCsv } from '../../base/parse/parse.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { shortName, type BmadRecord } from '../../model/record.ts';

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
  const domains = once(async (): Promise<readonly KnowledgeDomain[]> => {
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
  });

  /** What is asked for across domains; loaded when no domain has the name. */
  async function topic(name: string, all: readonly KnowledgeDomain[]): Promise<KnowledgeDomain | undefined> {
    const { topicNamed } = await import('./topics.ts');
    const places = new Places(catalogue);
    return topicNamed(name, all, {
      paths: [...(await catalogue.files.all()).keys()],
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
      const [only, other] = found;
      const domain = only ?? (await topic(name, all));
      if (domain !== undefined && other === undefined) {
        const { withWords } = await import('./fragment-words.ts');
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
      ...(record?.displayName === undefined ? {} : { title: record.displayName }),
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
    const files = folders.get(folder);
    if (files === undefined) folders.set(folder, [path]);
    else files.push(path);
  }
  return folders;
}

/** The rows of an index, whose paths are relative to it. A broken index is the doctor's matter and lists nothing. */
async function indexRows({ files }: Catalogue, index: string): Promise<KnowledgeFragment[]> {
  try {
    const [header = [], ...rows] = parseCsv(index, (await files.read(index)).bytes.toString('utf8'));
    const columns = new Map(header.map((name, at) => [name.trim().toLowerCase(), at]));
    return rows.flatMap((row) => {
      const cell = (name: string): string => row[columns.get(name) ?? -1]?.trim() ?? '';
      const file = cell('fragment_file').replaceAll('\\', '/');
      if (file === '' || file.split('/').includes('..') || file.startsWith('/')) return [];
      const title = oneLine(cell('name'), 120);
      return [
        {
          id: oneLine(cell('id') || file, 120),
          ...(title === '' ? {} : { title }),
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
