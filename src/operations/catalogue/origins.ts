import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { originsCalled, originWords, type Origin } from '../../model/origin.ts';
import type { Workspace } from '../context.ts';

/** The workspace as one origin alone would give it, where one is asked for by its kind or its name. */
export function workspaceFrom(workspace: Workspace, origin: string | undefined): Workspace {
  return origin === undefined ? workspace : workspace.from(new Set(namedOrigins(origin, workspace)));
}

/** The origins that are meant, the first in rank first; an unknown word throws an error that names those there are. */
export function namedOrigins(word: string, { catalogue }: Workspace): Origin[] {
  const all = catalogue.sources.map(({ origin }) => origin);
  const meant = originsCalled(word, all);
  if (meant.length > 0) return meant;
  const known = originWords(all);
  throw new BmadError('not_found', t`There is no origin ${quoted(word)} here.`, {
    subject: word,
    suggestions: nearest(word, known),
    hint: t`Known origins: ${known.map((name) => JSON.stringify(name)).join(', ') || t`none`}.`,
  });
}
