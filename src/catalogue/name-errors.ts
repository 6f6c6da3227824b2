import { t } from '../base/text/message.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { cut } from '../base/text/text.ts';
import { qualifiedName, type BmadRecord } from '../model/record.ts';

/** It was here: the manifest of its install still says so. Of some modules the published package lacks the text. */
export function fileMissing(asked: string, record: BmadRecord): BmadError {
  const { kind, displayName, repository } = record.origin;
  if (kind === 'package')
    return new BmadError(
      'not_found',
      t`${displayName} was published without the text of ${qualifiedName(record)}.`,
      {
        subject: cut(asked, 200),
        hint: t`The module's repository has it: install the module into the project, or add the repository as a git source.`,
        steps:
          repository === undefined
            ? []
            : [{ operation: 'sources_add', args: { source: repository }, why: t`Add its repository` }],
      },
    );
  return new BmadError(
    'not_found',
    t`The file of ${qualifiedName(record)} is missing: it was ${quoted(record.absolutePath)}.`,
    {
      reason: 'file',
      subject: cut(asked, 200),
      hint: t`The manifest in ${record.origin.displayName} still lists it. Restore the file, or run BMAD's installer again.`,
      steps: [{ operation: 'explain', args: { target: qualifiedName(record) }, why: t`See where it was` }],
    },
  );
}

export function ambiguous(name: string, candidates: readonly BmadRecord[]): BmadError {
  const names = candidates.map(qualifiedName);
  return new BmadError('ambiguous', t`${quoted(name)} is the name of ${candidates.length} things.`, {
    subject: cut(name, 200),
    suggestions: names,
    hint: t`Use one of the qualified names.`,
  });
}
