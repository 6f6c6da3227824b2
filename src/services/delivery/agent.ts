import { attempt, orElse, unlessMissing } from '../../base/errors.ts';
import { fromRoot } from '../../base/files/paths.ts';
import { grouped, present } from '../../base/values.ts';
import { basename } from 'node:path';
import { dirname } from 'node:path/posix';
import { field, isTable, parseYaml, type Table, tableOf, textField } from '../../base/parse/parse.ts';
import { findSection, outline, withoutComments } from '../../base/text/markdown.ts';
import { fold } from '../../base/text/suggest.ts';
import { decodeEntities, oneLine, withoutEnd, withoutStart } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { behaviourOf, type BmadRecord, type OriginKind } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { overridesOf } from './resolve-skill.ts';

export interface MenuItem {
  /** What a user types for it: `CA`, `*create-prd`. */
  code: string;
  /** Words that do as well: `create-prd`. */
  also?: readonly string[];
  text: string;
  /** What it starts, as the file writes it: the name of a skill, or the path of a workflow. */
  target?: string;
  /** Files that version 4 has it done with: `tasks/create-doc.md`, `templates/prd-tmpl.yaml`. */
  uses?: readonly string[];
  /** The id of the prompt in the agent's own file that it leads to. */
  prompt?: string;
}

/** What an agent says of itself beyond its name and title; a file that says nothing gives nothing. */
export interface AgentProfile {
  role?: string;
  identity?: string;
  menu: readonly MenuItem[];
}

const TEXT_LENGTH = 1_000;
const ITEM_LENGTH = 120;
/** Menus have a dozen entries; anything longer is not a menu. */
const ITEMS = 60;

/** Every generation writes the persona and the menu in a different form. */
export function agentProfile(record: BmadRecord, main: string, customization: Table): AgentProfile {
  const { persona } = behaviourOf(record);
  if (persona === 'tags') return fromMarkup(main);
  if (persona === 'yaml') return fromYamlBlock(record.bmadRelativePath, main);
  const own = fromTable(tableOf(field(customization, 'agent')));
  return own.identity !== undefined || own.menu.length > 0 ? own : fromMarkdown(main);
}

function profile(role: string | undefined, identity: string | undefined, menu: MenuItem[]): AgentProfile {
  return present<AgentProfile>({
    role: clean(role),
    identity: clean(identity),
    menu: menu
      .map(({ code, also = [], text, target, uses = [], prompt }) =>
        present<MenuItem>({
          code: oneLine(code, 60),
          also: also.length > 0 ? also : undefined,
          text: oneLine(text, ITEM_LENGTH),
          target: target || undefined,
          uses: uses.length > 0 ? uses : undefined,
          prompt: prompt || undefined,
        }),
      )
      .filter(({ text }) => text !== '')
      .slice(0, ITEMS),
  });
}

function clean(text: string | undefined): string | undefined {
  return oneLine(text ?? '', TEXT_LENGTH) || undefined;
}

/** Skills from 6.4 on: the merged `[agent]` table. */
function fromTable(agent: Table): AgentProfile {
  const items = field(agent, 'menu');
  const menu = (Array.isArray(items) ? items : []).filter(isTable).map((item): MenuItem => ({
    code: textField(item, 'code') ?? '',
    text: textField(item, 'description') ?? '',
    target: textField(item, 'skill') ?? '',
  }));
  return profile(textField(agent, 'role'), textField(agent, 'identity'), menu);
}

const targetIn = (attributes: string): string =>
  /\b(?:workflow|exec|skill)="([^"]*)"/.exec(attributes)?.[1] ?? '';
/** `action="#fix-bug"`: a prompt of the same file. */
const promptIn = (attributes: string): string => /\baction="#([\w-]+)"/.exec(attributes)?.[1] ?? '';

const ATTRIBUTES_LENGTH = 1_000;
const INNER_LENGTH = 600;

/** Compiled agents: XML in Markdown, not always well-formed. */
function fromMarkup(file: string): AgentProfile {
  const text = withoutComments(file);
  const menu = [...text.matchAll(/<item\b([^>]*)(?:>([^<]*))?/g)].flatMap(
    ([, attributes = '', inner]): MenuItem[] => {
      if (inner === undefined || attributes.length > ATTRIBUTES_LENGTH) return [];
      const shown = decodeEntities(inner.slice(0, INNER_LENGTH)).trim();
      const [, code, rest = ''] = /^\[(\w{1,8})\]\s*(.*)$/s.exec(shown) ?? [];
      const command = /\bcmd="([^"]*)"/.exec(attributes)?.[1] ?? '';
      return [
        {
          code: code ?? command.split(' or ', 1)[0] ?? '',
          also: triggersIn(command),
          text: code === undefined ? shown : rest,
          target: targetIn(attributes),
          prompt: promptIn(attributes),
        },
      ];
    },
  );
  // The things that one entry offers together.
  for (const [, match = '', attributes = ''] of text.matchAll(
    /<handler match="([^"<]{0,600})"([^<>]{0,1000})>/g,
  )) {
    const shown = decodeEntities(match).trim();
    const [, code = '', rest = shown] = /^\[(\w{1,8})\]\s*(.*)$/s.exec(shown) ?? [];
    menu.push({ code, text: rest || shown, target: targetIn(attributes) });
  }
  const persona = inside(text, 'persona') ?? text;
  return profile(tagText(persona, 'role'), tagText(persona, 'identity'), menu);
}

