import { breath } from '../../base/async.ts';
import { attempt, orElse, quoted, unlessShort } from '../../base/errors.ts';
import { changeMark } from '../../base/files/file-stamps.ts';
import { field, isTable, parseFrontMatter, parseYaml } from '../../base/parse/parse.ts';
import { hiddenIn, looks, visible } from '../../base/text/hidden.ts';
import { plural, t } from '../../base/text/message.ts';
import { fold } from '../../base/text/suggest.ts';
import { grouped, madeOnce, push, those } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { fileFaults } from '../../catalogue/content-files.ts';
import { METHOD } from '../../model/module.ts';
import {
  type Origin,
  behaviourOf,
  type BmadRecord,
  isListed,
  qualifiedName,
  recordKey,
  shortName,
  STARTABLE,
} from '../../model/record.ts';

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
    | 'look-alike'
    | 'tokens';
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
    newerRelease,
    newerCustomizations,
    strayPlaceholders,
    () => faultyFiles(catalogue, signal),
    () => hiddenCharacters(catalogue, checked, signal),
    lookAlikes,
  ]) {
    found.push(...[await look(catalogue)].flat());
    await breath();
  }
  return found;
}

function recordNames(records: readonly BmadRecord[]): string {
  const all = [...new Set(records.map(({ moduleName, name }) => `${moduleName}/${name}`))];
  const names = all.slice(0, NAMED);
  return names.join(', ') + (all.length > NAMED ? t`, and ${all.length - NAMED} more` : '');
}

interface OwnRecords {
  origin: Catalogue['sources'][number]['origin'];
  tree: Catalogue['sources'][number]['tree'];
  records: readonly BmadRecord[];
}

/** Each source with its own records: looked through once, however many sources there are. */
const byOrigin = madeOnce(({ records, sources }: Catalogue): readonly OwnRecords[] => {
  const own = grouped(records, ({ origin }) => origin);
  return sources.map(({ origin, tree }) => ({ origin, tree, records: own.get(origin) ?? [] }));
});

function missingFiles(catalogue: Catalogue): Finding[] {
  return byOrigin(catalogue).flatMap(({ origin, records }) => {
    const gone = records.filter(({ status }) => status === 'no-file-found');
    const stale = gone.filter(({ launches }) => launches !== undefined);
    const rows = gone.filter(({ launches }) => launches === undefined);
    return those(
      rows.length > 0 &&
        finding(
          'broken',
          'missing-files',
          t`${origin.displayName}: ${plural(rows.length, 'manifest row')} without a file (${recordNames(rows)}). An older version may have left its manifests behind, or no assistant was chosen during installation. Reinstall BMAD for the assistant you use.`,
        ),
      stale.length > 0 &&
        finding(
          'broken',
          'stale-launchers',
          t`${origin.displayName}: ${plural(stale.length, 'launcher')} from an older version for files that no longer exist (${recordNames(stale)}). They can be deleted: ${stale
            .slice(0, NAMED)
            .map(({ bmadRelativePath }) => bmadRelativePath)
            .join(', ')}.`,
        ),
    );
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
    return finding(
      'notice',
      'unlisted-files',
      t`${origin.displayName}: ${unlisted.length} not in any manifest, but served (${recordNames(unlisted)}).`,
    );
  });
}

/** What one origin takes away from another. The built-in content is there to be overridden and does not count. */
function overrides({ records, winners }: Catalogue): Finding | Finding[] {
  const byKey = grouped(winners, recordKey);
  const hidden = records.filter(
    (record) =>
      record.exists &&
      record.origin.kind !== 'package' &&
      ['agent', 'workflow', 'skill', 'task'].includes(record.kind) &&
      byKey.get(recordKey(record))?.some((winner) => winner !== record && winner.digest !== record.digest) ===
        true,
  );
  if (hidden.length === 0) return [];
  return finding(
    'notice',
    'override',
    t`${plural(hidden.length, 'record')} overridden by different content from a higher-ranked origin (${recordNames(hidden)}; from ${[...new Set(hidden.map(({ origin }) => origin.displayName))].join(', ')}). "explain" shows each.`,
  );
}

function ambiguousNames({ winners }: Catalogue): Finding | Finding[] {
  const groups = grouped(
    winners.filter((one) => isListed(one) && ['agent', 'workflow'].includes(one.kind)),
    ({ kind, name, origin }) => `${kind} ${fold(shortName(name))} ${origin.priority}`,
  );
  // Where the method has the name, the plain name means the method's.
  const shared = [...groups.values()].filter(
    (records) => records.length > 1 && !records.some(({ moduleName }) => METHOD.includes(moduleName)),
  );
  if (shared.length === 0) return [];
  const names = shared.slice(0, NAMED).map(([first]) => (first === undefined ? '' : shortName(first.name)));
  return finding(
    'notice',
    'ambiguous',
    t`${plural(shared.length, 'name')} in several modules; include the module, as in bmm/… (${names.join(', ')}${shared.length > NAMED ? ', …' : ''}).`,
  );
}

