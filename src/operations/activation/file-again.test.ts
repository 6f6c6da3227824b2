import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';

const project = await temporaryFolder(afterAll);
const place = '_bmad/bmm/workflows/plan/steps/step-01.md';
const step = (rule: string): string => `# Step 1\n\n${`- ${rule}\n`.repeat(120)}\n## Last\n\nThe end.\n`;
const write = async (rule: string): Promise<void> => writeFiles(project, { [place]: step(rule) });
await write('Ask before you write.');
const context = await contextIn(project);

const read = { operation: 'read', uri: 'bmad://bmm/workflows/plan/steps/step-01.md' };
const other = { operation: 'read', uri: 'bmad://bmm/config.yaml' };
const TEXT = 'Ask before you write.';

describe('a file that is read again in one conversation', () => {
  it('comes as a line with the call that gives it whole', async () => {
    const ask = conversation(context);
    const whole = await ask(read);
    expect(whole.body).toBe(step(TEXT));
    await ask(other);
    const short = await ask(read);
    expect(short.result.given_before).toBe(true);
    expect(short.body).toContain('has not changed');
    expect(Buffer.byteLength(short.body)).toBeLessThan(250);
    expect(short.said).toContain(`uri:"${read.uri}", detail:"full"}`);
    expect((await ask({ ...read, detail: 'full' })).body).toBe(whole.body);
  });

  it('comes whole when the call is repeated at once, and after a short answer too', async () => {
    const ask = conversation(context);
    for (const _ of [1, 2]) expect((await ask(read)).body).toContain(TEXT);
    await ask(other);
    expect((await ask(read)).body).not.toContain(TEXT);
    expect((await ask(read)).body).toContain(TEXT);
  });

  it('comes whole after a change, for others, and when only a part of it was asked for', async () => {
    const ask = conversation(context);
    expect((await ask({ ...read, section: 'Last' })).body).toContain('The end.');
    await ask(other);
    expect((await ask(read)).body).toContain(TEXT);
    await ask(other);
    expect((await ask({ ...read, section: 'Last' })).body).toContain('The end.');
    const shared = conversation(context, false);
    for (const call of [read, other, read, other, read])
      if (call === read) expect((await shared(call)).body).toContain(TEXT);
      else await shared(call);
    await write('Write before you ask.');
    expect((await ask(read)).body).toContain('Write before you ask.');
    await write(TEXT);
  });

  it('comes whole as long as its parts were not all read', async () => {
    await writeFiles(project, { [place]: step(TEXT).repeat(6) });
    const ask = conversation(context);
    const first = await ask(read);
    expect(first.result.next).toBeDefined();
    await ask(other);
    expect((await ask(read)).body).toBe(first.body);
    for (let { next } = first.result; next !== undefined;)
      ({ next } = (await ask({ ...read, cursor: next })).result);
    expect((await ask(read)).result.given_before).toBe(true);
    await write(TEXT);
  });

  it('comes whole when it is an agent or a workflow that is read by its name', async () => {
    const ask = conversation(context);
    await ask({ operation: 'read', agent: 'architect' });
    await ask(other);
    expect((await ask({ operation: 'read', agent: 'architect' })).body).toContain('# Winston');
  });
});
