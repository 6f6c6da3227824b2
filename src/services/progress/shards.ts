import { field, isTable, textField, type Table } from '../../base/parse/parse.ts';
import type { Artefact } from './artefacts.ts';
import type { Evidence } from './model.ts';

/** A document that version 4 wants in pieces, and where. */
export interface Shards {
  kind: 'prd' | 'architecture';
  /** The folder of the pieces. */
  to: string;
  /** The setting that says so. */
  evidence: Evidence;
}

const KINDS = ['prd', 'architecture'] as const;

/** What the settings of version 4 want in pieces; stories are drafted from those. */
export function wantedShards(
  file: string,
  { settings, text }: { settings: Table; text: string },
  placesOf: (value: string | undefined) => string[],
): Shards[] {
  const lines = text.split('\n');
  return KINDS.flatMap((kind) => {
    const part = field(settings, kind);
    const setting = `${kind}Sharded`;
    if (!isTable(part) || field(part, setting) !== true) return [];
    const line = lines.findIndex((each) => each.trim().startsWith(`${setting}:`)) + 1 || undefined;
    return placesOf(textField(part, `${kind}ShardedLocation`)).map((to) => ({
      kind,
      to,
      evidence: { file, line, says: `${setting}: true` },
    }));
  });
}

/** Those of which only the whole document is there, with its file. */
export function missingShards(
  wanted: readonly Shards[],
  artefacts: readonly Artefact[],
): (Shards & { from: string })[] {
  return wanted.flatMap((shards) => {
    const found = artefacts.filter(({ kind }) => kind === shards.kind);
    const [from] = found.flatMap(({ files }) => files);
    return from === undefined || found.some(({ path }) => path === shards.to) ? [] : [{ ...shards, from }];
  });
}
