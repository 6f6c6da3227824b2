import type { ItemKind, State } from './model.ts';
import { ProjectFiles } from './project-files.ts';
import { readReport, type Report } from './report.ts';
import { storyAtHand, storyInput, unknownStory } from './story-inputs.ts';
import { worksOf } from './workers.ts';

/** A document of the project that work is done by. */
export interface ProjectDocument {
  kind: ItemKind;
  /** From the top of the project. */
  path: string;
  /** How far it is, by the same judgement as everywhere. */
  state: State;
  text: string;
}

/** The documents that the worker reads, the ones nearest to the work first. */
const READ: readonly ItemKind[] = ['story', 'spec', 'prd', 'architecture', 'ux', 'epics', 'brief'];

/** The story that is worked on, then the plans, found by the rules that progress is judged by. */
export async function projectDocuments(
  root: string,
  workflow: string | undefined,
  words: string | undefined,
): Promise<ProjectDocument[]> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const works = workflow === undefined ? [] : worksOf(workflow);
  const named = storyInput(report, works, words);
  // Another story is not what was asked for.
  const atHand = unknownStory(report.stories, words) === undefined ? storyAtHand(report, works) : undefined;
  const story = named === undefined || named.isPlanned ? (atHand ?? currentStory(report)) : named.place;
  const judged = (kind: ItemKind, own: readonly string[], state: State): State =>
    report.items.find((item) => item.kind === kind && own.includes(item.evidence[0]?.file ?? ''))?.state ??
    state;
  const paths = [
    ...(story === undefined ? [] : [{ kind: 'story' as const, path: story, state: 'in progress' as State }]),
    ...report.artefacts.flatMap(({ kind, files: own, state }) =>
      own.map((path) => ({ kind, path, state: judged(kind, own, state) })),
    ),
  ];
  const documents: ProjectDocument[] = [];
  for (const { kind, path, state } of paths) {
    if (!READ.includes(kind) || documents.some((known) => known.path === path)) continue;
    const read = await files.read(path);
    if (read !== undefined && 'text' in read) documents.push({ kind, path, state, text: read.text });
  }
  const place = ({ kind }: ProjectDocument): number => READ.indexOf(kind);
  return documents.sort((a, b) => place(a) - place(b) || (a.path < b.path ? -1 : 1));
}

/** What is furthest and not done; of those the first in the order of the ledger. */
function currentStory({ stories }: Report): string | undefined {
  const [found] = (['in-progress', 'review', 'ready-for-dev', 'drafted'] as const).flatMap((status) =>
    stories.flatMap(({ file, likely }) => (file !== undefined && likely === status ? [file.file] : [])),
  );
  return found;
}
