import { attempt, noted } from '../base/expected.ts';
import { parseCsv } from '../base/parse/parse.ts';
import type { HelpRow } from '../model/module.ts';
import type { Problem } from '../model/record.ts';
import type { Tree } from '../sources/tree.ts';
import { readable } from './reading.ts';

const COLUMNS = 13;
const PHASE_COLUMN = 7;

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
    row.length === COLUMNS - 1 && (['anytime', 'plan', 'ship'].includes(early) || /^\d-/.test(early));
  return shifted ? [...row.slice(0, PHASE_COLUMN - 1), '', ...row.slice(PHASE_COLUMN - 1)] : row;
}

function toHelpRow(row: string[]): HelpRow {
  const at = (index: number): string => row[index] ?? '';
  return {
    module: at(0),
    skill: at(1),
    displayName: at(2),
    menuCode: at(3),
    description: at(4),
    action: at(5),
    args: at(6),
    phase: at(PHASE_COLUMN),
    precededBy: at(8),
    followedBy: at(9),
    required: at(10).toLowerCase() === 'true',
    outputLocation: at(11),
    outputs: at(12),
  };
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
