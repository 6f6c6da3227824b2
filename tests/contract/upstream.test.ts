import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { formatToml, parseToml, type Table } from '../../src/base/parse/parse.ts';
import { saying } from '../../src/base/step.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { applyLayers, defaultConfig } from '../../src/services/delivery/layers.ts';
import { renderSources } from '../../src/services/delivery/render-skill.ts';
import { folderTree } from '../../src/sources/tree.ts';
import { contentRoot, contextIn, temporaryFolder } from '../support/app.ts';
import { askUpstream, upstreamMissing, type UpstreamReply } from '../support/upstream.ts';
import { cases } from '../support/how-much.ts';

/** Our merging and rendering against BMAD's own Python scripts, on the same files. */
const missing = upstreamMissing();
const LIMIT = 1_000_000;

const key = fc.constantFrom(
  'role',
  'menu',
  'principles',
  'on_complete',
  'nested',
  'review_layers',
  'id',
  'code',
);
const scalar = fc.oneof(fc.string({ maxLength: 12 }), fc.integer({ min: -1000, max: 1000 }), fc.boolean());
const entry = fc.record(
  {
    code: fc.constantFrom('A', 'B', 'C'),
    id: fc.constantFrom('x', 'y', 'z'),
    text: fc.string({ maxLength: 8 }),
  },
  { requiredKeys: ['text'] },
);
const list = fc.oneof(
  fc.array(fc.string({ maxLength: 8 }), { maxLength: 4 }),
  fc.array(entry, { maxLength: 4 }),
);
const inner = fc.dictionary(key, fc.oneof(scalar, list), { maxKeys: 4 });
const layer = fc.dictionary(
  fc.constantFrom('agent', 'workflow', 'core'),
  fc.dictionary(key, fc.oneof(scalar, list, inner), { maxKeys: 6 }),
  { maxKeys: 3 },
);

