import { t } from '../../base/text/message.ts';
import type { KitEntry } from './entry.ts';
import { sectionsOf, withoutExamples } from '../../base/text/markdown.ts';
import { isUnset } from '../markdown.ts';

export const SHARED_CONTEXT_FILE = 'shared-context.md';

/** What is wrong with a page that has nothing at all: every install writes its headings. */
export function emptyPage(text: string, source: string): string[] {
  return text.trim() === '' ? [t`${source} is empty, probably because a write was interrupted.`] : [];
}

/** The sections of the shared context that have been filled in. */
export function sharedContextIn(text: string, source: string): KitEntry[] {
  return sectionsOf(withoutExamples(text)).flatMap(({ level, title, line, body }) => {
    const told = body.map((part) => part.trim()).filter((part) => part !== '' && !isUnset(part));
    const content = told.filter((part) => !/^-{3,}$|^\|[\s|:-]*$/.test(part));
    if (level < 2 || content.length === 0) return [];
    return [
      {
        type: 'shared-context' as const,
        agent: 'project',
        names: ['project'],
        text: [title, ...content].join('\n'),
        tags: [],
        source,
        line,
      },
    ];
  });
}
