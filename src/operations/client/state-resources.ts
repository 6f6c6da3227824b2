import { attempt, orElse } from '../../base/expected.ts';
import { contentPath } from '../../base/files/paths.ts';
import { localDay } from '../../base/text/local-time.ts';
import { fenced } from '../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import type { Call, Context, MemoryPort } from '../context.ts';
import { headline, memoryData } from '../memory/memory-view.ts';
import { PROJECT_RESOURCES, projectPlace, projectText, projectUri } from './project-resources.ts';
import { runsPlace, runsResources, runsText } from './run-resources.ts';
import { WORK_RESOURCES, workPlace, workText } from './work-resources.ts';

/** What a project remembers and says about itself: no files of the content, but read like them. */

export interface StateResource {
  uri: string;
  name: string;
  mimeType: string;
  origin: string;
  description: string;
}

/** The text behind a URI of the project's state; nothing for any other URI. */
export async function stateText(
  uri: string,
  context: Context,
  call: Call,
  project?: string,
): Promise<StateText | undefined> {
  const found = await textBehind(uri, context, call, project);
  // It is handed out like a file, and a file of lines ends with one.
  return found && { ...found, text: found.text.endsWith('\n') ? found.text : `${found.text}\n` };
}

interface StateText {
  text: string;
  origin: string;
}

async function textBehind(
  uri: string,
  context: Context,
  call: Call,
  project: string | undefined,
): Promise<StateText | undefined> {
  const memory = memoryPlace(uri);
  const isState =
    memory !== undefined || runsPlace(uri) !== undefined || workPlace(uri) !== undefined || isOwn(uri);
  if (!isState || (await isContent(uri, context, project))) return undefined;
  if (memory !== undefined) return { text: await memoryText(memory, context, project), origin: 'memory' };
  const run = runsPlace(uri);
  if (run !== undefined) return { text: await runsText(run, context, project), origin: 'runs' };
  const work = workPlace(uri);
  if (work !== undefined) return { text: await workText(work, context, project), origin: work.what };
  const own = projectPlace(uri);
  if (own !== undefined) return { text: await projectText(own, context, call, project), origin: 'project' };
  return undefined;
}

const isOwn = (uri: string): boolean => projectPlace(uri) !== undefined;

/** A flat folder of content may have `tasks/x.xml` too: what is listed as a file is that file. */
async function isContent(uri: string, context: Context, project: string | undefined): Promise<boolean> {
  const { delivery } = await context.workspace(project);
  const path = attempt(() => contentPath(uri), orElse(undefined));
  return path !== undefined && (await delivery.paths()).some((known) => known.path === path);
}

/** All of it that has a fixed address, in a fixed order. */
export async function stateResources(context: Context): Promise<StateResource[]> {
  const one = (uri: string, name: string, origin: string, description: string): StateResource => ({
    uri,
    name,
    mimeType: 'text/markdown',
    origin,
    description,
  });
  return [
    ...PROJECT_RESOURCES.map(({ name, description }) =>
      one(projectUri(name), `project/${name}`, 'project', description),
    ),
    ...MEMORY_TYPES.map((type) =>
      one(memoryUri(type), `memory/${type}`, 'memory', `What the project remembers: ${type}`),
    ),
    ...WORK_RESOURCES.map(({ name, description }) => one(`bmad://${name}`, name, name, description)),
    ...(await runsResources(context)),
  ];
}

/** `bmad://memory/decisions` and `bmad://memory/decisions/{id}`. */
const MEMORY_URI = /^bmad:\/\/memory\/([a-z-]+)(?:\/([0-9a-f-]{36}))?$/i;

interface MemoryPlace {
  type: MemoryType;
  id: string | undefined;
}

function memoryPlace(uri: string): MemoryPlace | undefined {
  const [, name, id] = MEMORY_URI.exec(uri) ?? [];
  const type = MEMORY_TYPES.find((known) => known === name);
  return type === undefined ? undefined : { type, id };
}

function memoryUri(type: MemoryType, id?: string): string {
  return `bmad://memory/${type}${id === undefined ? '' : `/${id}`}`;
}

/** All memories of a type as Markdown, or one of them with its earlier versions. */
async function memoryText({ type, id }: MemoryPlace, context: MemoryPort, project?: string): Promise<string> {
  const memory = await context.memory(project);
  if (id === undefined) {
    const { text } = await memory.exported('markdown', { type });
    // The file of an export has this line in the words of the kit; here it is only read.
    return text.replace(/^> Exporté : (\S+) \| Entrées : (\d+)$/m, '> Exported: $1 | Entries: $2');
  }
  const { entry, revisions } = await memory.get(id, type);
  const earlier = revisions.map(
    ({ revision, at, text }) => `\n## Revision ${revision}, ${localDay(new Date(at))}\n\n${fenced(text)}\n`,
  );
  return `# ${headline(memoryData(entry))}\n\n${fenced(entry.text)}\n${earlier.join('')}`;
}