async function project(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.skipIf(missing !== undefined)(`upstream's scripts (${missing ?? 'python3 found'})`, () => {
  it('merge 150 generated sets of skill layers as we do', async () => {
    const sets = fc.sample(fc.tuple(layer, fc.option(layer), fc.option(layer)), {
      numRuns: cases(150),
      seed: 20_261_115,
    });
    const folders = await Promise.all(
      sets.map(([base, team, user]) =>
        project({
          '_bmad/marker.txt': '',
          'skills/acme/customize.toml': formatToml(base),
          ...(team === null ? {} : { '_bmad/custom/acme.toml': formatToml(team) }),
          ...(user === null ? {} : { '_bmad/custom/acme.user.toml': formatToml(user) }),
        }),
      ),
    );
    const theirs = askUpstream(
      folders.map((folder) => ({
        what: 'customization',
        project: folder,
        skill: join(folder, 'skills/acme'),
      })),
    );
    const ours = await Promise.all(
      folders.map(async (folder, index) => {
        const base = parseToml('customize.toml', formatToml(sets[index]?.[0] ?? {}));
        return applyLayers(base, folderTree(join(folder, '_bmad'), LIMIT), [
          'custom/acme.toml',
          'custom/acme.user.toml',
        ]);
      }),
    );
    expect(theirs.filter((reply) => 'ok' in reply).length).toBeGreaterThan(cases(100));
    for (const [index, reply] of theirs.entries())
      compare(reply, ours[index]?.values ?? {}, ours[index]?.problems.length ?? 0);
  });

  it('merge 100 generated central configurations as we do', async () => {
    const sets = fc.sample(fc.tuple(layer, fc.option(layer), fc.option(layer), fc.option(layer)), {
      numRuns: cases(100),
      seed: 7,
    });
    const names = ['config.toml', 'config.user.toml', 'custom/config.toml', 'custom/config.user.toml'];
    const folders = await Promise.all(
      sets.map((layers) =>
        project(
          Object.fromEntries(
            layers.flatMap((table, index) =>
              table === null ? [] : [[`_bmad/${names[index] ?? ''}`, formatToml(table)]],
            ),
          ),
        ),
      ),
    );
    const theirs = askUpstream(folders.map((folder) => ({ what: 'config', project: folder })));
    expect(theirs.length).toBe(cases(100));
    for (const [index, reply] of theirs.entries()) {
      const ours = await applyLayers({}, folderTree(join(folders[index] ?? '', '_bmad'), LIMIT), names);
      compare(reply, ours.values, ours.problems.length);
    }
  });

  function compare(reply: UpstreamReply, values: Table, problems: number): void {
    if ('halt' in reply) expect(problems, reply.halt).toBeGreaterThan(0);
    else expect(plain(values)).toEqual(reply.ok);
  }

  it.each([
    ['bmad-build', {}],
    ['bmad-build-auto', {}],
    [
      'bmad-build',
      {
        'custom/bmad-build.toml': `[workflow]
persistent_facts = ["We use pnpm.", "Two\\nlines", "file:{project-root}/docs/x.md"]
activation_steps_prepend = ["Say hello"]
on_complete = "Read {skill-root}/spec-template.md and $& {{.user_name}}"
[[workflow.review_layers]]
id = "blind-hunter"
name = "Ours"
instruction = ""
[[workflow.review_layers]]
id = "extra"
when = "the diff is large"
instruction = """
  Look twice.
"""
`,
        'custom/bmad-build.user.toml': '[workflow]\nopen_spec = "Run code"\n',
        'config.user.toml': '[core]\nuser_name = "Ada $& Lovelace"\n',
      },
    ],
  ])('render %s as we do (%j)', async (skill, overrides: Record<string, string>) => {
    const workspace = await (await contextIn(await temporaryFolder(afterAll))).workspace();
    const folder = await project(
      Object.fromEntries(Object.entries(overrides).map(([path, text]) => [`_bmad/${path}`, text])),
    );
    const config = defaultConfig(workspace.catalogue.modules, folder);
    await mkdir(join(folder, '_bmad'), { recursive: true });
    await writeFile(join(folder, '_bmad/config.toml'), formatToml(config));
    const skillFolder = join(contentRoot, 'bmm/ship', skill);
    const [reply] = askUpstream([{ what: 'render', project: folder, skill: skillFolder }]);
    if (reply === undefined || 'halt' in reply) throw new Error(`upstream halted: ${JSON.stringify(reply)}`);
    const { root, files } = reply.ok as { root: string; files: Record<string, string> };

    const skillTree = folderTree(skillFolder, LIMIT);
    const bmad = folderTree(join(folder, '_bmad'), LIMIT);
    const defaults = parseToml('customize.toml', await skillTree.text('customize.toml'));
    const sources = new Map<string, string>();
    for (const path of await skillTree.files()) {
      if (path.endsWith('.md') && !path.endsWith('SKILL.md')) sources.set(path, await skillTree.text(path));
    }
    const rendered = renderSources({
      sources,
      central: (await applyLayers({}, bmad, ['config.toml', 'config.user.toml'])).values,
      customization: (
        await applyLayers(defaults, bmad, [`custom/${skill}.toml`, `custom/${skill}.user.toml`])
      ).values,
      defaults,
      projectRoot: folder,
      locate: (file) => `${root}/${file}`,
      skillRoot: root,
    });
    expect(Object.fromEntries(rendered)).toEqual(files);
    expect(Object.keys(files).length).toBeGreaterThan(8);
    await expect(readdir(skillFolder)).resolves.not.toContain('__pycache__');
  });

  it.each([
    ['a value of another type', '[workflow]\non_complete = 3\n'],
    ['an empty list entry', '[workflow]\npersistent_facts = [" "]\n'],
    ['a layer without an instruction', '[[workflow.review_layers]]\nid = "q"\n'],
  ])('halt where we report a problem: %s', async (_what, override) => {
    const workspace = await (await contextIn(await temporaryFolder(afterAll))).workspace();
    const folder = await project({ '_bmad/custom/bmad-build.toml': override });
    const config = defaultConfig(workspace.catalogue.modules, folder);
    await writeFile(join(folder, '_bmad/config.toml'), formatToml(config));
    const skillFolder = join(contentRoot, 'bmm/ship/bmad-build');
    const [reply] = askUpstream([{ what: 'render', project: folder, skill: skillFolder }]);
    const record = workspace.catalogue.winners.find(({ name }) => name === 'bmad-build');
    const ours = await (await contextIn(folder)).workspace();
    const activation =
      record === undefined
        ? undefined
        : await ours.delivery.activation(record, undefined, undefined, saying(toolCall));
    expect(reply).toHaveProperty('halt');
    expect(activation?.problems.length).toBeGreaterThan(0);
    expect(activation?.head).toContain('HALT');
  });
});
