import { unlessShort } from '../base/expected.ts';
import type { Source } from '../sources/source.ts';
import type { Catalogue } from './catalogue.ts';
import { restoreReading, type PreparedReading } from './prepared.ts';

/** A catalogue and these built-in modules behind it; one that cannot be read is left out. */
export async function plusModules(catalogue: Catalogue, sources: readonly Source[]): Promise<Catalogue> {
  const readings = new Map<Source, PreparedReading>();
  for (const source of sources) {
    try {
      const text = await source.prepared?.();
      const reading = text === undefined ? undefined : restoreReading(text, source);
      if (reading !== undefined) readings.set(source, reading);
    } catch (error) {
      unlessShort(undefined)(error);
    }
  }
  return catalogue.plus(readings);
}
