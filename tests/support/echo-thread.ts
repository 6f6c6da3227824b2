import { setTimeout } from 'node:timers/promises';
import { BmadError } from '../../src/base/errors.ts';
import { serveThread } from '../../src/base/process/thread.ts';

let tries = 0;

/** A thread for tests: cannot open the first time, says what it was asked, fails, dies or is replaced on request, remembers who has left. */
serveThread<{ greeting: string; shortOf?: string }, string, string>(
  async ({ greeting, shortOf }, log, renew) => {
    tries += 1;
    if (shortOf !== undefined && tries === 1)
      throw Object.assign(new Error('Nothing left'), { code: shortOf });
    const left: string[] = [];
    log.info('opened', { greeting });
    return Promise.resolve({
      async work(ask, signal, tell) {
        if (ask === 'die') process.exit(3);
        if (ask === 'print') process.stdout.write('not for the protocol\n');
        if (ask === 'left') return left.join();
        if (ask === 'renew') renew();
        if (ask === 'refuse')
          throw new BmadError('not_found', 'There is none.', {
            hint: 'Ask for another.',
            suggestions: ['one'],
          });
        if (ask === 'break') throw new TypeError('It broke');
        if (ask.startsWith('wait')) {
          tell('waiting');
          await setTimeout(60_000, undefined, { signal }).catch(() => left.push(ask));
        }
        if (ask === 'begin') {
          tell('begun');
          await setTimeout(50);
        }
        return `${greeting} ${ask}`;
      },
      ready: async () => log.info('ready'),
      stop: () => undefined,
    });
  },
);
