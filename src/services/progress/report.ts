import { posix } from 'node:path';
import { plural } from '../../base/text/text.ts';
import { findArtefacts, type Artefact } from './artefacts.ts';
import { findDrift } from './drift.ts';
import { joinedPlans, plannedIn, type Plan } from './epic-headings.ts';
import { findLocations, type Locations } from './locations.ts';
import type { Drift, Item, Phase, State, Trouble, Evidence } from './model.ts';
import { documentItems, phasesOf } from './phases.ts';
import { ProjectFiles } from './project-files.ts';
import { isBroken, readSprintLedger, type BrokenLedger, type SprintLedger } from './sprint-ledger.ts';
import {
  fileEvidence,
  epicItem,
  joinedEpics,
  joinedStories,
  storyItem,
  type Epic,
  type Story,
} from './stories.ts';
import { findStoryFiles, type StoryFiles } from './story-files.ts';
import { readWorkflowLedger, type WorkflowLedger } from './workflow-ledger.ts';

/** All that the files of a project prove about its progress. */
export interface Report {
  locations: Locations;
  artefacts: Artefact[];
  plan: Plan;
  sprint: SprintLedger | undefined;
  workflows: WorkflowLedger | undefined;
  broken: BrokenLedger[];
  /** Further ledgers of the same kind. */
  others: string[];
  files: StoryFiles;
  stories: Story[];
  epics: Epic[];
  items: Item[];
  phases: { phase: Phase; state: State; evidence: Evidence[] }[];
  drift: Drift[];
  troubles: Trouble[];
  /** Whether there is code that BMAD did not plan. */
  brownfield: boolean;
}

const SPRINT_NAMES = ['sprint-status.yaml', 'sprint-status.yml'];
const WORKFLOW_NAMES = [
  'bmm-workflow-status.yaml',
  'bmgd-workflow-status.yaml',
  'workflow-status.yaml',
  'bmm-workflow-status.md',
];

/** Reads it all anew: the files change under our feet. */
export async function readReport(root: string, files = new ProjectFiles(root)): Promise<Report> {
  const locations = await findLocations(files);
  const artefacts = await findArtefacts(files, locations);
  const storyFiles = await findStoryFiles(files, locations);
  const plan = await planOf(files, artefacts);
  const sprints = await ledgers(files, locations, SPRINT_NAMES, readSprintLedger);
  const workflow = await ledgers(files, locations, WORKFLOW_NAMES, readWorkflowLedger);
  const sprint = sprints.good[0];
  const stories = joinedStories(sprint, storyFiles, plan);
  const epics = joinedEpics(sprint, plan, stories);
  const found = {
    locations,
    artefacts,
    plan,
    sprint,
    workflows: workflow.good[0],
    broken: [...sprints.broken, ...workflow.broken],
    others: [...sprints.good.slice(1), ...workflow.good.slice(1)].map(({ file }) => file),
    files: storyFiles,
    stories,
    epics,
  };
  const items = [...documentItems(found), ...sprintItems(found), ...workItems(found)];
  return {
    ...found,
    items,
    phases: phasesOf(found, items),
    drift: findDrift(found, items),
    troubles: sorted(files.troubles),
    brownfield: await hasCode(files),
  };
}

/** The epics that the planning documents name. In version 4 they are part of the PRD. */
async function planOf(files: ProjectFiles, artefacts: readonly Artefact[]): Promise<Plan> {
  const plans: Plan[] = [];
  const sources = artefacts.filter(({ kind }) => kind === 'epics');
  const used = sources.length > 0 ? sources : artefacts.filter(({ kind }) => kind === 'prd');
  for (const { files: paths } of used)
    for (const path of paths) {
      const read = await files.read(path);
      if (read !== undefined && 'text' in read) plans.push(plannedIn(path, read.text));
    }
  return joinedPlans(plans);
}

/** All ledgers of a kind, the likeliest first. Asked for by name, so that a link that leads away is told. */
async function ledgers<L extends { file: string }>(
  files: ProjectFiles,
  { implementation, planning, stories }: Locations,
  names: readonly string[],
  parse: (file: string, text: string) => L | BrokenLedger,
): Promise<{ good: L[]; broken: BrokenLedger[] }> {
  const found: { good: L[]; broken: BrokenLedger[] } = { good: [], broken: [] };
  const seen = new Set<string>();
  for (const folder of [...implementation, ...planning, ...stories])
    for (const name of names) {
      const path = posix.join(folder, name);
      if (seen.has(path)) continue;
      seen.add(path);
      const read = await files.read(path);
      if (read === undefined) continue;
      if ('trouble' in read) {
        found.broken.push({ file: path, broken: read.trouble.message });
        continue;
      }
      const ledger = parse(path, read.text);
      if (isBroken(ledger as SprintLedger | BrokenLedger)) found.broken.push(ledger as BrokenLedger);
      else found.good.push(ledger as L);
    }
  return found;
}

function sprintItems({ sprint, broken }: Pick<Report, 'sprint' | 'broken'>): Item[] {
  const base = { kind: 'sprint', phase: 'implementation', id: 'sprint-planning' } as const;
  if (sprint !== undefined) {
    const says = plural(sprint.rows.length, 'row');
    return [{ ...base, state: 'complete', evidence: [{ file: sprint.file, says }] }];
  }
  const bad = broken.find(({ file }) => file.includes('sprint-status'));
  if (bad === undefined) return [{ ...base, state: 'not started', evidence: [] }];
  const { file, line, broken: says } = bad;
  return [{ ...base, state: 'unknown', evidence: [{ file, ...(line === undefined ? {} : { line }), says }] }];
}

function workItems({ sprint, epics, files }: Pick<Report, 'sprint' | 'epics' | 'files'>): Item[] {
  const items: Item[] = [];
  for (const epic of epics) {
    items.push(epicItem(epic, sprint?.file));
    for (const story of epic.stories) items.push(storyItem(story, sprint?.file));
    const { retrospective } = epic;
    if (retrospective !== undefined && sprint !== undefined)
      items.push({
        kind: 'retrospective',
        phase: 'implementation',
        id: retrospective.key,
        state:
          retrospective.means === undefined
            ? 'unknown'
            : retrospective.means === 'optional'
              ? 'not started'
              : 'complete',
        status: retrospective.word,
        evidence: [{ file: sprint.file, line: retrospective.line, says: retrospective.word }],
      });
  }
  for (const spec of files.specs)
    items.push({
      kind: 'spec',
      phase: 'implementation',
      id: spec.slug,
      state: spec.status === undefined ? 'unknown' : spec.status === 'done' ? 'complete' : 'in progress',
      ...(spec.word === undefined ? {} : { status: spec.word }),
      evidence: [fileEvidence(spec)],
    });
  return items;
}

const CODE_FILES = [
  'package.json',
  'pyproject.toml',
  'requirements.txt',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'composer.json',
  'Gemfile',
];

async function hasCode(files: ProjectFiles): Promise<boolean> {
  for (const name of CODE_FILES) if ((await files.read(name)) !== undefined) return true;
  return (await files.below('src', 2)).length > 0;
}

/** Files are read side by side, so the order is made here. */
function sorted(troubles: readonly Trouble[]): Trouble[] {
  const each = new Map(troubles.map((trouble) => [`${trouble.file} ${trouble.message}`, trouble]));
  return [...each].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trouble]) => trouble);
}
