import { t } from '../../base/text/message.ts';
import { compare } from '../../base/text/text.ts';
import type { RecordFormat } from '../../model/format.ts';
import type { BmadRecord, RecordDetails, RecordKind } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { recordOf } from '../reading.ts';
import { moduleVersionIn, type Install } from './install.ts';
import { insideModule, moduleOf } from './manifests.ts';

export const GENERATION = 'compiled';

/** What a part of the reader knows about one file. */
export interface Finding {
  kind: RecordKind;
  moduleName: string;
  name: string;
  path: string;
  format: RecordFormat;
  /** The digest of the file; undefined if a manifest lists a file that does not exist. */
  digest: string | undefined;
  listed: boolean;
  description?: string | undefined;
  displayName?: string | undefined;
  title?: string | undefined;
  icon?: string | undefined;
  phase?: string | undefined;
  aliases?: readonly (string | undefined)[];
  details?: RecordDetails | undefined;
}

/** The records of an install, each kind and name once in its module. What is put here first stays. */
export class Shelf {
  readonly #install: Install;
  readonly #records = new Map<string, BmadRecord>();
  readonly #paths = new Map<string, BmadRecord>();
  readonly #modules = new Set<string>();

  constructor(install: Install) {
    this.#install = install;
  }

  /** Puts a record here, unless its name is taken: the same file listed twice, or a line whose file has moved. */
  add(finding: Finding): boolean {
    const key = keyOf(finding);
    if (this.#records.has(key)) return false;
    const record = this.#record(finding);
    this.#records.set(key, record);
    this.#sorted = undefined;
    this.#modules.add(finding.moduleName);
    if (record.exists && !this.#paths.has(finding.path)) this.#paths.set(finding.path, record);
    return true;
  }

  /** The same for another file that may share the name of one that is here: the folder's name is put before it. */
  addRenamed(finding: Finding): void {
    const folders = finding.path.split('/').slice(1, -1);
    let { name } = finding;
    while (!this.add({ ...finding, name })) {
      const folder = folders.pop();
      if (folder === undefined) {
        this.#install.problems.push({
          file: finding.path,
          message: t`another file in this module has the same name`,
        });
        return;
      }
      name = `${folder}-${finding.name}`;
    }
  }

  /** The record that has this kind and name already. */
  like(finding: Finding): BmadRecord | undefined {
    return this.#records.get(keyOf(finding));
  }

  /** Whether a path is certainly in a module: an installer was at work, or agents or workflows were found there. */
  inModule(path: string): boolean {
    return this.#install.configs.length > 0 || this.#modules.has(moduleOf(path));
  }

  /** The record whose main file this is. */
  at(path: string): BmadRecord | undefined {
    return this.#paths.get(path);
  }

  #sorted: BmadRecord[] | undefined;

  get records(): BmadRecord[] {
    this.#sorted ??= [...this.#records.values()].sort(
      (a, b) => compare(a.kind, b.kind) || compare(a.moduleName, b.moduleName) || compare(a.name, b.name),
    );
    return this.#sorted;
  }

  #record(finding: Finding): BmadRecord {
    const { source, version } = this.#install;
    return recordFrom(source, finding, {
      moduleVersion: moduleVersionIn(this.#install, finding.moduleName),
      bmadVersion: version ?? source.origin.bmadVersion,
    });
  }
}

export function recordFrom(
  source: Source,
  { path, ...finding }: Finding,
  versions: { moduleVersion: string | undefined; bmadVersion: string | undefined },
): BmadRecord {
  return recordOf(source, {
    ...finding,
    ...versions,
    description: finding.description ?? '',
    bmadRelativePath: path,
    moduleRelativePath: insideModule(path),
    generation: GENERATION,
    aliases: finding.aliases ?? [],
  });
}

function keyOf({ kind, moduleName, name }: Finding): string {
  return `${kind} ${moduleName}/${name}`;
}
