import { describe, expect, it, afterAll } from 'vitest';
import { estimateTokens } from '../../src/base/text/text-budget.ts';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { activate } from '../../src/operations/activation/activate.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { recordItem } from '../../src/operations/catalogue/list-items.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { isListed, qualifiedName } from '../../src/model/record.ts';
import { listPrompts, type PromptItem } from '../../src/operations/client/prompts.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { installAlone } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
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

/** An install whose module for software is called otherwise: then no name is the method's. */
async function withoutMethod(version: Version): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await cp(await installOf(version), folder, { recursive: true });
  const [root, config] = version === '6.0.0-alpha.7' ? ['bmad', '_cfg'] : ['_bmad', '_config'];
  await rename(join(folder, root, 'bmm'), join(folder, root, 'acme'));
  for (const file of ['manifest.yaml', 'workflow-manifest.csv', 'agent-manifest.csv', 'task-manifest.csv']) {
    const path = join(folder, root, config, file);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('bmm', 'acme'));
  }
  return folder;
}

describe.each(usually(['6.0.0-alpha.22', '6.0.0-alpha.7']))('ambiguous names of %s', async (version) => {
  const context = await contextIn(await withoutMethod(version), { flags: { discovery: 'local' } });
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

describe.each(usually(['6.0.0-alpha.22', '6.0.0-alpha.7']))(
  'names that two modules of %s share',
  async (version) => {
    const context = await installAlone(version);
    const { winners } = (await context.workspace()).catalogue;
    const work = winners.filter((record) => record.kind === 'workflow' && isListed(record));
    const shared = work.filter(
      ({ moduleName, name }) =>
        moduleName === 'bmm' && work.some((other) => other.moduleName !== 'bmm' && other.name === name),
    );
    const prompts: PromptItem[] = [];
    let cursor: string | undefined;
    do {
      const outcome = await execute(listPrompts, { cursor }, context, testCall());
      if (!outcome.ok) throw new Error(outcome.error.text);
      prompts.push(...(outcome.data['items'] as PromptItem[]));
      cursor = outcome.data['next'] as string | undefined;
    } while (cursor !== undefined);

    it('mean the method’s, for the tool and for the slash command alike (A-2)', async () => {
      expect(shared.length).toBeGreaterThanOrEqual(8);
      for (const { name } of shared) {
        const started = await execute(activate, { name }, context, testCall());
        expect(started.ok && started.data['name'], name).toBe(`bmm/${name}`);
        expect(prompts.find((prompt) => prompt.name === `bmad-${name}`)?.target).toBe(`bmm/${name}`);
      }
    });

    it('say what else has the name, with the call for it (NAME-01)', async () => {
      const also = 'Also of that name: bmgd/dev-story (BMad Game Development): bmad';
      const told = async (operation: AnyOperation, input: Record<string, string>): Promise<string> => {
        const outcome = await execute(operation, input, context, testCall());
        return outcome.ok ? `${outcome.answer.body}\n${outcome.answer.note ?? ''}` : outcome.error.text;
      };
      expect(await told(activate, { name: 'dev-story' })).toContain(
        `${also} {operation:"execute", workflow:"bmgd/dev-story"}.`,
      );
      expect(await told(read, { target: 'dev-story' })).toContain(
        `${also} {operation:"read", workflow:"bmgd/dev-story"}.`,
      );
      for (const name of ['bmm/dev-story', 'bmgd/dev-story'])
        expect(await told(activate, { name })).not.toContain('Also of that name');
    });

    it('have a prompt each whose title says which is meant (A-2)', () => {
      const titles = prompts.map(({ title }) => title);
      expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
      expect(prompts.find(({ target }) => target === 'bmgd/dev-story')).toMatchObject({
        name: 'bmad-bmgd-dev-story',
        title: 'dev-story (BMad Game Development)',
      });
    });
  },
);

it('a part of many names costs less than half of a raw list too', async () => {
  for (const [version, part] of ofUsual([
    ['6.12.0', 'agent'],
    ['4.44.3', 'game'],
    ['6.0.0-alpha.22', 'create'],
  ] as const)) {
    const context = await installAlone(version);
    const answer = await measured(read, { target: part }, context);
    if (answer === undefined) throw new Error(`"${part}" is not ambiguous on ${version}.`);
    expect(saved([answer]), answer.text).toBeGreaterThanOrEqual(LEAST_SAVED);
  }
});
