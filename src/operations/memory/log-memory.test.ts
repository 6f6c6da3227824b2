import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { commandLine } from '../offers.ts';
import { logDecision, logLearning } from './remember.ts';

const inMemory = (session: MemorySession, name: string): Promise<string> =>
  readFile(join(session.folder, '_bmad/_memory', name), 'utf8');

describe('log_decision', () => {
  it('writes a line that the tools of the kit read, and a memory, once', async () => {
    const session = await memorySession(onTestFinished);
    const given = { text: 'Redis for sessions', agent: 'architect', reason: 'latency', architecture: true };
    const { data } = await session.ok(logDecision, given);
    expect(data).toMatchObject({
      outcome: 'created',
      text: '[ARCH] Redis for sessions — latency',
      files: ['_bmad/_memory/decisions-log.md', '_bmad/_memory/memories.json'],
    });
    expect((await session.ok(logDecision, given)).data).toMatchObject({
      outcome: 'unchanged',
      id: data['id'],
    });
    const log = await inMemory(session, 'decisions-log.md');
    expect(log.match(/^- \[\d{4}-\d{2}-\d{2}\] \[ARCH\] Redis for sessions — latency$/gm)).toHaveLength(1);
    expect((await session.recall('redis sessions'))[0]).toMatchObject({ agent: 'architect', stored: true });
  });

  it('puts a title before the text, once (M-61)', async () => {
    const session = await memorySession(onTestFinished);
    const told = async (title: string, text: string) =>
      (await session.ok(logDecision, { title, text, architecture: true })).data['text'];
    expect(await told('Sessions', 'Redis keeps them')).toBe('[ARCH] Sessions: Redis keeps them');
    expect(await told('Queue?', 'None for now')).toBe('[ARCH] Queue? None for now');
    expect(await told('Mail', 'Mail goes out by SMTP')).toBe('[ARCH] Mail goes out by SMTP');
  });

  it('keeps the line ends of the log', async () => {
    const log = '# Decisions Log\r\n\r\n- [2026-01-01] Une décision';
    const session = await memorySession(onTestFinished, {
      files: { ...KIT_FILES, '_bmad/_memory/decisions-log.md': log },
    });
    await session.ok(logDecision, { text: 'Another decision of ours' });
    const text = await inMemory(session, 'decisions-log.md');
    expect(text).toMatch(/Une décision\r\n- \[[\d-]+\] Another decision of ours\r\n$/);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('adds to the trace of a project that keeps one, not again when nothing is new', async () => {
    const session = await memorySession(onTestFinished);
    await writeFiles(session.folder, { '_bmad-output/BMAD_TRACE.md': '# BMAD_TRACE\n' });
    const { data } = await session.ok(logDecision, { text: 'Feature flags in Unleash', agent: 'dev' });
    expect(data['files']).toContain('_bmad-output/BMAD_TRACE.md');
    await session.ok(logDecision, { text: 'Feature flags in Unleash', agent: 'dev' });
    const trace = await readFile(join(session.folder, '_bmad-output/BMAD_TRACE.md'), 'utf8');
    expect(
      trace.match(/^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] \[dev\] \[DECISION\] Feature flags in Unleash$/gm),
    ).toHaveLength(1);
  });

  it('says where it is in a project without a memory folder, and makes none', async () => {
    const session = await memorySession(onTestFinished, { files: { 'package.json': '{}' } });
    const { data } = await session.ok(logDecision, { text: 'Plain project decision' });
    expect(data).toMatchObject({ files: [], notes: [expect.stringContaining('no memory folder')] });
    await expect(readFile(join(session.folder, '_bmad/_memory/decisions-log.md'))).rejects.toThrow('ENOENT');
  });

  it('leaves a log in another encoding as it is and says so', async () => {
    const session = await memorySession(onTestFinished);
    const { writeFile } = await import('node:fs/promises');
    const bytes = Buffer.from('- [2026-01-01] d\xe9cision\n', 'latin1');
    await writeFile(join(session.folder, '_bmad/_memory/decisions-log.md'), bytes);
    const { data } = await session.ok(logDecision, { text: 'A decision that is kept' });
    expect((data['notes'] as string[]).join()).toContain('not UTF-8');
    expect(await readFile(join(session.folder, '_bmad/_memory/decisions-log.md'))).toEqual(bytes);
  });

  it('masks secrets, and refuses what is too short and names that lead away', async () => {
    const session = await memorySession(onTestFinished);
    const token = `ghp_${'a1B2'.repeat(9)}`;
    await session.ok(logDecision, { text: `Deploy with ${token}` });
    expect(await inMemory(session, 'decisions-log.md')).not.toContain(token);
    expect((await session.fail(logDecision, { text: 'short' })).code).toBe('invalid_input');
    expect((await session.fail(logDecision, { text: 'A decision of x', agent: '../x' })).code).toBe(
      'invalid_input',
    );
  });
});

describe('log_learning', () => {
  it('writes into the file that the agent itself writes, by any of its names', async () => {
    const session = await memorySession(onTestFinished);
    const { data } = await session.ok(logLearning, { agent: 'Atlas', text: 'Services talk over NATS' });
    expect(data['files']).toContain('_bmad/_memory/agent-learnings/project-knowledge.md');
    await session.ok(logLearning, { agent: 'Atlas', text: 'Services talk over NATS' });
    const file = await inMemory(session, 'agent-learnings/project-knowledge.md');
    expect(file.match(/Services talk over NATS/g)).toHaveLength(1);
  });

  it('refuses an agent that there is not, with those that there are; one with learnings is known', async () => {
    const session = await memorySession(onTestFinished);
    const given = { agent: 'nobody', text: 'Nobody has learnt this' };
    const error = await session.fail(logLearning, given);
    expect(error).toMatchObject({ code: 'not_found', message: 'There is no agent "nobody".' });
    expect(error.hint).toMatch(/Agents: .*fullstack-dev/s);
    expect(error.steps).toMatchObject([
      { operation: 'remember_structured', args: { ...given, type: 'agent-learnings' } },
    ]);
    await expect(inMemory(session, 'agent-learnings/nobody.md')).rejects.toThrow('ENOENT');
    await session.remember('agent-learnings', 'nobody', 'What a new agent has learnt');
    await session.ok(logLearning, given);
    expect(await inMemory(session, 'agent-learnings/nobody.md')).toContain('Nobody has learnt this');
  });

  it('refuses it also in a project without BMAD, and takes agents of BMAD there', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const text = 'Run the migrations first';
    expect((await session.fail(logLearning, { agent: 'nobody', text })).code).toBe('not_found');
    expect((await session.ok(logLearning, { agent: 'architect', text })).data['outcome']).toBe('created');
  });
});

describe('a text in the place of the agent', () => {
  const text = 'Run the migrations before the integration tests';
  it.each([
    [logDecision, 'log decision', 'Senior Test Architect'],
    [logLearning, 'log learning', 'fullstack-dev'],
  ])('is answered with how $name is called', async (operation, command, name) => {
    expect([operation.command, operation.positional]).toEqual([command, ['text', 'agent']]);
    const session = await memorySession(onTestFinished);
    for (const agent of [text, `${text}. `.repeat(10)]) {
      const error = await session.fail(operation, { text: 'dev', agent });
      expect(error.code).toBe('invalid_input');
      expect(error.wayOut(commandLine)).toContain(`bmad ${command} … dev`);
    }
    expect((await session.fail(operation, { text: 'dev', agent: 'Use Redis now' })).code).toBe(
      'invalid_input',
    );
    const given = { text, agent: name };
    expect((await session.ok(operation, given)).data['outcome']).toBe('created');
  });
});
