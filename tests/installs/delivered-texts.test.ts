import { execFileSync } from 'node:child_process';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentPath, contentUri } from '../../src/base/files/paths.ts';
import { byteLength } from '../../src/base/text/text.ts';
import { qualifiedName, type BmadRecord } from '../../src/model/record.ts';
import type { Context } from '../../src/operations/context.ts';
import { contentRoot, contextIn, temporaryFolder } from '../support/app.ts';
import { filesIn, partsOf, placeOf, preambleOf, startable } from '../support/delivered.ts';
import { writeFiles } from '../support/folders.ts';
import { installAlone } from '../support/install-project.ts';
import { installOf } from '../support/installs.ts';
import { upstreamMissing } from '../support/upstream.ts';
import { isDeep } from '../support/how-much.ts';

/** What comes before the text, for a project whose path is of a usual length. */
const PREAMBLE = 1_500;
const USUAL = '/home/ada/projects/shop';

interface Delivered {
  record: BmadRecord;
  name: string;
  whole: string;
  preamble: string;
}

async function allOf(context: Context): Promise<Delivered[]> {
  const all: Delivered[] = [];
  for (const record of await startable(context)) {
    const name = qualifiedName(record);
    const whole = (await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context)).join('');
    all.push({ record, name, whole, preamble: preambleOf(whole) });
  }
  return all;
}

const VERSIONS = ['built in', '6.12.0', '6.0.4', '6.0.0-alpha.7', '4.44.3'] as const;

interface Opened {
  folder: string;
  context: Context;
  all: Delivered[];
}

const known = new Map<string, Promise<Opened>>();

/** Everything of a version, started once for all tests. */
function opened(version: (typeof VERSIONS)[number]): Promise<Opened> {
  const open = async (): Promise<Opened> => {
    if (version === 'built in') {
      const folder = await temporaryFolder(afterAll);
      const context = await contextIn(folder);
      return { folder, context, all: await allOf(context) };
    }
    const context = await installAlone(version);
    return { folder: await realpath(await installOf(version)), context, all: await allOf(context) };
  };
  const found = known.get(version) ?? open();
  known.set(version, found);
  return found;
}