/** A release that came after the built-in one is served as it is; what of the method is new in it, nothing here knows. */
async function newerRelease(catalogue: Catalogue): Promise<Finding[]> {
  const { records, winners } = catalogue;
  const builtIn = records.filter(({ origin }) => origin.kind === 'package');
  const release = builtIn.find(({ moduleName }) => METHOD.includes(moduleName))?.bmadVersion;
  // Thousands of records have a few versions, and to compare two takes its time.
  const versions = new Set(winners.flatMap(({ bmadVersion }) => bmadVersion ?? []));
  const later = new Set([...versions].filter((each) => versionOrder(each, release ?? each) > 0));
  const newer = winners.filter(
    ({ origin, moduleName, bmadVersion = '' }) =>
      origin.kind !== 'package' && METHOD.includes(moduleName) && later.has(bmadVersion),
  );
  const version = newer[0]?.bmadVersion;
  if (version === undefined || release === undefined) return [];
  const known = new Set(builtIn.map(({ name }) => fold(shortName(name))));
  // A module that came with the release is as new as what is new in the method.
  const from = new Set(newer.map(({ origin }) => origin));
  const brought = new Set(
    catalogue.modules
      .filter((each) => each.ofRelease === true && from.has(each.origin))
      .map(({ code }) => code),
  );
  const unknown = winners.filter(
    (record) =>
      (newer.includes(record) || (from.has(record.origin) && brought.has(record.moduleName))) &&
      STARTABLE.includes(record.kind) &&
      isListed(record) &&
      !known.has(fold(shortName(record.name))),
  );
  const names = unknown.length === 0 ? '' : t` Not known here: ${recordNames(unknown)}.`;
  return [
    finding(
      'notice',
      'version',
      t`BMAD ${version} is newer than ${release}, which is built in: its files are served unchanged, and the order of steps and earlier names go by ${release}.${names}`,
    ),
    ...(await newKeys(catalogue, from, release)),
  ];
}

/** Keys at the top of a newer release's files that no built-in file has: nothing here goes by them. */
async function newKeys(
  catalogue: Catalogue,
  newer: ReadonlySet<Origin>,
  release: string,
): Promise<Finding[]> {
  const known = new Set<string>();
  const found = new Map<string, string[]>();
  for (const { origin, tree, records } of byOrigin(catalogue)) {
    if (origin.kind !== 'package' && !newer.has(origin)) continue;
    for (const { bmadRelativePath: path, exists } of records) {
      await breath();
      const text = exists && path.endsWith('.md') ? await tree.text(path).catch(unlessShort('')) : '';
      for (const key of Object.keys(attempt(() => parseFrontMatter(path, text).data, orElse({}))))
        if (origin.kind === 'package') known.add(key);
        else push(found, key, path);
    }
  }
  return [...found]
    .filter(([key]) => !known.has(key))
    .slice(0, NAMED)
    .map(([key, all]) => {
      const paths = [...new Set(all)];
      const rest = paths.length > NAMED ? t`, and ${paths.length - NAMED} more` : '';
      return finding(
        'notice',
        'version',
        t`The key ${quoted(key)} at the top of ${paths.slice(0, NAMED).join(', ')}${rest} is not known to BMAD ${release}: it is passed on as it is.`,
      );
    });
}

/** By the release; of one release, what came before it (`6.9.0-beta.1`) is lower. */
function versionOrder(a: string, b: string): number {
  const parts = (version: string): { release: string; before: string } => {
    const [release = '', ...before] = (version.replace(/^v/, '').split('+')[0] ?? '').split('-');
    return { release, before: before.join('-') };
  };
  const order = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });
  const [first, second] = [parts(a), parts(b)];
  const releases = order(first.release, second.release);
  if (releases !== 0 || first.before === second.before) return releases;
  if (first.before === '' || second.before === '') return first.before === '' ? 1 : -1;
  return order(first.before, second.before);
}

