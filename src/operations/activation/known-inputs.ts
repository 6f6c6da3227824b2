import { orElse } from '../../base/expected.ts';
import { byteLength, plural } from '../../base/text/text.ts';
import { shortName } from '../../model/record.ts';
import type { Activation, ProjectState, StatePort, Workspace } from '../context.ts';
import { plannedDocuments } from '../project/discovery.ts';

type Documents = Awaited<ReturnType<typeof plannedDocuments>>;
type Kind = Documents[number]['kind'];
type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Story = NonNullable<Awaited<ReturnType<Progress['storyFor']>>>;

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
  { project, message }: { project: string | undefined; message: string | undefined },
  workspace: Workspace,
  context: StatePort,
): Promise<string | undefined> {
  if (record.kind === 'agent' || workspace.project.root === undefined) return undefined;
  const text = [...material.files.map((file) => file.text), ...(material.beside ?? [])].join('\n');
  const wantsDocuments = Object.values(NAMES).some((name) => name.test(text));
  // What cannot be read is told by `next`; it does not keep a workflow from starting.
  const { documents, story } = await context
    .state(project)
    .then(async (state) => ({
      documents: wantsDocuments ? await plannedDocuments(state) : [],
      story: await (await state.progress()).storyFor(shortName(record.name), message),
    }))
    .catch(orElse({ documents: [] as Documents, story: undefined }));
  const lines = story === undefined ? [] : [storyLine(story)];
  for (const { kind, path, state } of documents) {
    if (NAMES[kind]?.test(text) !== true) continue;
    const line = `- ${kind}: ${path}${state === 'complete' ? '' : ` (${state})`}`;
    if (!lines.includes(line)) lines.push(line);
  }
  while (byteLength(lines.join('\n')) > LONGEST) lines.pop();
  if (lines.length === 0) return undefined;
  return `## Inputs that exist\n\nIn the project, whatever patterns the text looks for:\n\n${lines.slice(0, LISTED).join('\n')}`;
}

/** The story itself: texts look for it by the ledger and by patterns, and a review needs what to compare with. */
function storyLine({ id, status, place, isPlanned, base, others }: Story): string {
  if (isPlanned) return `- story: ${id}, planned in ${place}`;
  const more = others === 0 ? '' : `; ${plural(others, 'other story is', 'other stories are')} as far`;
  const from =
    base === undefined
      ? ''
      : base.commit === undefined
        ? ', no baseline_commit in it: ask what to compare with'
        : `, compare with baseline_commit ${base.commit}`;
  return `- story: ${place} (${status}${from})${more}`;
}
