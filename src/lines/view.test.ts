import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { filesOpened } from '../../tests/support/opened-files.ts';
import { LineFiles } from './files.ts';
import { eventsOnlyOf, type Happened, inOrder, lineJson } from './line.ts';
import { type Noun, View } from './view.ts';

interface Lamp {
  id: string;
  is: string;
  said: number;
}

const lamps: Noun<Lamp> = {
  noun: 'lamp',
  fold(id, events) {
    const last = inOrder(events).at(-1);
    return last === undefined ? undefined : { id, is: last.do, said: events.length };
  },
  isOver: ({ is }) => is === 'broken',
};

const by = { kind: 'local', name: 'ada' } as const;

async function scene() {
  const folder = await temporaryFolder(onTestFinished);
  const log = (): LineFiles =>
    new LineFiles(
      { folder: join(folder, 'lines'), isPrivate: true },
      { machine: () => Promise.resolve('k7q2ab'), by },
    );
  const place = { path: join(folder, 'cache/view.json'), of: 'x' };
  return { folder, log, place, open: () => new View(log(), place) };
}

const saying = (id: string, verb: string) => ({ of: `lamp/${id}`, do: verb, data: {} });

describe('a view of the lines', () => {
  it('has what was said about each noun, one that comes late as well', async () => {
    const { open } = await scene();
    const view = open();
    await view.change(undefined, async () => ({ said: [saying('a', 'on')], answer: undefined }));
    const found = view.of(lamps);
    expect(found.all()).toEqual([{ id: 'a', is: 'on', said: 1 }]);
    const { rev } = found;
    await view.change(undefined, async () => ({ said: [saying('a', 'broken')], answer: undefined }));
    expect(found.rev).toBeGreaterThan(rev);
    expect([found.get('a')?.is, found.open()]).toEqual(['broken', []]);
    expect(view.of(lamps).all()).toBe(found.all());
  });

  it('plans again when another process has said something about the same', async () => {
    const { open } = await scene();
    const [one, other] = [open(), open()];
    const lampsOf = { one: one.of(lamps), other: other.of(lamps) };
    let plans = 0;
    await one.change(undefined, async () => {
      plans += 1;
      if (plans === 1)
        await other.change(undefined, async () => ({ said: [saying('a', 'off')], answer: undefined }));
      return { said: [saying('a', 'on')], answer: undefined };
    });
    expect([plans, lampsOf.one.get('a')]).toEqual([2, { id: 'a', is: 'on', said: 2 }]);
    await other.look();
    expect(lampsOf.other.get('a')).toEqual(lampsOf.one.get('a'));
    expect(lampsOf.one.eventsOf('a').map(({ after }) => after.length)).toEqual([0, 1]);
  });

  it('is known to the next process without the lines of what has ended, whoever asks for the noun first', async () => {
    const { folder, log, place, open } = await scene();
    const writer = log();
    for (let part = 0; part < 25; part += 1)
      await writer.append(
        Array.from({ length: 100 }, (_, at) => ({
          ...saying(`${part}-${at}`, at === 0 ? 'on' : 'broken'),
          after: [],
        })),
      );
    for (let at = 0; at < 5; at += 1)
      await writer.append([{ of: `memory/facts/${at}`, after: [], do: 'remember', data: {} }]);
    const first = open();
    const all = first.of(lamps);
    await first.look();
    expect([all.all().length, all.open().length]).toEqual([2_500, 25]);
    // What has ended takes no room with its lines here either.
    expect([all.eventsOf('3-7').length, all.eventsOf('3-0').length]).toEqual([0, 1]);
    expect(await all.history('3-7')).toHaveLength(1);
    const next = open();
    const lines = await filesOpened(join(folder, 'lines'), async () => {
      await next.look();
      expect(next.of(lamps).all()).toHaveLength(2_500);
    });
    expect(lines).toEqual([]);
    expect(next.of(lamps).isInLines('3-7')).toBe(true);
    // Something is said about one that has ended: its lines are needed again.
    await next.change(undefined, async () => ({ said: [saying('3-7', 'on')], answer: undefined }));
    await first.look();
    expect(all.get('3-7')).toEqual({ id: '3-7', is: 'on', said: 2 });
    expect(next.of(lamps).get('3-7')).toEqual({ id: '3-7', is: 'on', said: 2 });
    expect(next.of(lamps).eventsOf('3-7')[1]?.after).toEqual([next.of(lamps).eventsOf('3-7')[0]?.id]);
    await writeFile(place.path, '{"half');
    const last = open();
    await last.look();
    const sorted = (view: View) =>
      view
        .of(lamps)
        .all()
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted(last)).toEqual(sorted(next));
    expect(await readdir(join(folder, 'cache'))).toEqual(['view.json']);
  });

  it('reads many memories once, though they came in few lines', async () => {
    const { folder, log, open } = await scene();
    for (let part = 0; part < 3; part += 1)
      await log().append(
        Array.from({ length: 1_000 }, (_, at) => ({
          of: `memory/facts/${part}-${at}`,
          after: [],
          do: 'remember',
          data: {},
        })),
      );
    await open().look();
    expect(await filesOpened(join(folder, 'lines'), () => open().look())).toEqual([]);
  });

  it('counts what is in no line until there is one about the same', async () => {
    const { open } = await scene();
    const view = open();
    const found = view.of(lamps);
    const old: Happened = {
      ...saying('old', 'off'),
      after: [],
      id: 'old/old',
      at: new Date(0).toISOString(),
      by,
      machine: '',
      newer: false,
    };
    await found.takeOld([old]);
    expect([found.get('old')?.is, found.isInLines('old')]).toEqual(['off', false]);
    await view.log.append([{ of: 'lamp/old', after: [], do: 'on', data: {} }]);
    await found.takeOld([old]);
    await view.look();
    await found.takeOld([old]);
    expect([found.get('old'), found.isInLines('old')]).toEqual([{ id: 'old', is: 'on', said: 1 }, true]);
  });
});

describe('lines about memories alone', () => {
  const line = (...of: string[]) =>
    lineJson({
      v: 1,
      id: 'a',
      at: new Date(0).toISOString(),
      machine: 'm',
      by,
      events: of.map((each) => ({ of: each, after: [], do: 'remember', data: { text: '"of":"task/1"' } })),
    });

  it('are counted without parsing, and no other line ever is', () => {
    expect(eventsOnlyOf('memory', line('memory/a'))).toBe(1);
    expect(eventsOnlyOf('memory', line('memory/a', 'memory/b'))).toBe(2);
    expect(eventsOnlyOf('memory', line('memory/a', 'task/b'))).toBe(0);
    expect(eventsOnlyOf('memory', line('memoryless/a'))).toBe(0);
    expect(eventsOnlyOf('memory', line('memory/a').replace('"of":', '"of" :'))).toBe(0);
    expect(eventsOnlyOf('memory', line('memory/a', 'task/b').replace('"of":"task', '"\\u006ff":"task'))).toBe(
      0,
    );
    expect(eventsOnlyOf('memory', '{}')).toBe(0);
  });
});
