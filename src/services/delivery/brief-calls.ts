import { posix } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import { isTable, type Table } from '../../base/parse/parse.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord } from '../../model/record.ts';
import { skillFolder } from './skill-folder.ts';

/** Lines that are handed on to somebody who knows nothing of this server: prompts of reviewers, work for sub-agents. */
const FOR_OTHERS = /^\s*Read `|sub-?agent/i;

/**
 * A text in which every address that is handed on to a sub-agent has the call that reads it beside it. Sub-agents are told
 * to stop when they cannot read their instructions, and nobody else tells them how.
 */
export function withReadCalls(text: string, say: SayStep): string {
  if (!text.includes('bmad://')) return text;
  return text
    .split('\n')
    .map((line) =>
      FOR_OTHERS.test(line)
        ? line.replace(/`(bmad:\/\/[\w./-]+)`/g, (code, uri: string) => `${code} (${reading(uri, say)})`)
        : line,
    )
    .join('\n');
}

/** The same in the texts of a customization: a file of the skill is named by its place on disk, or with the call. */
export function withReadablePaths(table: Table, record: BmadRecord, has: (path: string) => boolean): Places {
  const folder = skillFolder(record);
  const place = (path: string, say: SayStep): string => {
    if (!has(`${folder}/${path}`)) return `\`{skill-root}/${path}\``;
    if (record.origin.kind === 'project')
      return `\`${posix.join(posix.dirname(record.absolutePath), path)}\``;
    const uri = contentUri(`${folder}/${path}`);
    return `\`${uri}\` (${reading(uri, say)})`;
  };
  const inText = (text: string, say: SayStep): string =>
    text.replace(/(?<=Read )`\{skill-root\}\/([\w./-]+)`/g, (_code, path: string) => place(path, say));
  const inValue = (value: unknown, say: SayStep): unknown => {
    if (typeof value === 'string') return inText(value, say);
    if (Array.isArray(value)) return value.map((item) => inValue(item, say));
    if (!isTable(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inValue(item, say)]));
  };
  return (say) => inValue(table, say) as Table;
}

type Places = (say: SayStep) => Table;

/** In full: others who share the connection may have read it, and who is told to read it has not. */
function reading(uri: string, say: SayStep): string {
  return say({ operation: 'read', args: { target: uri, kind: 'resource', detail: 'full' } });
}
