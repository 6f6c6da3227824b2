import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { contextIn, serverFile, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { isThere, machine, outcomes } from '../../../tests/support/host-machine.ts';
import { maskedWords } from '../../hosts/entries.ts';
import { execute } from '../execute.ts';
import { setup } from './setup.ts';

describe('setup', () => {
  it('connects what is installed, shakes hands, changes nothing the second time, and is undone to the byte', async () => {
    const files = {
      '.claude.json': '{\n  "numStartups": 3, // mine\n}',
      '.cursor/mcp.json': '{"mcpServers":{"a":{"command":"x"}}}',
      '.codex/config.toml': '\uFEFFmodel = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "x"\r\n',
      '.config/goose/config.yaml': 'extensions:   # all\n  dev:\n    enabled: true   # yes\n',
      '.gemini/tmp/x': '',
    };
    const here = await machine(afterAll, files);
    const first = await here.setup({ yes: true });
    expect(outcomes(first.rows)).toEqual({
      'claude-code': 'written',
      cursor: 'written',
      codex: 'written',
      'gemini-cli': 'written',
      goose: 'written',
    });
    expect(first.outcome.ok && first.outcome.data['handshakes']).toEqual([
      { hosts: ['Claude Code', 'Cursor', 'Codex', 'Gemini CLI', 'Goose'], ok: true, tools: 15 },
    ]);
    const claude = await here.text('.claude.json');
    expect(claude).toContain(`"command": ${JSON.stringify(process.execPath)}`);
    expect(claude).toContain(JSON.stringify(serverFile));
    expect(claude).toContain('"numStartups": 3, // mine');
    const again = await here.setup({ hosts: ['claude-code', 'cursor', 'codex', 'goose'] });
    expect(new Set(Object.values(outcomes(again.rows)))).toEqual(new Set(['unchanged']));
    expect(await here.text('.claude.json')).toBe(claude);
    expect((await here.setup({ dry_run: true })).rows.every(({ diff }) => diff === '')).toBe(true);
    const removed = await here.remove({ yes: true });
    expect(new Set(Object.values(outcomes(removed.rows)))).toEqual(new Set(['removed']));
    for (const [name, text] of Object.entries(files)) expect(await here.text(name), name).toBe(text);
    expect(await isThere(here.path('.gemini/settings.json'))).toBe(false);
    expect(await here.remove({ yes: true })).toMatchObject({ error: { code: 'not_found' } });
  });

  it('repairs an entry of an older place, and keeps what the user has added to it', async () => {
    const entry = { command: '/gone/node', args: ['/gone/dist/bmad-mcp-server.cjs'], env: { A: '1' } };
    const here = await machine(afterAll, {
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { bmad: entry } }),
    });
    expect((await here.setup({ hosts: ['cursor'] })).rows[0]?.outcome).toBe('updated');
    const { mcpServers } = JSON.parse(await here.text('.cursor/mcp.json')) as {
      mcpServers: Record<string, unknown>;
    };
    expect(mcpServers['bmad']).toEqual({ command: process.execPath, args: [serverFile], env: { A: '1' } });
    expect((await here.remove({ hosts: ['cursor'] })).rows[0]?.outcome).toBe('removed');
  });

  it('keeps what the user has added, in every format, shows it, and starts exactly that (X-03)', async () => {
    const node = process.execPath;
    const env = { BMAD_TOOLSETS: 'bmad', EXAMPLE_API_KEY: 'sk-something-long-and-secret' };
    const old = { command: '/gone/node', args: ['/gone/dist/bmad-mcp-server.cjs', '--no-watch'] };
    const here = await machine(afterAll, {
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { bmad: { ...old, env, cwd: 'shop', timeout: 9 } } }),
      '.codex/config.toml': `[mcp_servers.bmad]\ncommand = "/gone/bmad-mcp-server"\nargs = ["--no-watch"]\nstartup_timeout_sec = 20\n[mcp_servers.bmad.env]\nBMAD_TOOLSETS = "bmad"\n`,
      '.config/goose/config.yaml': `extensions:\n  bmad:\n    cmd: /gone/bmad-mcp-server\n    envs:\n      BMAD_TOOLSETS: bmad\n    timeout: 9\n`,
    });
    const hosts = ['cursor', 'codex', 'goose'];
    const { rows, outcome } = await here.setup({ hosts });
    const kept = Object.fromEntries(rows.map((row) => [row.host, (row as { kept?: string[] }).kept]));
    expect(kept).toEqual({
      cursor: [
        'args = ["--no-watch"]',
        'env.BMAD_TOOLSETS = "bmad"',
        'env.EXAMPLE_API_KEY = "***"',
        'cwd = "shop"',
        'timeout = 9',
      ],
      codex: ['args = ["--no-watch"]', 'startup_timeout_sec = 20', 'env.BMAD_TOOLSETS = "bmad"'],
      goose: ['envs.BMAD_TOOLSETS = "bmad"', 'timeout = 9'],
    });
    expect(JSON.parse(await here.text('.cursor/mcp.json'))).toEqual({
      mcpServers: { bmad: { command: node, args: [serverFile, '--no-watch'], env, cwd: 'shop', timeout: 9 } },
    });
    expect(parseToml(await here.text('.codex/config.toml'))).toMatchObject({
      mcp_servers: { bmad: { args: [serverFile, '--no-watch'], env: { BMAD_TOOLSETS: 'bmad' } } },
    });
    expect(parseYaml(await here.text('.config/goose/config.yaml'))).toMatchObject({
      extensions: { bmad: { cmd: node, envs: { BMAD_TOOLSETS: 'bmad' }, timeout: 9 } },
    });
    // With that setting there is one tool: it was started with it. There is no folder "shop" in the project.
    const shaken = outcome.ok ? (outcome.data['handshakes'] as { hosts: string[]; ok: boolean }[]) : [];
    expect(shaken.find((each) => each.hosts.includes('Cursor'))).toMatchObject({ ok: false });
    expect(shaken.filter((each) => !each.hosts.includes('Cursor'))).toMatchObject([
      { ok: true, tools: 1 },
      { ok: true, tools: 1 },
    ]);
    expect((await here.setup({ hosts })).rows.map((row) => row.outcome)).toEqual(
      hosts.map(() => 'unchanged'),
    );
  });

  it('leaves somebody else’s entry alone unless it is forced, and gives it back', async () => {
    const text = '{ "mcpServers": { "bmad": { "command": "npx", "args": ["bmad-mcp-server"] } } }';
    const here = await machine(afterAll, { '.cursor/mcp.json': text });
    const { rows, outcome } = await here.setup({ hosts: ['cursor'] });
    expect(rows[0]).toMatchObject({
      outcome: 'refused',
      problem: expect.stringMatching(/is not ours: it starts npx bmad-mcp-server.*--force/) as string,
    });
    expect(outcome.ok && outcome.failed).toBe(true);
    expect((await here.remove({ hosts: ['cursor'] })).rows[0]?.outcome).toBe('refused');
    expect(await here.text('.cursor/mcp.json')).toBe(text);
    expect((await here.setup({ hosts: ['cursor'], force: true })).rows[0]?.outcome).toBe('updated');
    await here.remove({ hosts: ['cursor'] });
    expect(await here.text('.cursor/mcp.json')).toBe(text);
  });

  it('takes over the sources and variables of another server for BMAD, and says so (A-7)', async () => {
    const text = JSON.stringify({
      mcpServers: {
        bmad: {
          command: 'npx',
          args: [
            '-y',
            'bmad-mcp-server',
            '--mode=strict',
            '--fast',
            'git+https://example.com/custom-bmad.git#main',
          ],
          env: { BMAD_ROOT: '/srv/bmad', NODE_OPTIONS: '--inspect' },
        },
      },
    });
    const here = await machine(afterAll, { '.cursor/mcp.json': text });
    expect((await here.setup({ hosts: ['cursor'] })).rows[0]?.problem).toContain(
      'with BMAD_ROOT, NODE_OPTIONS',
    );
    const { rows } = await here.setup({ hosts: ['cursor'], force: true });
    expect(rows[0]).toMatchObject({
      outcome: 'updated',
      kept: [
        'args = ["--discovery=strict","git+https://example.com/custom-bmad.git#main"]',
        'env.BMAD_ROOT = "/srv/bmad"',
      ],
      left: ['args = ["--fast"]', 'env.NODE_OPTIONS = "--inspect"'],
    });
    const written = JSON.parse(await here.text('.cursor/mcp.json')) as {
      mcpServers: { bmad: { args: string[]; env: Record<string, string> } };
    };
    expect(written.mcpServers.bmad.args.at(-1)).toBe('git+https://example.com/custom-bmad.git#main');
    expect(written.mcpServers.bmad.env).toEqual({ BMAD_ROOT: '/srv/bmad' });
    const [row] = rows;
    expect(await readFile(row?.copy ?? '', 'utf8')).toBe(text);
    await here.remove({ hosts: ['cursor'] });
    expect(await here.text('.cursor/mcp.json')).toBe(text);
  });

  it('replaces its own entry once more after a forced one, and still gives somebody else’s back', async () => {
    const files = {
      '.cursor/mcp.json': '{ "mcpServers": { "bmad": { "command": "npx", "args": ["x"] }, "a": {} } }',
      '.codex/config.toml': '[mcp_servers.bmad]\ncommand = "npx"\n',
      '.config/goose/config.yaml': 'extensions:\n  bmad:\n    cmd: npx\n  dev:\n    enabled: true\n',
    };
    const hosts = ['cursor', 'codex', 'goose'];
    const here = await machine(afterAll, files);
    await here.setup({ hosts, force: true });
    const moved = await contextIn(here.path('shop'), {
      home: here.home,
      serverCommand: ['/other/node', serverFile],
    });
    const again = await execute(setup, { hosts }, moved, testCall());
    expect(again.ok && again.data['results']).toMatchObject(hosts.map(() => ({ outcome: 'updated' })));
    const written = await here.text('.cursor/mcp.json');
    expect(written.match(/"bmad":/g)).toHaveLength(1);
    expect(written).toContain('/other/node');
    await here.remove({ hosts });
    for (const [name, text] of Object.entries(files)) expect(await here.text(name), name).toBe(text);
  });

  it('shows no secret of a command line', async () => {
    const args = ['x', 'git+https://ada:hunter2secret@example.com/r.git', '--api-key', 'abcd1234efgh5678'];
    const text = JSON.stringify({ mcpServers: { bmad: { command: 'npx', args } } });
    const here = await machine(afterAll, { '.cursor/mcp.json': text });
    const refused = await here.setup({ hosts: ['cursor'] });
    expect(refused.rows[0]?.problem).toContain('npx x git+https://***@example.com/r.git --api-key ***');
    const { rows } = await here.setup({ hosts: ['cursor'], force: true });
    expect(rows[0]).toMatchObject({ kept: ['args = ["git+https://***@example.com/r.git"]'] });
    expect(await here.text('.cursor/mcp.json')).toContain('ada:hunter2secret@');
    const flags = ['--quiet', '--token=abcd1234efgh5678', '--log-level', 'debug'];
    expect(maskedWords(flags)).toEqual(['--quiet', '--token=***', '--log-level', 'debug']);
  });

  it('refuses files that it could not write back as they are, and goes on with the others', async () => {
    const files: Record<string, string | Buffer> = {
      '.cursor/mcp.json': '{"a": ',
      '.claude.json': Buffer.from('\uFEFF{"a": 1}', 'utf16le'),
      '.codeium/windsurf/mcp_config.json': '{}',
      '.codex/config.toml': 'x = "',
      '.kiro/settings/real.json': '{}',
      '.junie/mcp/mcp.json': '{}',
      '.gemini/settings.json': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    };
    const here = await machine(afterAll, {});
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(here.path(name)), { recursive: true });
      await writeFile(here.path(name), text);
    }
    await chmod(here.path('.codeium/windsurf/mcp_config.json'), 0o444);
    await writeFile(here.path('.junie/mcp/mcp.json'), `{"x": "${'y'.repeat(17_000_000)}"}`);
    await symlink(here.path('.kiro/settings/real.json'), here.path('.kiro/settings/mcp.json'));
    const hosts = ['cursor', 'claude-code', 'windsurf', 'codex', 'kiro', 'junie', 'gemini-cli', 'zed'];
    const { rows, outcome } = await here.setup({ hosts });
    const problems = Object.fromEntries(rows.map(({ host, problem = '' }) => [host, problem]));
    expect(problems).toMatchObject({
      cursor: expect.stringMatching(/cannot be understood \(line 1: it ends too early\)/) as string,
      'claude-code': expect.stringMatching(/is UTF-16; it is unchanged\. Save it as UTF-8\./) as string,
      windsurf: expect.stringMatching(/is read-only/) as string,
      codex: expect.stringMatching(/cannot be understood/) as string,
      kiro: expect.stringMatching(/is a link/) as string,
      junie: expect.stringMatching(/larger than 16 MB/) as string,
      'gemini-cli': expect.stringMatching(/is not UTF-8/) as string,
      zed: '',
    });
    expect(outcome.ok && outcome.failed).toBe(true);
    expect(outcome.ok && outcome.answer.steps?.[0]).toMatchObject({
      operation: 'setup',
      args: { print: true },
    });
    expect(await here.text('.cursor/mcp.json')).toBe('{"a": ');
    expect(await here.text('.kiro/settings/real.json')).toBe('{}');
  });

  it('says what is wrong with the words of a call', async () => {
    const here = await machine(afterAll, {});
    expect((await here.setup({ hosts: ['cursr'] })).error).toMatchObject({
      code: 'not_found',
      suggestions: ['cursor'],
    });
    expect((await here.setup({ hosts: ['windsurf'], scope: 'project' })).error?.text).toMatch(
      /no configuration with the scope project.*--scope user/s,
    );
    expect((await here.setup({})).error?.text).toMatch(/No host was found on this machine[^]*claude-code/);
    await mkdir(here.path('.cursor'));
    expect((await here.setup({})).error?.text).toMatch(/cannot ask.*--yes: cursor/s);
    const outside = await machine(afterAll, {}, {});
    const nowhere = await contextIn(outside.home, { home: outside.home });
    const outcome = await execute(setup, { hosts: ['cursor'], scope: 'project' }, nowhere, testCall());
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });

  it('only shows, where that is asked for', async () => {
    const here = await machine(afterAll, { '.cursor/mcp.json': '{\n  "a": 1\n}\n' });
    const dry = await here.setup({ dry_run: true });
    expect(dry.rows[0]?.diff).toMatch(
      /^--- .*mcp\.json\n\+\+\+ .*mcp\.json\n@@ -1,3 \+1,\d+ @@\n \{\n-  "a": 1\n\+  "a": 1,\n/,
    );
    const printed = await here.setup({ hosts: ['codex', 'cursor'], print: true });
    expect(printed.rows.map(({ text }) => text?.split('\n')[0])).toEqual(['[mcp_servers.bmad]', '{']);
    expect(await here.text('.cursor/mcp.json')).toBe('{\n  "a": 1\n}\n');
    expect(await isThere(here.path('.codex'))).toBe(false);
    expect(await isThere(here.path('.local/state/bmad-mcp-server/hosts'))).toBe(false);
  });

  it("offers the lines for git with which both sides of the kit's files merge, and writes none unasked (F-02)", async () => {
    const files = {
      '.cursor/x': '',
      'shop/_bmad/_memory/decisions-log.md': '# Log\n',
      'shop/.gitignore': 'dist\n',
    };
    const asked = ['Ada', 'French', 'n'];
    const refused = await machine(afterAll, files);
    const { prompts } = await refused.setup({}, [...asked, 'n']);
    expect(prompts.at(-1)).toMatch(/_bmad\/_memory\/decisions-log\.md merge=union\n[^]*Add these lines\? /);
    expect(await refused.text('shop/.gitignore')).toBe('dist\n');
    expect(await isThere(refused.path('shop/.gitattributes'))).toBe(false);
    const here = await machine(afterAll, files);
    await here.setup({}, [...asked, 'y']);
    expect(await here.text('shop/.gitattributes')).toContain('_bmad/_memory/handoff-log.md merge=union\n');
    expect(await here.text('shop/.gitignore')).toMatch(/^dist\n_bmad\/_memory\/activity\.jsonl\n/);
    // What is there is not offered again.
    const again = await here.setup({}, ['n']);
    expect(again.prompts.at(-1)).toMatch(/Add these lines to \.gitignore instead/);
    // With them, what two people have added to the same file is merged.
    const root = here.path('shop');
    const git = (...args: string[]): number | null =>
      spawnSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], { cwd: root })
        .status;
    await rm(here.path('shop/.git'), { recursive: true });
    git('init', '-qb', 'main');
    git('add', '-A');
    git('commit', '-qm', 'base');
    git('checkout', '-qb', 'other');
    for (const [branch, line] of [
      ['other', 'theirs'],
      ['main', 'ours'],
    ] as const) {
      git('checkout', '-q', branch);
      await writeFile(here.path('shop/_bmad/_memory/decisions-log.md'), `# Log\n- ${line}\n`);
      git('commit', '-qam', line);
    }
    expect(git('merge', '-q', 'other', '-m', 'both')).toBe(0);
    expect(await here.text('shop/_bmad/_memory/decisions-log.md')).toMatch(/ours\n- theirs/);
  });

  it('H-07: asks in a terminal which hosts, who the user is, and what git is to see', async () => {
    const here = await machine(afterAll, {
      '.cursor/x': '',
      '.kiro/x': '',
      'shop/_bmad/core/config.yaml': 'a: 1\n',
    });
    const { rows, prompts, offers, outcome } = await here.setup({}, ['Ada', 'French', 'y'], ['cursor']);
    expect(outcomes(rows)).toEqual({ cursor: 'written' });
    // Those that are here come first and are chosen; every other one can be.
    expect(offers.map(({ value, on }) => `${value} ${on}`).slice(0, 3)).toEqual([
      'cursor true',
      'kiro true',
      'claude-code false',
    ]);
    expect(offers).toHaveLength(17);
    expect(await here.text('.config/bmad-mcp-server/user.toml')).toMatch(
      /user_name = "Ada"\ncommunication_language = "French"/,
    );
    expect(prompts.at(-1)).toMatch(/Add these lines to \.gitignore instead/);
    expect(await here.text('shop/.gitignore')).toMatch(/^_bmad/m);
    expect(outcome.ok && (outcome.data['notes'] as string[])).toHaveLength(2);
    // Agents hear of it in a project that says nothing itself, and a project that does comes first.
    const other = await contextIn(await temporaryFolder(afterAll), { home: here.home });
    const settings = await (await other.workspace()).delivery.projectSettings();
    expect(settings).toContainEqual(expect.objectContaining({ name: 'user_name', value: 'Ada' }));
    expect(settings).toContainEqual(
      expect.objectContaining({ name: 'communication_language', value: 'French' }),
    );
    // What an installer writes where nobody gives a name counts for less than one that was given.
    await writeFiles(here.home, { 'shop/_bmad/config.toml': '[core]\nuser_name = "BMad"\n' });
    expect(await (await here.context.workspace()).delivery.projectSettings()).toContainEqual(
      expect.objectContaining({ name: 'user_name', value: 'Ada' }),
    );
    await writeFiles(here.home, { 'shop/_bmad/custom/config.user.toml': '[core]\nuser_name = "Bob"\n' });
    expect(await (await here.context.workspace()).delivery.projectSettings()).toContainEqual(
      expect.objectContaining({ name: 'user_name', value: 'Bob' }),
    );
    // What the custom kit says is stronger too, value by value, and each is shown with its own file.
    const kit = await temporaryFolder(afterAll);
    await writeFiles(kit, { '_bmad/_memory/config.yaml': 'user_name: Cleo\n' });
    const both = (await (await contextIn(kit, { home: here.home })).workspace()).delivery;
    const byName = Object.fromEntries((await both.projectSettings()).map((each) => [each.name, each]));
    expect(byName['user_name']).toMatchObject({ value: 'Cleo', file: '_bmad/_memory/config.yaml' });
    expect(byName['communication_language']).toMatchObject({
      value: 'French',
      file: here.path('.config/bmad-mcp-server/user.toml'),
    });
    // Callers over HTTP may be other people.
    const shared = await contextIn(await temporaryFolder(afterAll), { home: here.home, forOthers: true });
    expect(await (await shared.workspace()).delivery.projectSettings()).toEqual([]);
    // Whoever has answered is not asked again.
    const again = await here.setup({}, ['', '', '']);
    expect(again.prompts.filter((prompt) => /call you|language/.test(prompt))).toEqual([]);
    expect((await here.setup({}, [], [])).error).toMatchObject({ code: 'cancelled' });
    await rm(here.path('.cursor'), { recursive: true });
  });

  it('N-08: finds a host that is on the PATH and was never started', async () => {
    const bin = await temporaryFolder(afterAll);
    await writeFiles(bin, { claude: '' });
    const here = await machine(afterAll, {}, { env: { PATH: bin } });
    expect(outcomes((await here.setup({ yes: true })).rows)).toEqual({ 'claude-code': 'written' });
  });

  it('N-03: gives Gemini CLI a command for each agent, and takes away only what is as it was written', async () => {
    const own = 'description = "mine"\n';
    const here = await machine(afterAll, {
      '.gemini/settings.json': '{}',
      '.gemini/commands/bmad/pm.toml': own,
    });
    const { rows, outcome } = await here.setup({ hosts: ['gemini'] });
    const typed = ['analyst', 'architect', 'dev', 'ux-designer'].map((name) => `/bmad:${name}`);
    expect(rows[0]).toMatchObject({ outcome: 'written', commands: typed });
    const command = parseToml(await here.text('.gemini/commands/bmad/architect.toml'));
    expect(command).toMatchObject({
      description: 'Talk to Winston, System Architect (BMAD)',
      prompt: expect.stringMatching(/agent "architect" and message "\{\{args\}\}"/) as string,
    });
    expect(outcome.ok && outcome.answer.steps).toContainEqual(
      expect.objectContaining({ operation: 'remove', args: { hosts: ['gemini-cli'] } }),
    );
    expect((await here.setup({ hosts: ['gemini'] })).rows[0]).toMatchObject({ commands: typed });
    await writeFile(here.path('.gemini/commands/bmad/dev.toml'), own);
    const removed = await here.remove({ hosts: ['gemini'] });
    expect(removed.rows[0]).toMatchObject({
      outcome: 'removed',
      commands: typed.filter((each) => !each.endsWith('dev')),
    });
    expect(await isThere(here.path('.gemini/commands/bmad/architect.toml'))).toBe(false);
    for (const name of ['pm', 'dev']) expect(await here.text(`.gemini/commands/bmad/${name}.toml`)).toBe(own);
    // Folders that were made for them go with them.
    const fresh = await machine(afterAll, { '.gemini/settings.json': '{}' });
    await fresh.setup({ hosts: ['gemini'] });
    await fresh.remove({ hosts: ['gemini'] });
    expect(await isThere(fresh.path('.gemini/commands'))).toBe(false);
  });

  it('N-05: offers the line without which "codex exec" refuses the contract, and tells of it otherwise', async () => {
    const here = await machine(afterAll, { '.codex/config.toml': 'model = "x"\n' });
    const told = await here.setup({ hosts: ['codex'] });
    expect(told.outcome.ok && told.outcome.answer.body).toMatch(
      /Codex: "codex exec" cannot ask.*approval_mode/,
    );
    const { prompts, rows } = await here.setup({}, ['y', 'Ada', 'English']);
    expect(prompts[0]).toMatch(/refuses the completion contract[^]*\[y\/N\]/);
    expect(rows[0]).toMatchObject({ outcome: 'updated' });
    expect(parseToml(await here.text('.codex/config.toml'))).toMatchObject({
      mcp_servers: { bmad: { tools: { run_completion_contract: { approval_mode: 'approve' } } } },
    });
    const again = await here.setup({}, []);
    expect(again.prompts).toEqual([]);
    expect(again.outcome.ok && again.outcome.answer.body).not.toContain('cannot ask');
    await here.remove({ yes: true });
    expect(await here.text('.codex/config.toml')).toBe('model = "x"\n');
  });

  it('N-05: the yes goes into one’s own file only, beside what is there for other tools, and is asked for once', async () => {
    const tools = '[mcp_servers.bmad.tools.list_agents]\napproval_mode = "approve"\n';
    const here = await machine(afterAll, {
      '.codex/config.toml': `[mcp_servers.bmad]\ncommand = "/gone/bmad-mcp-server"\n${tools}`,
    });
    const shared = await here.setup({ scope: 'project' }, ['Ada', 'English', ''], ['codex']);
    expect(shared.prompts.join('')).not.toContain('completion contract');
    expect(await here.text('shop/.codex/config.toml')).not.toContain('approval_mode');
    const { prompts } = await here.setup({}, ['y']);
    expect(prompts[0]).toContain('completion contract');
    const approved = { approval_mode: 'approve' };
    const entry = { tools: { list_agents: approved, run_completion_contract: approved } };
    expect(parseToml(await here.text('.codex/config.toml'))).toMatchObject({ mcp_servers: { bmad: entry } });
    expect((await here.setup({}, [])).prompts).toEqual([]);
    expect((await here.setup({ hosts: ['codex'] })).rows[0]).toMatchObject({ outcome: 'unchanged' });
  });

  it('N-03: tells of a command that cannot be read, and connects and disconnects all hosts', async () => {
    const here = await machine(afterAll, {
      '.gemini/settings.json': '{}',
      '.gemini/commands/bmad/pm.toml/x': '',
      '.cursor/mcp.json': '{}',
    });
    const problem = expect.stringContaining('pm.toml') as string;
    const { rows, outcome } = await here.setup({ yes: true });
    expect(outcomes(rows)).toEqual({ 'gemini-cli': 'written', cursor: 'written' });
    expect(rows.find(({ host }) => host === 'gemini-cli')).toMatchObject({ problem });
    expect(outcome.ok && outcome.failed).toBe(true);
    expect(outcome.ok && outcome.data['handshakes']).toMatchObject([{ ok: true }]);
    const removed = await here.remove({ yes: true });
    expect(outcomes(removed.rows)).toEqual({ 'gemini-cli': 'removed', cursor: 'removed' });
  });

  it('N-13: tells what is left to do only where the settings of the host make it so', async () => {
    const settings = (enabled: boolean): Record<string, string> => ({
      '.gemini/settings.json': JSON.stringify({ security: { folderTrust: { enabled } } }),
    });
    const bodyOf = async (enabled: boolean): Promise<string> => {
      const { outcome } = await (await machine(afterAll, settings(enabled))).setup({ hosts: ['gemini'] });
      return outcome.ok ? outcome.answer.body : '';
    };
    expect(await bodyOf(true)).toContain('/permissions trust');
    const body = await bodyOf(false);
    expect(body).not.toContain('/permissions trust');
    expect(body).toMatch(/Restart Gemini CLI, open your project and say:\n> Use bmad: /);
  });

  it('says so when the program that an entry starts is gone', async () => {
    const here = await machine(afterAll, {}, { serverCommand: ['/no/such/node', serverFile] });
    const { outcome } = await here.setup({ hosts: ['cursor'] });
    expect(outcome.ok && outcome.failed).toBe(true);
    expect(outcome.ok && outcome.data['handshakes']).toMatchObject([
      { ok: false, trouble: expect.stringMatching(/node/) as string },
    ]);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'says why nothing can be written',
    async () => {
      const here = await machine(afterAll, { '.cursor/x': '' });
      await chmod(here.path('.cursor'), 0o555);
      const { rows } = await here.setup({ hosts: ['cursor'] });
      await chmod(here.path('.cursor'), 0o755);
      expect(rows[0]).toMatchObject({
        outcome: 'refused',
        problem: expect.stringMatching(/cannot be written/) as string,
      });
    },
  );
});
