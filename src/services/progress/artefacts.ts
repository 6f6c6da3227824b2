import { posix } from 'node:path';
import { headingIn } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { judgeDocument, type Judgement } from './document.ts';
import type { Artefact, Group, PlanningFiles, Report } from './found.ts';
import type { Locations, ProjectFiles, Shards } from './places.ts';
import { type Evidence, type Item, type ItemKind, type Phase, PHASES, type State } from './rules.ts';

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

/** The verdict of a readiness report, in the section that BMAD's own has for it: a plan that is not ready does not finish the gate. */
function readinessVerdict(file: string, text: string): Judgement | undefined {
  const lines = text.split(/\r?\n/);
  const from = lines.findIndex((line) => /readiness (?:status|decision)/i.test(headingIn(line)?.title ?? ''));
  if (from === -1) return undefined;
  for (const [offset, line] of lines.slice(from, from + 8).entries()) {
    const [, word] =
      /\b(NOT[ _-]READY|NEEDS[ _-]WORK|READY(?: WITH [A-Z]+)?|PASS|CONCERNS|FAIL)\b/.exec(line) ?? [];
    if (word === undefined) continue;
    const state = /^READY|^PASS$|^CONCERNS$/.test(word) ? 'complete' : 'in progress';
    return { state, status: word, evidence: { file, line: from + offset + 1, says: t`verdict ${word}` } };
  }
  return undefined;
}

export const PHASE_OF: Partial<Record<ItemKind, Phase>> = {
  research: 'analysis',
  brief: 'analysis',
  prd: 'planning',
  spec: 'planning',
  ux: 'planning',
  architecture: 'solutioning',
  epics: 'solutioning',
  readiness: 'solutioning',
};

/** The documents every project is asked about; the others are named when they are there. */
const ALWAYS = new Set<ItemKind>(['brief', 'prd', 'ux', 'architecture', 'epics', 'readiness']);

/** One item for each kind of document, decided by the best there is, and one for each further draft. */
export function documentItems(found: PlanningFiles): Item[] {
  const items: Item[] = [];
  for (const kind of Object.keys(PHASE_OF) as ItemKind[]) {
    const phase = PHASE_OF[kind] ?? 'planning';
    const documents = found.artefacts.filter((artefact) => artefact.kind === kind).sort(byState);
    const [best, ...rest] = documents;
    if (best !== undefined) {
      const checked =
        kind === 'epics' ? checkedEpics(best, found) : kind === 'prd' ? plannedPrd(best, found) : best;
      items.push(itemOf(kind, phase, kind, checked));
      for (const other of rest)
        if (other.state === 'in progress' && best.state === 'complete' && kind !== 'research')
          items.push(itemOf(kind, phase, other.path, other));
      continue;
    }
    const inPrd = kind === 'epics' ? plannedInPrd(found) : undefined;
    const claimed = inPrd ?? skippedBy(kind, found);
    if (claimed !== undefined) items.push({ kind, phase, id: kind, ...claimed });
    else if (ALWAYS.has(kind) && !(kind === 'readiness' && isPastCheck(found)))
      items.push({ kind, phase, id: kind, state: 'not started', evidence: [] });
  }
  return items.sort((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase));
}

/** Version 4 leaves no file of this check, and a project with stories is past it: a missing file then says nothing. */
function isPastCheck({ locations: { v4 }, sprint, files }: PlanningFiles): boolean {
  return v4 || sprint !== undefined || files.stories.length > 0;
}

const ORDER: readonly State[] = ['complete', 'skipped', 'in progress', 'unknown', 'not started'];

/** The furthest first; of equals the one whose name comes last, which is the newest where names end in a date. */
function byState(a: Artefact, b: Artefact): number {
  return ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.path < b.path ? 1 : -1);
}

function itemOf(kind: ItemKind, phase: Phase, id: string, { state, status, evidence }: Artefact): Item {
  return { kind, phase, id, state, status, evidence: [evidence] };
}

/** Of the epics all is written, and only the check at the end leaves no mark, or has not been made. */
export const lacksOnlyCheck = ({ kind, stepsLeft }: Artefact): boolean => kind === 'epics' && stepsLeft === 1;

/** A list of epics is whole when each has stories; what was planned with it has been checked, marked or not. */
function checkedEpics(given: Artefact, { plan, sprint, artefacts, files }: PlanningFiles): Artefact {
  const isUsed =
    sprint !== undefined ||
    files.stories.length > 0 ||
    artefacts.some(({ kind, state }) => kind === 'readiness' && state === 'complete');
  const best: Artefact =
    lacksOnlyCheck(given) && isUsed
      ? {
          ...given,
          state: 'complete',
          evidence: { ...given.evidence, says: t`${given.evidence.says}, and what follows was made from it` },
        }
      : given;
  if (best.state !== 'complete') return best;
  const bare = plan.epics.find(({ epic }) => !plan.stories.some((story) => story.epic === epic));
  const open = (evidence: Evidence): Artefact => ({ ...best, state: 'in progress', evidence });
  if (plan.epics.length === 0 && plan.stories.length === 0)
    return open({ file: best.evidence.file, says: t`it names no epic` });
  return bare === undefined
    ? best
    : open({ file: bare.file, line: bare.line, says: t`epic ${bare.epic} has no stories` });
}

