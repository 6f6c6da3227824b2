import { createRequire } from 'node:module';

/**
 * Packages that improve the server and may be missing: they are not part of the bundles, and every user of one has a
 * fallback.
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

/** The path of a package's file, even if only the package `by` can resolve it; undefined if it does not exist. */
export function optionalFile(specifier: string, by?: string): string | undefined {
  try {
    return (by === undefined ? here : createRequire(here.resolve(by))).resolve(specifier);
  } catch {
    return undefined;
  }
}
