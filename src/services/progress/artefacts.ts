import { t } from '../../base/text/message.ts';
import { posix } from 'node:path';
import { headingIn } from '../../base/text/markdown.ts';
import { judgeDocument, type Judgement } from './document.ts';
import type { Locations } from './locations.ts';
import type { ItemKind } from './model.ts';
import type { ProjectFiles } from './project-files.ts';
import { withoutEnd } from '../../base/text/ends.ts';

interface Group {
  kind: ItemKind;
  /** Its file, or its folder. */
  path: string;
  /** The files that make it up. */
  files: string[];
}

/** One document, or one that is spread over several files. */
export type Artefact = Group & Judgement;

/** Files of a run folder of the newer versions, which belong together. */
const RUN_FOLDERS: Record<string, { kind: ItemKind; files: RegExp }> = {
  briefs: { kind: 'brief', files: /^brief\.md$/ },
  prds: { kind: 'prd', files: /^prd\.md$/ },
  'ux-designs': { kind: 'ux', files: /^(?:design|experience)\.md$/ },
  architecture: { kind: 'architecture', files: /^architecture-spine\.md$/ },
  specs: { kind: 'spec', files: /^spec\.md$/ },
};

/** Folders that hold one document in pieces. */
const SHARDED: Record<string, ItemKind> = {
  prd: 'prd',
  architecture: 'architecture',
  epics: 'epics',
  'ux-design': 'ux',
  'ux-design-specification': 'ux',
};

/** The names that workflows of all versions give, and what people make of them. The first that fits decides. */
const NAMES: readonly (readonly [RegExp, ItemKind | undefined])[] = [
  [/^implementation-readiness/, 'readiness'],
  [/^sprint-change-proposal/, 'change'],
  [/validation|checklist|distillate|review|report|retro|template|changelog|readme/, undefined],
  [/research|brainstorm|competitor-analysis|domain-brief/, 'research'],
  [/(?:^|[-_\d])brief(?:[-_.]|$)|^prfaq/, 'brief'],
  [/^tech-spec-epic/, undefined],
  [/^tech-spec/, 'spec'],
  [/(?:^|[-_\d])(?:prd|gdd)(?:[-_.]|$)/, 'prd'],
  [/^ux[-_.]|ux-(?:design|spec)|^front-end-spec/, 'ux'],
  [/architecture/, 'architecture'],
  [/^epic-\d+-(?:retro|context)/, undefined],
  [/(?:^|[-_\d])epics(?:[-_.]|$)/, 'epics'],
];

/** The planning documents of a project. A kind is looked for in the next place only when the one before has none. */
export async function findArtefacts(files: ProjectFiles, locations: Locations): Promise<Artefact[]> {
  const groups = new Map<string, Group>();
  const placed = new Map<ItemKind, string>();
  const notPlanning = new Set([...locations.stories, ...locations.gates].filter((folder) => folder !== ''));
  const add = (kind: ItemKind, folder: string, path: string, file: string): void => {
    if ((placed.get(kind) ?? folder) !== folder) return;
    placed.set(kind, folder);
    const key = `${kind} ${path}`;
    const group = groups.get(key) ?? { kind, path, files: [] };
    if (!group.files.includes(file)) group.files.push(file);
    groups.set(key, group);
  };
  for (const [kind, named] of [
    ['prd', locations.prd],
    ['architecture', locations.architecture],
  ] as const)
    for (const path of named)
      for (const file of await markdownAt(files, path)) add(kind, 'core-config', path, file);
  for (const folder of locations.planning) {
    for (const file of await files.below(folder, 3)) {
      if (!/\.md$/i.test(file)) continue;
      const inner = folder === '' ? file : file.slice(folder.length + 1);
      if (!locations.planning.includes(posix.dirname(file)) && notPlanning.has(posix.dirname(file))) continue;
      const found = partOf(inner);
      if (found !== undefined) add(found.kind, folder, posix.join(folder, found.path), file);
    }
  }
  const artefacts = await Promise.all([...groups.values()].map((group) => judged(files, group)));
  return artefacts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function markdownAt(files: ProjectFiles, path: string): Promise<string[]> {
  if ((await files.read(path)) !== undefined) return [path];
  return (await files.below(path, 1)).filter((file) => /\.md$/i.test(file));
}

/** Which document a path below a planning folder is part of. */
function partOf(path: string): { kind: ItemKind; path: string } | undefined {
  const parts = path.toLowerCase().split('/');
  const name = parts.at(-1) ?? '';
  const [top = ''] = parts;
  if (parts.length === 3) {
    const run = RUN_FOLDERS[top];
    return run?.files.test(name) === true ? { kind: run.kind, path: posix.dirname(path) } : undefined;
  }
  if (parts.length === 2) {
    const kind = SHARDED[top];
    if (kind !== undefined) return { kind, path: posix.dirname(path) };
    return /research|brainstorm|analysis/.test(top) ? { kind: 'research', path } : undefined;
  }
  const kind = NAMES.find(([pattern]) => pattern.test(name))?.[1];
  return kind === undefined || parts.length > 1 ? undefined : { kind, path };
}

async function judged(files: ProjectFiles, group: Group): Promise<Artefact> {
  const parts: Judgement[] = [];
  for (const file of group.files) {
    const read = await files.read(file);
    if (read === undefined) continue;
    if ('trouble' in read) parts.push({ state: 'unknown', evidence: { file, says: read.trouble.message } });
    else
      parts.push(
        (group.kind === 'readiness' ? readinessVerdict(file, read.text) : undefined) ??
          judgeDocument(group.kind, file, read.text),
      );
  }
  // What is spread over several files is as far as the part that decides against it.
  const sharded = group.files.length > 1 && group.kind !== 'ux';
  const order = sharded
    ? (['in progress', 'complete', 'unknown', 'not started'] as const)
    : (['in progress', 'unknown', 'not started', 'complete'] as const);
  const [deciding] = order.flatMap((state) => parts.find((part) => part.state === state) ?? []);
  return {
    ...(deciding ?? { state: 'not started', evidence: { file: group.path, says: t`no readable file` } }),
    ...group,
    path: group.path === '' ? '.' : group.path,
  };
}

/** `Overall readiness **status**: …`. */
function saysReadiness(line: string): boolean {
  const names = line.split(':').slice(0, -1);
  return names.some((name) =>
    /(?:overall|readiness).{0,40}status$/i.test(withoutEnd(name.trimEnd(), '*_').slice(-60)),
  );
}

/** The verdict of a readiness report: a report of a plan that is not ready does not finish the gate. */
function readinessVerdict(file: string, text: string): Judgement | undefined {
  const lines = text.split(/\r?\n/);
  const heading = lines.findIndex((line) =>
    /overall readiness|readiness (?:status|decision)|décision|verdict/i.test(headingIn(line)?.title ?? ''),
  );
  const inLine = lines.findIndex(saysReadiness);
  const from = heading === -1 ? inLine : heading + 1;
  if (from === -1) return undefined;
  for (const [offset, line] of lines.slice(from, from + 7).entries()) {
    const [, word] =
      /\b(NOT[ _-]READY|NEEDS[ _-]WORK|READY(?: WITH [A-Z]+)?|PASS|CONCERNS|FAIL)\b/.exec(line) ?? [];
    if (word === undefined) continue;
    const state = /^READY|^PASS$|^CONCERNS$/.test(word) ? 'complete' : 'in progress';
    return { state, status: word, evidence: { file, line: from + offset + 1, says: t`verdict ${word}` } };
  }
  return undefined;
}
