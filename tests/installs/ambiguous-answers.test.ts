import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/base/text/token-estimate.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { recordItem } from '../../src/operations/catalogue/list-items.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { qualifiedName } from '../../src/model/record.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { contextIn, testCall } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { ofUsual, usually } from '../support/how-much.ts';

/** A raw list of what has the name, with all that is known of each, against the answer that is given: 52.3 % less. */
const LEAST_SAVED = 52.3;

interface Measured {
  name: string;
  text: string;
  raw: number;
  ours: number;
}

async function measured(
  operation: AnyOperation,
  input: { name?: string; target?: string },
  context: Context,
): Promise<Measured | undefined> {
  const outcome = await execute(operation, input, context, testCall());
  if (outcome.ok || outcome.error.code !== 'ambiguous') return undefined;
  const workspace = await context.workspace();
  const { suggestions } = outcome.error;
  const text = outcome.error.textWith(toolCall);
  const records = workspace.catalogue.winners.filter((record) => suggestions.includes(qualifiedName(record)));
  const raw = estimateTokens(JSON.stringify(records.map((record) => recordItem(record, workspace))));
  return { name: input.name ?? input.target ?? '', text, raw, ours: estimateTokens(text) };
}

const saved = (all: readonly Measured[]): number =>
  100 * (1 - all.reduce((sum, { ours }) => sum + ours, 0) / all.reduce((sum, { raw }) => sum + raw, 0));

describe.each(usually(['6.0.0-alpha.22', '6.0.0-alpha.7']))('ambiguous names of %s', async (version) => {
  const context = await contextIn(await installOf(version), { flags: { discovery: 'local' } });
  const { winners } = (await context.workspace()).catalogue;
  // Only what several have can be ambiguous, and to start all the others takes long.
  const all = winners.map(({ name }) => name);
  const names = [...new Set(all.filter((name, index) => all.indexOf(name) !== index))];
  const answers = (await Promise.all(names.map((name) => measured(activate, { name }, context)))).filter(
    (answer) => answer !== undefined,
  );

  it('cost less than half of a raw list', () => {
    expect(answers.length).toBeGreaterThanOrEqual(5);
    expect(saved(answers)).toBeGreaterThanOrEqual(LEAST_SAVED);
  });

  it('M-12: are told apart, without advice where there is no reason for one, and each can be called', async () => {
    for (const { name, text } of answers) {
      expect(text, name).toMatch(
        /\n(?:Most likely \S+: the manifests put it first\.\nChoose it|Nothing tells which one is meant: [^.]+\.\nChoose one): bmad \{operation:"execute", (?:agent|workflow):"[^"]+"\}$/,
      );
      const lines = text.split('\n').filter((line) => line.startsWith('- '));
      expect(new Set(lines.map((line) => line.replace(/^- [^:]*/, ''))).size, text).toBe(lines.length);
      for (const line of lines) {
        const next = /^- ([^:]+)/.exec(line)?.[1];
        expect((await execute(activate, { name: next }, context, testCall())).ok, next).toBe(true);
      }
    }
  });
});

it('a part of many names costs less than half of a raw list too', async () => {
  for (const [version, part] of ofUsual([
    ['6.12.0', 'agent'],
    ['4.44.3', 'game'],
    ['6.0.0-alpha.22', 'create'],
  ] as const)) {
    const context = await contextIn(await installOf(version), { flags: { discovery: 'local' } });
    const answer = await measured(read, { target: part }, context);
    if (answer === undefined) throw new Error(`"${part}" is not ambiguous on ${version}.`);
    expect(saved([answer]), answer.text).toBeGreaterThanOrEqual(LEAST_SAVED);
  }
});
