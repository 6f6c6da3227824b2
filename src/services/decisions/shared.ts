import { DECIDED_BY, type DecidedKind, type Decision, type Decisions } from '../../model/memory.ts';
import * as z from 'zod';
import { type Happened, headsOf, inOrder } from '../../lines/line.ts';
import type { Entities, Noun, View } from '../../lines/view.ts';

/**
 * The decisions of people that a team shares, as lines in its database. Whose programs may run, and which sources are
 * trusted, is decided on each machine: no row may ever allow a program to run.
 */
const SHARED: ReadonlySet<DecidedKind> = new Set(['task', 'delivery']);

const DECIDED = 'decided';

const dataSchema = z.object({
  digest: z.string(),
  yes: z.boolean(),
  by: z.string(),
  via: z.enum(DECIDED_BY),
  parts: z.record(z.string(), z.string()).optional(),
});

interface Held {
  key: string;
  decision: Decision;
}

const DECISIONS: Noun<Held> = {
  noun: 'decision',
  fold(key, events: readonly Happened[]) {
    const last = inOrder(events).findLast(({ do: verb }) => verb === DECIDED);
    const read = last === undefined ? undefined : dataSchema.safeParse(last.data).data;
    const kind = [...SHARED].find((each) => key.startsWith(`${each}/`));
    if (last === undefined || read === undefined || kind === undefined) return undefined;
    return { key, decision: { ...read, kind, id: key.slice(kind.length + 1), at: last.at } };
  },
  isOver: () => false,
};

/** The decisions about a project: those of a team from its lines, all others from this machine. */
export function sharedDecisions(own: Decisions, opened: () => Promise<View>): Decisions {
  let known: { rev: number; byKind: Map<DecidedKind, ReadonlyMap<string, Decision>> } | undefined;

  async function looked(): Promise<{ view: View; lines: Entities<Held> }> {
    const view = await opened();
    await view.look();
    return { view, lines: view.of(DECISIONS) };
  }

  return {
    async last(kind, id) {
      if (!SHARED.has(kind)) return own.last(kind, id);
      return (await looked()).lines.get(`${kind}/${id}`)?.decision;
    },
    async all(kind) {
      if (!SHARED.has(kind)) return own.all(kind);
      const { lines } = await looked();
      if (known?.rev !== lines.rev) known = { rev: lines.rev, byKind: new Map() };
      const before = known.byKind.get(kind);
      if (before !== undefined) return before;
      const some = lines.all().flatMap(({ decision }) => (decision.kind === kind ? [decision] : []));
      const found = new Map(some.map((decision) => [decision.id, decision]));
      known.byKind.set(kind, found);
      return found;
    },
    async decide(decision) {
      if (!SHARED.has(decision.kind)) return own.decide(decision);
      const { view, lines } = await looked();
      const { kind, id, ...data } = decision;
      const key = `${kind}/${id}`;
      const after = headsOf(lines.eventsOf(key));
      const done = await view.log.append([{ of: `${DECISIONS.noun}/${key}`, after, do: DECIDED, data }]);
      await view.look();
      return { ...decision, at: 'line' in done ? done.line.at : new Date(view.log.now()).toISOString() };
    },
    alone: (signal, work) => own.alone(signal, work),
  };
}
