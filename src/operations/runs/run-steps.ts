import { posix } from 'node:path';
import { attempt, BmadError, orElse, quoted } from '../../base/errors.ts';
import { contentPath } from '../../base/files/paths.ts';
import { saying } from '../../base/step.ts';
import { t } from '../../base/text/message.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Run } from '../../model/run.ts';
import { KINDS_OF } from '../catalogue/names.ts';
import type { CataloguePort, ProjectState, StatePort, Workspace } from '../context.ts';

/** A file that has one step of a workflow, or a part of one: `step-02b-vision.md`. */
interface StepFile {
  number: number;
  /** The letter of a part; empty for the step itself. */
  part: string;
  /** Without its ending, as the texts of BMAD name it. */
  name: string;
  uri: string;
}

/** A step as a caller has told it: by number, file name, `2c` or `step 5`. */
interface ToldStep {
  number: number;
  /** The name it was told by, or that it has where the number does not say all. */
  told?: string;
  /** Another part of the step follows. */
  goesOn?: true;
}

/** The steps of a workflow that has them in files. */
interface StepFiles {
  total: number;
  /** What each step is called, in order: `Step-02-vision` is `vision`. */
  names: string[];
  told(step: number | string): Promise<ToldStep>;
  /** A step that was recorded and that no file has; the files were others then. */
  lost(at: {
    last: string | undefined;
    done: readonly number[];
    total: number | undefined;
  }): string | undefined;
  /** Where a run goes on: one file, or several to choose from; none when it is over. */
  next(at: { step: number; last: string | undefined }): Promise<StepFile[]>;
}

const FILE = /^(.*\/)(step-?(?:[a-z]-)?(\d{1,3})([a-z]?)(?![a-z0-9])[^/]*)\.(?:md|xml)$/i;

/** The files of the steps; none where several folders have steps and the text does not say which are meant. */
function stepFilesIn(uris: readonly string[], text: string): StepFile[] {
  const found = uris.flatMap((uri) => {
    const [, folder = '', name = '', digits, part = ''] = FILE.exec(uri) ?? [];
    return digits === undefined
      ? []
      : [{ folder, uri, name, number: Number(digits), part: part.toLowerCase() }];
  });
  const folders = [...new Set(found.map(({ folder }) => folder))];
  const named = folders.filter((folder) => text.includes(`${posix.basename(folder)}/step`));
  const [only, other] = folders.length > 1 ? named : folders;
  if (only === undefined || other !== undefined) return [];
  return found
    .filter(({ folder, number }) => folder === only && number > 0)
    .map(({ number, part, name, uri }) => ({ number, part, name, uri }))
    .sort((a, b) => a.number - b.number || (a.part < b.part ? -1 : 1));
}

