import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { decodeEntities } from '../../src/base/text/text.ts';
import { estimateTokens } from '../../src/base/text/text-budget.ts';
import { isListed, type BmadRecord } from '../../src/model/record.ts';
import type { SampleRequest } from '../../src/operations/context.ts';
import { delegateToAgent } from '../../src/operations/delegation/delegate-to-agent.ts';
import { execute } from '../../src/operations/execute.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { ofUsual } from '../support/how-much.ts';

const bare = (text: string): string =>
  decodeEntities(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();

/** What the definition says of an agent, found in its file by the plainest means there are. */
function written(record: BmadRecord, file: string): string[] {
  if (record.format === 'v4-agent')
    return ['role', 'identity'].flatMap((key) => new RegExp(`^  ${key}: (.+)$`, 'm').exec(file)?.[1] ?? []);
  if (record.format === 'compiled-agent')
    return ['role', 'identity', 'communication_style', 'principles'].flatMap(
      (tag) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(file)?.[1] ?? [],
    );
  return [/^## Overview\n+(.+)$/m.exec(file)?.[1] ?? ''];
}

/** Rules that are the agent's own, as its file marks them; not all agents have any. */
function rules(record: BmadRecord, file: string): string[] {
  if (record.format === 'v4-agent') {
    const block = /core_principles:\n([^]*?)\n(?=\S|```)/.exec(file)?.[1] ?? '';
    return [...block.matchAll(/^ +- ([^:{}[\]"']+)$/gm)].map(([, rule = '']) => rule);
  }
  if (record.format === 'compiled-agent')
    return [...file.matchAll(/<r>(ALWAYS communicate[^{]*)/g)].map(([, rule = '']) => rule);
  return [
    ...(/^## (?:Principles|Critical Actions)\n+([^]*?)\n\n/m.exec(file)?.[1] ?? '').matchAll(/^- (.+)$/gm),
  ].map(([, rule = '']) => rule);
}

describe.each(
  ofUsual([
    ['4.44.3', 38, 35],
    ['6.0.0-alpha.7', 19, 0],
    ['6.0.0-alpha.22', 25, 25],
    ['6.3.0', 6, 6],
    ['6.12.0', 5, 0],
  ] as const),
)('every agent of %s', (version, agents, withRules) => {
  it('is asked as who its definition says, with its rules', async () => {
    const home = await temporaryFolder(afterAll);
    const context = await contextIn(await installOf(version), {
      home: join(home, 'none'),
      flags: { discovery: 'local' },
    });
    const { catalogue, delivery } = await context.workspace();
    const records = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));
    expect(records).toHaveLength(agents);
    let ruled = 0;
    for (const record of records) {
      const asked: SampleRequest[] = [];
      const outcome = await execute(
        delegateToAgent,
        { agent_id: catalogue.names.handleOf(record), task: 'Who are you?' },
        context,
        {
          ...testCall(),
          async sample(request) {
            asked.push(request);
            return Promise.resolve({ text: 'It is me.' });
          },
        },
      );
      if (!outcome.ok) throw new Error(`${record.name}: ${outcome.error.text}`);
      const system = asked[0]?.system ?? '';
      const file = (await delivery.file(record.bmadRelativePath, record.origin)).text ?? '';
      expect(system, record.name).toContain(`You are ${record.displayName ?? record.name}`);
      const persona = written(record, file);
      expect(persona.length, record.name).toBeGreaterThan(0);
      const own = rules(record, file);
      if (own.length > 0) ruled += 1;
      for (const part of [...persona, ...own])
        expect(bare(system), `${record.name}: ${part}`).toContain(bare(part));
      // Nothing of the ceremony that only makes sense with somebody who answers.
      expect(system, record.name).not.toMatch(
        /STOP and WAIT|Show greeting|IMMEDIATE ACTION|auto-run `\*help`/,
      );
      expect(outcome.data['left_out'], record.name).toEqual([]);
      expect(estimateTokens(system), record.name).toBeLessThan(3_600);
    }
    expect(ruled).toBeGreaterThanOrEqual(withRules);
  });
});