/** `CP or fuzzy match on create-prd`: what may be said instead of the code. */
function triggersIn(command: string): string[] {
  const words = command.slice(0, ATTRIBUTES_LENGTH).split(' fuzzy match on ', 2)[1] ?? '';
  return words.split(/, | or /).filter((word) => word !== '');
}

/** Version 4: one YAML block in the Markdown. A broken one costs the menu, not the agent. */
function fromYamlBlock(file: string, text: string): AgentProfile {
  const table = yamlBlock(file, text);
  const own = tableOf(field(table, 'persona'));
  const commands = field(table, 'commands');
  const needed = dependenciesIn(table);
  const menu = (Array.isArray(commands) ? commands : [commands]).flatMap((entry): MenuItem[] => {
    if (typeof entry === 'string') {
      const [code = '', ...rest] = entry.split(/[:\s]+/);
      return [{ code: starred(code), text: rest.join(' ') || code, uses: namedIn(entry, needed) }];
    }
    if (!isTable(entry)) return [];
    return Object.entries(entry).map(([code, value]) => ({
      code: starred(code),
      text: typeof value === 'string' ? value : code,
      uses: namedIn(typeof value === 'string' ? value : '', needed),
    }));
  });
  return profile(textField(own, 'role'), textField(own, 'identity'), menu);
}

/** The files that an agent of version 4 depends on: `tasks/create-doc.md`. */
function dependenciesIn(table: Table): string[] {
  return Object.entries(tableOf(field(table, 'dependencies'))).flatMap(([folder, names]) =>
    (Array.isArray(names) ? names : []).flatMap((name) =>
      typeof name === 'string' ? [`${folder}/${name}`] : [],
    ),
  );
}

/** Those of some files that a text names, with or without their extension. */
export function namedIn(text: string, files: readonly string[]): string[] {
  const words = new Set(text.match(/[\w-]+/g));
  return files.filter((file) => words.has(file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '')));
}

/** The files that an agent of version 4 depends on; others name none in this form. */
export function neededFiles({ bmadRelativePath }: BmadRecord, text: string): string[] {
  return dependenciesIn(yamlBlock(bmadRelativePath, text));
}

/** The first YAML block of a Markdown text; one that is missing or broken gives nothing. */
export function yamlBlock(file: string, text: string): Table {
  const lines = text.replaceAll('\r\n', '\n');
  const open = /(?:^|\n)```ya?ml[^\n]*(?=\n)/.exec(lines);
  const start = open === null ? 0 : open.index + open[0].length;
  const end = open === null ? -1 : lines.indexOf('\n```', start);
  const block = end === -1 ? '' : lines.slice(start, end);
  return tableOf(attempt(() => parseYaml(file, block), orElse({})));
}

/** Many shipped files have a stray quote: `*help" - Show commands`. */
function starred(code: string): string {
  return `*${withoutEnd(withoutStart(code, `"'*`), `"'`)}`;
}

/** Skills of 6.1 to 6.3 and agents people wrote: headings, and a table of capabilities. */
function fromMarkdown(text: string): AgentProfile {
  const sections = outline(text);
  const sectionText = (title: string): string | undefined => {
    const found = findSection(sections, title);
    if (found === undefined) return undefined;
    const [, ...lines] = text.slice(found.start, found.end).split('\n');
    return lines
      .join('\n')
      .trim()
      .split(/\n\s*\n/, 1)[0];
  };
  const menu = (sectionText('Capabilities') ?? '').split('\n').flatMap(capability);
  return profile(sectionText('Role'), sectionText('Identity'), menu);
}

/** `| CB | Create a brief | bmad-create-brief |`: a code, what it stands for, and perhaps a skill. */
function capability(row: string): MenuItem[] {
  const [before, code = '', shown = '', ...more] = row.split('|', 5).map((cell) => cell.trim());
  if (before !== '' || more.length === 0 || shown === '') return [];
  if (!/^[A-Z]\w{0,7}$/.test(code) || code === 'Code') return [];
  const target = more.length > 1 && /^[\w.-]+$/.test(more[0] ?? '') ? (more[0] ?? '') : '';
  return [{ code, text: shown, target }];
}

/** Compiled agents are not always well-formed, so they are read by their tags and not parsed. */
const TAG_LENGTH = 8_000;

/** From the opening tag of a name up to its end. */
export function inside(text: string, name: string): string | undefined {
  const start = text.search(new RegExp(`<${name}[\\s>]`));
  const end = start === -1 ? -1 : text.indexOf(`</${name}>`, start);
  return end === -1 ? undefined : text.slice(start, end);
}

export function tagText(text: string, name: string): string | undefined {
  const start = text.indexOf(`<${name}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${name}>`, start);
  return end === -1
    ? undefined
    : decodeEntities(text.slice(start + name.length + 2, Math.min(end, start + TAG_LENGTH)));
}

