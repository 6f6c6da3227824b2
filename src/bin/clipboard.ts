import { once } from 'node:events';
import { BmadError } from '../base/errors.ts';
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
    const { child, stdin } = await startProgram(program, args, { env: programs.env, input: true });
    stdin?.end(text);
    // It may stay to serve the clipboard; that it has read everything is enough.
    await Promise.race([once(child, 'exit'), ...(stdin === undefined ? [] : [once(stdin, 'finish')])]);
    child.unref();
    return;
  }
  throw new BmadError('unavailable', t`No program that copies texts was found.`, {
    hint: t`Install wl-copy or xclip, or pipe the text to where it belongs.`,
  });
}
