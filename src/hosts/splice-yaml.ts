import { t } from '../base/text/message.ts';
import { ParseError } from '../base/errors.ts';
import { type YamlPair, yamlPairs } from '../base/parse/yaml-document.ts';
import type { Table } from '../base/parse/parse.ts';
import { lineEnd, type Made, type Removal, type Spliced, type Target, withGap } from './entries.ts';
import { oneLined } from './splice-json.ts';

const UNIT = '  ';

/** Puts an entry into a YAML text: as the first of the servers, or with their key at the end. */
export function spliceYaml({ file, text, key, name }: Target, entry: Table): Spliced {
  const end = lineEnd(text);
  const pairs = yamlPairs(file, text);
  if (pairs === undefined && withoutComments(text) !== '')
    throw new ParseError(file, 1, t`it does not hold a mapping`);
  const holder = holderOf(pairs ?? [], key, file);
  if (holder === undefined) {
    const lines = block({ [key]: { [name]: entry } }, '').join(end);
    const mark = text === '' || text === '\uFEFF';
    const gap = mark || /[\r\n]$/.test(text) ? '' : end;
    return { insertions: [{ at: text.length, text: `${gap}${lines}${end}` }], made: { key: true, gap } };
  }
  const line = lineOf(text, holder.at);
  const flow = /^[^:]*:[ \t]*\{([ \t]*)\}[ \t]*(?:#.*)?$/.exec(text.slice(holder.at, line.to));
  if (flow !== null) {
    const at = holder.at + text.slice(holder.at).indexOf('{') + 1;
    const pair = `${JSON.stringify(name)}: ${oneLined(entry)}`;
    return { insertions: [{ at, text: ` ${pair} ` }], made: { key: false, hollow: flow[1] } };
  }
  if (holder.value !== undefined && holder.value !== null)
    throw new ParseError(file, holder.line, t`"${key}" is not a mapping`);
  if (!/^[^:]*:[ \t]*(?:&\S+[ \t]*)?(?:#.*)?$/.test(text.slice(holder.at, line.to)))
    throw new ParseError(file, holder.line, t`"${key}" is written on one line`);
  const [first] = holder.pairs;
  const indent = first === undefined ? `${line.indent}${UNIT}` : lineOf(text, first.at).indent;
  const lines = block({ [name]: entry }, indent).join(end);
  // A line that is the last one and has no end gets one, and leaves the text without one again.
  const put =
    line.next === undefined
      ? { at: line.to, text: `${end}${lines}` }
      : { at: line.next, text: `${lines}${end}` };
  return { insertions: [put], made: { key: false, gap: line.next === undefined ? end : '' } };
}

/** Takes an entry out of a YAML text: its lines, and those of the key above it if that was made for it. */
export function cutYaml({ file, text, key, name }: Target, made: Made | undefined): Removal[] {
  const holder = holderOf(yamlPairs(file, text) ?? [], key, file);
  const index = holder?.pairs.findIndex((pair) => pair.key === name) ?? -1;
  const pair = holder?.pairs[index];
  if (holder === undefined || pair === undefined) return [];
  const line = text.slice(holder.at, lineOf(text, holder.at).to);
  if (/^[^:]*:[ \t]*\{/.test(line)) {
    const [close, hash] = [line.lastIndexOf('}'), line.lastIndexOf('#')];
    if (holder.pairs.length > 1 || close === -1 || (hash !== -1 && hash < close))
      throw new ParseError(file, holder.line, t`"${key}" is written on one line`);
    const from = holder.at + line.indexOf('{');
    return [{ from, to: holder.at + close + 1, text: `{${made?.hollow ?? ''}}` }];
  }
  const whole = made?.key === true && holder.pairs.length === 1;
  const from = lineOf(text, whole ? holder.at : pair.at).from;
  const to = blockEnd(text, whole ? holder.at : pair.at);
  return [withGap(text, { from, to }, made ?? { key: false })];
}

function holderOf(pairs: readonly YamlPair[], key: string, file: string): YamlPair | undefined {
  const holders = pairs.filter((pair) => pair.key === key);
  if (holders.length > 1) throw new ParseError(file, holders[1]?.line, t`"${key}" is there more than once`);
  return holders[0];
}

/** The end of the lines that belong to a key: those that are indented further, without what is blank after them. */
function blockEnd(text: string, at: number): number {
  const { indent, next } = lineOf(text, at);
  let end = next ?? text.length;
  for (let place = next; place !== undefined && place < text.length;) {
    const line = lineOf(text, place);
    const content = text.slice(place, line.to).trim();
    if (content !== '' && line.indent.length <= indent.length) break;
    place = line.next;
    if (content !== '') end = place ?? text.length;
  }
  return end;
}

interface Line {
  from: number;
  indent: string;
  /** Where it ends, without its line ending. */
  to: number;
  /** Where the next one begins; nothing after the last line that has no ending. */
  next: number | undefined;
}

function lineOf(text: string, at: number): Line {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const feed = text.indexOf('\n', at);
  const to = feed === -1 ? text.length : feed > from && text[feed - 1] === '\r' ? feed - 1 : feed;
  const indent = /^[ ]*/.exec(text.slice(from, to).replace(/^\uFEFF/, ''))?.[0] ?? '';
  return {
    from: text[from] === '\uFEFF' ? from + 1 : from,
    indent,
    to,
    next: feed === -1 ? undefined : feed + 1,
  };
}

function withoutComments(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/^[ \t]*(?:#.*|---[ \t]*)?$/gm, '')
    .trim();
}

/** A table as lines. Texts are in quotation marks, whatever they hold. */
function block(table: Table, indent: string): string[] {
  return Object.entries(table).flatMap(([key, value]) => {
    if (Array.isArray(value))
      return value.length === 0
        ? [`${indent}${key}: []`]
        : [`${indent}${key}:`, ...value.map((item) => `${indent}${UNIT}- ${oneLined(item)}`)];
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
      return [`${indent}${key}: ${oneLined(value)}`];
    return [`${indent}${key}:`, ...block(value as Table, indent + UNIT)];
  });
}
