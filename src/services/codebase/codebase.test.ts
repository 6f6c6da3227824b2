import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { some } from '../../../tests/support/how-much.ts';
import { codeProject, paths, PROJECT } from '../../../tests/support/code-project.ts';
import { linkFolder } from '../../../tests/support/folders.ts';

const BMAD_FILES = {
  '_bmad/_memory/decisions-log.md': '# Decisions\n\n- [2026-02-27] The session of a user is ended at night\n',
  '_bmad/_memory/memories.json': '[{"memory": "end the session of a user"}]',
  '_bmad/_memory/activity.jsonl': '{"query": "end the session of a user"}\n',
  '_bmad/bmm/agents/dev.md': '# Dev\n\nEnds the session of a user.\n',
  'bmad/_cfg/manifest.yaml': 'version: 6\n',
  'bmad/core/tasks/end.md': '# End the session of a user\n',
  '.bmad-core/tasks/end.md': '# End the session of a user\n',
  '.bmad-infrastructure-devops/agents/x.md': '# End the session of a user\n',
  '_grimoire/_memory/shared-context.md': '# End the session of a user\n',
  '.claude/skills/bmad-build/SKILL.md': '# End the session of a user\n',
  '_bmad-output/.tasks/task-1.brief.md': '# End the session of a user\n',
  '_bmad-output/.runs/main/r/state.json': '{"task": "end the session of a user"}\n',
  '_bmad-output/BMAD_TRACE.md': '[x] end the session of a user\n',
};

describe('M-28, M-46: BMAD’s own files and state', () => {
  it('are left out, with the user’s own documents and folders of like names kept', async () => {
    const { ask } = await codeProject({
      ...PROJECT,
      ...BMAD_FILES,
      '_bmad-output/planning-artifacts/prd.md': '# How we end the session of a user\n',
      'src/bmad/end.ts': '/** Ends the session of a user. */\nexport const end = 1;\n',
      // Without git, what is hidden is for nobody else.
      '.claude/skills/mine/SKILL.md': '# End the session of a user, our way\n',
    });
    for (const query of ['end the session of a user', '"session of a user"']) {
      const { hits, files } = await ask(query);
      expect(files.known).toBe(5);
      expect(new Set(hits.map(({ path }) => path))).toEqual(
        new Set([
          'src/session.ts',
          'src/bmad/end.ts',
          'docs/notes.md',
          '_bmad-output/planning-artifacts/prd.md',
        ]),
      );
    }
  });

  it('are searched where a path leads to them, and named where nothing else is found', async () => {
    const { ask } = await codeProject({ ...PROJECT, ...BMAD_FILES });
    const inside = await ask('end the session of a user', { path: '_bmad/_memory' });
    expect(inside.hits.map(({ path }) => path)).toContain('_bmad/_memory/decisions-log.md');
    expect((await ask('session', { path: '_bmad-output/.tasks/*.md' })).hits).toHaveLength(1);
    expect(await ask('session', { path: '**/*.jsonl' }).catch((error: unknown) => error)).toMatchObject({
      code: 'not_found',
    });
    const none = await ask('"[2026-02-27]"');
    expect(none.hits).toEqual([]);
    expect(none.notes.join(' ')).toContain("BMAD's own files and state are left out (13 files)");
  });
});

