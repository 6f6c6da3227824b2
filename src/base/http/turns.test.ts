import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** The order in which these callers begin, and in how many rounds of the event loop. */
async function orderOf(callers: string): Promise<{ order: string; rounds: number }> {
  const turn = createTurns();
  let order = '';
  let rounds = 0;
  let counting = true;
  const count = (): void => {
    rounds += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const begun = callers.split('').map(async (caller) => {
    await turn(caller);
    order += caller;
  });
  await Promise.all(begun);
  counting = false;
  return { order, rounds };
}

describe('turns', () => {
  it('alternate between callers, however much each asks for', async () => {
    expect((await orderOf('eeeeeeeea')).order).toBe('eeaeeeeee');
    expect((await orderOf('eeeeaaaab')).order).toBe('eeabeaeaa');
  });

  it('let one begin in each round of the event loop, so that what comes meanwhile is heard', async () => {
    const { order, rounds } = await orderOf('eeeeeeee');
    expect(order).toBe('eeeeeeee');
    expect(rounds).toBeGreaterThanOrEqual(7);
  });

  it('come at once where nobody waits', async () => {
    const turn = createTurns();
    let rounds = 0;
    setImmediate(() => (rounds += 1));
    await turn('a');
    expect(rounds).toBe(0);
  });

  it('come again after all have begun', async () => {
    const turn = createTurns();
    let begun = 0;
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(['a', 'a', 'b'].map(async (caller) => turn(caller).then(() => (begun += 1))));
    }
    expect(begun).toBe(9);
  });
});
