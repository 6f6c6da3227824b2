import official from '../../assets/names/modules.json' with { type: 'json' };
import { attempt, noted } from '../base/errors.ts';
import { parseCsv } from '../base/parse/parse.ts';
import { outline, withoutComments } from '../base/text/markdown.ts';
import { oneLine } from '../base/text/text.ts';
import { present } from '../base/values.ts';
import { HELP_COLUMNS, type HelpRow } from '../model/module.ts';
import type { Problem } from '../model/record.ts';
import type { Tree } from '../sources/tree.ts';
import { readable } from './reader.ts';

const COLUMNS = Object.values(HELP_COLUMNS);
const PHASE_COLUMN = COLUMNS.indexOf('phase');

/** The name of what a path in a help row leads to, if it is known. */
type NameAt = (path: string) => string | undefined;

/**
 * The rows of a module's `module-help.csv`. From 6.2.1 on they name a skill; before that they name the file of a workflow, and
 * `nameAt` tells what it is called. A row of the skill `_meta` holds the module's documentation address.
 */
export async function readHelp(
  tree: Tree,
  folder: string,
  problems: Problem[],
  nameAt: NameAt = () => undefined,
): Promise<HelpRow[]> {
  const file = `${folder}/module-help.csv`;
  const text = (await readable(tree, file, problems)) ?? '';
  const [header = [], ...lines] = attempt(() => parseCsv(file, text), noted(problems, file, []));
  const columns = header.map((name) => name.trim().toLowerCase());
  const places = new Map(columns.map((name, place) => [name, place] as const).toReversed());
  const read = places.has('workflow-file')
    ? lines.map((cells) => workflowRow(places, cells, nameAt))
    : lines.map(realigned).map(toHelpRow);
  return read.filter(({ skill }) => skill !== '');
}

/** Some shipped rows lost an empty column before the phase; a phase one column early gives them away. */
function realigned(row: string[]): string[] {
  const early = row[PHASE_COLUMN - 1] ?? '';
  const shifted =
    row.length === COLUMNS.length - 1 && (['anytime', 'plan', 'ship'].includes(early) || /^\d-/.test(early));
  return shifted ? [...row.slice(0, PHASE_COLUMN - 1), '', ...row.slice(PHASE_COLUMN - 1)] : row;
}

function toHelpRow(row: string[]): HelpRow {
  const texts = Object.fromEntries(COLUMNS.map((column, at) => [column, row[at] ?? '']));
  return { ...(texts as HelpTexts), required: texts['required']?.toLowerCase() === 'true' };
}

/** A row from the first beta to 6.2.0. The last column of its header may have no name, so columns go by name. */
function workflowRow(places: ReadonlyMap<string, number>, cells: readonly string[], nameAt: NameAt): HelpRow {
  const cell = (column: string): string => cells[places.get(column) ?? -1]?.trim() ?? '';
  return {
    module: cell('module'),
    skill: workflowName(cell('workflow-file'), cell('command'), cell('module'), nameAt),
    displayName: cell('name'),
    menuCode: cell('code'),
    description: cell('description'),
    action: '',
    args: cell('options'),
    phase: cell('phase'),
    precededBy: '',
    followedBy: '',
    required: cell('required').toLowerCase() === 'true',
    outputLocation: cell('output-location'),
    outputs: cell('outputs'),
  };
}

/** Commands are `bmad-brainstorming` or `bmad-bmm-create-prd`; a row without one is an entry of an agent's menu. */
function workflowName(file: string, command: string, module: string, nameAt: NameAt): string {
  if (file.startsWith('skill:')) return file.slice('skill:'.length);
  const known = nameAt(file) ?? nameAt(file.replace(/\.agent\.yaml$/, '.md'));
  if (known !== undefined) return known;
  if (command !== '') {
    const short = command.replace(/^bmad-/, '');
    return short.startsWith(`${module}-`) ? short.slice(module.length + 1) : short;
  }
  const [folder = '', name = ''] = file.split('/').slice(-2);
  return /^workflow\.\w+$/.test(name) ? folder : name.replace(/(?:\.agent)?\.\w+$/, '');
}

/** A row as it is written, where everything is a text. */
type HelpTexts = Omit<HelpRow, 'required'>;

type Described = { name: string; description: string };

/** What the method's own modules call themselves; installers before 6.3 leave neither name nor description behind. */
const OFFICIAL = new Map<string, Described>(Object.entries(official));

const NAME_LENGTH = 80;
const DESCRIPTION_LENGTH = 300;

/** What a module is called and what it is for: by its README, else as the method knows it, else by its code. */
export async function describedModule(
  tree: Tree,
  code: string,
  onDisk: boolean,
  problems: Problem[],
): Promise<Described> {
  const known = OFFICIAL.get(code);
  const told = onDisk ? await fromReadme(tree, code, problems) : undefined;
  return {
    name: known?.name ?? told?.name ?? code,
    description: told?.description ?? known?.description ?? '',
  };
}

/** The heading, without the code in front of it and the word module behind; and the first paragraph below. */
async function fromReadme(tree: Tree, code: string, problems: Problem[]): Promise<Partial<Described>> {
  const text = withoutComments((await readable(tree, `${code}/README.md`, problems)) ?? '');
  const [top, next] = outline(text);
  if (top === undefined) return {};
  const [, ...lines] = text.slice(top.start, next?.start).split('\n');
  const paragraph =
    lines
      .join('\n')
      .trim()
      .split(/\n\s*\n/, 1)[0] ?? '';
  const title = oneLine(top.title, NAME_LENGTH);
  const named = title.toLowerCase().startsWith(`${code.toLowerCase()} - `)
    ? title.slice(code.length + 3)
    : title;
  const heading = named.toLowerCase().endsWith(' module') ? named.slice(0, -' module'.length) : named;
  const description = oneLine(paragraph.replaceAll(/[*`]/g, ''), DESCRIPTION_LENGTH);
  return present<Partial<Described>>({
    name: heading || undefined,
    // A rule, a list, a table or a picture says nothing in one line.
    description: /^\p{L}/u.test(description) ? description : undefined,
  });
}
