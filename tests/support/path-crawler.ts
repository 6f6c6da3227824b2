import { posix } from 'node:path';
import { contentPath } from '../../src/base/files/paths.ts';
import { BmadError } from '../../src/base/errors.ts';
import { type OriginKind, STARTABLE } from '../../src/model/record.ts';
import type { Workspace } from '../../src/operations/context.ts';
import type { SayStep } from '../../src/base/step.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';

/** A path that leads nowhere by the rules of the answer that names it. */
interface DeadEnd {
  record: string;
  written: string;
  /** Where it was looked for; nothing where no rule of the answer says that. */
  uri: string | undefined;
}

export interface Crawl {
  texts: number;
  /** Files that were reached from there and read in turn. */
  files: number;
  /** How many different paths of the content each text names, all together. */
  paths: number;
  resolved: number;
  deadEnds: DeadEnd[];
}

/** The rules an answer states, as a reader takes them from its words. */
interface Rules {
  /** `{project-root}/bmad/` leads to `bmad://`. */
  prefixes: [string, string][];
  values: Map<string, string>;
  /** Whether it is said where relative paths begin. */
  beside: boolean;
  /** What the answer says is done or found elsewhere. */
  settled: RegExp[];
}

const READ = /uri:"(bmad:\/\/[^"]*)"/;

function rulesIn(answer: string): Rules {
  const rules: Rules = { prefixes: [], values: new Map(), beside: false, settled: [] };
  for (const line of answer.slice(0, answer.indexOf('----- BEGIN')).split('\n')) {
    const uri = READ.exec(line)?.[1];
    const written = [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    if (line.startsWith('- Files the text names as') && uri !== undefined)
      for (const each of written) rules.prefixes.push([each.slice(0, -1), uri.slice(0, -1)]);
    const isOwn = /^- (?:Read its|Its) files \(`\{skill-root\}\/x`/.test(line);
    if (line.startsWith('- Paths such as') || isOwn) rules.beside = true;
    if (isOwn && uri !== undefined) rules.values.set('skill-root', uri.slice(0, -2));
    if (line.includes('a dependency `{type}/{name}`') && uri !== undefined)
      rules.prefixes.push(['dependency:', uri.slice(0, -1)]);
    const [, key, value] = /^- `\{([^}]+)\}`: (.+)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined && key !== 'project-root') rules.values.set(key, value);
    if (/^- The configuration and the customization are .* can be skipped\.$/.test(line))
      rules.settled.push(
        /\/scripts\/(?:resolve_\w+|render_skill)\.py$/,
        /_bmad\/custom\/[\w.-]+\.toml$/,
        /_?bmad\/\w+\/config\.yaml$|_?bmad\/config(?:\.user)?\.toml$/,
      );
    const [, from, to] = /`([^`]+)` is (bmad:\/\/\S+)\.$/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      rules.prefixes.push([from, to], [`{project-root}/${from}`, to]);
    }
  }
  // What to do without a script may follow the files.
  for (const [, script = ''] of answer.matchAll(/^- `(\w+\.py)`: /gm))
    rules.settled.push(new RegExp(`/scripts/${script}$`));
  return rules;
}

const ENDINGS = 'md|ya?ml|xml|csv|json|py|toml|txt|html|excalidraw';
const PATH = new RegExp(
  String.raw`(?<![\w./{}@:\\*-])((?:\{[\w-]+\}|\.{1,2}|[\w.-]+)\/[\w./{}*-]*\.(?:${ENDINGS}))(?![\w/-])`,
  'g',
);
const URI = /bmad:\/\/[^\s`"'<>),|]*[^\s`"'<>),|.:;]/g;
const ROOTED =
  /^(?:\{project[-_]root\}\/)?(?:\{bmad_folder\}|\{_bmad\}|[._]?bmad(?:-(?!output|method)[a-z\d]+)*)\//;

/** Names the text gives to places itself: keys of YAML and of front matter. */
function ownNames(text: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const [, key = '', value = ''] of text.matchAll(/^[ \t]*([\w-]+): *["']?([^"'\n#]+?)["']? *$/gm))
    if (value.includes('/') && !names.has(key)) names.set(key, value);
  return names;
}

