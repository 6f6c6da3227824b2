import { contentPath } from '../../base/files/paths.ts';
import type { Call, Context } from '../context.ts';
import { handOver } from '../execute.ts';
import { getAgentMemory, learningsText } from '../memory/get-agent-memory.ts';
import { getFailureMuseum, museumText } from '../project/get-failure-museum.ts';
import { contextText } from '../project/project-context-text.ts';

/** `bmad://project/context`, `…/decisions`, `…/failures`, `…/session` and `bmad://project/agents/{agent}`. */
const PROJECT_URI = /^bmad:\/\/project\/(?:(context|decisions|failures|session)|agents\/([^/?#]{1,300}))$/i;

export const PROJECT_RESOURCES = [
  { name: 'context', description: 'What the project says about itself' },
  { name: 'decisions', description: 'The project’s decisions, newest first' },
  { name: 'failures', description: 'The project’s past failures and the rules they led to' },
  { name: 'session', description: 'Where the last session left off' },
] as const;

export interface ProjectPlace {
  part: string;
  agent: string | undefined;
}

export function projectPlace(uri: string): ProjectPlace | undefined {
  const [, part, agent] = PROJECT_URI.exec(uri) ?? [];
  if (part !== undefined) return { part: part.toLowerCase(), agent: undefined };
  return agent === undefined ? undefined : { part: 'agents', agent: contentPath(`bmad://${agent}`) };
}

export function projectUri(part: string): string {
  return `bmad://project/${part}`;
}

/** The whole of it as Markdown: unlike an answer, a resource is not kept short. */
export async function projectText(
  { part, agent }: ProjectPlace,
  context: Context,
  call: Call,
  project?: string,
): Promise<string> {
  if (part === 'context' || part === 'decisions') {
    const section = part === 'context' ? 'all' : part;
    const { contextData } = await import('../project/project-context-data.ts');
    return contextText(await contextData(section, context, call, project), false, Infinity);
  }
  if (part === 'failures')
    return museumText(
      (await handOver(getFailureMuseum, { project }, context, call)) as Parameters<typeof museumText>[0],
      Infinity,
    );
  if (part === 'agents')
    return learningsText(
      (await handOver(getAgentMemory, { agent, project }, context, call)) as Parameters<
        typeof learningsText
      >[0],
      Infinity,
    );
  const facts = await (await context.state(project)).facts();
  const problems: string[] = [];
  const page = await facts.sessionPage(problems);
  return page === undefined ? [...problems, 'No session has been saved yet.'].join('\n') : facts.shown(page);
}