async function stepFiles(
  uris: readonly string[],
  text: string,
  read: (uri: string) => Promise<string>,
  routeOf: RouteOf,
): Promise<StepFiles | undefined> {
  const numbered = stepFilesIn(uris, text);
  const files = (await withRoute(numbered, uris, read, routeOf)) ?? numbered;
  const total = files.at(-1)?.number;
  if (total === undefined) return undefined;

  /** The beginning of a step: its own file, or each of those that only have letters, which are for one to be chosen. */
  function beginningFrom(number: number): StepFile[] {
    const first = files.find((file) => file.number >= number)?.number;
    const parts = files.filter((file) => file.number === first && !isDetour(file));
    const own = parts.find(({ part }) => part === '');
    return own === undefined ? parts : [own];
  }

  /** What follows a file: the one that it names itself, else its next part, else the next step. */
  async function after(file: StepFile): Promise<StepFile[]> {
    const follows = (other: StepFile): boolean => files.indexOf(other) > files.indexOf(file);
    const [, path = ''] = /^nextStepFile:(.*)$/m.exec(await read(file.uri)) ?? [];
    const named = posix.basename(path.replaceAll(/['"]/g, '').trim());
    const own = files.find(({ uri }) => posix.basename(uri) === named);
    if (own !== undefined && follows(own)) return [own];
    const same = files.filter(({ number }) => number === file.number);
    const next = same.find((other) => follows(other) && !isDetour(other));
    return next !== undefined && same.some(({ part }) => part === '')
      ? [next]
      : beginningFrom(file.number + 1);
  }

  function meant(step: number | string): StepFile | undefined {
    const { number, part } = spoken(step) ?? { number: -1, part: '' };
    const name = typeof step === 'string' ? plainName(step) : '';
    const same = files.filter((file) => file.number === number);
    return (
      files.find((file) => file.name.toLowerCase() === name) ??
      same.find((file) => file.part === part) ??
      // A step that only has parts to choose from is done with any of them.
      (part === '' ? same.at(-1) : undefined)
    );
  }

  return {
    total,
    names: Array.from({ length: total }, (_, index) => nameOf(files, index + 1)),
    async told(step) {
      const file = meant(step);
      if (file === undefined) {
        const { number, part } = understood(step);
        // Numbers have words of their own for what cannot be.
        if (part === '') return { number, ...asTold(step) };
        throw noStep(step, t`Steps: ${files.map(labelOf).join(', ')}.`);
      }
      const [next] = await after(file);
      const goesOn = next?.number === file.number;
      const told = goesOn && typeof step === 'number' ? { told: file.name } : asTold(step);
      return { number: file.number, ...told, ...(goesOn ? { goesOn } : {}) };
    },
    lost({ last, done, total: recorded }) {
      if (last !== undefined && spoken(last) !== undefined && meant(last) === undefined) return last;
      // What was told without files can be any number.
      const most = Math.max(0, ...done);
      return most > total && (recorded ?? 0) > total ? t`step ${most}` : undefined;
    },
    async next({ step, last }) {
      // Kits count a step as done with its first file, also where parts of it follow.
      const file = meant(last ?? step - 1);
      if (last === undefined && (file === undefined || (await after(file))[0]?.number !== file.number))
        return beginningFrom(step);
      // A step that was done again, long after it was passed, says nothing about what comes next.
      return file !== undefined && (file.number === step || file.number === step - 1)
        ? after(file)
        : beginningFrom(step);
    },
  };
}

/** Of several files of a step the first names it. */
function nameOf(files: readonly StepFile[], number: number): string {
  const name = files
    .find((file) => file.number === number)
    ?.name.replace(/^step-?(?:[a-z]-)?\d+[a-z]?-?/i, '');
  return name === undefined || name === '' ? String(number) : name.replaceAll('-', ' ');
}

/** Where a document that exists is taken up again: no part of the way from step to step. */
const isDetour = ({ part, name }: StepFile): boolean => part !== '' && /-continue(?:-|$)/i.test(name);

/** `2b`: how a step is called in few words. */
export const labelOf = ({ number, part }: Pick<StepFile, 'number' | 'part'>): string => `${number}${part}`;

/** A step of a workflow whose steps are not in files. */
export function toldStep(step: number | string): ToldStep {
  return { number: understood(step).number, ...asTold(step) };
}

/** A name is kept; a number in words is a number. */
function asTold(step: number | string): { told?: string } {
  return typeof step === 'number' || /^\d+$/.test(step) ? {} : { told: step };
}

interface Spoken {
  number: number;
  part: string;
}

/** `5`, `step 5`, `2c`, `step-02c-executive-summary`, also with folders and an ending. */
function spoken(step: number | string): Spoken | undefined {
  if (typeof step === 'number') return { number: step, part: '' };
  const [, digits, part = ''] =
    /^(?:step)?[\s_-]*(?:[a-z]-)?(\d{1,6})([a-z]?)(?![a-z0-9])/.exec(plainName(step)) ?? [];
  return digits === undefined ? undefined : { number: Number(digits), part };
}

function understood(step: number | string): Spoken {
  const found = spoken(step);
  if (found === undefined) throw noStep(step, t`Pass its number, or the name of its file.`);
  return found;
}

function noStep(step: number | string, hint: string): BmadError {
  return new BmadError('invalid_input', t`There is no step ${quoted(String(step))}.`, {
    subject: 'step',
    hint,
  });
}

/** The files of the steps of a run's workflow; nothing where it has none, or is not here any more. */
export async function stepFilesOf(
  run: Pick<Run, 'state'>,
  root: string,
  context: CataloguePort & StatePort,
  told?: number | string,
): Promise<StepFiles | undefined> {
  const { state } = run;
  if (state?.workflow === undefined && state?.workflowPath === undefined) return undefined;
  const workspace = await context.workspace();
  const find = async (): Promise<StepFiles | undefined> => {
    const record = recordOf(state.workflow, state.workflowPath, root, workspace);
    return record === undefined ? undefined : stepFilesFor(record, workspace, routeOfRun(run, told, context));
  };
  return find().catch(orElse(undefined));
}

function recordOf(
  name: string | undefined,
  path: string | undefined,
  root: string,
  { catalogue }: Workspace,
): BmadRecord | undefined {
  if (name !== undefined)
    return catalogue.names.resolve({ name, kinds: KINDS_OF.workflow, fuzzy: false }).record;
  const file = posix.join(root, path ?? '');
  return catalogue.callable.find(({ absolutePath }) => absolutePath === file);
}

/** The workflow of a run as it is served here: its own file, or what has its name; nothing where neither is there. */
export function servedFor(
  { state }: Pick<Run, 'state'>,
  root: string,
  workspace: Workspace,
): BmadRecord | undefined {
  const { workflow, workflowPath } = state ?? {};
  const find = (name: string | undefined) => (): BmadRecord | undefined =>
    recordOf(name, workflowPath, root, workspace);
  const own = attempt(find(workflow), orElse(undefined));
  if (own !== undefined || workflow !== undefined || workflowPath === undefined) return own;
  return attempt(find(nameIn(workflowPath)), orElse(undefined));
}

/** `…/dev-story/workflow.yaml` is `dev-story`. */
function nameIn(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/');
  const file = (parts.at(-1) ?? '').replace(/\.\w+$/, '');
  return /^(?:workflow|skill|instructions)$/i.test(file) ? (parts.at(-2) ?? file) : file;
}

export async function stepFilesFor(
  record: BmadRecord,
  { delivery }: Workspace,
  routeOf: RouteOf = () => Promise.resolve(undefined),
): Promise<StepFiles | undefined> {
  const { material, record: target } = await delivery.activation(
    record,
    undefined,
    undefined,
    saying(undefined),
  );
  const [main] = material.files;
  const read = async (uri: string): Promise<string> =>
    (await delivery.file(contentPath(uri), target.origin).catch(orElse(undefined)))?.text ?? '';
  return stepFiles(material.further, main?.text ?? '', read, routeOf);
}

/** Without folders and its ending. */
const plainName = (step: string): string =>
  posix
    .basename(step.trim().replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:md|xml)$/, '');

/** The route of a run among those that its workflow has a file for; nothing where it takes the numbered steps. */
type RouteOf = (routes: readonly string[]) => Promise<string | undefined>;

const STEP = 'step-';

/** A run on a route does the steps up to the last that names the file of the route, and then that file. */
async function withRoute(
  files: readonly StepFile[],
  uris: readonly string[],
  read: (uri: string) => Promise<string>,
  routeOf: RouteOf,
): Promise<StepFile[] | undefined> {
  const folder = posix.dirname(files[0]?.uri ?? '');
  const routes = uris.flatMap((uri) =>
    posix.dirname(uri) === folder ? (/\/step-([a-z][a-z_-]*)\.md$/i.exec(uri)?.[1] ?? []) : [],
  );
  const route = routes.length === 0 ? undefined : await routeOf(routes);
  const name = `${STEP}${route ?? ''}`;
  const uri = uris.find((each) => each === `${folder}/${name}.md`);
  if (route === undefined || uri === undefined) return undefined;
  for (const { number, uri: step } of files.toReversed())
    if ((await read(step)).includes(`${name}.md`))
      return [...files.filter((file) => file.number <= number), { number: number + 1, part: '', name, uri }];
  return undefined;
}

/** The route that the spec of a run has taken, or whose step was told by its name. */
function routeOfRun(run: Pick<Run, 'state'>, told: unknown, context: StatePort) {
  const names = new Set(
    [told, run.state?.lastStep].map((step) => (typeof step === 'string' ? plainName(step) : '')),
  );
  return async (routes: readonly string[]): Promise<string | undefined> =>
    routes.find((route) => names.has(`${STEP}${route.toLowerCase()}`)) ??
    (await workOfRun(run, await context.state())).route;
}

/** The story of a run and the route of its spec, by the values and files that are recorded with it. */
export async function workOfRun(
  { state: run }: Pick<Run, 'state'>,
  state: Pick<ProjectState, 'progress'>,
): Promise<{ story?: string; route?: string }> {
  const values = [
    ...Object.values(run?.variables ?? {}),
    ...(run?.artefacts ?? []).map(({ file, path }) => file ?? path),
  ].filter((value) => typeof value === 'string');
  return values.length === 0 ? {} : (await state.progress()).workIn(values);
}
