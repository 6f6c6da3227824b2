import { createRequire } from 'node:module';

/**
 * Packages that make the server better and may be missing: they are no part of the bundles, and whoever asks for one
 * has something to fall back on.
 */
const here = createRequire(import.meta.url);

/** Loads a package; nothing when it is not installed or does not work on this machine. */
export function optionalPackage<T>(name: string): T | undefined {
  try {
    return here(name) as T;
  } catch {
    return undefined;
  }
}

/** The place of a file of a package, also of one that only the package `by` can see; nothing when it is not there. */
export function optionalFile(specifier: string, by?: string): string | undefined {
  try {
    return (by === undefined ? here : createRequire(here.resolve(by))).resolve(specifier);
  } catch {
    return undefined;
  }
}
