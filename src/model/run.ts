/** A run is one execution of a workflow, kept in its own folder: `_bmad-output/.runs/{branch}/{run_id}`. */

/**
 * The status of a run; `unknown` stands for an undefined word, or for a file that cannot be read. One that was given up is
 * `failed` in its file, which is what the kit's own tools understand, with a mark beside it.
 */
export const RUN_STATUSES = [
  'pending',
  'running',
  'paused',
  'completed',
  'failed',
  'abandoned',
  'unknown',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunArtefact {
  step: number | undefined;
  name: string;
  /** As the state file has it: from the run's own folder or from the top of the project. */
  path: string;
  /** Where it was found, from the top of the project; nothing when it is missing or leads outside. */
  file: string | undefined;
}

/** What `state.json` says, with everything that cannot be used left out. */
export interface RunState {
  runId: string | undefined;
  /** The name to start the workflow with again; only runs that were opened here have it. */
  workflow: string | undefined;
  workflowPath: string | undefined;
  /** The branch that the file names; the folder it is in takes precedence. */
  branch: string | undefined;
  startedAt: string | undefined;
  lastCheckpoint: string | undefined;
  status: RunStatus;
  stepsCompleted: readonly number[];
  currentStep: number | undefined;
  totalSteps: number | undefined;
  resumeFromStep: number | undefined;
  variables: Readonly<Record<string, unknown>>;
  artefacts: readonly RunArtefact[];
  checkpointId: string | undefined;
  issues: readonly unknown[];
  notes: string | undefined;
  /** The step or part of a step that was last told by a name: a file of the workflow, or `2c`. */
  lastStep: string | undefined;
  /** The agent that was at work. */
  agent: string | undefined;
}

/** The plan of a run as `workflow-graph.yaml` has it, in numbers. */
export interface RunGraph {
  status: string | undefined;
  total: number;
  completed: number;
  running: readonly string[];
  failed: readonly string[];
}

/** An entry of the journal, which a line says; together they make the state. */
export interface JournalEntry {
  seq: number;
  at: string;
  event: 'opened' | 'adopted' | 'checkpoint' | 'finished';
  step?: number;
  /** The step as it was told, by a name; without `step` it is a part, and the step is not done yet. */
  told?: string;
  agent?: string;
  /** Earlier steps without a checkpoint, which are done when this one is. */
  also?: number[];
  current?: number;
  total?: number;
  variables?: Record<string, unknown>;
  artefacts?: { step?: number; name: string; path: string }[];
  status?: string;
  /** It was given up before its end. */
  abandoned?: true;
  checkpoint_id?: string;
  notes?: string;
  /** For the first line, and for a state that another program has written: all of it. */
  state?: Record<string, unknown>;
  /** Digest of the state after this line, by which a state file that stayed behind is recognised. */
  after: string;
}

/**
 * Journal and state file: `none` without a journal, `level` if they agree, `behind` if the state file lacks what the
 * lines have (a crash, a merge; the lines win), `changed` if another program has written the state file (the file wins).
 */
export type JournalStanding = 'none' | 'level' | 'behind' | 'changed';

export interface RunPlace {
  /** The folder nothing may lead out of: the project, or a folder of the user's for a project without BMAD. */
  base: string;
  /** The folder of the run, from there. */
  path: string;
}

export interface Run {
  id: string;
  branch: string;
  /** The folder in `.runs/archive` that contains it, for a run of an archived branch. */
  archive: string | undefined;
  place: RunPlace;
  state: RunState | undefined;
  status: RunStatus;
  /** The last sign of life, in milliseconds: last checkpoint or start; without dates, the change of the file. */
  latest: number;
  graph: RunGraph | undefined;
  /** Whether there is a `workflow-status.md` for people. */
  statusFile: boolean;
  journal: JournalStanding;
  /** What does not fit together, one sentence each. */
  problems: readonly string[];
}

export interface RunBranch {
  name: string;
  archive: string | undefined;
  place: RunPlace;
  /** As `branch.json` says: active, merged, archived, …; active without one. */
  status: string;
  purpose: string | undefined;
  createdAt: string | undefined;
  createdBy: string | undefined;
  parent: string | undefined;
  runs: readonly Run[];
  /** How many older ones were not looked at. */
  older: number;
  problems: readonly string[];
}

/** All runs of a project. */
export interface RunsReading {
  branches: readonly RunBranch[];
  /** The branch that is worked on, and what says so. */
  current: string;
  currentFrom: string;
  problems: readonly string[];
}
