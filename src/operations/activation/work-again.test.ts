import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { ledger } from '../../../tests/support/progress-trees/pieces.ts';

const folder = await temporaryFolder(afterAll);
const context = await contextIn(folder);

const TEXT = '----- BEGIN';

describe('a workflow that is started again', () => {
  it('comes in a short form: what it is, the message, and the call for the whole', async () => {
    const ask = conversation(context);
    expect((await ask({ workflow: 'build', message: 'story 1.1' })).body).toContain(TEXT);
    const again = await ask({ workflow: 'build', message: 'story 1.2' });
    expect(again.result.given_before).toBe(true);
    expect(again.body).toContain('(workflow bmm/bmad-build)');
    expect(again.body).toContain('given earlier in this session and has not changed');
    expect(again.body).toContain('story 1.2');
    expect(again.body).not.toContain(TEXT);
    expect(Buffer.byteLength(again.body)).toBeLessThan(1_000);
    expect(again.said).toContain('Short form');
    expect(again.said).toContain(
      'bmad {operation:"execute", workflow:"bmm/bmad-build", message:"story 1.2", detail:"full"}',
    );
    expect((await ask({ workflow: 'build', message: 'story 1.3', detail: 'full' })).body).toContain(TEXT);
  });

  it('has its inputs each time, also where an outline came in between', async () => {
    const place = await temporaryFolder(onTestFinished);
    const story = '# Story 1.1: Setup\n\nStatus: ready-for-dev\n\n## Tasks\n\n- [ ] One\n';
    const impl = '_bmad-output/implementation-artifacts';
    await writeFiles(place, {
      [`${impl}/sprint-status.yaml`]: ledger({ '1-1-setup': 'ready-for-dev', '1-2-login': 'ready-for-dev' }),
      [`${impl}/1-1-setup.md`]: story,
      [`${impl}/1-2-login.md`]: story.replace('1.1: Setup', '1.2: Login'),
    });
    const ask = conversation(await contextIn(place));
    expect((await ask({ workflow: 'build', message: 'story 1.1' })).body).toContain(`${impl}/1-1-setup.md`);
    await ask({ workflow: 'build', message: 'story 1.2', detail: 'concise' });
    const short = await ask({ workflow: 'build', message: 'story 1.2 please' });
    expect(short.result.given_before).toBe(true);
    expect(short.body).toContain(`${impl}/1-2-login.md`);
  });

  it('comes whole where the call is repeated word for word, and in every other conversation', async () => {
    const ask = conversation(context);
    for (const _ of [1, 2])
      expect((await ask({ workflow: 'build', message: 'story 1.1' })).body).toContain(TEXT);
    expect((await conversation(context)({ workflow: 'build', message: 'story 1.2' })).body).toContain(TEXT);
    const shared = conversation(context, false);
    for (const message of ['One', 'Two'])
      expect((await shared({ workflow: 'build', message })).body).toContain(TEXT);
  });

  it('comes in a short form where the same call is made again later on: the loop of stories repeats its calls', async () => {
    const ask = conversation(context);
    const calls = [
      { agent: 'dev', message: 'Good morning' },
      { workflow: 'build', message: 'the next story' },
    ];
    for (const call of calls) expect((await ask(call)).body).toContain(TEXT);
    for (const call of calls) expect((await ask(call)).body).not.toContain(TEXT);
    // What follows at once has not arrived, whatever was sent.
    expect((await ask(calls[1] ?? {})).body).toContain(TEXT);
  });

  it('comes whole where its text has changed', async () => {
    const project = await temporaryFolder(afterAll);
    const file = '_bmad/custom/bmad-build.toml';
    const fact = (text: string): Record<string, string> => ({
      [file]: `[workflow]\npersistent_facts = ["${text}"]\n`,
    });
    await writeFiles(project, fact('We like tests.'));
    const ask = conversation(await contextIn(project));
    await ask({ workflow: 'build', message: 'One' });
    expect((await ask({ workflow: 'build', message: 'Two' })).body).not.toContain(TEXT);
    await writeFiles(project, fact('We like small steps.'));
    expect((await ask({ workflow: 'build', message: 'Three' })).body).toContain('We like small steps.');
  });

  it('comes whole until the last part of a text that was cut has been read', async () => {
    const small = await contextIn(folder, { flags: { answerBytes: '4000' } });
    const ask = conversation(small);
    const first = await ask({ workflow: 'build', message: 'One' });
    expect(first.result.next).toBeDefined();
    const second = await ask({ workflow: 'build', message: 'Two' });
    expect(second.body).toContain(TEXT);
    for (let cursor = second.result.next; cursor !== undefined;)
      cursor = (await ask({ workflow: 'build', cursor })).result.next;
    expect((await ask({ workflow: 'build', message: 'Three' })).body).not.toContain(TEXT);
  });
});
