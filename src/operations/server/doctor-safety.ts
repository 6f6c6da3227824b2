import { t } from '../../base/text/message.ts';
import { ours } from '../../base/expected.ts';
import { visible } from '../../base/text/hidden.ts';
import { qualifiedName } from '../../model/record.ts';
import type { Context, Workspace } from '../context.ts';
import type { Safety } from './doctor-safety-schema.ts';

const NAMED = 6;

type Seen = readonly { about: string; text: string }[];

const DISGUISES = new Set(['hidden-characters', 'look-alike']);

export async function safetyOf(
  { catalogue, project }: Workspace,
  context: Context,
  findings: Seen,
): Promise<Safety> {
  const consent =
    project.root === undefined
      ? undefined
      : await (
          await (await context.state(project.root)).completion()
        )
          .consent()
          .catch(ours(({ message }) => ({ empty: false, summary: [message], allowed: false })));
  const outside = catalogue.sources.filter(({ origin: { kind } }) => !['project', 'package'].includes(kind));
  const replaced = catalogue
    .displacing()
    .map((record) => t`${visible(qualifiedName(record))} of ${visible(record.origin.displayName)}`);
  return {
    programs: consent === undefined || consent.empty ? [] : consent.summary,
    allowed: consent?.allowed ?? false,
    outside: outside.map(({ origin: { displayName, root, git } }) =>
      visible(`${displayName}, ${git === undefined ? root : t`${git.source} at ${git.commit.slice(0, 12)}`}`),
    ),
    replaced,
    disguised: findings.filter(({ about }) => DISGUISES.has(about)).length,
    open: await (await context.diagnosis()).openToOthers(),
    stores: findings.filter(({ about }) => about === 'memory-store').map(({ text }) => text),
  };
}

/** Only what deserves a look: most projects have nothing. */
export function safetyLines(safety: Safety): string[] {
  const { programs, allowed, outside, replaced, disguised, open, stores } = safety;
  const more = replaced.length > NAMED ? t`, and ${replaced.length - NAMED} more` : '';
  const lines = [
    ...(programs.length === 0
      ? []
      : [
          t`- Programs of this project, ${allowed ? t`allowed on this machine` : t`not allowed yet`}:`,
          ...programs.map((line) => `  ${line}`),
        ]),
    ...(outside.length === 0
      ? []
      : [t`- Content from outside the project:`, ...outside.map((line) => `  ${line}`)]),
    ...(replaced.length === 0
      ? []
      : [t`- Served instead of the built-in one: ${replaced.slice(0, NAMED).join(', ')}${more}`]),
    ...(disguised === 0
      ? []
      : [t`- Hidden characters or look-alike names: ${disguised}, see the problems below`]),
    ...(open.length === 0
      ? []
      : [t`- Open to other users of this machine: ${open.join(', ')}; mode 700 closes a folder`]),
    ...(stores.length === 0 ? [] : [t`- Stores in trouble: ${stores.length}, see the problems below`]),
  ];
  return lines.length === 0 ? [t`Safety: nothing to report`] : [t`Safety:`, ...lines];
}
