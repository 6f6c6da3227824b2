import type { Kit } from '../kit.ts';
import { asLine } from '../kit-text.ts';
import { ENGLISH } from '../language.ts';
import { projectWording } from '../project-language.ts';
import { severityAmong, severityOf } from '../museum/kinds.ts';
import {
  fieldsIn,
  firstKnown,
  named,
  saidSeverity,
  type Failure,
  type FailureFields,
} from '../museum/museum.ts';
import { fieldLines, type NewFailure } from '../museum/museum-write.ts';

/** A failure as one text, for where there is no museum: its title, and a line with a label for all else. */
export async function failureText(kit: Kit, failure: NewFailure): Promise<string> {
  const { museum } = await projectWording(kit);
  const colon = museum === ENGLISH.museum ? ':' : ' :';
  return [
    `${failure.category} — ${asLine(failure.title)}`,
    ...fieldLines(failure, museum, (label, value) => `${label}${colon} ${value}`),
  ].join('\n');
}

export type ToldFailure = FailureFields & Pick<Failure, 'title' | 'category' | 'severity' | 'status'>;

/** Reads it back, and any other text that is remembered about a failure, in either language of the museum. */
export function failureIn(text: string, tags: readonly string[]): ToldFailure {
  const [line = '', ...rest] = text.trim().split(/\r?\n/);
  // `[critical] title`, as answers have it.
  const [mark = '', own = ''] = /^\[([^\]]{1,40})\]\s*/.exec(line) ?? [];
  const ahead = severityOf(own);
  const { title, category } = named(ahead === 'unknown' ? line : line.slice(mark.length), tags);
  const body = rest.map((each, index) => ({ text: each, line: index + 2 }));
  const { status = 'unknown', ...fields } = fieldsIn(body);
  const about = {
    title,
    category,
    status,
    severity: firstKnown(ahead, saidSeverity(body), severityAmong(tags)),
  };
  const labelled = Object.values(fields).some((value) => value !== undefined);
  if (labelled || rest.length === 0) return { ...about, ...fields };
  // Words without labels are all about what happened.
  return { ...about, happened: rest.join('\n').trim() || undefined };
}
