import { orElse } from '../../base/expected.ts';
import { byteLength } from '../../base/text/text.ts';
import type { Activation, StatePort, Workspace } from '../context.ts';
import { plannedDocuments } from '../project/discovery.ts';

type Kind = Awaited<ReturnType<typeof plannedDocuments>>[number]['kind'];

/** How texts call the documents that others have left behind. */
const NAMES: Partial<Record<Kind, RegExp>> = {
  research: /\bresearch\b|brainstorm/i,
  brief: /\bbriefs?\b/i,
  prd: /\bprds?\b|product requirements/i,
  ux: /\bux\b/i,
  architecture: /\barchitecture\b/i,
  epics: /\bepics?\b/i,
  spec: /\bspecs?\b/i,
  readiness: /readiness/i,
  sprint: /sprint-status|\bsprint\b/i,
  change: /change proposal/i,
};

const LISTED = 8;
const LONGEST = 700;

/**
 * The documents of the project that a workflow asks for, with their paths. Texts look for them by patterns such as
 * `{planning_artifacts}/*prd*.md`, which do not find what another version of BMAD has put elsewhere.
 */
export async function knownInputs(
  { record, material }: Activation,
  project: string | undefined,
  workspace: Workspace,
  context: StatePort,
): Promise<string | undefined> {
  if (record.kind === 'agent' || workspace.project.root === undefined) return undefined;
  const text = [...material.files.map((file) => file.text), ...(material.beside ?? [])].join('\n');
  if (!Object.values(NAMES).some((name) => name.test(text))) return undefined;
  // What cannot be read is told by `next`; it does not keep a workflow from starting.
  const documents = await context
    .state(project)
    .then(plannedDocuments)
    .catch(orElse([] as Awaited<ReturnType<typeof plannedDocuments>>));
  const lines: string[] = [];
  for (const { kind, path, state } of documents) {
    if (NAMES[kind]?.test(text) !== true) continue;
    const line = `- ${kind}: ${path}${state === 'complete' ? '' : ` (${state})`}`;
    if (!lines.includes(line)) lines.push(line);
  }
  while (byteLength(lines.join('\n')) > LONGEST) lines.pop();
  if (lines.length === 0) return undefined;
  return `## Inputs that exist\n\nIn the project, whatever patterns the text looks for:\n\n${lines.slice(0, LISTED).join('\n')}`;
}
