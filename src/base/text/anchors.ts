import type { Section } from './markdown.ts';

/**
 * The elements that a text points to by their ids: `action="#fix-bug"` means `<prompt id="fix-bug">`. Agents compiled by
 * BMAD 6.0 keep their longer prompts in this way; what a menu leads to must be found.
 */
export function pointedSections(text: string): Section[] {
  if (!text.includes('id="')) return [];
  const pointed = new Set([...text.matchAll(/["'`(=\s]#([a-z][\w-]*)/gi)].map(([, id]) => id));
  const sections: Section[] = [];
  for (const { 0: whole, 1: tag = '', 2: id = '', index } of text.matchAll(
    /^[ \t]*<([a-z]+) id="([\w-]+)"/gim,
  )) {
    if (!pointed.has(id)) continue;
    const close = `</${tag}>`;
    const at = text.indexOf(close, index + whole.length);
    sections.push({ title: `#${id}`, level: 6, start: index, end: at < 0 ? text.length : at + close.length });
  }
  return sections;
}

/** The sections of a template in YAML, as version 4 has them: entries with an id and a title, one inside of another. */
export function templateSections(text: string): Section[] {
  if (!/^template:/m.test(text) || !/^sections:/m.test(text)) return [];
  const sections: Section[] = [];
  const open: { indent: number; section: Section }[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const said = line.trimStart();
    // Empty lines and comments end nothing, wherever they stand.
    const indent = said === '' || said.startsWith('#') ? Infinity : line.length - said.length;
    for (let last = open.at(-1); last !== undefined && indent <= last.indent; last = open.at(-1)) {
      last.section.end = offset;
      open.pop();
    }
    const entry = open.at(-1);
    if (/^ *- id:/.test(line)) {
      const section = { title: '', level: open.length + 1, start: offset, end: text.length };
      open.push({ indent, section });
    } else if (entry?.section.title === '' && indent === entry.indent + 2) {
      const title = /^ *title: *(.{1,200})$/.exec(line)?.[1] ?? '';
      entry.section.title = title.trim().replace(/^["']|["']$/g, '');
      if (title !== '') sections.push(entry.section);
    }
    offset += line.length + 1;
  }
  return sections;
}
