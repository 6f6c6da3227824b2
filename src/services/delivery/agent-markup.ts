import { decodeEntities } from '../../base/text/entities.ts';

/** Compiled agents are XML in Markdown and not always well-formed, so they are read by their tags and not parsed. */

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
  const opening = new RegExp(`<${name}(?:\\s[^>]{0,500})?>`, 'g');
  for (let open = opening.exec(text); open !== null; open = opening.exec(text)) {
    const start = open.index + open[0].length;
    const end = text.indexOf(`</${name}>`, start);
    if (end === -1) break;
    found.push(decodeEntities(text.slice(start, Math.min(end, start + TAG_LENGTH))).trim());
    opening.lastIndex = end;
  }
  return found.filter((each) => each !== '');
}