describe('search', () => {
  it('finds functions, methods and sections by what they do', async () => {
    const { ask } = await codeProject();
    const [first] = (await ask('end the session of a user')).hits;
    expect(first).toMatchObject({
      path: 'src/session.ts',
      start: 1,
      end: 4,
      symbol: 'closeSession',
      kind: 'function',
    });
    expect(first?.snippet.map(({ line }) => line)).toContain(2);
    expect((await ask('keeping a session')).hits[0]?.symbol).toBe('SessionStore.rememberSession');
    expect((await ask('try again after a pause')).hits[0]).toMatchObject({
      symbol: 'retry_with_backoff',
      language: 'python',
    });
    expect((await ask('night')).hits[0]).toMatchObject({
      symbol: 'Closing sessions',
      kind: 'section',
      start: 5,
    });
  });

  it('M-54: puts code before documents that say the same words, and before BMAD’s briefs', async () => {
    const plan = '# Storage\n\nThe file is written atomically: written beside itself, then renamed.\n';
    const { ask } = await codeProject({
      ...PROJECT,
      'src/store.ts':
        '/** Keeps the list: the file is written beside itself and renamed, so that nobody reads half of it. */\nexport async function save(path: string, text: string): Promise<void> {\n  await writeFile(`${path}.tmp`, text);\n  await rename(`${path}.tmp`, path);\n}\n',
      '_bmad-output/planning-artifacts/prd.md': plan,
      '_bmad-output/planning-artifacts/architecture.md': `${plan}\n## Rules\n\nThe file is written atomically, in one place.\n`,
      '_bmad-output/.tasks/task-1.brief.md': `${plan}\nWhere is the file written atomically?\n`,
    });
    const { hits } = await ask('where is the file written atomically');
    expect(hits[0]).toMatchObject({ path: 'src/store.ts', symbol: 'save' });
    expect(hits.map(({ path }) => path)).not.toContain('_bmad-output/.tasks/task-1.brief.md');
  });

  it('puts the definition of a name first, and quoted text before everything', async () => {
    const { ask } = await codeProject({
      ...PROJECT,
      'src/use.ts': "import { closeSession } from './session.ts';\n\ncloseSession('a');\n",
    });
    const named = await ask('closeSession');
    expect(named.hits[0]?.symbol).toBe('closeSession');
    expect(named.hits[0]?.parts).toMatchObject({ exact: 0.5, symbol: 0.6 });
    expect(paths(named)).toContain('src/use.ts');
    expect((await ask('"closed at night"')).hits[0]?.path).toBe('docs/notes.md');
  });

  it.skipIf(process.platform === 'win32').each(some(1, ['.gitignore', '.ignore', 'src/.ignore']))(
    'is not kept waiting by a pipe in place of %s (N-08)',
    async (path) => {
      const { ask, root } = await codeProject();
      execFileSync('mkfifo', [join(root, path)]);
      expect((await ask('"closed at night"')).hits[0]?.path).toBe('docs/notes.md');
    },
  );

  it('keeps to the path and the language', async () => {
    const { ask } = await codeProject();
    expect(new Set(paths(await ask('session', { path: 'src' })))).toEqual(new Set(['src/session.ts']));
    expect(paths(await ask('session', { path: '*.md' }))).toEqual(['docs/notes.md']);
    expect(paths(await ask('session', { path: './docs/' }))).toEqual(['docs/notes.md']);
    expect(paths(await ask('session', { lang: 'md' }))).toEqual(['docs/notes.md']);
    expect((await ask('session', { lang: 'go' })).hits).toEqual([]);
    await expect(ask('x', { path: '../..' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(ask('x', { path: '/etc' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(ask('x', { path: 'srcs' })).rejects.toMatchObject({
      code: 'not_found',
      suggestions: ['src'],
    });
    await expect(ask('x', { lang: 'typscript' })).rejects.toMatchObject({
      code: 'invalid_input',
      suggestions: expect.arrayContaining(['typescript']),
    });
  });

  it.each([
    ['without grammars', { grammars: true as const }],
    ['without ripgrep', { ripgrep: true as const }],
    ['without both', { grammars: true as const, ripgrep: true as const }],
  ])('works %s', async (_name, without) => {
    const { ask } = await codeProject(PROJECT, { without });
    const answer = await ask('closeSession');
    expect(answer.hits[0]?.path).toBe('src/session.ts');
    expect(answer.hits[0]?.parts['exact']).toBe(0.5);
    expect(answer.notes.join()).toEqual(
      'grammars' in without ? expect.stringContaining('web-tree-sitter') : '',
    );
  });

  it('takes vectors into account when there is an embedder', async () => {
    const embedder = {
      id: 'two',
      dim: 2,
      // Knows one thing only: that ending and freeing are about the same.
      embed: async (texts: readonly string[]) =>
        texts.map((text) => Float32Array.from(/dispose|frees/.test(text) ? [1, 0] : [0, 1])),
    };
    const one = await codeProject(PROJECT, { embedder });
    const answer = await one.ask('dispose');
    expect(answer.hits[0]).toMatchObject({ symbol: 'closeSession', parts: { vector: 1 } });
    expect(answer.legs).toContain('vectors');
    const broken = one.again({
      embedder: { ...embedder, id: 'broken', embed: () => Promise.reject(new Error('no')) },
    });
    expect((await broken.ask('session')).notes.join()).toContain('words only');
  });
});

describe('what is looked into', () => {
  it('leaves out what ignore files say that git itself ignores', async () => {
    const { root, ask } = await codeProject({
      '.gitignore': '.ignore\n.rgignore\n',
      '.ignore': 'private/\n',
      'lib/.rgignore': 'deep/\n',
      'lib/deep/x.ts': 'marker',
      'private/x.ts': 'marker',
      'lib/env.ts': 'export const marker = 1;',
      'src/vite.env.d.ts': 'declare const marker: 1;',
    });
    execFileSync('git', ['init', '-q', root]);
    expect(paths(await ask('marker')).sort()).toEqual(['lib/env.ts', 'src/vite.env.d.ts']);
  });

  it('leaves out ignored, secret, generated, binary and linked files', async () => {
    const files = {
      'kept.ts': 'export const marker = 1;\n',
      '.gitignore': 'build/\n*.log\n!keep.log\n',
      '.ignore': 'private/\n',
      'build/out.ts': 'marker',
      'a.log': 'marker',
      'keep.log': 'marker',
      'private/x.ts': 'marker',
      '.env': 'marker=1',
      '.env.local': 'marker=1',
      '.env-prod': 'marker=1',
      '.env_local': 'marker=1',
      '.env~': 'marker=1',
      '.envrc.bak': 'marker=1',
      'env.production': 'marker=1',
      'prod.env.old': 'marker=1',
      'credentials.json.bak': '{"marker":1}',
      'server.pem': 'marker',
      id_rsa: 'marker',
      'config/credentials.json': '{"marker":1}',
      'key.txt': '-----BEGIN RSA PRIVATE KEY-----\nmarker\n',
      'package-lock.json': '{"marker":1}',
      'app.min.js': 'marker',
      'bundle.js': `marker;${'x'.repeat(100_000)}`,
      'gen.go': '// Code generated by tool. DO NOT EDIT.\nvar marker = 1\n',
      'binary.ts': Buffer.from([0x6d, 0x61, 0x72, 0x6b, 0x65, 0x72, 0, 1, 2]),
      'node_modules/a/index.js': 'marker',
      '.yarnrc.yml': 'marker: 1',
      '.npmrc': 'marker=1',
      '.kube/config': 'marker: 1',
      '.docker/config.json': '{"marker":1}',
      '.config/gh/hosts.yml': 'marker: 1',
      '.aws/config': 'marker',
      'vault.kdbx': 'marker',
      'pgp.txt': '-----BEGIN PGP PRIVATE KEY BLOCK-----\nmarker\n',
    };
    const variants = [
      await codeProject(files),
      await codeProject(files, { without: { ripgrep: true } }),
      await codeProject(files),
    ];
    execFileSync('git', ['init', '-q', variants[2]?.root ?? '']);
    for (const { root, ask } of variants) {
      const outside = await temporaryFolder(afterAll);
      await writeFile(join(outside, 'secret.ts'), 'marker');
      await symlink(join(outside, 'secret.ts'), join(root, 'link.ts'));
      await symlink('.env', join(root, 'notes.txt'));
      await linkFolder(outside, join(root, 'linked'));
      await linkFolder(root, join(root, 'loop'));
      expect(paths(await ask('marker')).sort()).toEqual(['keep.log', 'kept.ts']);
      expect(paths(await ask('"marker"')).sort()).toEqual(['keep.log', 'kept.ts']);
    }
  });

  it('masks secrets in what it shows', async () => {
    const { ask } = await codeProject({
      'a.ts': 'const apiKey = "abcdef123456";\nconst token = "ghp_abcdefghijklmnopqrstuvwxyz0123";\n',
    });
    const text = JSON.stringify((await ask('api key')).hits);
    expect(text).toContain('***');
    expect(text).not.toMatch(/abcdef/);
  });

  it('masks bare secrets and long keys wherever a piece begins', async () => {
    const { ask } = await codeProject({
      'deploy.sh': '# deploy marker\nexport DB_PASSWORD=hunter2secretvalue\n',
      'app.yaml': '# yaml marker\npassword: hunter2secretvalue\ntoken: abcdefghijkl\n',
      'notes.txt': `${'words\n'.repeat(600)}-----BEGIN RSA PRIVATE KEY-----\n${'QUJDRA\n'.repeat(400)}marker\n-----END RSA PRIVATE KEY-----\n`,
    });
    for (const query of ['marker', '"marker"', 'QUJDRA', 'password']) {
      const text = JSON.stringify((await ask(query)).hits);
      expect(text).not.toMatch(/hunter2|abcdefgh|QUJD/);
    }
    expect(paths(await ask('QUJDRA'))).toContain('notes.txt');
  });

  it('checks files that are not read yet as it does the others', async () => {
    const fillers = Array.from({ length: 1_100 }, (_, at) => [`a/f${at}.ts`, `export const f${at} = 1;\n`]);
    const { ask } = await codeProject(
      {
        ...(Object.fromEntries(fillers) as Record<string, string>),
        'plain.ts': 'export const marker = 1;\n',
        'key.txt': '-----BEGIN RSA PRIVATE KEY-----\nmarker\n',
        'gen.go': '// Code generated by tool. DO NOT EDIT.\nvar marker = 1\n',
        'binary.txt': Buffer.from('marker\n\xff\xfe\xff\xfe\xff', 'latin1'),
      },
      { budgetMs: 0 },
    );
    const answer = await ask('"marker"');
    expect(answer.partial).toBe(true);
    expect(paths(answer)).toEqual(['plain.ts']);
  });

  it('bears long lines, CRLF, and text that is none', async () => {
    const { ask } = await codeProject({
      'long.ts': `export function findMe() {\n  return '${'y'.repeat(100_000)}';\n}\n${'// filler\n'.repeat(2_000)}`,
      'crlf.ts': 'export function\tcarriageReturn() {\r\n  return 1;\r\n}\r\n',
      'latin.txt': Buffer.from([0xe9, 0xe8, 0xe0, 0xff, 0xfe]),
      'empty.ts': '',
    });
    const [long] = (await ask('findMe')).hits;
    expect(long?.symbol).toBe('findMe');
    expect(Math.max(...(long?.snippet.map(({ text }) => text.length) ?? []))).toBeLessThanOrEqual(160);
    expect(JSON.stringify((await ask('carriageReturn')).hits)).not.toContain('\\r');
    expect((await ask('x '.repeat(50_000))).hits).toEqual([]);
  });
});
