import { MEMORY_TYPES } from '../../model/memory.ts';
import type { Call, Context } from '../context.ts';
import { memoryPlace, memoryText, memoryUri } from './memory-resources.ts';
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
  if (memory !== undefined) return { text: await memoryText(memory, context, project), origin: 'memory' };
  const run = runsPlace(uri);
  if (run !== undefined) return { text: await runsText(run, context, project), origin: 'runs' };
  const work = workPlace(uri);
  if (work !== undefined) return { text: await workText(work, context, project), origin: work.what };
  const own = projectPlace(uri);
  if (own !== undefined) return { text: await projectText(own, context, call, project), origin: 'project' };
  return undefined;
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