/** The texts of all elements of a name, in order. */
export function allTexts(text: string, name: string): string[] {
  const found: string[] = [];
  // What is not a tag is matched too: to look for the end of one from each beginning would take long.
  const opening = new RegExp(`<${name}(?:\\s[^>]*)?(>?)`, 'g');
  for (let open = opening.exec(text); open !== null; open = opening.exec(text)) {
    if (open[1] === '' || open[0].length > ATTRIBUTES_LENGTH) continue;
    const start = open.index + open[0].length;
    const end = text.indexOf(`</${name}>`, start);
    if (end === -1) break;
    found.push(decodeEntities(text.slice(start, Math.min(end, start + TAG_LENGTH))).trim());
    opening.lastIndex = end;
  }
  return found.filter((each) => each !== '');
}

/** The places of a customization below a BMAD root, the newer first. */
export const CUSTOMIZATION_FOLDERS = ['_config/agents', '_cfg/agents'];

/** `bmm-pm.customize.yaml`, by the file of the agent. */
export function customizationFile({ moduleName, bmadRelativePath }: BmadRecord): string {
  const file = bmadRelativePath.slice(bmadRelativePath.lastIndexOf('/') + 1);
  return `${moduleName}-${file.replace(/\.md$/i, '')}.customize.yaml`;
}

/**
 * Where customizations of a compiled agent may be: the agent's own root first, then the project's. The user's count where
 * none of these says anything.
 */
export function customizingSources(
  { origin }: BmadRecord,
  { sources }: Catalogue,
): Record<'first' | 'otherwise', Catalogue['sources']> {
  const own = sources.filter((source) => source.origin === origin);
  const of = (kind: OriginKind) =>
    sources.filter((source) => source.origin.kind === kind && !own.includes(source));
  return { first: [...own, ...of('project')], otherwise: of('user') };
}

/** Where everything is, or may come to be, that decides what an agent is. The built-in content does not change. */
export function placesOfAgent(agent: BmadRecord, catalogue: Catalogue, bmad: Tree | undefined): string[] {
  const { isSkill, isCompiled } = behaviourOf(agent);
  const own = catalogue.sources.find(({ origin }) => origin === agent.origin);
  const changing = catalogue.sources.filter(({ origin }) => origin.kind !== 'package');
  // What its own origin does not have of them is taken from another.
  const defaults = isSkill ? changing : [];
  const overriding = [
    bmad,
    ...changing.filter(({ origin }) => origin.kind === 'user').map(({ tree }) => tree),
  ];
  return [
    ...(own === undefined || own.origin.kind === 'package' ? [] : placesIn(own.tree, agent.bmadRelativePath)),
    ...defaults.flatMap(({ tree }) => placesIn(tree, `${dirname(agent.bmadRelativePath)}/customize.toml`)),
    ...(isSkill ? overriding : []).flatMap((tree) =>
      tree === undefined ? [] : overridesOf(agent.name).flatMap((path) => placesIn(tree, path)),
    ),
    ...(isCompiled ? Object.values(customizingSources(agent, catalogue)).flat() : []).flatMap(({ tree }) =>
      CUSTOMIZATION_FOLDERS.flatMap((folder) => placesIn(tree, `${folder}/${customizationFile(agent)}`)),
    ),
  ];
}

/** Where a tree has a path, or would have it; a tree of a few folders has no place for what is in none of them. */
function placesIn(tree: Tree, path: string): string[] {
  const place = attempt(() => tree.place(path), unlessMissing);
  return place === undefined ? [] : [place];
}

/**
 * What entries of agents' menus start. Old agents name a file below the BMAD folder, under whatever name that had, newer
 * ones a skill. What the agent's own origin has is meant first; an entry that leads nowhere starts nothing.
 */
export function menuTargets({
  callable,
}: Pick<Catalogue, 'callable'>): (written: string, agent: BmadRecord) => BmadRecord | undefined {
  // Made once: menus have dozens of entries, and catalogues may have thousands of records.
  let made: Record<'byName' | 'byPath', ReadonlyMap<string, readonly BmadRecord[]>> | undefined;
  const targets = (): NonNullable<typeof made> =>
    (made ??= {
      byName: grouped(
        callable.filter(({ kind }) => kind !== 'agent'),
        ({ name }) => fold(name),
      ),
      byPath: grouped(callable, ({ bmadRelativePath }) => bmadRelativePath),
    });
  const byName = (name: string): readonly BmadRecord[] => targets().byName.get(fold(name)) ?? [];
  return (written, agent) => {
    const named = written.replace(/^skill:/, '');
    const found = named.includes('/')
      ? (targets().byPath.get(fromRoot(named, basename(agent.origin.root))) ?? [])
      : byName(named);
    const own = found.find(({ origin }) => origin === agent.origin) ?? found[0];
    if (own?.deprecated?.successor === undefined) return own;
    // An old name stands for what replaced it.
    return byName(own.deprecated.successor).find(({ deprecated }) => deprecated === undefined) ?? own;
  };
}
