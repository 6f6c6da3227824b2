import { present } from '../base/present.ts';
import { decodeEntities } from '../base/text/entities.ts';
import { cut } from '../base/text/text.ts';
import type { RecordDetails } from '../model/record.ts';

const LENGTH = 4_000;

/** The first that says something for each detail: the line of a manifest comes before the file it is about. */
export function detailsOf(...told: readonly ((name: string) => unknown)[]): RecordDetails | undefined {
  const said = (name: string, ...others: readonly string[]): string | undefined => {
    for (const tell of told)
      for (const each of [name, ...others]) {
        const text = detailText(tell(each));
        if (text !== undefined) return text;
      }
    return undefined;
  };
  const standalone = said('standalone');
  const details = present<RecordDetails>({
    role: said('role'),
    identity: said('identity'),
    communicationStyle: said('communicationStyle', 'communication_style', 'style'),
    principles: said('principles', 'core_principles'),
    author: said('author'),
    standalone: standalone === undefined ? undefined : /^(?:true|yes|1)$/i.test(standalone),
  });
  return Object.keys(details).length === 0 ? undefined : details;
}

/** Unlike a name it keeps its lines. A list is one text, as the installers write it into their manifests. */
function detailText(value: unknown): string | undefined {
  if (Array.isArray(value)) return detailText(value.filter((item) => typeof item === 'string').join(' '));
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '') return undefined;
  // Some installers escaped quotation marks twice, so that two are left after reading.
  const text = decodeEntities(cut(value, LENGTH)).replaceAll('""', '"').trim();
  return text === '' ? undefined : text;
}
