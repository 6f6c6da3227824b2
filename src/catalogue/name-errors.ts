import { BmadError, quoted } from '../base/errors.ts';
import { cut } from '../base/text/text.ts';
import { qualifiedName, type BmadRecord } from '../model/record.ts';

/** It was here: the manifest of its install still says so. */
export function fileMissing(asked: string, record: BmadRecord): BmadError {
  return new BmadError(
    'not_found',
    `The file of ${qualifiedName(record)} is missing: it was ${quoted(record.absolutePath)}.`,
    {
      subject: cut(asked, 200),
      hint: `The manifest in ${record.origin.displayName} still lists it. Restore the file, or run BMAD's installer again.`,
      steps: [{ operation: 'explain', args: { target: qualifiedName(record) }, why: 'See where it was' }],
    },
  );
}

export function ambiguous(name: string, candidates: readonly BmadRecord[]): BmadError {
  const names = candidates.map(qualifiedName);
  return new BmadError('ambiguous', `${quoted(name)} is the name of ${candidates.length} things.`, {
    subject: cut(name, 200),
    suggestions: names,
    hint: 'Use one of the qualified names.',
  });
}
