import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** The order in which these callers begin, and in how many rounds of the event loop. */
async function orderOf(callers: string): Promise<{ order: string; rounds: number }> {
  const { begin } = createTurns();
  let order = '';
  let rounds = 0;
  let counting = true;
  const count = (): void => {
    rounds += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const begun = callers.split('').map(async (caller) => {
    await begin(caller);
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
    const { begin } = createTurns();
    let rounds = 0;
    setImmediate(() => (rounds += 1));
    await begin('a');
    expect(rounds).toBe(0);
  });

  it('come again after all have begun', async () => {
    const { begin } = createTurns();
    let begun = 0;
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(['a', 'a', 'b'].map(async (caller) => begin(caller).then(() => (begun += 1))));
    }
    expect(begun).toBe(9);
  });
});

/** Calls of these callers, of which each lasts until it is ended; a capital letter writes. */
function calling() {
  const { call } = createTurns();
  const under: { caller: string; over: () => void }[] = [];
  return {
    under,
    names: () => under.map(({ caller }) => caller).join(''),
    ask: (callers: string) =>
      callers.split('').map(async (caller) => {
        const over = await call(caller.toLowerCase(), caller !== caller.toLowerCase());
        under.push({ caller, over });
      }),
    end(caller: string): void {
      const [first] = under.splice(
        under.findIndex((each) => each.caller === caller),
        1,
      );
      first?.over();
    },
  };
}

describe('calls', () => {
  it('of a caller who is alone are all under way together', async () => {
    const { ask, names } = calling();
    await Promise.all(ask('aaaa'));
    expect(names()).toBe('aaaa');
  });

  it('of one caller follow each other while there is another, whose calls are not held up (R-03)', async () => {
    const { ask, end, names } = calling();
    await Promise.all(ask('b'));
    end('b');
    const [first, second, third] = ask('aaa');
    await Promise.all([first, ...ask('b')]);
    expect(names()).toBe('ab');
    end('a');
    await second;
    expect(names()).toBe('ba');
    end('b');
    end('a');
    await third;
    expect(names()).toBe('a');
  });

  it('that read do not wait for those of the same caller that write, nor the other way round', async () => {
    const { ask, names } = calling();
    await Promise.all(ask('b'));
    const [, , writing] = ask('AAa');
    await writing;
    expect(names()).toBe('bAa');
  });

  it('of one who asks for much leave their time to another who asks for little, until that is answered', async () => {
    const { ask, end, names } = calling();
    await Promise.all(ask('B'));
    const [first, second] = ask('aa');
    await first;
    // It counts for a second at most, and the pause is longer than that: only the end of the other call can be what it waits for.
    await delay(600);
    end('a');
    await delay(100);
    expect(names()).toBe('B');
    end('B');
    await second;
    expect(names()).toBe('a');
  });

  it('begin although an earlier one never ends: it waits for something else', async () => {
    const { ask, names } = calling();
    await Promise.all(ask('b'));
    await Promise.all(ask('aa'));
    expect(names()).toBe('baa');
  });

  it('end once, whatever says so', async () => {
    const { ask, end, names, under } = calling();
    await Promise.all(ask('ba'));
    const over = under[1]?.over;
    const later = Promise.all(ask('aa'));
    end('a');
    over?.();
    over?.();
    await delay(50);
    expect(names()).toBe('ba');
    end('a');
    await later;
    expect(names()).toBe('ba');
  });
});

describe('the line of changes', () => {
  it('has a few of one caller under way, and an end for those that wait too long', async () => {
    const { call, waiting } = createTurns({ lineMs: 50 });
    const under = await Promise.all(Array.from({ length: 8 }, () => call('a', true)));
    const late = [call('a', true), call('a', true)];
    expect(waiting()).toBe(2);
    under[0]?.();
    (await late[0])?.();
    const other = call('a', true);
    // The place of the first was free, and that of the second still is.
    (await late[1])?.();
    await other;
    await Promise.all(Array.from({ length: 5 }, () => call('a', true).catch(() => undefined)));
    const refused = await call('a', true).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'unavailable', reason: 'busy', seconds: 5 });
    expect(waiting()).toBe(0);
  });

  it('does not hold up what only reads', async () => {
    const { call } = createTurns({ lineMs: 50 });
    expect(await Promise.all(Array.from({ length: 40 }, () => call('a', false)))).toHaveLength(40);
  });
});
