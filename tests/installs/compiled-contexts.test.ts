import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/base/text/text-budget.ts';
import type { BmadRecord } from '../../src/model/record.ts';
import { compileContext } from '../../src/operations/activation/compile-context.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { installOf, type Version } from '../support/installs.ts';
import { ofUsual } from '../support/how-much.ts';

const BUDGET = 8_000;

const CASES: Partial<Record<Version, readonly string[]>> = {
  '6.12.0': [
    'agent bmm/bmad-agent-architect',
    'agent bmm/bmad-agent-pm',
    'agent bmm/bmad-agent-ux-designer',
    'workflow bmm/bmad-prd',
    'workflow bmm/bmad-code-review',
    'workflow bmm/bmad-create-epics-and-stories',
    'workflow bmm/bmad-retrospective',
  ],
  '6.0.0-alpha.22': [
    'agent bmm/architect',
    'agent bmm/tea',
    'agent core/bmad-master',
    'workflow bmm/dev-story',
    'workflow bmm/retrospective',
    'workflow bmm/testarch-automate',
    'workflow bmm/create-story',
    'workflow bmm/create-architecture',
  ],
  '4.44.3': [
    'agent bmad-core/architect',
    'agent bmad-core/dev',
    'agent bmad-core/bmad-orchestrator',
    'task bmad-core/create-next-story',
    'task bmad-core/review-story',
  ],
};

interface Compiled {
  text: string;
  whole: string;
  tokens: number;
  complete: boolean;
  needed: number;
  leftOut: { title: string; why: string }[];
}

async function compiled(named: string, budget: number, context: Context): Promise<Compiled> {
  const [kind = '', name = ''] = named.split(' ');
  const outcome = await execute(compileContext, { name, kind, budget }, context, testCall());
  if (!outcome.ok) throw outcome.error;
  const { body, note = '' } = outcome.answer;
  return { ...(outcome.data as unknown as Compiled), whole: `${body}\n\n${note}` };
}

/** What has to be there, taken from the files of the install and not from what the server makes of them. */
async function requiredParts(record: BmadRecord): Promise<string[]> {
  const main = await readFile(record.absolutePath, 'utf8');
  const parts = [main];
  if (record.kind === 'agent') return parts;
  const folder = dirname(record.absolutePath);
  const instructions = /^instructions: "?[^"\n]*\/([\w.-]+)"?/m.exec(main)?.[1];
  if (record.format === 'workflow-yaml' && instructions !== undefined) {
    const text = await readFile(join(folder, instructions), 'utf8');
    const toFirstStep = /^[^]*?<\/step>/.exec(text) ?? /^[^]*?\n## Step 1\b[^]*?(?=\n## )/.exec(text);
    parts.push(toFirstStep?.[0] ?? text.slice(0, 1_000));
  }
  const entries = await readdir(folder, { recursive: true });
  const [first] = entries.filter((path) => /(?:^|\/)step-0?1[^/]*\.md$/.test(path)).sort();
  if (first !== undefined && main.includes('step-0'))
    parts.push((await readFile(join(folder, first), 'utf8')).slice(0, 4_000));
  return parts;
}

/** The keys of the module's configuration that these texts use. */
async function usedKeys(record: BmadRecord, texts: readonly string[]): Promise<string[]> {
  const file = join(record.origin.root, record.moduleName, 'config.yaml');
  const config = await readFile(file, 'utf8').catch(() => '');
  const keys = [...config.matchAll(/^(\w+): \S/gm)].map((match) => match[1] ?? '');
  return keys.filter((key) => texts.some((text) => text.includes(`{${key}}`)));
}

const contexts = Object.entries(CASES).flatMap(([version, names]) =>
  names.map((name): [Version, string] => [version as Version, name]),
);
const opened = new Map<Version, Promise<Context>>();

async function contextOf(version: Version): Promise<Context> {
  const home = await temporaryFolder(afterAll);
  const flags = { discovery: 'local', readOnly: 'true' };
  return contextIn(await installOf(version), { flags, home });
}

describe('20 compiled contexts', () => {
  it('are 20', () => {
    expect(contexts).toHaveLength(20);
  });

  it.each(ofUsual(contexts))(
    '%s: %s has all it requires in 8,000 tokens, the same bytes each time',
    async (version, named) => {
      const context = await (opened.get(version) ?? contextOf(version));
      opened.set(version, Promise.resolve(context));
      const { winners } = (await context.workspace()).catalogue;
      const record = winners.find(
        ({ kind, moduleName, name }) =>
          named.endsWith(` ${moduleName}/${name}`) && (kind === 'agent') === named.startsWith('agent '),
      );
      if (record === undefined) throw new Error(`There is no ${named}.`);
      const result = await compiled(named, BUDGET, context);
      expect(estimateTokens(result.whole)).toBeLessThanOrEqual(BUDGET);
      expect(result.complete).toBe(true);
      const parts = await requiredParts(record);
      for (const part of parts) expect(result.text.includes(part.trimEnd()), part.slice(0, 200)).toBe(true);
      for (const key of await usedKeys(record, parts)) expect(result.text).toContain(`\`{${key}}\`: `);
      expect((await compiled(named, BUDGET, context)).whole).toBe(result.whole);
      // What it says it needs is enough, and a little less is called incomplete.
      expect((await compiled(named, result.needed, context)).complete).toBe(true);
      const less = await compiled(named, Math.floor(result.needed * 0.7), context);
      expect(less.complete).toBe(false);
      expect(less.whole).toContain(`INCOMPLETE`);
      expect(estimateTokens(less.whole)).toBeLessThanOrEqual(Math.floor(result.needed * 0.7));
    },
  );
});
