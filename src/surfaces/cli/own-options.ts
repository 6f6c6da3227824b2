import { OPTIONS } from './completion.prepared.ts';

/** Whether a flag is an option of the command typed before it, though all commands have one of that name. */
export function isOwnOption(flag: string, before: readonly string[]): boolean {
  const first = before.findIndex((word) => !word.startsWith('-'));
  const typed = first === -1 ? '' : `${before.slice(first).join(' ')} `;
  return OPTIONS.some(({ command, options }) => typed.startsWith(`${command} `) && options.includes(flag));
}
