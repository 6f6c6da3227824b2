import type { Judgement, Plan, Planned } from './document.ts';
import type { Gate, Row, SprintLedger, WorkflowLedger } from './ledgers.ts';
import type { Locations } from './places.ts';
import type { Drift, Evidence, Item, ItemKind, Phase, State, StoryStatus, Trouble } from './rules.ts';
import type { StoryFile, StoryFiles } from './story-files.ts';

export interface Group {
  kind: ItemKind;
  /** Its file, or its folder. */
  path: string;
  /** The files that make it up. */
  files: string[];
}

/** One document, or one that is spread over several files. */
export type Artefact = Group & Judgement;

/** A story with all that is known of it. */
export interface Story {
  id: string;
  epic: number;
  story: string;
  row: Row | undefined;
  file: StoryFile | undefined;
  planned: Planned | undefined;
  gate: Gate | undefined;
  /** What its file proves, as the ledger would have it. */
  proven: StoryStatus | undefined;
  /** The ledger's status; where there is no row, that of the file. */
  status: StoryStatus | undefined;
  /** The further of the two, which the ledger would have if it were up to date. */
  likely: StoryStatus | undefined;
}

export interface Epic {
  epic: number;
  row: Row | undefined;
  retrospective: Row | undefined;
  stories: Story[];
  planned: Planned | undefined;
}

/** What was found in the files of a project. */
export interface PlanningFiles {
  locations: Locations;
  artefacts: Artefact[];
  plan: Plan;
  sprint: SprintLedger | undefined;
  workflows: WorkflowLedger | undefined;
  broken: Evidence[];
  /** Further ledgers of the same kind. */
  others: string[];
  files: StoryFiles;
  stories: Story[];
  epics: Epic[];
}

export interface Deferred {
  file: string;
  open: number;
}

/** All that the files of a project prove about its progress. */
export interface Report extends PlanningFiles {
  items: Item[];
  phases: { phase: Phase; state: State; evidence: Evidence[] }[];
  drift: Drift[];
  troubles: Trouble[];
  /** How many entries of deferred work are open, and the file that has them. */
  deferred: Deferred | undefined;
  /** Whether there is code that BMAD did not plan. */
  brownfield: boolean;
}