/** What an agent of version 4 depends on: `tasks/create-doc.md`. */
function dependenciesIn(text: string): string[] {
  const block = /^dependencies:\n((?: +.*\n)+)/m.exec(text)?.[1] ?? '';
  const found: string[] = [];
  let type = '';
  for (const line of block.split('\n')) {
    type = /^ +(\w+):\s*$/.exec(line)?.[1] ?? type;
    const name = /^ +- ([\w.-]+)\s*$/.exec(line)?.[1];
    if (name !== undefined) found.push(`${type}/${name}`);
  }
  return found;
}

function filled(written: string, names: readonly ReadonlyMap<string, string>[]): string {
  let path = written;
  for (let round = 0; round < 4; round += 1) {
    const before = path;
    path = path.replace(/^\{([\w-]+)\}/, (whole, key: string) => {
      return names.map((each) => each.get(key)).find((value) => value !== undefined) ?? whole;
    });
    if (path === before) break;
  }
  return path;
}

/** The content URI of a path by the rules; nothing if it is a file of the project or still open; `false` without a rule. */
function uriOf(
  path: string,
  folder: string,
  rules: Rules,
  isFolder: (path: string) => boolean,
): string | false | undefined {
  if (/[{}*]|\.\.\./.test(path.replace(/^\{project[-_]root\}\/|^\{bmad_folder\}|^\{_bmad\}/g, '')))
    return undefined;
  if (path.startsWith('bmad://')) return path;
  const rule = rules.prefixes.find(([prefix]) => path.startsWith(prefix));
  if (rule !== undefined) return rule[1] + path.slice(rule[0].length);
  if (ROOTED.test(path)) return rules.settled.some((settled) => settled.test(path)) ? undefined : false;
  if (!/^\.{1,2}\//.test(path) && (/^[{/]/.test(path) || !isFolder(`${folder}/${path.split('/', 1)[0]}`)))
    return undefined;
  if (!rules.beside) return false;
  const joined = posix.join(folder, path);
  return joined.startsWith('..') ? false : `bmad://${joined}`;
}

/**
 * What tells a reader to go on: not tables, not what the server makes itself, and not templates, whose paths are those of
 * the documents that are made from them.
 */
const FOLLOWED =
  /^bmad:\/\/(?!manifests\/|config\/|_c(?:onfig|fg)\/)(?!.*(?:template|tmpl)).*\.(?:md|xml|ya?ml)$/;

const say: SayStep = (step) => toolCall(step) ?? '';

/** The files that an answer says belong to its text: by name, and by the call that lists all. */
function belonging(preamble: string, folder: string, known: readonly string[]): string[] {
  const line = /^- Its (?:\d+ )?files: .*$/m.exec(preamble)?.[0] ?? '';
  const names = [...line.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => {
    const [, start = '', middle, end = ''] = /^(.*)\{(.+)\}(.*)$/.exec(name) ?? [];
    const all = middle === undefined ? [name] : middle.split(',').map((each) => start + each + end);
    return all.map((each) => `bmad://${folder}/${each}`);
  });
  const pattern = /pattern:"([^"]+)\/\*\*"/.exec(line)?.[1];
  const listed = known.filter(
    (path) =>
      pattern !== undefined &&
      path.startsWith(`${pattern}/`) &&
      !/\/(?:customize\.toml$|tests\/|SKILL\.md$)/.test(path),
  );
  return [...names, ...listed.map((path) => `bmad://${path}`)];
}

/**
 * Starts everything that can be started, follows every path that its text names, reads what is there, and follows the
 * paths of that text in turn, by the rules of the answer that led there. Each file is read once.
 */
