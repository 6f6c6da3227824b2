import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { ledger, TEXT } from '../../../tests/support/progress-trees/pieces.ts';
import { GRIMOIRE_FILES, WEB_CONTEXT } from '../../../tests/support/kit-trees.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getAgentMemory } from '../memory/get-agent-memory.ts';
import { type ContextData, getProjectContext } from './project-context.ts';

async function contextOf(
  files: Readonly<Record<string, string>>,
  section?: string,
): Promise<{ data: ContextData; text: string }> {
  const session = await memorySession(onTestFinished, { files });
  const { data, answer } = await session.ok(getProjectContext, { section });
  return { data: data as ContextData, text: `${answer.body}\n${answer.note ?? ''}` };
}

describe('get_project_context', () => {
  it('shows the word of a story masked, and as one short line', async () => {
    const { data, text } = await contextOf({
      '_bmad-output/implementation-artifacts/sprint-status.yaml': ledger({
        '1-1-setup': '"blocked, password: Hunter2!x9Qz"',
        '1-2-login': `"${'very '.repeat(60)}late"`,
      }),
    });
    expect(text).not.toContain('Hunter2');
    expect(text).toContain('- 1-1-setup: blocked, password: ***');
    expect(data.stories?.list.map(({ status }) => status.length <= 61)).toEqual([true, true]);
  });

  it('has the decisions that the shared context lists, in their section and only there (B-09)', async () => {
    const files = {
      '_bmad/_memory/shared-context.md':
        '# Shop\n\n## Décisions\n\n- PostgreSQL retenu\n\n## Règles\n\nAucune.\n',
    };
    const one = await contextOf(files, 'decisions');
    expect(one.text).toContain('## Decisions\n- PostgreSQL retenu');
    expect(one.text).not.toContain('None yet.');
    const all = await contextOf(files);
    expect(all.text.split('PostgreSQL retenu')).toHaveLength(2);
    expect(all.text).toContain('## Règles');
  });

  it('says of a ledger how many stories are done, and of the settings each once, as plain words', async () => {
    const { text } = await contextOf({
      '_bmad/core/config.yaml': 'user_name: Ada\noutput_folder: _bmad-output\n',
      '_bmad/bmm/config.yaml':
        'project_name: Shop\nuser_name: Ada\noutput_folder: _bmad-output\nproject_knowledge: docs\n',
      '_bmad/bmm/agents/dev.md': '---\nname: dev\n---\n\nDev\n',
      '_bmad-output/implementation-artifacts/sprint-status.yaml': ledger({
        '1-1-setup': 'done',
        '1-2-login': 'backlog',
      }),
    });
    expect(text).toContain('sprint-status.yaml (1 of 2 stories done)');
    expect(text).toContain('1 of 2 done by ledger and files, not proven.');
    expect(text.split('output_folder')).toHaveLength(2);
    expect(text).toContain('project_knowledge docs');
    expect(text).not.toContain('{"');
  });

  it('brings together what the files of the kit say', async () => {
    const { data, text } = await contextOf({
      ...KIT_FILES,
      'go.mod': '',
      '_bmad/_memory/shared-context.md': WEB_CONTEXT,
      '_bmad/_memory/handoff-log.md': '| 2026-02-28 10:00 | dev → qa | valider | ⏳ |\n',
      '_bmad/_config/installed-archetypes.yaml':
        'installed:\n  - id: stack/go\n    installed_at: "2026-11-15"\n',
      '_bmad/_config/agent-manifest.csv': 'name,displayName\n"fullstack-dev","x"\n',
      '_bmad/_memory/config.yaml': 'user_name: "Ada Field"\ncommunication_language: "Français"\n',
    });
    expect(data).toMatchObject({
      layout: 'bmad',
      project: { name: 'Corner Shop' },
      user: { name: 'Ada Field', language: 'Français' },
      stack: { detected: [{ name: 'go', because: 'go.mod' }], rows: [{ Technologie: 'React' }] },
      agents: { archetypes: [{ id: 'stack/go' }] },
    });
    expect(data.agents?.team.map(({ id, known }) => [id, known])).toEqual([
      ['fullstack-dev', ['file', 'manifest']],
      ['project-navigator', ['file', 'shared-context']],
      ['go-expert', ['shared-context']],
      ['ops-engineer', ['shared-context']],
    ]);
    expect(data.decisions?.map(({ text: told }) => told)).toEqual([
      'Textes du SDK, autre forme',
      '[ARCH] Sessions sans état, jetons renouvelés',
      'PostgreSQL — ACID',
      'Choix du bus\nNATS suffit pour nos messages.',
    ]);
    expect(text).toContain('# Corner Shop');
    expect(text).toContain('stack → no one yet: audit accessibilité');
    expect(text).not.toContain('{{');
    expect(data.warnings.join()).toContain('not filled in: Architecture');
  });

  it.each([
    ['stack', ['stack']],
    ['agents', ['agents']],
    ['decisions', ['decisions']],
    ['architecture', ['decisions', 'architecture']],
  ])('gives only the section %s', async (section, parts) => {
    const { data } = await contextOf(KIT_FILES, section);
    const optional = ['stack', 'agents', 'decisions', 'architecture', 'other', 'session', 'memory', 'bmad'];
    expect(optional.filter((name) => name in data)).toEqual(parts);
  });

  it('has only decisions about the architecture in that section', async () => {
    const { data } = await contextOf(KIT_FILES, 'architecture');
    expect(data.decisions?.map(({ text }) => text)).toEqual(['[ARCH] Sessions sans état, jetons renouvelés']);
  });

  it('has the documents and decisions that exist, in every section that is about them (M-51)', async () => {
    const session = await memorySession(onTestFinished, {
      files: {
        '_bmad-output/planning-artifacts/architecture.md': `# Architecture\n\n${TEXT}`,
        '_bmad-output/planning-artifacts/prd.md': `---\nstatus: draft\n---\n\n# PRD\n\n${TEXT}`,
      },
    });
    await session.remember('decisions', 'architect', 'Orders are kept in PostgreSQL');
    const one = await session.ok(getProjectContext, { section: 'architecture' });
    expect(one.answer.body).toContain(
      '- architecture: _bmad-output/planning-artifacts/architecture.md (complete)',
    );
    expect(one.answer.body).toContain('Orders are kept in PostgreSQL');
    expect(one.answer.body).not.toMatch(/Not filled in|None yet|no BMAD files/);
    const all = await session.ok(getProjectContext);
    expect(all.answer.body).toContain('- prd: _bmad-output/planning-artifacts/prd.md (in progress)');
    expect(all.answer.body).toContain('BMAD is not installed in it');
  });

  it('reads the layout of the other family', async () => {
    const { data } = await contextOf(GRIMOIRE_FILES);
    expect(data).toMatchObject({
      layout: 'grimoire',
      project: { name: 'Grim Shop', type: 'webapp', stack: ['go', 'docker'] },
      user: { skill_level: 'expert' },
      kit_version: '3.32.0',
      agents: { team: [{ id: 'pricing-expert', known: ['project-context'] }] },
      decisions: [{ text: 'Files d’attente NATS', date: '2026-03-01' }],
    });
  });

  it('takes project-context.yaml of the memory folder when there is none at the top', async () => {
    const { data } = await contextOf({ '_bmad/_memory/project-context.yaml': 'project:\n  name: Deep\n' });
    expect(data.project.name).toBe('Deep');
  });

  it('knows a project without any BMAD files by its folder and its stacks', async () => {
    const { data, text } = await contextOf({ 'package.json': '{}' });
    expect(data).toMatchObject({
      layout: 'none',
      stack: { detected: [{ name: 'javascript' }] },
      warnings: [],
    });
    expect(text).toContain('no BMAD files of its own');
  });

  it.each([
    [
      'a half install',
      { 'project-context.yaml': '', '_bmad/_memory/decisions-log.md': '' },
      'project-context.yaml is empty',
    ],
    ['broken YAML', { ...KIT_FILES, 'project-context.yaml': 'project: [\n' }, 'project-context.yaml'],
    [
      'YAML that is a list',
      { ...KIT_FILES, 'project-context.yaml': '- a\n' },
      'project-context.yaml is empty',
    ],
    ['a broken memories.json', { ...KIT_FILES, '_bmad/_memory/memories.json': '{"x"' }, undefined],
    [
      'broken archetypes',
      { ...KIT_FILES, '_bmad/_config/installed-archetypes.yaml': 'a: [\n' },
      'installed-archetypes.yaml',
    ],
    [
      'empty pages',
      { ...KIT_FILES, '_bmad/_memory/shared-context.md': '', '_bmad/_memory/session-state.md': '' },
      undefined,
    ],
  ])('answers for %s', async (_what, files, warning) => {
    const { data } = await contextOf(files);
    expect(data.section).toBe('all');
    if (warning !== undefined) expect(data.warnings.join('\n')).toContain(warning);
  });

  it('tells of pages in another encoding and of links that lead away', async () => {
    const session = await memorySession(onTestFinished);
    await writeFile(
      join(session.folder, '_bmad/_memory/shared-context.md'),
      Buffer.from('## Projet\n\n\xe9t\xe9\n', 'latin1'),
    );
    await mkdir(join(session.folder, '../outside'), { recursive: true });
    await writeFile(join(session.folder, '../outside/state.md'), '## Travail effectué\n\n- secret\n');
    await symlink(
      join(session.folder, '../outside/state.md'),
      join(session.folder, '_bmad/_memory/session-state.md'),
    );
    const { data } = await session.ok(getProjectContext);
    expect((data['warnings'] as string[]).join('\n')).toMatch(/not UTF-8[\s\S]*points outside/);
    expect(JSON.stringify(data)).not.toContain('secret');
  });

  it('tells of each learnings file that leads away', async () => {
    const session = await memorySession(onTestFinished);
    const outside = join(session.folder, '../outside-learnings.md');
    await writeFile(outside, '- [2026-01-01] secret\n');
    const names = ['agent-learnings/linked.md', 'linked-learnings.md', 'agent-learnings/gone.md'];
    for (const name of names)
      await symlink(
        name.endsWith('gone.md') ? `${outside}.none` : outside,
        join(session.folder, '_bmad/_memory', name),
      );
    const { data } = await session.ok(getProjectContext);
    const warnings = data['warnings'] as string[];
    for (const name of names.slice(0, 2))
      expect(warnings.filter((text) => text.includes(`_bmad/_memory/${name}`))).toEqual([
        expect.stringContaining('points outside'),
      ]);
    expect(warnings.join('\n')).toMatch(/agent-learnings\/gone\.md/);
    expect(JSON.stringify(data)).not.toContain('secret');
  });

  it('tells of every file of the memory that cannot be used', async () => {
    const session = await memorySession(onTestFinished, {
      files: {
        'project-context.yaml': 'project:\n  name: x\n',
        '_bmad/_memory/memories.json': '{bad json',
        '_bmad/_memory/shared-context.md': '',
      },
    });
    await mkdir(join(session.folder, '../away'), { recursive: true });
    await writeFile(join(session.folder, '../away/log.md'), '- secret\n');
    const memory = join(session.folder, '_bmad/_memory');
    await symlink(join(session.folder, '../away/log.md'), join(memory, 'decisions-log.md'));
    await symlink(join(session.folder, '../away'), join(memory, 'agent-learnings'));
    const told = [
      /shared-context\.md is empty/,
      /agent-learnings: .*outside/,
      /decisions-log\.md: .*outside/,
      /memories\.json was left unchanged: it is not valid JSON/,
    ];
    const { data, answer } = await session.ok(getProjectContext);
    for (const each of told) {
      expect(data['warnings']).toEqual(expect.arrayContaining([expect.stringMatching(each)]));
      expect((answer.note ?? '').match(new RegExp(each, 'g'))).toHaveLength(1);
    }
    for (const query of [undefined, 'events']) {
      const learnt = await session.ok(getAgentMemory, { agent: 'architect', query });
      for (const each of told) expect(learnt.answer.note).toMatch(each);
    }
    expect(JSON.stringify(data)).not.toContain('secret');
  });

  it('says who took a decision, also where only the files have it', async () => {
    const { data } = await contextOf({
      ...KIT_FILES,
      '_bmad/_memory/decisions-log.md': '- [2026-05-04] NATS for events\n',
      '_bmad/_memory/memories.json': JSON.stringify([
        { memory: 'NATS for events', metadata: { agent: 'architect', type: 'decisions' } },
      ]),
    });
    expect(data['decisions']).toEqual([
      expect.objectContaining({ text: 'NATS for events', agent: 'architect' }),
    ]);
  });

  it('masks secrets in every file', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const { data } = await contextOf({
      ...KIT_FILES,
      'project-context.yaml': `project:\n  name: x\nmemory:\n  qdrant_api_key: ${token}\n`,
      '_bmad/_memory/shared-context.md': `## Conventions\n\ntoken: ${token}\n`,
      '_bmad/_memory/decisions-log.md': `- [2026-01-01] use ${token}\n`,
    });
    expect(JSON.stringify(data)).not.toContain(token);
  });

  it('refuses a section that does not exist', async () => {
    const session = await memorySession(onTestFinished);
    expect((await session.fail(getProjectContext, { section: 'stakc' })).suggestions).toEqual(['stack']);
  });
});
