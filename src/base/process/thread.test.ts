import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childProgram } from '../../../tests/support/child-program.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { BmadError } from '../errors.ts';
import type { Log } from '../log.ts';
import { Thread } from './thread.ts';

let file: URL;
beforeAll(async () => {
  file = pathToFileURL(await childProgram('tests/support/echo-thread.ts'));
});

const logged: string[] = [];
const note = (message: string, fields?: Record<string, unknown>): void =>
  void logged.push(`${message} ${JSON.stringify(fields)}`);
const log: Log = { error: note, warn: note, info: note, debug: note };

function opened(data: object = {}): {
  ask(text: string, signal?: AbortSignal, tell?: (told: string) => void): Promise<string>;
} {
  const thread = new Thread<string, string>({
    file,
    data: { greeting: 'Hello', ...data },
    log,
    idleMs: undefined,
  });
  onTestFinished(() => thread.stop());
  return {
    ask: (text, signal = new AbortController().signal, tell = () => undefined) =>
      thread.ask(text, signal, tell),
  };
}

describe('a thread', () => {
  it('answers each question, whatever it prints, and its log is ours', async () => {
    const { ask } = opened();
    expect(await Promise.all([ask('one'), ask('print'), ask('two')])).toEqual([
      'Hello one',
      'Hello print',
      'Hello two',
    ]);
    expect(logged).toContain('opened {"greeting":"Hello"}');
  });

  it('refuses as it would here', async () => {
    const { ask } = opened();
    const error = await refusal(() => ask('refuse'));
    expect(error).toBeInstanceOf(BmadError);
    expect(error).toMatchObject({ code: 'not_found', hint: 'Ask for another.', suggestions: ['one'] });
    await expect(ask('break')).rejects.toThrow('TypeError: It broke');
  });

  it('that could not open for want of something opens when it is asked again (R-02)', async () => {
    const { ask } = opened({ shortOf: 'EMFILE' });
    await expect(ask('one')).rejects.toMatchObject({ code: 'EMFILE', message: 'Error: Nothing left' });
    expect(await ask('two')).toBe('Hello two');
  });

  it('hears that the caller has left, who does not wait for it (R-07)', async () => {
    const { ask } = opened();
    const leaving = new AbortController();
    const waiting = ask('wait a minute', leaving.signal, () => leaving.abort(new Error('left')));
    await expect(waiting).rejects.toThrow('left');
    await expect.poll(() => ask('left')).toBe('wait a minute');
  });

  it('that is let go answers what it was asked before', async () => {
    const thread = new Thread<string, string>({ file, data: { greeting: 'Hello' }, log, idleMs: undefined });
    const { signal } = new AbortController();
    expect(await thread.ask('begin', signal, () => thread.stop())).toBe('Hello begin');
    expect(await thread.ask('again', signal, () => undefined)).toBe('Hello again');
    thread.stop();
  });

  it('that has done much is replaced when nobody waits for it, by one that prepares itself', async () => {
    const { ask } = opened();
    const leaving = new AbortController();
    const waiting = ask('wait for it', leaving.signal, () => leaving.abort(new Error('left')));
    await expect(waiting).rejects.toThrow('left');
    await expect.poll(() => ask('left')).toBe('wait for it');
    const ready = (): number => logged.filter((line) => line.startsWith('ready')).length;
    const before = ready();
    expect(await ask('renew')).toBe('Hello renew');
    await expect.poll(ready).toBe(before + 1);
    expect(await ask('left')).toBe('');
  });

  it('that cannot be replaced has answered, and the next question starts another', async () => {
    const parts = { file, data: { greeting: 'Hello', not: undefined as unknown }, log, idleMs: undefined };
    const thread = new Thread<string, string>(parts);
    onTestFinished(() => thread.stop());
    const { signal } = new AbortController();
    await thread.ask('one', signal, () => undefined);
    // No thread can be given a function.
    parts.data.not = () => undefined;
    expect(await thread.ask('renew', signal, () => undefined)).toBe('Hello renew');
    parts.data.not = undefined;
    expect(await thread.ask('two', signal, () => undefined)).toBe('Hello two');
    expect(logged.join('\n')).toContain('A thread could not be replaced');
  });

  it('that dies leaves nobody waiting, and the next question starts another', async () => {
    const { ask } = opened();
    const waiting = ask('wait');
    const [dead, beside] = await Promise.allSettled([ask('die'), waiting]);
    for (const { status, ...rest } of [dead, beside])
      expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(await ask('again')).toBe('Hello again');
  });
});