export async function crawl(
  { catalogue, delivery }: Pick<Workspace, 'catalogue' | 'delivery'>,
  kind?: OriginKind,
): Promise<Crawl> {
  const found: Crawl = { texts: 0, files: 0, paths: 0, resolved: 0, deadEnds: [] };
  const folders = new Set<string>();
  const known = [...(await delivery.paths()).keys()];
  for (const path of known)
    for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at)) folders.add(at);
  const texts = new Map<string, string | undefined>();
  /** The text of a file or folder of the content; nothing if there is none. */
  const textAt = async (uri: string): Promise<string | undefined> => {
    if (texts.has(uri)) return texts.get(uri);
    const path = contentPath(uri);
    const text = folders.has(path)
      ? ''
      : await delivery.file(path).then(
          (file) => file.text ?? '',
          (error: unknown) => {
            if (error instanceof BmadError) return undefined;
            throw error;
          },
        );
    texts.set(uri, text);
    return text;
  };
  /** The paths that a text names, and where they lead by the rules of the answer. */
  const namedIn = (
    file: string,
    text: string,
    rules: Rules,
    names: readonly ReadonlyMap<string, string>[],
  ): Map<string, string | false> => {
    const wanted = new Map<string, string | false>();
    const folder = posix.dirname(contentPath(file));
    for (const [, written = ''] of text.matchAll(PATH)) {
      // Readers take both spellings for the same.
      const meant = filled(written, names).replace('{project_root}', '{project-root}');
      const to = uriOf(meant, folder, rules, (path) => folders.has(posix.normalize(path)));
      if (to !== undefined) wanted.set(written, to);
    }
    return wanted;
  };
  const followed = new Set<string>();
  // What is overridden can be called as well.
  for (const record of catalogue.callable) {
    if (!STARTABLE.includes(record.kind) || record.launches !== undefined) continue;
    if (kind !== undefined && record.origin.kind !== kind) continue;
    const { head, body, record: target } = await delivery.activation(record, undefined, undefined, say);
    const answer = `${head}\n\n${body}`;
    const rules = rulesIn(answer);
    const wanted = new Map<string, string | false>();
    const preamble = answer.slice(0, answer.indexOf('----- BEGIN'));
    for (const [uri] of preamble.matchAll(URI)) if (!/[{<]|\/x$|^bmad:\/\/x$/.test(uri)) wanted.set(uri, uri);
    for (const uri of belonging(preamble, posix.dirname(target.bmadRelativePath), known))
      wanted.set(uri, uri);
    for (const [, file = '', text = ''] of answer.matchAll(
      /----- BEGIN (\S+) -----\n(.*?)\n----- END \1 -----/gs,
    )) {
      followed.add(file);
      for (const [written, to] of namedIn(file, text, rules, [rules.values, ownNames(text)]))
        wanted.set(written, to);
      for (const name of dependenciesIn(text)) {
        const above = rules.prefixes.find(([prefix]) => prefix === 'dependency:')?.[1];
        const uri = above === undefined ? undefined : above + name;
        // A name without an ending is listed with it.
        const listed = [...wanted.keys()].find((each) => uri !== undefined && each.startsWith(`${uri}.`));
        wanted.set(`dependency ${name}`, listed ?? uri ?? false);
      }
    }
    found.texts += 1;
    const who = `${record.kind} ${record.moduleName}/${record.name}`;
    /** Follows the paths of one text, and those of the files behind them. */
    const follow = async (from: string, paths: ReadonlyMap<string, string | false>): Promise<void> => {
      for (const [written, uri] of paths) {
        found.paths += 1;
        const text = uri === false ? undefined : await textAt(uri);
        if (uri === false || text === undefined) {
          found.deadEnds.push({ record: from, written, uri: uri === false ? undefined : uri });
          continue;
        }
        found.resolved += 1;
        if (followed.has(uri) || !FOLLOWED.test(uri)) continue;
        followed.add(uri);
        found.files += 1;
        await follow(`${uri} of ${who}`, namedIn(uri, text, rules, [ownNames(text), rules.values]));
      }
    };
    await follow(who, wanted);
  }
  return found;
}
