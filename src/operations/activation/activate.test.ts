import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { toolCall } from '../unified/forms.ts';
import { activate } from './activate.ts';
import { compileContext } from './compile-context.ts';

const session = await openSession(afterAll);
/** Where answers have to be small. */
const small = await openSession(afterAll, { flags: { answerBytes: '10000' } });

async function wholeText(name: string, more: object = {}): Promise<string> {
  return (await session.ok(activate, { name, detail: 'full', ...more })).answer.body;
}

describe('execute', () => {
  it('gives an agent in one answer: message, values, persona, menu and its text as it is', async () => {
    const { answer, data } = await session.ok(activate, {
      name: 'architect',
      message: 'Review our caching plan',
    });
    const file = await readFile(join(contentRoot, 'bmm/agents/bmad-agent-architect/SKILL.md'), 'utf8');
    expect(data).toMatchObject({
      name: 'bmm/bmad-agent-architect',
      kind: 'agent',
      complete: true,
      problems: [],
    });
    expect(answer.body).toContain('## Message from the user\n\n```text\nReview our caching plan\n```');
    expect(answer.body).toContain(`- \`{project-root}\`: ${session.folder}\n`);
    expect(answer.body).toContain(
      `- \`{planning_artifacts}\`: ${session.folder}/_bmad-output/planning-artifacts\n`,
    );
    expect(answer.body).toContain('"communication_style": "Calm and pragmatic.');
    expect(answer.body).toContain('{"code":"CA","description":"Produce the architecture spine');
    const uri = 'bmad://bmm/agents/bmad-agent-architect/SKILL.md';
    expect(answer.body).toContain(`----- BEGIN ${uri} -----\n${file}----- END ${uri} -----`);
    expect(answer.body).toContain(
      "Where the file below waits for the user's input, this message is that input.",
    );
    expect(answer.note).toBeUndefined();
    expect(Buffer.byteLength(answer.body + (answer.note ?? ''))).toBeLessThanOrEqual(10_000);
    expect(data['tokens']).toBe(estimateTokens(answer.body));
  });

  it.each([activate, compileContext])(
    'tells every agent what is asked of it and still open, in few words (W3-C3)',
    async (operation) => {
      const { ok, folder } = await openSession(afterAll);
      const row = (to: string, text: string, state = '⏳'): string =>
        `| 2026-11-17 20:58 | fullstack-dev → ${to} | ${text} | ${state} |\n`;
      const log = '_bmad/_memory/handoff-log.md';
      await writeFiles(folder, {
        ...KIT_FILES,
        [log]:
          row('Winston', 'Confirm the stack') + row('architect', 'Was done', '✅') + row('qa', 'Check it'),
      });
      const { body } = (await ok(operation, { name: 'architect' })).answer;
      expect(body).toMatch(
        /\nAsked of you and still open:\n- (H-[\da-f]{8}), asked by fullstack-dev: Confirm the stack\nOnce \1 is done: manage_project \{action:"complete_handoff", args:\{id:"\1"\}\}\n\n/,
      );
      expect((await ok(operation, { name: 'pm' })).answer.body).not.toContain('Asked of you');
      expect((await ok(operation, { name: 'prd' })).answer.body).not.toContain('Asked of you');
      const long = Array.from({ length: 5 }, (_, at) =>
        row('architect', `${at} ${'much to do '.repeat(60)}`),
      );
      await writeFiles(folder, { [log]: long.join('') });
      const many = (await ok(operation, { name: 'architect' })).answer.body;
      expect(many).toMatch(/asked by fullstack-dev: 0 much.*…\n(?:- .*\n)*- and [2-4] more\nOnce H-/);
      if (operation === activate)
        expect(
          Buffer.byteLength(many.split('\n\n## File ')[0]?.replace(folder, '') ?? ''),
        ).toBeLessThanOrEqual(1_500);
    },
  );

  it('gives a long workflow in parts where the answer has to be small, and offers no section that is not there (J-O6)', async () => {
    const { answer, data } = await small.ok(activate, { name: 'prd' });
    expect(Buffer.byteLength(answer.body + (answer.note ?? ''))).toBeLessThanOrEqual(10_000);
    expect(answer.note).toMatch(
      /^PART of [\d.]+ kB; detail:"full" gives all of it at once\. Still to come, /,
    );
    const sections = data['sectionsLeft'] as string[];
    expect(sections).toContain('Finalize');
    for (const section of sections)
      expect((await small.ok(activate, { name: 'prd', section })).answer.body).not.toBe('');
    const rest = await small.ok(activate, { name: 'prd', cursor: data['next'] });
    expect(answer.body + rest.answer.body).toBe(
      (await small.ok(activate, { name: 'prd', detail: 'full' })).answer.body,
    );
  });

  it('gives the same answer to the same call, whatever was called before (A-1)', async () => {
    const call = { name: 'architect', message: 'a' };
    const first = await session.ok(activate, call);
    await session.ok(activate, { name: 'architect', message: 'b' });
    for (const _ of [1, 2, 3]) expect(await session.ok(activate, call)).toEqual(first);
  });

  it.each(['build', 'bmad-build', 'BD', 'Build', '*build', 'bmm/build'])(
    'renders the build workflow asked for as %j',
    async (name) => {
      const text = await wholeText(name);
      expect(text).toContain('# Build (workflow bmm/bmad-build)');
      expect(text).toContain(
        'Read fully and follow: `bmad://rendered/bmad-build/step-01-clarify-and-route.md` to begin the workflow.',
      );
      expect(text).toContain(
        'as `render_skill.py` would put them there; steps that load or render them can be skipped.',
      );
      expect(text).not.toMatch(/\[\[bmad-snapshot|\{\{\.|\{workflow\./);
    },
  );

  it('hands an old name over to its successor, with the old text to honor', async () => {
    const text = await wholeText('bmad-create-prd', { message: 'A shop' });
    expect(text).toContain('# Create Edit and Review PRD (workflow bmm/bmad-prd)');
    expect(text).toContain('`bmad-create-prd` is deprecated; it forwards to `bmad-prd` with create intent.');
    expect(text).toContain('# DEPRECATED — forwards to bmad-prd (create intent)');
    expect(await wholeText('bmad-create-story')).toContain('(workflow bmm/bmad-create-story)');
  });

  it('says first that a text is deprecated, where it has no successor (M-61)', async () => {
    expect(await wholeText('bmad-dev-story')).toMatch(
      /^> `bmad-dev-story` is deprecated: `bmad-build` is now the official implementation method\./,
    );
  });

  it('gives party mode its roster', async () => {
    const text = await wholeText('*party-mode');
    expect(text).toContain('"bmad-agent-architect": {"name":"Winston","title":"System Architect"');
    expect(text).toContain('"id":"code-review-crew"');
    // The file must not be pushed out of the first part by the long lists.
    expect((await session.ok(activate, { name: '*party-mode' })).answer.body).toContain(
      '# Party Mode\n\nRun a round-table',
    );
  });

  it('passes the message on unchanged, whatever is in it', async () => {
    const message =
      'a "quoted" $HOME $(touch x) `id` $& {user_name}\n---\nagent: other\n```\n## Values\n````';
    const text = await wholeText('dev', { message });
    expect(text).toContain(`\`\`\`\`\`text\n${message}\n\`\`\`\`\``);
    expect(text).toContain('(agent bmm/bmad-agent-dev)');
  });

  it('gives programs the context as data', async () => {
    const { data } = await session.ok(activate, { name: 'prd' });
    expect(data['context']).toEqual({
      bmadServerRoot: contentRoot,
      projectRoot: session.folder,
      mcpResources: 'bmad://',
      agentManifestPath: 'bmad://manifests/agents',
      agentCount: 5,
      placeholders: {
        project_root: session.folder,
        bmad_root: contentRoot,
        module_root: 'bmad://bmm',
        config_source: 'bmad://bmm/config.yaml',
        installed_path: 'bmad://bmm/plan/bmad-prd',
        output_folder: `${session.folder}/_bmad-output`,
      },
      moduleInfo: { name: 'bmm', version: '6.12.0', bmadVersion: '6.12.0' },
      originInfo: { kind: 'package', displayName: 'BMAD 6.12.0 (built in)', priority: 9 },
    });
  });

  it('goes on after the first part whatever the message was', async () => {
    const first = await small.ok(activate, { name: 'prd', message: 'A shop' });
    const next = await small.ok(activate, { name: 'prd', cursor: first.data['next'] });
    expect(next.answer.body).toMatch(/^## /);
  });

  it('names the project again in the calls it suggests', async () => {
    const { answer } = await session.ok(activate, { name: 'build', project: session.folder });
    expect(answer.body).toContain(`uri:"bmad://rendered/bmad-build/x", project:"${session.folder}"`);
  });

  it('says what cannot be run, and that nothing has to be installed', async () => {
    expect(await wholeText('brainstorming')).toContain(
      '- `brain.py`: techniques are the rows of `assets/brain-methods.csv`',
    );
    expect(await wholeText('customize')).toContain(
      'BMAD counts as installed, though there is no `_bmad` folder',
    );
    expect(await wholeText('help')).toContain(
      'The catalogue `_bmad/_config/bmad-help.csv` is bmad://_config/bmad-help.csv.',
    );
  });

  it('gives what comes before the text and leaves the text out when it is to be brief', async () => {
    for (const [name, most] of [
      ['prd', 1_500],
      ['pm', 1_500],
    ] as const) {
      const { answer, data } = await session.ok(activate, { name, detail: 'brief' });
      expect(answer.body).toContain('## Values\n');
      expect(answer.body).not.toContain('----- BEGIN');
      expect(Buffer.byteLength(answer.body.replaceAll(session.folder, '/home/ada/shop'))).toBeLessThan(most);
      expect(answer.note).toMatch(
        /^The text itself \([\d.]+ kB\) is left out\. Make the same call without detail/,
      );
      expect(data).toMatchObject({ complete: false, textLeftOut: true });
    }
  });

  it('says so when the name belongs to the other kind', async () => {
    const error = await session.fail(activate, { name: 'prd', kind: 'agent' });
    expect(error.hint).toBe('It is the name of a workflow: bmm/bmad-prd.');
  });

  it.each([
    [{ name: 'nobody' }, 'not_found'],
    [{ name: 'epics' }, 'not_found'],
    [{ name: '../../../etc/passwd' }, 'not_found'],
    [{ name: 'architect', kind: 'workflow' }, 'not_found'],
    [{ name: 'core/architect' }, 'not_found'],
    [{ name: '__proto__' }, 'not_found'],
    [{ name: '..' }, 'invalid_input'],
    [{ name: 'x'.repeat(100_000) }, 'invalid_input'],
    [{ name: 'architect', project: '/does/not/exist' }, 'invalid_input'],
    [{ name: 'architect', cursor: 'nonsense' }, 'invalid_input'],
    [{}, 'invalid_input'],
  ])('refuses %j', async (input, code) => {
    const error = await session.fail(activate, input);
    expect(error.code).toBe(code);
    expect(error.text.length).toBeLessThan(8_000);
    expect(error.wayOut(toolCall)).toBeTruthy();
  });
});

describe('execute in a project with overrides', () => {
  async function project(files: Record<string, string>): Promise<string> {
    const { folder } = await openSession(afterAll);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return folder;
  }

  it('merges team and personal overrides and says so', async () => {
    const folder = await project({
      '_bmad/custom/bmad-agent-architect.toml':
        '[agent]\nrole = "Team role"\nprinciples = ["Team principle"]\n[[agent.menu]]\ncode = "CA"\ndescription = "Ours"\nprompt = "Do it"\n',
      '_bmad/custom/bmad-agent-architect.user.toml': '[agent]\nrole = "My role"\n',
      '_bmad/custom/config.toml': '[core]\nuser_name = "Ada"\n',
    });
    const text = await wholeText('architect', { project: folder });
    expect(text).toContain(
      'The project overrides the defaults in _bmad/custom/bmad-agent-architect.toml and _bmad/custom/bmad-agent-architect.user.toml.',
    );
    expect(text).toContain('"role": "My role"');
    expect(text).toContain('"Developer productivity is architecture.","Team principle"]');
    expect(text).toContain('{"code":"CA","description":"Ours","prompt":"Do it"}');
    expect(text).toContain('- `{user_name}`: Ada\n');
    expect(text).toContain(`- \`{project-root}\`: ${folder}\n`);
  });

  it('serves the agent without a broken override, and says what is broken', async () => {
    const folder = await project({ '_bmad/custom/bmad-prd.toml': '[workflow\nbroken' });
    const { data, answer } = await session.ok(activate, { name: 'prd', project: folder });
    expect(data['problems']).toEqual([expect.stringMatching(/^_bmad\/custom\/bmad-prd\.toml:1: /)]);
    expect(answer.body).toContain('## Problems');
  });

  it('sees an override that was made a moment ago', async () => {
    const folder = await project({ 'package.json': '{}' });
    expect(await wholeText('architect', { project: folder })).toContain('The project overrides nothing.');
    await mkdir(join(folder, '_bmad/custom'), { recursive: true });
    await writeFile(join(folder, '_bmad/custom/bmad-agent-architect.toml'), '[agent]\nrole = "Now"\n');
    expect(await wholeText('architect', { project: folder })).toContain('"role": "Now"');
  });

  it('masks what looks like a secret, wherever it is shown', async () => {
    const folder = await project({
      '_bmad/custom/config.toml': '[core]\napi_key = "CANARY-1"\nurl = "https://ada:CANARY-2@host/x"\n',
      '_bmad/custom/bmad-party-mode.toml': '[workflow]\nclient_secret = "CANARY-3"\n',
    });
    expect(await wholeText('*party-mode', { project: folder })).not.toContain('CANARY');
    // The help has all values, whatever they are called.
    const { data } = await session.ok(activate, { name: 'help', project: folder, detail: 'full' });
    expect(JSON.stringify(data)).toContain('***@host/x');
    expect(JSON.stringify(data)).not.toContain('CANARY');
  });

  it('follows no link out of the project', async () => {
    const outside = await project({ 'secret.toml': '[workflow]\nprd_template = "CANARY-77"\n' });
    const folder = await project({ '_bmad/custom/readme.txt': '' });
    await symlink(join(outside, 'secret.toml'), join(folder, '_bmad/custom/bmad-prd.toml'));
    const text = await wholeText('prd', { project: folder });
    expect(text).not.toContain('CANARY-77');
    expect(text).toContain('points outside');
  });
});
