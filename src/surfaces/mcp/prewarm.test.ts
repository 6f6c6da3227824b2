import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { createIdle, type Idle, prewarmed } from './idle.ts';

/** An application that says when its content is opened. */
async function observed(flags: Record<string, string> = {}) {
  const context = await contextIn(await temporaryFolder(afterAll), { flags });
  let opened = (): void => undefined;
  const wasOpened = new Promise<string>((resolve) => (opened = () => resolve('opened')));
  const workspace: typeof context.workspace = (project) => {
    opened();
    return context.workspace(project);
  };
  return { context: { ...context, workspace }, wasOpened };
}

describe('loading ahead of the first call', () => {
  it('begins after the tools are listed, and not before', async () => {
    const { context, wasOpened } = await observed();
    const idle = createIdle(() => undefined);
    prewarmed(context, idle);
    const other = new Promise<string>((resolve) => {
      // Runs a second later if there is no list; nothing else has begun by then.
      void idle.orAfterListing(async () => resolve('no list'));
    });
    expect(await Promise.race([wasOpened, other])).toBe('no list');
    idle.listed();
    expect(await wasOpened).toBe('opened');
    idle.close();
    context.close();
  });

  it('is left out where it is switched off', async () => {
    const { context } = await observed({ prewarm: 'false' });
    const planned: Parameters<Idle['afterListing']>[0][] = [];
    const idle: Idle = { ...createIdle(() => undefined), afterListing: (work) => void planned.push(work) };
    prewarmed({ ...context, workspace: () => expect.unreachable() }, idle);
    for (const work of planned) await work(async () => undefined);
    context.close();
  });
});
