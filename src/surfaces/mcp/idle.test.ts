import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { underWay } from '../../base/async.ts';
import { createIdle, type Idle } from './idle.ts';

function idle(): Idle & { failures: unknown[] } {
  const failures: unknown[] = [];
  const made = createIdle((error) => failures.push(error));
  onTestFinished(() => made.close());
  return { ...made, failures };
}

/** Something to be done, and when it has been. */
function done(log: string[], word: string) {
  let finish: () => void;
  const over = new Promise<void>((resolve) => (finish = resolve));
  return {
    over,
    work: async (): Promise<void> => {
      log.push(word);
      finish();
    },
  };
}

describe('time that nobody needs', () => {
  it('is used in order, and for nothing that waits for a list which never comes', async () => {
    const { afterListing, orAfterListing } = idle();
    const log: string[] = [];
    const [patient, first, second] = [done(log, 'patient'), done(log, 'first'), done(log, 'second')];
    afterListing(patient.work);
    expect(orAfterListing(first.work)).toBeUndefined();
    expect(orAfterListing(second.work)).toBeUndefined();
    await second.over;
    expect(log).toEqual(['first', 'second']);
  });

  it('begins after the list of tools; then what does not have to wait is done at once', async () => {
    const { afterListing, listed, orAfterListing } = idle();
    const log: string[] = [];
    const [patient, now] = [done(log, 'patient'), done(log, 'now')];
    afterListing(patient.work);
    listed();
    listed();
    expect(log).toEqual([]);
    await orAfterListing(now.work);
    expect(log).toEqual(['now']);
    await patient.over;
    expect(log).toEqual(['now', 'patient']);
  });

  it('lets in whatever arrives between two pieces, and waits for it', async () => {
    const { afterListing, heard, listed } = idle();
    listed();
    const log: string[] = [];
    const last = done(log, 'second piece');
    afterListing(async (pause) => {
      log.push('first piece');
      setImmediate(() => {
        heard();
        log.push('message');
        setImmediate(() => log.push('answer'));
      });
      await pause();
      await last.work();
    });
    await last.over;
    expect(log).toEqual(['first piece', 'message', 'answer', 'second piece']);
  });

  it('does not begin before every call is answered', async () => {
    const { afterListing, listed } = idle();
    const log: string[] = [];
    let answer = (): void => undefined;
    const call = underWay(() => new Promise<void>((resolve) => (answer = resolve)));
    const work = done(log, 'work');
    afterListing(work.work);
    listed();
    await setTimeout(120);
    log.push('answer');
    answer();
    await Promise.all([call, work.over]);
    expect(log).toEqual(['answer', 'work']);
  });

  it('goes on after a failure, and ends with the server', async () => {
    const { afterListing, close, failures, listed } = idle();
    listed();
    const log: string[] = [];
    const next = done(log, 'next');
    afterListing(() => Promise.reject(new Error('it fails')));
    afterListing(next.work);
    await next.over;
    expect(failures).toEqual([new Error('it fails')]);
    const ended = new Promise<unknown>((resolve) => {
      afterListing(async (pause) => {
        close();
        await pause().catch(resolve);
        throw new Error('too late');
      });
    });
    expect(await ended).toEqual(new Error('The server has ended.'));
    expect(failures).toHaveLength(1);
  });
});
