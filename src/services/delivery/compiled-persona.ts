import { field, tableOf } from '../../base/parse/parse.ts';
import { escapeXml } from '../../base/text/entities.ts';
import { isEmpty, plain, type Work } from './compiled-work.ts';

/** Name, title and icon are attributes of the agent; its title is what it is described by too. */
export function metadata(work: Work): void {
  const own = tableOf(field(tableOf(field(work.custom, 'agent')), 'metadata'));
  for (const [key, value] of Object.entries(own)) {
    const shown = plain(value);
    if (shown === undefined || shown === '') continue;
    const isKnown = ['name', 'title', 'icon', 'capabilities'].includes(key) || (key === 'id' && work.isEarly);
    const changed = isKnown ? withAttribute(work.text, key, shown) : undefined;
    if (changed === undefined) {
      work.left.push(`agent.metadata.${key}`);
      continue;
    }
    work.text = key === 'title' ? withDescription(changed, shown) : changed;
    work.merged.push(key);
  }
}

/** Replaces an attribute of the agent; values are not escaped, so the next attribute tells where one ends. */
function withAttribute(text: string, name: string, value: string): string | undefined {
  const start = text.search(/^<agent id="/m);
  const end = start === -1 ? -1 : text.indexOf('\n', start);
  if (end === -1) return undefined;
  const tag = text.slice(start, end);
  const from = tag.indexOf(` ${name}="`);
  if (from === -1) return undefined;
  const begin = from + name.length + 3;
  const stop = tag.slice(begin).search(/"(?: (?:name|title|icon|capabilities|localskip)="|>$)/);
  if (stop === -1) return undefined;
  const shown = name === 'capabilities' ? escapeXml(value) : value;
  return text.slice(0, start + begin) + shown + text.slice(start + begin + stop);
}

function withDescription(text: string, title: string): string {
  return text.replace(/^(---\n(?:.*\n)?description: ").*(")$/m, (_, before: string, after: string) => {
    return before + title + after;
  });
}

const FIELDS = ['role', 'identity', 'communication_style', 'principles'];

/** Later compilers replace the whole persona, as the file says; the first builder replaced what was filled in. */
export function persona(work: Work): void {
  const own = Object.entries(tableOf(field(work.custom, 'persona'))).filter(([, value]) => !isEmpty(value));
  const lines = new Map<string, string>();
  for (const [key, value] of own) {
    const shown = FIELDS.includes(key) ? personaText(key, value, work.isEarly) : undefined;
    if (shown === undefined) work.left.push(`persona.${key}`);
    else lines.set(key, `    <${key}>${escapeXml(shown)}</${key}>\n`);
  }
  if (lines.size === 0) return;
  const opening = '  <persona>\n';
  const closing = '  </persona>\n';
  const from = work.text.indexOf(opening, work.text.indexOf('</activation>'));
  const to = work.text.indexOf(closing, from);
  if (from === -1 || to === -1) {
    work.left.push('persona');
    return;
  }
  const before = work.text.slice(from + opening.length, to);
  const inside = FIELDS.map((key) => lines.get(key) ?? (work.isEarly ? elementOf(before, key) : '')).join('');
  work.text = work.text.slice(0, from + opening.length) + inside + work.text.slice(to);
  work.merged.push('persona');
}

function personaText(key: string, value: unknown, isEarly: boolean): string | undefined {
  if (Array.isArray(value))
    return key === 'principles' ? value.map((item) => plain(item) ?? '').join(' ') : undefined;
  const text = plain(value);
  if (text === undefined || isEarly) return text;
  const oneLine = text.trim().replaceAll(/\n+/g, ' ');
  return key === 'principles' ? oneLine : oneLine.replaceAll(/\s+/g, ' ');
}

function elementOf(text: string, name: string): string {
  const start = text.indexOf(`    <${name}>`);
  const end = text.indexOf(`</${name}>\n`, start);
  return start === -1 || end === -1 ? '' : text.slice(start, end + name.length + 4);
}
