import { t } from '../../base/text/message.ts';
import { basename } from 'node:path';
import { decodeText, encodingOf } from '../../base/text/decode.ts';
import { noted } from '../../base/expected.ts';
import { sha256 } from '../../base/sha256.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { recordOf } from '../reading.ts';
import { dependencyFile, stemOf } from './agent.ts';
import { describe, type Description } from './describe.ts';
import { shelfOf } from './layout.ts';

export const GENERATION = 'v4';

/** One file of a BMAD folder, on disk or only in a manifest. */
export interface V4File {
  source: Source;
  moduleName: string;
  moduleVersion: string | undefined;
  bmadVersion: string | undefined;
  /** Its path in the tree and in its BMAD folder. */
  treePath: string;
  path: string;
  /** All files of its BMAD folder, by path in it. */
  beside: readonly string[];
  listed: boolean;
}

/** Longer files are documents; their descriptions are at the top. */
const DESCRIBED_BYTES = 200_000;
const SNIFFED_BYTES = 8_000;

export async function readRecord(place: V4File, problems: Problem[]): Promise<BmadRecord | undefined> {
  const kind = shelfOf(place.path)?.kind;
  if (kind === undefined) return undefined;
  const file = place.treePath;
  const bytes = await place.source.tree.read(file).catch(noted(problems, file, undefined));
  if (bytes === undefined) return undefined;
  if (encodingOf(bytes) === 'utf-8' && bytes.subarray(0, SNIFFED_BYTES).includes(0)) {
    problems.push({ file, message: t`This is not a text file.` });
    return undefined;
  }
  const text = decodeText(bytes.subarray(0, DESCRIBED_BYTES));
  const described = describe(kind, file, text);
  if (described.problem !== undefined) problems.push(described.problem);
  return describedRecord(place, described, { digest: sha256(bytes), likeness: likenessOf(place, bytes) });
}

/**
 * The installer copies what a pack uses of the core into the pack's folder, and writes that folder's name into most of the
 * places where the core's own was meant.
 */
function likenessOf({ source }: V4File, bytes: Uint8Array): string {
  const text = decodeText(bytes).replaceAll('\r\n', '\n');
  return sha256(text.replaceAll(basename(source.origin.root), '{root}').replaceAll('.bmad-core', '{root}'));
}

/** The record of a file that a manifest lists and that is gone. Only what can be started or adopted is missed. */
export function missingRecord(place: V4File): BmadRecord | undefined {
  const kind = shelfOf(place.path)?.kind;
  const missed = kind === 'agent' || kind === 'workflow' || kind === 'task';
  return missed ? describedRecord(place, { description: '' }, {}) : undefined;
}

function describedRecord(
  place: V4File,
  described: Description,
  { digest, likeness }: { digest?: string; likeness?: string },
): BmadRecord | undefined {
  const shelf = shelfOf(place.path);
  if (shelf === undefined) return undefined;
  const { source, moduleName, moduleVersion, bmadVersion, listed } = place;
  const name = stemOf(place.path);
  const displayName = described.displayName === name ? undefined : described.displayName || undefined;
  return recordOf(source, {
    kind: shelf.kind,
    format: shelf.format,
    listed,
    moduleName,
    moduleVersion,
    bmadVersion,
    name,
    displayName,
    title: described.title || undefined,
    icon: described.icon || undefined,
    description: described.description,
    bmadRelativePath: place.treePath,
    moduleRelativePath: place.path,
    generation: GENERATION,
    aliases: [displayName, described.title, described.id],
    uses: described.dependencies && usedFiles(place, described.dependencies),
    details: described.details,
    digest,
    likeness,
  });
}

/** The dependencies that exist; missing ones could not be served anyway. */
function usedFiles({ treePath, path, beside }: V4File, dependencies: Record<string, string[]>): string[] {
  const above = treePath.slice(0, treePath.length - path.length);
  const files = Object.entries(dependencies).flatMap(([type, names]) =>
    names.map((name) => dependencyFile(beside, type, name)),
  );
  const found = new Set(files.filter((file) => file !== undefined && file !== path));
  return [...found].map((file) => `${above}${file ?? ''}`).sort();
}
