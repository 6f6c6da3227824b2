import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/present.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Step } from '../../base/step.ts';
import { byteLength, kilobytes } from '../../base/text/text.ts';
import { hasText, isWorthLeavingOut, noteGiven, noteReadOn, type GivenKey } from './given-texts.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';
import type { Call, ServedFile, Workspace } from '../context.ts';
import type { Detail } from '../fields.ts';
import type { ShownText } from '../catalogue/shown-text.ts';

/** How a file was asked for. */
interface Asked {
  section: string | undefined;
  cursor: string | undefined;
  detail: Detail;
  origin: string | undefined;
  project: string | undefined;
}

/** Stands for the words of a call that has none, so that one that is repeated at once is told from a later round. */
const READ = 'read';

/**
 * A file as a conversation knows it: the steps of a workflow are read again with every story, and those that have not
 * changed since need not be given again. The rule is that of agents and workflows which are started again.
 */
export function fileGiven(
  { path, text = '', origin }: ServedFile,
  asked: Asked,
  { project: { root } }: Workspace,
  call: Call,
) {
  const { section, cursor, detail, project } = asked;
  const key = (): GivenKey => ({
    of: JSON.stringify(['file', root, project, origin?.displayName, path]),
    digest: sha256(text),
  });
  const isFromStart = section === undefined && cursor === undefined;
  const isKept = call.recent?.given !== undefined && detail !== 'concise' && isWorthLeavingOut(text);
  return {
    /** What is said instead of a text that the conversation has; nothing where it has to be given. */
    short(): (ShownText & { given_before: true; steps: Step[] }) | undefined {
      if (!isKept || !isFromStart || detail === 'full' || !hasText(call, key(), READ)) return undefined;
      const said = `Not given again: this file (${kilobytes(byteLength(text))}) was read earlier in this session and has not changed. Follow it as you have it.`;
      const args = present({ target: contentUri(path), kind: 'resource', origin: asked.origin, project });
      return {
        text: said,
        complete: false,
        bytes: byteLength(text),
        tokens: estimateTokens(said),
        given_before: true,
        steps: [{ operation: 'read', args: { ...args, detail: 'full' }, why: 'If you do not have it' }],
      };
    },
    /** Takes note of what was given of it. */
    note({ next }: ShownText): void {
      if (!isKept) return;
      if (isFromStart) noteGiven(call, key(), next, READ);
      else if (cursor !== undefined) noteReadOn(call, key(), cursor, next);
    },
  };
}
