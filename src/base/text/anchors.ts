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
