/**
 * The command line and the library share all but a few files, so one bundle holds both: two would make the package
 * larger by a sixth.
 */
export * as library from './library.ts';

/** The program runs when it is loaded, so it is loaded only here. */
export async function startCommandLine(): Promise<void> {
  await import('./cli.ts');
}
