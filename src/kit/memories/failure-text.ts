import { asLine } from '../kit-text.ts';
import { ENGLISH } from '../language.ts';
import { fieldsIn, named, type Failure, type FailureFields } from '../museum/museum.ts';
import { fieldLines, type NewFailure } from '../museum/museum-write.ts';

/** A failure as one text, for where there is no museum: its title, and a line with a label for all else. */
export function failureText(failure: NewFailure): string {
  return [
    `${failure.category} — ${asLine(failure.title)}`,
    ...fieldLines(failure, ENGLISH.museum, (label, value) => `${label}: ${value}`),
  ].join('\n');
}

export type ToldFailure = FailureFields & Pick<Failure, 'title' | 'category' | 'status'>;

/** Reads it back, and any other text that is remembered about a failure, in either language of the museum. */
export function failureIn(text: string, tags: readonly string[]): ToldFailure {
  const [first = '', ...rest] = text.trim().split(/\r?\n/);
  const { title, category } = named(first, tags);
  const { status = 'unknown', ...fields } = fieldsIn(
    rest.map((line, index) => ({ text: line, line: index + 2 })),
  );
  const labelled = Object.values(fields).some((value) => value !== undefined);
  if (labelled || rest.length === 0) return { title, category, status, ...fields };
  // Words without labels are all about what happened.
  return { title, category, status, happened: rest.join('\n').trim() || undefined };
}
