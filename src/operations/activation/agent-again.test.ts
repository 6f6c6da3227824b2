import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';

const folder = await temporaryFolder(afterAll);
const context = await contextIn(folder);

const PERSONA = '----- BEGIN';

describe('an agent that is started again', () => {
  it('comes in a short form: who, the message, the menu, and the call for the whole', async () => {
    const ask = conversation(context);
    const first = await ask({ agent: 'pm', message: 'Good morning' });
    expect(first.body).toContain(PERSONA);
    const again = await ask({ agent: 'pm', message: 'What comes next for the shop?' });
    expect(again.result.given_before).toBe(true);
    expect(again.body).toContain('(agent bmm/bmad-agent-pm)');
    expect(again.body).toContain('given earlier in this session and has not changed');
    expect(again.body).toContain('What comes next for the shop?');
    expect(again.body).toMatch(/^Menu: PRD/m);
    expect(again.body).not.toContain(PERSONA);
    expect(Buffer.byteLength(again.body)).toBeLessThan(1_500);
    expect(again.said).toContain(
      'bmad {operation:"execute", agent:"bmm/bmad-agent-pm", message:"What comes next for the shop?", detail:"full"}',
    );
    const whole = await ask({ agent: 'pm', detail: 'full' });
    expect(whole.body).toContain(PERSONA);
    // Another agent is another text, and the first is still known under any of its names.
    expect((await ask({ agent: 'architect' })).body).toContain(PERSONA);
    expect((await ask({ agent: 'John', message: 'And now?' })).body).not.toContain(PERSONA);
  });

  it('comes whole where the same call is repeated: whoever asks twice does not have it', async () => {
    const ask = conversation(context);
    const bodies = [];
    for (let time = 0; time < 4; time++) bodies.push((await ask({ agent: 'pm' })).body.includes(PERSONA));
    expect(bodies).toEqual([true, false, true, false]);
    // With a message it is the same call, made again because its answer was lost.
    const message = 'Good morning';
    for (const _ of [1, 2]) expect((await ask({ agent: 'architect', message })).body).toContain(PERSONA);
  });

  it('comes whole in every other conversation, and where conversations cannot be told apart', async () => {
    await conversation(context)({ agent: 'pm' });
    expect((await conversation(context)({ agent: 'pm' })).body).toContain(PERSONA);
    const shared = conversation(context, false);
    for (const message of ['One', 'Two'])
      expect((await shared({ agent: 'pm', message })).body).toContain(PERSONA);
  });

  it('comes whole where its text has changed', async () => {
    const project = await temporaryFolder(afterAll);
    const named = (role: string): Record<string, string> => ({
      '_bmad/custom/bmad-agent-pm.toml': `[agent]\nrole = "${role}"\n`,
    });
    await writeFiles(project, named('Careful planner'));
    const ask = conversation(await contextIn(project));
    await ask({ agent: 'pm', message: 'One' });
    expect((await ask({ agent: 'pm', message: 'Two' })).body).not.toContain(PERSONA);
    await writeFiles(project, named('Bold planner'));
    expect((await ask({ agent: 'pm', message: 'Three' })).body).toContain('Bold planner');
  });

  it('comes whole until the last part of a text that was cut has been read', async () => {
    const small = await contextIn(folder, { flags: { answerBytes: '4000' } });
    const ask = conversation(small);
    const first = await ask({ agent: 'pm', message: 'One' });
    expect(first.result.next).toBeDefined();
    expect((await ask({ agent: 'pm', message: 'Two' })).body).toContain(PERSONA);
    for (let cursor = first.result.next; cursor !== undefined;)
      cursor = (await ask({ agent: 'pm', cursor })).result.next;
    expect((await ask({ agent: 'pm', message: 'Three' })).body).not.toContain(PERSONA);
  });
});
