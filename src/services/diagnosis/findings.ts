import { plural, t } from '../../base/text/message.ts';
import { attempt, orElse, unlessShort } from '../../base/expected.ts';
import { behaviourOf } from '../../model/format.ts';
import { field, isTable, parseYaml } from '../../base/parse/parse.ts';
import { fold } from '../../base/text/suggest.ts';
import { grouped } from '../../base/grouped.ts';
import { breath } from '../../base/pace.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { fileFaults } from '../../catalogue/file-faults.ts';
import { isListed, qualifiedName, shortName, STARTABLE, type BmadRecord } from '../../model/record.ts';
import { hiddenCharacters, lookAlikes, type CheckedFiles } from './hidden-text.ts';

/** Something worth knowing about an installation. Only what is broken makes the doctor fail. */
export interface Finding {
  level: 'broken' | 'notice';
  about:
    | 'missing-files'
    | 'unlisted-files'
    | 'stale-launchers'
    | 'override'
    | 'ambiguous'
    | 'version'
    | 'customization'
    | 'placeholder'
    | 'file'
    | 'hidden-characters'
    | 'look-alike';
  text: string;
}

const NAMED = 6;

function finding(level: Finding['level'], about: Finding['about'], text: string): Finding {
  return { level, about, text };
}

/** Looks over everything the readers found. A clean install gives no finding. */
export async function examine(
  catalogue: Catalogue,
  { checked = new Map(), signal }: { checked?: CheckedFiles; signal?: AbortSignal } = {},
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const look of [
    missingFiles,
    unlistedFiles,
    overrides,
    ambiguousNames,
    versionDrift,
    newerCustomizations,
    strayPlaceholders,
    () => faultyFiles(catalogue, signal),
    () => hiddenCharacters(catalogue, checked, signal),
    lookAlikes,
  ]) {
    found.push(...(await look(catalogue)));
    await breath();
  }
  return found;
}

function recordNames(records: readonly BmadRecord[]): string {
  const names = records.slice(0, NAMED).map(({ moduleName, name }) => `${moduleName}/${name}`);
  return names.join(', ') + (records.length > NAMED ? t`, and ${records.length - NAMED} more` : '');
}

const origins = new WeakMap<Catalogue, readonly OwnRecords[]>();

interface OwnRecords {
  origin: Catalogue['sources'][number]['origin'];
  tree: Catalogue['sources'][number]['tree'];
  records: readonly BmadRecord[];
}

/** Each source with its own records: looked through once, however many sources there are. */
function byOrigin(catalogue: Catalogue): readonly OwnRecords[] {
  const known = origins.get(catalogue);
  if (known !== undefined) return known;
  const own = grouped(catalogue.records, ({ origin }) => origin);
  const made = catalogue.sources.map(({ origin, tree }) => ({
    origin,
    tree,
    records: own.get(origin) ?? [],
  }));
  origins.set(catalogue, made);
  return made;
}

function missingFiles(catalogue: Catalogue): Finding[] {
  return byOrigin(catalogue).flatMap(({ origin, records }) => {
    const gone = records.filter(({ status }) => status === 'no-file-found');
    const stale = gone.filter(({ launches }) => launches !== undefined);
    const rows = gone.filter(({ launches }) => launches === undefined);
    const found: Finding[] = [];
    if (rows.length > 0) {
      found.push(
        finding(
          'broken',
          'missing-files',
          t`${origin.displayName}: ${plural(rows.length, 'manifest row')} without a file (${recordNames(rows)}). An older version may have left its manifests behind, or no assistant was chosen during installation. Reinstall BMAD for the assistant you use.`,
        ),
      );
    }
    if (stale.length > 0) {
      found.push(
        finding(
          'broken',
          'stale-launchers',
          t`${origin.displayName}: ${plural(stale.length, 'launcher')} from an older version for files that no longer exist (${recordNames(stale)}). They can be deleted: ${stale
            .slice(0, NAMED)
            .map(({ bmadRelativePath }) => bmadRelativePath)
            .join(', ')}.`,
        ),
      );
    }
    return found;
  });
}

/** Only where there is a manifest can something be missing from it; the kinds no manifest lists do not count. */
function unlistedFiles(catalogue: Catalogue): Finding[] {
  return byOrigin(catalogue).flatMap(({ origin, records }) => {
    const own = records.filter(
      (record) =>
        ['agent', 'workflow', 'skill'].includes(record.kind) &&
        record.format !== 'kit-workflow' &&
        isListed(record),
    );
    const unlisted = own.filter(({ status }) => status === 'not-in-manifest');
    if (unlisted.length === 0 || own.every(({ status }) => status !== 'verified')) return [];
    return [
      finding(
        'notice',
        'unlisted-files',
        t`${origin.displayName}: ${unlisted.length} not in any manifest, but served (${recordNames(unlisted)}).`,
      ),
    ];
  });
}