function versionDrift(catalogue: Catalogue): Finding | Finding[] {
  const versions = byOrigin(catalogue)
    .filter(({ origin }) => origin.kind !== 'package')
    .map(({ origin, records }) => ({
      origin,
      version: records.find(({ bmadVersion }) => bmadVersion !== undefined)?.bmadVersion,
    }))
    .filter(({ version }) => version !== undefined);
  if (new Set(versions.map(({ version }) => version)).size < 2) return [];
  return finding(
    'notice',
    'version',
    t`Different versions of BMAD: ${versions.map(({ origin, version }) => `${origin.displayName} ${version ?? ''}`).join(', ')}.`,
  );
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
function strayPlaceholders({ modules }: Catalogue): Finding | Finding[] {
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
  return finding(
    'broken',
    'placeholder',
    t`Unresolved placeholders in the configuration: ${stray.slice(0, NAMED).join('; ')}. Reinstall BMAD with all settings, or edit the files.`,
  );
}

/** What models read as text. */
const TEXT = /\.(?:md|markdown|mdc|txt|ya?ml|json|toml|xml|csv|tsv|html?)$/i;
/** More are counted, not named: a list of thousands would hide the first. */
const NAMED_FILES = 50;
const NAMED_PLACES = 5;

/** One finding for each file with characters that no eye sees. BMAD's own content is checked when it is built. */
async function hiddenCharacters(
  { sources, records, files }: Catalogue,
  checked: CheckedFiles,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const found: string[] = [];
  for (const source of sources) {
    const { origin, tree } = source;
    if (origin.kind === 'package') continue;
    const told = new Set<string>();
    for (const path of await files.of(source).catch(orElse<readonly string[]>([]))) {
      await breath();
      signal?.throwIfAborted();
      const inside = TEXT.test(path) ? await hiddenInFile(tree, path, checked) : '';
      const what = [
        ...(hiddenIn(path).length > 0 ? [t`in its name`] : []),
        ...(inside === '' ? [] : [inside]),
      ];
      if (what.length === 0) continue;
      told.add(path);
      found.push(
        t`${visible(origin.displayName)}: ${quoted(path)} has hidden characters: ${what.join('; ')}.`,
      );
    }
    // A name may come from a manifest that is no content.
    for (const { name, bmadRelativePath: path, disguised } of records.filter((one) => one.origin === origin))
      if (disguised !== undefined && !told.has(path))
        found.push(
          t`${visible(origin.displayName)}: ${quoted(path)} (${visible(name)}) has hidden characters: in its ${disguised.join(', ')}.`,
        );
  }
  const shown = found.slice(0, NAMED_FILES);
  const more = found.length - shown.length;
  return [...shown, ...(more > 0 ? [t`${plural(more, 'more file')} with hidden characters.`] : [])].map(
    (text) =>
      finding('notice', 'hidden-characters', t`${text} Lists leave them out; models get the file as it is.`),
  );
}

/** What was found in files before, by their places: kept for as long as a file has the same mark. */
export type CheckedFiles = Map<string, { mark: string; found: string }>;

const MOST_CHECKED = 200_000;

async function hiddenInFile(
  tree: Catalogue['sources'][number]['tree'],
  path: string,
  checked: CheckedFiles,
): Promise<string> {
  const place = tree.place(path);
  // Whoever keeps what is found here has to hear of every file, also of those that are not read again.
  await tree.modified(path);
  // The mark first: what changes while the file is read is seen the next time.
  const mark = changeMark(place);
  const known = checked.get(place);
  if (known !== undefined && known.mark === mark) return known.found;
  const text = await tree.text(path).catch(orElse(''));
  const found = hiddenIn(text).length > 0 ? placesIn(text) : '';
  if (checked.size >= MOST_CHECKED) checked.clear();
  if (mark !== undefined) checked.set(place, { mark, found });
  return found;
}

/** `\u200b in line 3, \u{e0041} in line 9 and 4 more`. */
function placesIn(text: string): string {
  const found = hiddenIn(text);
  let line = 1;
  let from = 0;
  const places = found.slice(0, NAMED_PLACES).map(({ char, at }) => {
    for (; from < at; from += 1) if (text[from] === '\n') line += 1;
    return t`${char} in line ${line}`;
  });
  const more = found.length - places.length;
  return `${places.join(', ')}${more > 0 ? t` and ${more} more` : ''}`;
}

/** Names that people take for another one that is there: letters of another script, digits for letters. */
async function lookAlikes({ records }: Catalogue): Promise<Finding[]> {
  const byLook = new Map<string, Named[]>();
  for (const record of records.filter(({ kind, exists }) => exists && STARTABLE.includes(kind))) {
    await breath();
    for (const name of new Set([shortName(record.name), record.displayName ?? record.name])) {
      push(byLook, looks(name), { record, name });
    }
  }
  return [...byLook.values()].flatMap((alike) => {
    // What everybody has is the real one: the built-in content, then whatever is written in plain letters.
    const [real, ...others] = [...alike].sort((a, b) => suspicion(a) - suspicion(b));
    if (real === undefined) return [];
    return (
      others
        // Another case, or a dash for a space, is no disguise.
        .filter(({ record, name }) => record.origin.kind !== 'package' && fold(name) !== fold(real.name))
        .map((one) => finding('notice', 'look-alike', likeText(one, real)))
    );
  });
}

interface Named {
  record: BmadRecord;
  name: string;
}

function likeText({ record, name }: Named, real: Named): string {
  return t`${visible(record.origin.displayName)}: ${quoted(name)} (${spelt(name, real.name)}), the ${record.kind} in ${quoted(record.bmadRelativePath)}, looks like ${quoted(real.name)}, the ${real.record.kind} ${quoted(qualifiedName(real.record))} of ${visible(real.record.origin.displayName)}, but is not.`;
}

function suspicion({ record, name }: Named): number {
  return (record.origin.kind === 'package' ? 0 : 2) + (/^[ -~]*$/.test(name) ? 0 : 1);
}

/** The characters that tell the one from the other, which cannot be seen otherwise. */
function spelt(name: string, real: string): string {
  const odd = Array.from(new Set(name)).filter((char) => !real.includes(char));
  return odd
    .slice(0, NAMED_PLACES)
    .map((char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}
