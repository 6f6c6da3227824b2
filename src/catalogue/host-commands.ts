import { basename } from 'node:path';
import { mapLimited } from '../base/async.ts';
import { grouped } from '../base/values.ts';
import { orElse } from '../base/errors.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Tree } from '../sources/tree.ts';

const READS_AT_ONCE = 16;
const COMMAND_FILE = /\.(?:md|toml)$/i;

/** More of a command than this is never looked at: what it starts is named at its beginning. */
const BEGINNING = 4_000;

/**
 * What the commands of an assistant start already: installers up to 6.0 wrote one for each agent and workflow into folders
 * such as `.claude/commands`. Nothing else about these files is used.
 */
export async function startedByCommands(
  project: Tree,
  folders: readonly string[],
  records: readonly BmadRecord[],
): Promise<ReadonlySet<BmadRecord>> {
  const commands: Command[] = [];
  for (const folder of folders) {
    const paths = (await project.files(folder)).filter((path) => COMMAND_FILE.test(path));
    const texts = await mapLimited(paths, READS_AT_ONCE, (path) => project.text(path).catch(orElse('')));
    for (const [index, path] of paths.entries())
      commands.push({ path, text: texts[index]?.slice(0, BEGINNING) ?? '' });
  }
  const own = records.filter(({ origin }) => origin.kind === 'project');
  const started = startedFrom(own);
  return new Set(commands.flatMap(started));
}

interface Command {
  path: string;
  text: string;
}

/** What runs a workflow in YAML: commands name it beside the workflow that they start. */
const ENGINE = 'core/tasks/workflow.xml';

/** What a command starts. Only records that its text may name are compared: there may be thousands of both. */
function startedFrom(records: readonly BmadRecord[]): (command: Command) => BmadRecord[] {
  const byName = grouped(records, ({ name }) => name);
  const byPath = grouped(records, ({ bmadRelativePath }) => bmadRelativePath);
  const roots = [...new Set(records.map(({ origin }) => basename(origin.root)))];
  const longest = Math.max(0, ...Array.from(byPath.keys(), ({ length }) => length));
  return (command) => {
    const { path, text } = command;
    const paths = [
      ...placesAfter('/bmad/', path).map((at) => path.slice(at)),
      ...roots.flatMap((root) => placesAfter(`${root}/`, text)).flatMap((at) => pathsAt(text, at, longest)),
    ];
    const named = new Set([
      ...(byName.get(HEADING.exec(text)?.[1] ?? '') ?? []),
      ...paths.flatMap((each) => byPath.get(each) ?? []),
    ]);
    const found = [...named].filter((record) =>
      record.generation === 'v4' ? isCopy(command, record) : names(command, record),
    );
    return found.length === 1 ? found : found.filter(({ bmadRelativePath }) => bmadRelativePath !== ENGINE);
  };
}

/** Where a text goes on after each place that has this in it. */
function placesAfter(start: string, text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + 1))
    found.push(at + start.length);
  return found;
}

/** Whatever may be a path from here on: it ends where a name may end. */
function pathsAt(text: string, from: number, longest: number): string[] {
  const found: string[] = [];
  for (let to = from + 1; to <= Math.min(text.length, from + longest); to += 1)
    if (!/[\w-]/.test(text.charAt(to))) found.push(text.slice(from, to));
  return found;
}

const HEADING = /^(?:[^\n]*\n){0,3}# \/(\S+) (Command|Task)/;

/** Version 4 copies the agent or task below a heading with its name; its texts name the folder they are from. */
function isCopy({ text }: Command, { name, origin, kind }: BmadRecord): boolean {
  const heading = HEADING.exec(text);
  if (heading?.[1] !== name || (heading[2] === 'Task') !== (kind === 'task')) return false;
  const folders = [...text.matchAll(/\.bmad-[\w-]+(?=\/)/g)].map(([folder]) => folder);
  return folders.length === 0 || folders.includes(basename(origin.root));
}

/** Later ones name the file to be loaded; the first alphas copy an agent into a folder like its own. */
function names({ path, text }: Command, { bmadRelativePath, origin }: BmadRecord): boolean {
  if (path.endsWith(`/bmad/${bmadRelativePath}`)) return true;
  const named = `${basename(origin.root)}/${bmadRelativePath}`;
  const at = text.indexOf(named);
  return at !== -1 && !/[\w-]/.test(text.charAt(at + named.length));
}
