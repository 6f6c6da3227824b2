import { t } from '../../base/text/message.ts';
import { attempt, noted, orElse } from '../../base/errors.ts';
import { sha256 } from '../../base/values.ts';
import { basename } from 'node:path';
import { mapLimited } from '../../base/async.ts';
import { parseFrontMatter, parseYaml, type Table, tableOf, textField } from '../../base/parse/parse.ts';
import { decodeEntities, decodeText, oneLine } from '../../base/text/text.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import { type Reader, type Attributes, firstTag, READS_AT_ONCE, recordOf } from '../reader.ts';

const GENERATION = 'loose';

/**
 * Agents and workflows kept in a plain folder, as Markdown with a name and a description at the top. `<module>/agents`
 * has the shape of an install without manifests, which the reader for compiled agents handles.
 */
export const looseReader: Reader = {
  generation: GENERATION,
  async again(source, { bmadRelativePath }) {
    const problems: Problem[] = [];
    const record = await readFile(source, bmadRelativePath, problems);
    return problems.length === 0 ? record : undefined;
  },
  async read(source) {
    const problems: Problem[] = [];
    const found = await mapLimited(await candidates(source), READS_AT_ONCE, (path) =>
      readFile(source, path, problems),
    );
    const records = found.filter((entry) => entry !== undefined);
    const nothing = { description: '', settings: [], roster: [], help: [] };
    const code = codeOf(source);
    const modules = records.length === 0 ? [] : [{ code, name: code, origin: source.origin, ...nothing }];
    problems.sort((one, other) => (one.file < other.file ? -1 : 1));
    return { records, modules, problems };
  },
};

function codeOf({ name, tree }: Source): string {
  return name ?? basename(tree.root);
}

const STRUCTURE = /^(?:[^/]+\/)?(?:_config|_cfg|module\.yaml|\.bmad-[^/]*)$/;
const WANTED =
  /^(?:(?:agents\/)?[^/]+\.md|workflows\/(?:[^/]+\.(?:md|ya?ml)|[^/]+\/workflow\.(?:md|ya?ml))|tasks\/[^/]+\.(?:md|xml))$/i;
/** By the name of the file alone. */
const UNWANTED = /^readme\b|^skill\.md$|(?:tpl|proposed|template)\./i;

/** The files to look at; none where there is any other structure of BMAD, which other readers understand. */
async function candidates(source: Source): Promise<string[]> {
  const top = await pathsIn(source, '');
  const inside = (await mapLimited(top, READS_AT_ONCE, (folder) => pathsIn(source, folder))).flat();
  if ([...top, ...inside].some((path) => STRUCTURE.test(path))) return [];
  // A workflow may have its own folder, as it has in a module.
  const groups = inside.filter((path) => /^workflows\/[^/]+$/.test(path) && !WANTED.test(path));
  const own = (await mapLimited(groups, READS_AT_ONCE, (folder) => pathsIn(source, folder))).flat();
  return [...top, ...inside, ...own]
    .filter((path) => WANTED.test(path) && !UNWANTED.test(basename(path)))
    .sort();
}

/** What is in a folder; nothing in a file, nor in a folder that cannot be read. */
async function pathsIn({ tree }: Source, folder: string): Promise<string[]> {
  const entries = await tree.list(folder).catch(orElse([]));
  return entries.map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
}

const isMarkdown = (path: string): boolean => /\.md$/i.test(path);

async function readFile(source: Source, path: string, problems: Problem[]): Promise<BmadRecord | undefined> {
  const bytes = await source.tree.read(path).catch(noted(problems, path, undefined));
  if (bytes === undefined) return undefined;
  const text = decodeText(bytes);
  const parse = (): unknown => {
    if (isXml(path)) return {};
    return isMarkdown(path) ? parseFrontMatter(path, text).data : parseYaml(path, text);
  };
  const data = attempt(() => tableOf(parse()), noted(problems, path, undefined));
  if (data === undefined) return undefined;
  const record = understand(source, path, data, tagOf(path, text), sha256(bytes));
  // At the top of a folder there may be notes; what lies in a folder for agents is meant to be one.
  if (record === undefined && path.includes('/'))
    problems.push({
      file: path,
      message:
        text.trim() === '' ? t`the file is empty` : t`left out: it has no name and description at the top`,
      mild: true,
    });
  return record;
}

const isXml = (path: string): boolean => /\.xml$/i.test(path);

/** The tag comes early in a file. */
const HEAD_LENGTH = 16_384;

/** What makes a file an agent or a task; a task has to say something in its tag. */
function tagOf(path: string, text: string): Attributes | undefined {
  const head = text.slice(0, HEAD_LENGTH);
  if (!isXml(path)) return firstTag(head, 'agent');
  return [firstTag(head, 'task'), firstTag(head, 'tool')].find((tag) => (tag?.size ?? 0) > 0);
}

/** An agent has the tag, or says what it is; a workflow has to say it; a task in XML has the tag. */
function understand(
  source: Source,
  path: string,
  data: Table,
  tag: Attributes | undefined,
  digest: string,
): BmadRecord | undefined {
  const kind = path.startsWith('workflows/') ? 'workflow' : path.startsWith('tasks/') ? 'task' : 'agent';
  const shown = (key: string, length: number): string | undefined =>
    oneLine(textField(data, key)?.slice(0, length * 4) ?? '', length) || undefined;
  const told = (key: string): string | undefined => decodeEntities(tag?.get(key) ?? '') || undefined;
  const [ownName, description] = [shown('name', 200), shown('description', 2_000)];
  const described = ownName !== undefined && description !== undefined;
  if (!described && (kind === 'workflow' || tag === undefined)) return undefined;
  const [group, folder, file] = path.split('/');
  // A workflow in its own folder is called by that, unless it says its name.
  const stem = file === undefined ? basename(path).replace(/\.\w+$/, '') : (folder ?? group ?? '');
  const workflowFormat = isMarkdown(path) ? 'workflow-md' : 'workflow-yaml';
  const agentFormat = tag === undefined ? 'document' : 'compiled-agent';
  return recordOf(source, {
    kind,
    listed: false,
    moduleName: codeOf(source),
    bmadVersion: source.origin.bmadVersion,
    name: kind === 'workflow' ? (ownName ?? stem) : stem,
    displayName: told('name'),
    title: told('title'),
    icon: told('icon'),
    description: description ?? told('description') ?? told('title') ?? '',
    bmadRelativePath: path,
    moduleRelativePath: path,
    generation: GENERATION,
    format: isXml(path)
      ? 'xml'
      : kind === 'workflow'
        ? workflowFormat
        : kind === 'task'
          ? 'document'
          : agentFormat,
    aliases: [told('name'), told('title'), ownName, stem],
    digest,
  });
}
