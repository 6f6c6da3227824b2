import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { isYes } from '../../base/text/yes.ts';
import { repositoryAt } from '../../base/files/repository.ts';
import { linesPlace } from '../project/state-place.ts';
import type { Context, HostPerson, HostSetup, HostState } from '../context.ts';

interface Asking {
  ask(prompt: string): Promise<string>;
  context: Context;
  found: HostSetup;
  /** What was written besides the hosts, in words. */
  notes: string[];
}

/** Somebody who types something else again and again does not want to go on. */
const TRIES = 20;

/** Has a person pick hosts, and asks once for what agents and git should know. */
export async function askedFor(installed: readonly HostState[], asking: Asking): Promise<HostState[]> {
  const picked = await pickedOf(installed, asking);
  await askPerson(asking);
  await askIgnored(asking);
  await askShared(asking);
  return picked;
}

async function pickedOf(installed: readonly HostState[], { ask }: Asking): Promise<HostState[]> {
  // Somebody else's entry is replaced only if the person asks for it by name.
  const on = installed.map(({ found }) => found === 'ours' || found === 'none');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const rows = installed.map(({ host, file, found }, index) => {
      const standing = found === 'none' ? '' : ` (${STANDING[found]})`;
      return `  ${index + 1} [${on[index] === true ? 'x' : ' '}] ${host.name}${standing}  ${file}\n`;
    });
    const typed = await ask(
      t`Hosts on this machine:\n${rows.join('')}Numbers change the choice, Enter connects, q ends: `,
    );
    if (typed.trim() === '') break;
    if (/^\s*q/i.test(typed)) throw new BmadError('cancelled', t`Nothing was written.`);
    for (const word of typed.split(/[\s,]+/)) {
      const index = Number(word) - 1;
      if (index in on) on[index] = on[index] !== true;
    }
  }
  const picked = installed.filter((_state, index) => on[index] === true);
  if (picked.length === 0) throw new BmadError('cancelled', t`No host was chosen; nothing was written.`);
  return picked;
}

const STANDING: Readonly<Record<Exclude<HostState['found'], 'none'>, string>> = {
  ours: 'already connected',
  other: 'has another entry of this name',
  unreadable: 'its file cannot be changed',
};

/** Asked once: whoever has answered is not asked again, and can change the file. */
async function askPerson({ ask, found, notes }: Asking): Promise<void> {
  const known = await found.person().catch(ours((): HostPerson => ({})));
  if (known.user_name !== undefined && known.communication_language !== undefined) return;
  const usual = known.user_name ?? found.systemName ?? '';
  const name = line(await ask(t`What should agents call you?${usual === '' ? '' : ` [${usual}]`} `)) || usual;
  const spoken = known.communication_language ?? 'English';
  const language = line(await ask(t`Which language should they speak? [${spoken}] `)) || spoken;
  const file = await found.setPerson({
    ...(name === '' ? {} : { user_name: name }),
    communication_language: language,
  });
  notes.push(t`Your name and language are in ${file}; a project's own settings come first.`);
}

const LONGEST = 80;

function line(typed: string): string {
  return typed
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST);
}

/** State that git would see is offered for .gitignore; by default colleagues get it. */
async function askIgnored({ ask, context, found, notes }: Asking): Promise<void> {
  const { root } = found.hosts;
  if (root === undefined) return;
  const place = await (await context.state(root)).place().catch(ours(() => undefined));
  if (place === undefined || place.home !== 'project') return;
  const shared = [...new Set(place.parts.filter((part) => part.shared).map(({ folder }) => `${folder}/`))];
  const folders = await found.lacking(root, '.gitignore', shared);
  if (folders.length === 0) return;
  const typed = await ask(
    t`The state of ${root} is in ${folders.join(', ')}; colleagues get it once it is committed.\nAdd these lines to .gitignore instead? [y/N] `,
  );
  if (!isYes(typed)) return askMerging({ ask, found, notes }, root, place.merging);
  await found.addLines(root, '.gitignore', folders);
  notes.push(t`Added to .gitignore: ${folders.join(', ')}`);
}

/** Memories are private until a person says otherwise; who has chosen is not asked again. */
async function askShared({ ask, context, found, notes }: Asking): Promise<void> {
  const { root } = found.hosts;
  if (root === undefined || (await repositoryAt(root)) === undefined) return;
  const state = await context.state(root).catch(ours(() => undefined));
  const place = await state?.place().catch(ours(() => undefined));
  if (state === undefined || place?.unused !== false || place.home === 'user') return;
  if (place.chosen) {
    notes.push(
      linesPlace(place) === 'shared'
        ? t`Git sees the memories of this project, as you chose.`
        : t`The memories of this project are private, as you chose.`,
    );
    return;
  }
  if (linesPlace(place) === 'shared') return;
  const typed = await ask(
    t`The memories of ${root} are private: git ignores them.\nShare them with colleagues through git? [y/N] `,
  );
  await state.shareLines(isYes(typed));
  if (isYes(typed)) notes.push(t`Git sees the memories of this project now.`);
}

/** Two people who commit the same files get conflicts in them; with a few lines for git most of these do not come about. */
async function askMerging(
  { ask, found, notes }: Omit<Asking, 'context'>,
  root: string,
  merging: Awaited<ReturnType<Awaited<ReturnType<Context['state']>>['place']>>['merging'],
): Promise<void> {
  const wanted: typeof merging = [];
  for (const { file, lines } of merging) wanted.push({ file, lines: await found.lacking(root, file, lines) });
  const lacking = wanted.filter(({ lines }) => lines.length > 0);
  if (lacking.length === 0) return;
  const shown = lacking.map(({ file, lines }) => `${file}:\n${lines.map((each) => `  ${each}\n`).join('')}`);
  const typed = await ask(
    t`If others commit these files too, git can keep the lines of both.\n${shown.join('')}Add these lines? [y/N] `,
  );
  if (!isYes(typed)) return;
  for (const { file, lines } of lacking) {
    await found.addLines(root, file, lines);
    notes.push(t`Added to ${file}: ${lines.join(', ')}`);
  }
}
