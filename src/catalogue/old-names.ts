import replaced from '../../assets/names/replaced.json' with { type: 'json' };
import { t } from '../base/text/message.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { cut } from '../base/text/text.ts';
import { qualifiedName, type BmadRecord } from '../model/record.ts';

/**
 * What became of names that BMAD once had. Upstream's list of removed skills, its shims and the agents of earlier
 * versions are the source; ids that merely lost a prefix are not listed here, a rule below takes care of them.
 */
const REPLACED: Readonly<Record<string, readonly string[]>> = replaced;

/** An old id without the prefixes of its time: `bmad-agent-bmm-pm`, `bmad_bmm_agent_pm`, `bmad-bmm-create-prd`. */
export function withoutOldPrefixes(name: string): string | undefined {
  const rest =
    /^bmad[-_:](?:agent[-_:])?(?:core|bmm|bmb|bmgd|cis|tea)[-_:](?:agents?[-_:]|workflows?[-_:])?(.+)$/i.exec(
      name,
    )?.[1];
  return rest ?? /^bmad(?:[-_:]agents?[-_:]|\.)(.+)$/i.exec(name)?.[1];
}

/** Short names of what replaced an old one, the closest first; nothing when the name was never BMAD's. */
export function successorsOf(name: string): readonly string[] | undefined {
  const short = name.toLowerCase().replace(/^bmad-(?:agent-)?/, '');
  return Object.hasOwn(REPLACED, short)
    ? REPLACED[short]
    : Object.hasOwn(REPLACED, name)
      ? REPLACED[name]
      : undefined;
}

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