describe.each(VERSIONS)('everything that can be started: %s', (version) => {
  it('M-56: has at most 1.5 kB before its text', async () => {
    const { folder, all } = await opened(version);
    const sizes = all.map(({ name, preamble }) => ({
      name,
      bytes: byteLength(preamble.replaceAll(folder, USUAL)),
    }));
    expect(sizes.filter(({ bytes }) => bytes > PREAMBLE)).toEqual([]);
    expect(all.length).toBeGreaterThan(25);
  });

  it('has its files byte for byte, and nothing inside them (J-O6)', async () => {
    const { context, all } = await opened(version);
    const { delivery } = await context.workspace();
    const wrong: string[] = [];
    let count = 0;
    for (const { record, name, whole } of all) {
      const files = filesIn(whole);
      if (files.length === 0) wrong.push(`${name} comes without a file`);
      for (const { uri, text } of files) {
        count += 1;
        const path = contentPath(uri);
        const source = path.startsWith('rendered/')
          ? ((await delivery.file(path)).text ?? '')
          : await readFile(
              uri === contentUri(record.bmadRelativePath)
                ? record.absolutePath
                : await placeOf(uri, record, context),
              'utf8',
            );
        if (text !== (source.endsWith('\n') ? source : `${source}\n`)) wrong.push(`${name}: ${uri}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThanOrEqual(all.length);
  });

  it('is the same when it is asked for again (A-1)', async () => {
    const { context, all } = await opened(version);
    const wrong: string[] = [];
    for (const { record, name, whole } of all.filter((_, at) => isDeep || at % 4 === 0))
      if ((await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context)).join('') !== whole)
        wrong.push(name);
    expect(wrong).toEqual([]);
  });

  it('M-45: has all values that its text asks for, and none that neither it nor its files name', async () => {
    const { context, all } = await opened(version);
    const { catalogue, delivery } = await context.workspace();
    const wrong: string[] = [];
    // A folder that was made just now is looked at again, and its records are other ones then.
    const now = new Map(
      catalogue.winners.map((record) => [`${record.kind} ${qualifiedName(record)}`, record]),
    );
    for (const { record: before, name, whole, preamble } of all) {
      const record = now.get(`${before.kind} ${name}`) ?? before;
      const { material, record: target } = await delivery.activation(record, undefined, undefined, () => '');
      const given = new Set([...preamble.matchAll(/^- `\{([^}]+)\}`: /gm)].map(([, key = '']) => key));
      const text = material.files.map((file) => file.text).join('\n');
      for (const [key] of material.settings ?? [])
        if (!given.has(key) && (text.includes(`{${key}}`) || text.includes(`\`${key}\``)))
          wrong.push(`${name} asks for ${key}`);
      const folder = target.bmadRelativePath.slice(0, target.bmadRelativePath.lastIndexOf('/'));
      const own = catalogue.files.preferring(target.origin);
      const files = await Promise.all(
        (await own.below(folder)).map(async (path) => (await own.read(path)).bytes.toString('utf8')),
      );
      const named = [whole.slice(preamble.length), ...files].join('\n');
      for (const key of given)
        if (
          key !== 'project-root' &&
          !named.includes(key) &&
          !named.includes('bmad-help.csv') &&
          // Version 4 asks for all settings of a kind at once.
          !(named.includes('`prd.*`') && OF_PRD.has(key))
        )
          wrong.push(`${name} has no use for ${key}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('what BMAD’s scripts would do', () => {
  const whole = async (name: string): Promise<string> =>
    (await partsOf(name, 'workflow', (await opened('built in')).context)).join('');

  it('M-57: is given in the form that each script writes, and nobody is told to work by hand', async () => {
    const text = await whole('architecture');
    expect(preambleOf(text)).toContain('- `memlog.py`: manage_project {action:"memlog", args:{workspace:"…"');
    expect(await whole('sprint-planning')).toMatch(
      /- `sprint_plan\.py`: `generate`: manage_project \{action:"sprint_plan".*action:"story_status"/,
    );
    expect(text).toMatch(/`lint_spine\.py`: outside code fences, report TBD/);
    for (const { name, whole: all } of (await opened('built in')).all) {
      const ours = all.replace(/----- BEGIN (\S+) -----\n.*?\n----- END \1 -----/gs, '');
      expect(ours, name).not.toMatch(/by hand/i);
    }
  });

  it('names every field that the retrospective writes into the ledger, as its script does', async () => {
    const script = await readFile(
      join(contentRoot, 'bmm/ship/bmad-retrospective/scripts/sprint_status.py'),
      'utf8',
    );
    const [, entry = ''] = /entry = \{\n([^}]+)\}/.exec(script) ?? [];
    const fields = [...entry.matchAll(/^\s*"(\w+)":/gm)].map(([, name]) => name);
    expect(fields).toContain('ref');
    const note = /- `sprint_status\.py`: .*$/m.exec(await whole('retrospective'))?.[0] ?? '';
    expect(fields.filter((name) => !new RegExp(`\`${name}[\`:]`).test(note))).toEqual([]);
    expect(note).toContain('pending_stories');
  });

  it.skipIf(upstreamMissing() !== undefined)('M-57: is given as the scripts themselves do it', async () => {
    const folder = await temporaryFolder(afterAll);
    const python = (script: string, ...args: string[]): string =>
      execFileSync('python3', ['-B', join(contentRoot, script), ...args], { encoding: 'utf8' });
    const flaws = ['TBD', 'TODO', 'FIXME', 'XXX', 'similar to AD-1', '{token}'];
    await writeFile(
      join(folder, 'ARCHITECTURE-SPINE.md'),
      `# Spine\n\n${flaws.join('\n\n')}\n\n### AD-2 One\n\nText\n\n### AD-1 Two\n\nText\n\n## Stack\n\n| Name | Version |\n|---|---|\n| Node | |\n`,
    );
    const found = python('bmm/plan/bmad-architecture/scripts/lint_spine.py', '--workspace', folder);
    const kinds = [...found.matchAll(/"(placeholder|ad_id|ad_fields|version_pin)"/g)].map(([, kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(['ad_fields', 'ad_id', 'placeholder', 'version_pin']));
    const lint = /- `lint_spine\.py`: .*$/m.exec(await whole('architecture'))?.[0] ?? '';
    for (const word of 'TBD,TODO,FIXME,XXX,"similar to AD-n",Binds,Prevents,Rule,Stack'.split(','))
      expect(lint).toContain(word);
  });

  it.each([
    ['built in', 'build', 'workflow'],
    ['6.0.4', 'dev-story', 'workflow'],
    ['4.44.3', 'dev', 'agent'],
  ] as const)('of %s %s names the call for the status of a story once', async (version, name, kind) => {
    const text = preambleOf((await partsOf(name, kind, (await opened(version)).context)).join(''));
    expect(text.split('manage_project {action:"story_status", args:{story:"…", status:"…"}}')).toHaveLength(
      2,
    );
    const other = kind === 'agent' ? 'analyst' : 'prd';
    const plain = await partsOf(other, kind, (await opened(version)).context);
    expect(preambleOf(plain.join(''))).not.toContain('story_status');
  });

  it('M-57: is known for every script that is not done here already', async () => {
    for (const { name, whole: all } of (await opened('built in')).all)
      expect(all, name).not.toContain('do what it does; it is bmad://');
  });

  it('M-57: is left to the scripts where they are on disk, with their place', async () => {
    const { context: installed } = await opened('6.12.0');
    const text = (await partsOf('architecture', 'workflow', installed)).join('');
    expect(text).toMatch(/^- Its files .* are in \S+\/\.claude\/skills\/bmad-architecture; or read them: /m);
    expect(text).not.toMatch(/^## Scripts$/m);
  });

  it('M-56: leaves the roster to those who gather the agents', async () => {
    expect(await whole('architecture')).not.toContain('"name":"Winston"');
    expect(await whole('party-mode')).toContain('"name":"Winston"');
    expect(await whole('forge-idea')).toContain('"name":"Winston"');
    expect(await whole('advanced-elicitation')).toContain('When the agents are needed: ');
  });
});

describe('prompts that are handed on to sub-agents', () => {
  it('M-53: stay as they are, and the call that reads their instructions is told before', async () => {
    const { context } = await opened('built in');
    const { delivery } = await context.workspace();
    const { text = '' } = await delivery.file('rendered/bmad-build/step-04-review.md');
    expect(text).toMatch(/^\s*Read `bmad:\/\/rendered\/bmad-build\/\S+\.md`/m);
    const review = (await partsOf('code-review', 'workflow', context)).join('');
    expect(preambleOf(review)).toMatch(
      /, and have sub-agents read them: bmad \{operation:"read", uri:"bmad:\/\/bmm/,
    );
    expect(review).toContain('Read `{skill-root}/review-prompts/edge-case-hunter.md`');
  });

  it('M-53: are on disk where there is an install, and their folder is told', async () => {
    const { context: installed } = await opened('6.12.0');
    const review = (await partsOf('code-review', 'workflow', installed)).join('');
    const [, folder = ''] = /^- Its files .* are in (\S+); /m.exec(review) ?? [];
    expect(await readFile(join(folder, 'review-prompts/edge-case-hunter.md'), 'utf8')).toContain('#');
  });
});

describe('agents and workflows of 6.0', () => {
  it('M-56: are told that their configuration is loaded, with the values they must have', async () => {
    const { context } = await opened('6.0.4');
    const workflow = preambleOf((await partsOf('bmm/create-prd', 'workflow', context)).join(''));
    for (const text of [workflow, preambleOf((await partsOf('bmm/pm', 'agent', context)).join(''))])
      expect(text).toContain(
        '`bmm/config.yaml` is loaded; the values used are under Values, and steps that load it can be skipped.',
      );
    const values = [...workflow.matchAll(/^- `\{([^}]+)\}`: /gm)].map(([, key]) => key);
    const wanted =
      'project_name output_folder planning_artifacts user_name communication_language document_output_language user_skill_level date';
    expect(values).toEqual(expect.arrayContaining(wanted.split(' ')));
  });
});

describe('overrides', () => {
  it('M-56: are told with what they set, and change nothing in the text', async () => {
    const folder = await temporaryFolder(afterAll);
    const file = '_bmad/custom/bmad-code-review.toml';
    await writeFiles(folder, { [file]: '[workflow]\npersistent_facts = ["We like tests."]\n' });
    const whole = (await partsOf('code-review', 'workflow', await contextIn(folder))).join('');
    expect(whole).toContain('The project overrides the defaults in _bmad/custom/bmad-code-review.toml.');
    expect(whole).toContain('### Step 3: Load Persistent Facts\n\nTreat every entry');
    expect(whole).toContain('We like tests.');
  });

  it('M-56: do not push the text out of the first answer', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { '_bmad/custom/bmad-party-mode.toml': '[workflow]\nparty_memory = false\n' });
    const [first = ''] = await partsOf('party-mode', 'workflow', await contextIn(folder));
    expect(first).toContain('overrides the defaults in _bmad/custom/bmad-party-mode.toml');
    expect(first).toContain('# Party Mode\n\nRun a round-table');
  });
});

describe('tasks of version 4', () => {
  it('M-45: come with the template they call by its name, or the call that lists the templates', async () => {
    const { context } = await opened('4.44.3');
    const text = async (name: string): Promise<string> =>
      preambleOf((await partsOf(name, 'workflow', context)).join(''));
    expect(await text('bmad-core/create-next-story')).toContain(
      'bmad://.bmad-core/templates/story-tmpl.yaml',
    );
    expect(await text('bmad-core/create-doc')).toContain('pattern:".bmad-core/templates/*"');
  });
});

/** What `core-config.yaml` has below `prd`. */
const OF_PRD = new Set(['prdFile', 'prdVersion', 'prdSharded', 'prdShardedLocation', 'epicFilePattern']);
