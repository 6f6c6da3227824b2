import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { BmadError, ours } from '../base/errors.ts';
import { programsBesides } from '../base/files/find-program.ts';
import { startProgram } from '../base/process/start-program.ts';
import { t } from '../base/text/message.ts';

/** Programs that put what they read into the clipboard, those of the system first. */
const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly (readonly [string, ...string[]])[]>>> = {
  darwin: [['pbcopy']],
  win32: [['clip']],
};
const OTHERS: readonly (readonly [string, ...string[]])[] = [
  ['wl-copy'],
  ['xclip', '-selection', 'clipboard'],
  ['xsel', '--clipboard', '--input'],
  // A Linux on Windows has the clipboard of Windows.
  ['clip.exe'],
];

/** One that has nothing to connect to has ended by then. */
const STAYS_MS = 1_000;

/** Puts a text into the clipboard of the person, with the first program for it that no project provides. */
export async function copyText(
  text: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const programs = await programsBesides({ env, besides: [cwd] });
  for (const [name, ...args] of PROGRAMS[platform] ?? OTHERS) {
    const program = await programs.find(name);
    if (program === undefined) continue;
    const started = await startProgram(program, args, { env: programs.env, input: true }).catch(
      ours(() => undefined),
    );
    if (started === undefined) continue;
    const { child, stdin, stdout, stderr } = started;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    stdin?.end(text);
    // One that stays serves the clipboard from then on.
    const [code] = await Promise.race([ended, setTimeout(STAYS_MS, [0] as const, { ref: false })]);
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    child.unref();
    if (code === 0) return;
  }
  throw new BmadError('unavailable', t`The text was not copied: no program that copies texts works here.`, {
    hint: t`Install wl-copy or xclip, or pipe the text to where it belongs.`,
  });
}
