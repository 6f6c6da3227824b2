import { field, isTable, type Table } from '../../base/parse/parse.ts';

/** A source that cannot be rendered; BMAD's own script halts with the same reason. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
}

export interface RenderInput {
  /** The skill's Markdown files by path from the skill's folder, `SKILL.md` left out. */
  sources: ReadonlyMap<string, string>;
  central: Table;
  /** The merged customization, and the skill's own defaults that decide each value's shape. */
  customization: Table;
  defaults: Table;
  projectRoot: string;
  /** Where a rendered file will be found. */
  locate(file: string): string;
  /** What `{skill-root}` inside customization stands for. */
  skillRoot: string;
}

const TOKENS =
  /\{\{config\.([A-Za-z0-9_.-]+)\}\}|\{\{\.([A-Za-z0-9_]+)\}\}|\{workflow\.([A-Za-z0-9_.-]+)\}|\[\[bmad-snapshot:([A-Za-z0-9_./-]+\.md)\]\]/g;

/** Whether a set of sources carries render tokens at all. */
export function needsRendering(sources: Iterable<string>): boolean {
  for (const source of sources)
    if (source.includes('[[bmad-snapshot:') || /\{\{\.\w+\}\}|\{\{config\./.test(source)) return true;
  return false;
}

/** Replaces the tokens of all sources in one pass; what is inserted is not scanned again. */
export function renderSources(input: RenderInput): Map<string, string> {
  const valueOf = (_token: string, config?: string, short?: string, workflow?: string, snapshot?: string) => {
    if (config !== undefined)
      return configValue(lookup(input.central, config, 'config value'), `config.${config}`, input);
    if (short !== undefined) return shortConfigValue(short, input);
    if (workflow !== undefined)
      return customizationValue(workflow, input).replaceAll('{skill-root}', () => input.skillRoot);
    if (snapshot === undefined || !input.sources.has(snapshot))
      throw new RenderError(`snapshot reference targets undeclared source: ${snapshot ?? ''}`);
    return input.locate(snapshot);
  };
  return new Map([...input.sources].map(([file, source]) => [file, source.replace(TOKENS, valueOf)]));
}

function lookup(table: Table, path: string, label: string): unknown {
  let current: unknown = table;
  for (const part of path.split('.')) {
    if (!isTable(current) || !Object.hasOwn(current, part))
      throw new RenderError(`missing ${label} \`${path}\``);
    current = current[part];
  }
  return current;
}

function configValue(value: unknown, label: string, { projectRoot }: RenderInput): string {
  return text(value, label, false).replaceAll('{project-root}', () => projectRoot);
}

/** `{{.key}}` names a scalar by its last word, wherever it is in the configuration; it must be there exactly once. */
function shortConfigValue(key: string, input: RenderInput): string {
  const matches = scalarsNamed(input.central, key, '');
  const [match, other] = matches;
  if (match === undefined) throw new RenderError(`missing config value \`${key}\``);
  if (other !== undefined)
    throw new RenderError(
      `ambiguous config value \`${key}\` found at: ${matches.map(([path]) => path).join(', ')}`,
    );
  return configValue(match[1], `config.${match[0]}`, input);
}

function scalarsNamed(table: Table, key: string, prefix: string): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (isTable(value)) return scalarsNamed(value, key, path);
    return name === key && !Array.isArray(value) ? [[path, value]] : [];
  });
}

function customizationValue(path: string, { customization, defaults }: RenderInput): string {
  const label = `customization.workflow.${path}`;
  const value = lookup(customization, `workflow.${path}`, 'customization value');
  const preset = lookup(defaults, `workflow.${path}`, 'customization default');
  if (typeof preset === 'string') return text(value, label, preset.trim() === '' || path === 'open_spec');
  if (!Array.isArray(preset)) throw new RenderError(`${label} has an unsupported default`);
  if (!Array.isArray(value)) throw new RenderError(`${label} must be a list`);
  if (preset.length > 0 && preset.every(isTable)) return reviewLayers(value, label);
  return bullets(value.map((item, index) => text(item, `${label}[${index}]`, false)));
}

function text(value: unknown, label: string, mayBeEmpty: boolean): string {
  if (typeof value !== 'string') throw new RenderError(`${label} must be a string`);
  if (!mayBeEmpty && value.trim() === '') throw new RenderError(`${label} must not be empty`);
  return value;
}

function bullets(items: readonly string[]): string {
  if (items.length === 0) return '_None._';
  return items
    .map(
      (item) =>
        `- ${item
          .replace(/\r?\n$/, '')
          .split(/\r\n|[\n\r]/)
          .join('\n  ')}`,
    )
    .join('\n');
}

function reviewLayers(value: readonly unknown[], label: string): string {
  const seen = new Set<string>();
  const sections: string[] = [];
  for (const [index, item] of value.entries()) {
    const place = `${label}[${index}]`;
    if (!isTable(item)) throw new RenderError(`${place} must be a table`);
    const id = text(field(item, 'id'), `${place}.id`, false);
    if (seen.has(id)) throw new RenderError(`duplicate review layer id \`${id}\``);
    seen.add(id);
    const name = text(field(item, 'name') ?? id, `${place}.name`, false);
    const instruction = text(field(item, 'instruction'), `${place}.instruction`, true).trim();
    const when =
      field(item, 'when') === undefined
        ? ''
        : `\n\nRun only when: ${text(field(item, 'when'), `${place}.when`, false)}`;
    if (instruction !== '') sections.push(`#### ${name} (\`${id}\`)${when}\n\n${instruction}`);
  }
  return (
    sections.join('\n\n') ||
    'No active review layers. HALT with blocking condition `no active review layers`.'
  );
}