/** What one origin takes away from another. The built-in content is there to be overridden and does not count. */
function overrides({ records, winners }: Catalogue): Finding[] {
  const keyOf = (record: BmadRecord): string => `${record.kind} ${qualifiedName(record)}`;
  const byKey = grouped(winners, keyOf);
  const hidden = records.filter(
    (record) =>
      record.exists &&
      record.origin.kind !== 'package' &&
      ['agent', 'workflow', 'skill', 'task'].includes(record.kind) &&
      byKey.get(keyOf(record))?.some((winner) => winner !== record && winner.digest !== record.digest) ===
        true,
  );
  if (hidden.length === 0) return [];
  return [
    finding(
      'notice',
      'override',
      t`${plural(hidden.length, 'record')} overridden by different content from a higher-ranked origin (${recordNames(hidden)}). "explain" shows each.`,
    ),
  ];
}

function ambiguousNames({ winners }: Catalogue): Finding[] {
  const groups = grouped(
    winners.filter((one) => isListed(one) && ['agent', 'workflow'].includes(one.kind)),
    ({ kind, name, origin }) => `${kind} ${fold(shortName(name))} ${origin.priority}`,
  );
  const shared = [...groups.values()].filter((records) => records.length > 1);
  if (shared.length === 0) return [];
  const names = shared.slice(0, NAMED).map(([first]) => (first === undefined ? '' : shortName(first.name)));
  return [
    finding(
      'notice',
      'ambiguous',
      t`${plural(shared.length, 'name')} in several modules; include the module, as in bmm/… (${names.join(', ')}${shared.length > NAMED ? ', …' : ''}).`,
    ),
  ];
}

function versionDrift(catalogue: Catalogue): Finding[] {
  const versions = byOrigin(catalogue)
    .filter(({ origin }) => origin.kind !== 'package')
    .map(({ origin, records }) => ({
      origin,
      version: records.find(({ bmadVersion }) => bmadVersion !== undefined)?.bmadVersion,
    }))
    .filter(({ version }) => version !== undefined);
  if (new Set(versions.map(({ version }) => version)).size < 2) return [];
  return [
    finding(
      'notice',
      'version',
      t`Different versions of BMAD: ${versions.map(({ origin, version }) => `${origin.displayName} ${version ?? ''}`).join(', ')}.`,
    ),
  ];
}

/** Up to 6.2.0 customization is compiled into the agent: a file edited afterwards is merged here, and nowhere else. */
async function newerCustomizations(catalogue: Catalogue): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { tree, records } of byOrigin(catalogue)) {
    for (const agent of records.filter((record) => behaviourOf(record).isCompiled && record.exists)) {
      await breath();
      for (const folder of ['_config', '_cfg']) {
        const file = `${folder}/agents/${agent.moduleName}-${agent.name}.customize.yaml`;
        const [edited, compiled] = await Promise.all([
          tree.modified(file),
          tree.modified(agent.bmadRelativePath),
        ]);
        if (edited === undefined || compiled === undefined || edited <= compiled + 2_000) continue;
        if (!hasContent(await tree.text(file).catch(unlessShort('')), file)) continue;
        found.push(
          finding(
            'notice',
            'customization',
            t`${file} is newer than the agent it customizes: it is merged into what is served here. Reinstall BMAD to compile it in for other programs.`,
          ),
        );
      }
    }
  }
  return found;
}

/** The installer writes an empty template for every agent; only one that has been filled in counts, and can be read. */
function hasContent(text: string, file: string): boolean {
  const filled = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(filled);
    if (isTable(value)) return Object.keys(value).some((key) => filled(field(value, key)));
    return value !== undefined && value !== null && value !== '';
  };
  return attempt(() => filled(parseYaml(file, text)), orElse(false));
}

/** Files that cannot be followed, or only here. The built-in ones are checked by the tests. */
async function faultyFiles(catalogue: Catalogue, signal?: AbortSignal): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { origin, tree, records } of byOrigin(catalogue)) {
    if (origin.kind === 'package') continue;
    for (const record of records.filter(({ kind, exists }) => exists && STARTABLE.includes(kind))) {
      await breath();
      signal?.throwIfAborted();
      const bytes = await tree.read(record.bmadRelativePath).catch(unlessShort(undefined));
      for (const { message, halts } of bytes === undefined ? [] : fileFaults(record, bytes))
        found.push(finding(halts === true ? 'broken' : 'notice', 'file', message));
    }
  }
  return found;
}

/** Some versions write placeholders into the configuration that nothing will ever replace. */
function strayPlaceholders({ modules }: Catalogue): Finding[] {
  const stray = modules
    .filter(({ origin }) => origin.kind !== 'package')
    .flatMap(({ code, settings }) =>
      settings
        .filter(
          ({ result, default: value, proposed }) =>
            proposed === undefined && result === '{value}' && /\{(?!project-root\})[\w-]+\}/.test(value),
        )
        .map(({ key, default: value }) => `${code}.${key} = ${value}`),
    );
  if (stray.length === 0) return [];
  return [
    finding(
      'broken',
      'placeholder',
      t`Unresolved placeholders in the configuration: ${stray.slice(0, NAMED).join('; ')}. Reinstall BMAD with all settings, or edit the files.`,
    ),
  ];
}
