import type { ItemKind } from './model.ts';
import { ProjectFiles } from './project-files.ts';
import { readReport, type Report } from './report.ts';
import type { Story } from './stories.ts';

/** A document of the project that work is done by. */
export interface ProjectDocument {
  kind: ItemKind;
  /** From the top of the project. */
  path: string;
  text: string;
}

/** Those that are read by whoever does the work, the ones nearest to it first. */
const READ: readonly ItemKind[] = ['story', 'spec', 'prd', 'architecture', 'ux', 'epics', 'brief'];

/** The story that is worked on, then the plans, found by the rules that progress is judged by. */
export async function projectDocuments(root: string): Promise<ProjectDocument[]> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const story = currentStory(report)?.file;
  const paths: { kind: ItemKind; path: string }[] = [
    ...(story === undefined ? [] : [{ kind: 'story' as const, path: story.file }]),
    ...report.artefacts.flatMap(({ kind, files: own }) => own.map((path) => ({ kind, path }))),
  ];
  const documents: ProjectDocument[] = [];
  for (const { kind, path } of paths) {
    if (!READ.includes(kind) || documents.some((known) => known.path === path)) continue;
    const read = await files.read(path);
    if (read !== undefined && 'text' in read) documents.push({ kind, path, text: read.text });
  }
  const place = ({ kind }: ProjectDocument): number => READ.indexOf(kind);
  return documents.sort((a, b) => place(a) - place(b) || (a.path < b.path ? -1 : 1));
}

/** What is furthest and not done; of those the first in the order of the ledger. */
function currentStory({ stories }: Report): Story | undefined {
  for (const status of ['in-progress', 'review', 'ready-for-dev', 'drafted'] as const) {
    const found = stories.find((story) => story.file !== undefined && story.likely === status);
    if (found !== undefined) return found;
  }
  return undefined;
}
