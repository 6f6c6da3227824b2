import { attempt, orElse } from '../../base/errors.ts';
import { behaviourOf, sharesItsFolder, type BmadRecord, type Origin } from '../../model/record.ts';
import { mapLimited, once, onceEach } from '../../base/async.ts';
import { field, isTable, parseFrontMatter, parseYaml, type Table, tableOf } from '../../base/parse/parse.ts';
import { oneLine } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { nameOfToday } from '../../catalogue/identity.ts';
import type { HelpRow } from '../../model/module.ts';
import type { AgentCharacter } from './agent-character.ts';
import { agentProfile, type AgentProfile, type MenuItem, menuTargets, placesOfAgent } from './agent.ts';
import type { CommandedWork, MeantCommands, NamedEntry } from './agent-menu.ts';
import type { ServedFile } from './files.ts';
import { type ProjectSkills, skillFolder } from './resolve-skill.ts';
import { partsIn, type WorkflowPart } from './workflow.ts';

/** What an old name stands for now. */
export function standingFor(record: BmadRecord, { callable, records }: Catalogue): BmadRecord {
  if (record.deprecated?.successor === undefined) return record;
  // What was asked for from an origin that is not served otherwise leads on to what the same origin has.
  const all = callable.includes(record) ? callable : records.filter(({ origin }) => origin === record.origin);
  const successor = all.find(
    ({ name, deprecated }) => name === record.deprecated?.successor && deprecated === undefined,
  );
  return successor ?? record;
}

/** Workflows have up to a hundred files; the rest is found by its folder. */
const PARTS_NAMED = 40;

/** What belongs to a workflow beside its main file. */
export interface WorkflowFiles {
  files: { path: string; bytes: number }[];
  /** How many more there are. */
  more: number;
  missing: WorkflowPart[];
}

/** Questions about what an agent or workflow is, without starting it. */
export function createDescriptions(
  catalogue: Catalogue,
  { resolved, projectBmad }: ProjectSkills,
  mainText: (record: BmadRecord) => Promise<string>,
  settingsOf: (record: BmadRecord) => Promise<[string, string][]>,
  file: (path: string, from: Origin) => Promise<ServedFile>,
) {
  async function customizationOf(record: BmadRecord): Promise<Table> {
    return behaviourOf(record).isSkill ? (await resolved(record)).customization : {};
  }

  /** Who an agent is and what its menu offers. */
  const profile = onceEach(async (record: BmadRecord): Promise<AgentProfile> =>
    agentProfile(record, await mainText(record), await customizationOf(record)),
  );

  const menuTarget = menuTargets(catalogue);
  const startedBy = ({ target }: MenuItem, agent: BmadRecord): BmadRecord | undefined =>
    target === undefined ? undefined : menuTarget(target, agent);

  const menus = once(async () =>
    (await import('./agent-menu.ts')).createMenus(catalogue, {
      profileOf: profile,
      startedBy,
      nameOfToday,
    }),
  );

  return {
    profile,
    /** For each of these agents: where everything is, or may come to be, that decides what its profile says. */
    async profilePlaces(agents: readonly BmadRecord[]): Promise<string[][]> {
      const bmad = await projectBmad();
      return agents.map((agent) => placesOfAgent(agent, catalogue, bmad));
    },
    /** Who an agent is and which rules it follows, for a model that plays it without its file. */
    async character(asked: BmadRecord): Promise<AgentCharacter> {
      const { agentCharacter } = await import('./agent-character.ts');
      const record = standingFor(asked, catalogue);
      return agentCharacter({
        record,
        main: await mainText(record),
        customization: await customizationOf(record),
        values: await settingsOf(record),
      });
    },
    /** What an agent's menu offers, as a user would ask for it. */
    async menu(record: BmadRecord): Promise<string[]> {
      return (await profile(record)).menu.map(({ code, text }) => (code === '' ? text : `${code}: ${text}`));
    },
    /** The agents that have each piece of work in their menu. */
    async doing(): Promise<ReadonlyMap<BmadRecord, readonly BmadRecord[]>> {
      return (await menus()).doing();
    },
    /** The entries of all menus that a word stands for: a command of version 4, a code, a trigger. */
    async commands(word: string): Promise<MeantCommands> {
      return (await menus()).meant(word);
    },
    /** What an entry of an agent's menu starts, if that is here. */
    startedBy,
    /** What a message to an agent starts, where it begins with an entry of its menu. */
    async commanded(agent: BmadRecord, message: string): Promise<CommandedWork | undefined> {
      const { commandedWork } = await import('./agent-menu.ts');
      const { menu } = await profile(agent);
      return commandedWork(agent, message, catalogue, { menu, startedBy, textOf: mainText, nameOfToday });
    },
    /** The entry of an agent's menu that a message begins with, and the prompt in the agent's file that it leads to. */
    async entry(agent: BmadRecord, message: string): Promise<NamedEntry | undefined> {
      const { namedEntry } = await import('./agent-menu.ts');
      return namedEntry((await profile(agent)).menu, message);
    },
    /** What a workflow takes and makes, and the content paths of its files. */
    async details(record: BmadRecord) {
      const main = await mainText(record);
      const help = catalogue.modules.flatMap((module) =>
        module.help.filter(({ skill }) => skill === record.name),
      );
      return {
        ...workflowDetails(record, main, help),
        files: await filesOf(record, main),
      };
    },
    /** The instructions that a workflow in YAML is followed by, which are another file. */
    async instructions(record: BmadRecord): Promise<{ path: string; text: string } | undefined> {
      const files = catalogue.files.preferring(record.origin);
      const known = await files.all();
      const parts = partsIn(record, await mainText(record), (path) => known.has(path));
      const path = parts.find((part) => part.key === 'instructions' && known.has(part.path))?.path;
      if (path === undefined) return undefined;
      // It may be any file, a configuration with secrets too. One that cannot be read does not keep back the main file.
      const text = (await file(path, record.origin).catch(orElse(undefined)))?.text;
      return text === undefined ? undefined : { path, text };
    },
    /** The other files of a workflow with their sizes, the likeliest to be needed first, and those that are missing. */
    async parts(record: BmadRecord): Promise<WorkflowFiles> {
      const main = await mainText(record);
      const paths = (await filesOf(record, main)).slice(1);
      const files = catalogue.files.preferring(record.origin);
      const there = await mapLimited(paths.slice(0, PARTS_NAMED), 8, async (path) => ({
        path,
        bytes: (await files.read(path).catch(orElse(undefined)))?.bytes.length ?? 0,
      }));
      const known = await files.all();
      return {
        files: there,
        more: Math.max(0, paths.length - PARTS_NAMED),
        missing: partsIn(record, main, (path) => known.has(path)).filter(({ path }) => !known.has(path)),
      };
    },
  };

  /** A workflow is a folder; before the folders, and for tasks, it is one file and those it names. */
  async function filesOf(record: BmadRecord, main: string): Promise<readonly string[]> {
    const files = catalogue.files.preferring(record.origin);
    const known = await files.all();
    const named = partsIn(record, main, (path) => known.has(path)).map(({ path }) => path);
    const isOne = behaviourOf(record).isAlone || sharesItsFolder(record);
    const own = isOne ? [] : await files.below(skillFolder(record));
    return [...new Set([record.bmadRelativePath, ...named.filter((path) => known.has(path)), ...own])];
  }
}