/** In version 4 the epics are the last part of the PRD. */
function plannedPrd(best: Artefact, { locations: { v4 }, plan, artefacts, files }: PlanningFiles): Artefact {
  const isPlanned =
    plan.epics.length + plan.stories.length + files.stories.length > 0 ||
    artefacts.some(({ kind }) => kind === 'epics');
  if (!v4 || isPlanned || best.state !== 'complete') return best;
  return { ...best, state: 'in progress', evidence: { file: best.evidence.file, says: t`it plans no epic` } };
}

/** What is decided, and by what. */
type Decided = Pick<Item, 'state' | 'evidence'>;

/** Version 4 and the first alphas write the epics into the PRD. */
function plannedInPrd({ plan, artefacts }: PlanningFiles): Decided | undefined {
  const [first] = plan.epics;
  const [prd] = artefacts.filter(({ kind }) => kind === 'prd').sort(byState);
  if (first === undefined || plan.stories.length === 0 || prd === undefined) return undefined;
  return {
    state: prd.state === 'complete' ? 'complete' : 'in progress',
    evidence: [{ file: first.file, line: first.line, says: t`it plans epic ${first.epic}` }],
  };
}

function skippedBy(kind: ItemKind, { workflows }: PlanningFiles): Decided | undefined {
  const row = workflows?.rows.find((other) => other.kind === kind && other.says === 'skipped');
  return row === undefined || workflows === undefined
    ? undefined
    : { state: 'skipped', evidence: [{ file: workflows.file, line: row.line, says: 'skipped' }] };
}

/** What has to be there for a phase to be complete. Analysis is optional in every version. */
const NEEDED: Record<Exclude<Phase, 'implementation'>, readonly (readonly ItemKind[])[]> = {
  analysis: [['brief']],
  planning: [['prd', 'spec']],
  solutioning: [['architecture'], ['epics']],
};

export function phasesOf(found: PlanningFiles, items: readonly Item[]): Report['phases'] {
  const isBuilt = found.sprint !== undefined || found.files.stories.length > 0;
  return PHASES.map((phase) => {
    const mine = items.filter((item) => item.phase === phase);
    if (phase === 'implementation') return { phase, ...implementationState(found, mine) };
    const heads = NEEDED[phase].map(
      (kinds) =>
        mine
          .filter(({ kind, id }) => kinds.includes(kind) && kind === id)
          .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))[0],
    );
    const done = heads.every(
      (head, at) =>
        head?.state === 'complete' ||
        head?.state === 'skipped' ||
        // Epics that stories were made of have done without an architecture.
        (isBuilt &&
          heads.slice(at + 1).some((later) => later?.state === 'complete' && !isPartOfPrd(later, items))),
    );
    const open = mine.find((item) => item.state === 'in progress' && !isPartOfPrd(item, items));
    const unknown = mine.find(({ state }) => state === 'unknown');
    const begun = mine.find((item) => item.state === 'complete' && !isPartOfPrd(item, items));
    const allSkipped = heads.every((head) => head?.state === 'skipped');
    const state: State =
      done && !allSkipped && open === undefined
        ? 'complete'
        : open !== undefined || (begun !== undefined && !done && phase !== 'analysis')
          ? 'in progress'
          : unknown !== undefined
            ? 'unknown'
            : begun !== undefined
              ? 'in progress'
              : 'not started';
    const deciding = state === 'complete' ? heads : [open ?? unknown ?? begun];
    return { phase, state, evidence: deciding.flatMap((item) => item?.evidence ?? []) };
  });
}

/** Epics that stand in the PRD were planned with it: they begin no phase of their own. */
export function isPartOfPrd(item: Item | undefined, items: readonly Item[]): boolean {
  const file = item?.evidence[0]?.file;
  return (
    item?.kind === 'epics' && items.some(({ kind, evidence }) => kind === 'prd' && evidence[0]?.file === file)
  );
}

function implementationState(
  { epics, stories, broken, sprint }: PlanningFiles,
  items: readonly Item[],
): Decided {
  const work = items.filter(({ kind }) => kind === 'story' || kind === 'spec');
  const done = work.filter(({ state }) => state === 'complete');
  const ledger =
    sprint === undefined ? [] : [{ file: sprint.file, says: t`${done.length} of ${work.length} done` }];
  const proof = ledger.length > 0 ? ledger : (done.at(-1)?.evidence ?? []);
  if (work.length > 0 && done.length === work.length) {
    const late = epics.some(
      ({ row }) => row !== undefined && row.means !== 'done' && row.means !== 'contexted',
    );
    return { state: late ? 'in progress' : 'complete', evidence: proof };
  }
  const open = work.find(({ state }) => state === 'in progress');
  if (open !== undefined) return { state: 'in progress', evidence: open.evidence };
  if (done.length > 0) return { state: 'in progress', evidence: proof };
  const bad = broken.find(({ file }) => file.includes('sprint-status'));
  if (bad !== undefined) return { state: 'unknown', evidence: [bad] };
  const unknown = work.find(({ state }) => state === 'unknown');
  if (unknown !== undefined) return { state: 'unknown', evidence: unknown.evidence };
  return { state: 'not started', evidence: stories.length > 0 ? ledger : [] };
}

/** Those of which only the whole document is there, with its file. */
export function missingShards(
  wanted: readonly Shards[],
  artefacts: readonly Artefact[],
): (Shards & { from: string })[] {
  return wanted.flatMap((shards) => {
    const found = artefacts.filter(({ kind }) => kind === shards.kind);
    const [from] = found.flatMap(({ files }) => files);
    return from === undefined || found.some(({ path }) => path === shards.to) ? [] : [{ ...shards, from }];
  });
}