const INPUT_KEYS = ['inputs', 'required_inputs', 'recommended_inputs', 'input_file_patterns', 'variables'];
const OUTPUT_KEYS = ['default_output_file', 'output_file', 'outputFile', 'outputs'];
const LINE_LENGTH = 200;
const LINES = 40;

/** What a workflow's files and help rows say about it. Of what it takes: a name, and where it is found if that is said. */
function workflowDetails(record: BmadRecord, main: string, help: readonly HelpRow[]) {
  const file = selfDescription(record, main);
  const steps = stepsOf(file);
  const made = steps.flatMap((step) => lines(field(step, 'creates')));
  const needed = steps.flatMap((step) => lines(field(step, 'requires')));
  const author = field(file, 'author');
  return {
    ...(typeof author === 'string' && author.trim() !== '' ? { author: oneLine(author, 100) } : {}),
    inputs: unique([
      ...INPUT_KEYS.flatMap((key) => lines(field(file, key))),
      ...needed.filter((name) => !made.includes(name)),
      ...help.map(({ args }) => args),
    ]),
    outputs: unique([
      ...OUTPUT_KEYS.flatMap((key) => lines(field(file, key))),
      ...made,
      ...help.map(({ outputs, outputLocation }) =>
        outputs === '' || outputLocation === '' ? outputs : `${outputs} (${outputLocation})`,
      ),
    ]),
  };
}

/** YAML, or the front matter of Markdown; version 4 puts all under one key. */
function selfDescription({ bmadRelativePath }: BmadRecord, main: string): Table {
  const parse = (): unknown =>
    /\.ya?ml$/i.test(bmadRelativePath)
      ? parseYaml(bmadRelativePath, main)
      : parseFrontMatter(bmadRelativePath, main).data;
  // The doctor tells of files that cannot be parsed; here they only say less.
  const table = tableOf(attempt(parse, orElse({})));
  const inner = field(table, 'workflow');
  return isTable(inner) ? inner : table;
}

function stepsOf(file: Table): Table[] {
  const steps = field(file, 'sequence');
  return Array.isArray(steps) ? steps.filter(isTable) : [];
}

/** A value in lines of text, whatever its shape: a scalar, a list, or a table of names. */
function lines(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [String(value)];
  if (Array.isArray(value)) return value.flatMap(lines);
  if (!isTable(value)) return [];
  return Object.entries(value).map(([name, inner]) => {
    const told = isTable(inner) ? (field(inner, 'description') ?? field(inner, 'whole')) : inner;
    return typeof told === 'string' && told !== '' ? `${name}: ${told}` : name;
  });
}

function unique(texts: readonly string[]): string[] {
  const shown = texts.map((text) => oneLine(text, LINE_LENGTH)).filter((text) => text !== '');
  return [...new Set(shown)].slice(0, LINES);
}
