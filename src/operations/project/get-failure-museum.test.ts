import { describe, expect, it, onTestFinished } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { GRIMOIRE_FILES, NEW_MUSEUM } from '../../../tests/support/kit-trees.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memorySupersede } from '../memory/memory-operations.ts';
import { type FailureData, getFailureMuseum } from './failures.ts';

const page = `## 🟢 Micro-Erreurs

### [2026-05-01] [dev] CC-FAIL — petit
**Règle instaurée** : règle un

## 🔴 Critiques

### [2026-01-01] [dev] HALLUCINATION — ancien
### [2026-02-01] [dev] CC-FAIL — répété
### [2026-03-01] [dev] ARCH-MISTAKE — récent
### [2026-01-15] [dev] PROCESS-SKIP — ouvert
**Statut** : open

## 🟡 Importantes

- [2026-02-01] Une ligne ancienne
`;

async function museumOf(files: Readonly<Record<string, string>>, input: object = {}) {
  const session = await memorySession(onTestFinished, { files });
  const { data, answer } = await session.ok(getFailureMuseum, input);
  return { data, failures: data['failures'] as FailureData[], text: answer.body, session };
}

describe('get_failure_museum', () => {
  it('orders by severity, what is open, what happens again, and the date', async () => {
    const { failures, data } = await museumOf({ '_bmad/_memory/failure-museum.md': page });
    expect(failures.map(({ title }) => title)).toEqual([
      'ouvert',
      'répété',
      'récent',
      'ancien',
      'Une ligne ancienne',
      'petit',
    ]);
    expect(data).toMatchObject({
      total: 6,
      by_severity: { critical: 4, important: 1, micro: 1 },
      by_category: { 'CC-FAIL': 2, UNKNOWN: 1 },
      rules: [{ rule: 'règle un', from: '_bmad/_memory/failure-museum.md:3' }],
    });
  });

  it('gives one category and the first of them, and all rules all the same', async () => {
    const { failures, data } = await museumOf(
      { '_bmad/_memory/failure-museum.md': page },
      { category: 'cc-fail', top_n: 1 },
    );
    expect(failures.map(({ title }) => title)).toEqual(['répété']);
    expect(data).toMatchObject({ total: 2, rules: [{ rule: 'règle un' }] });
    expect(
      (await museumOf({ '_bmad/_memory/failure-museum.md': page }, { category: 'all' })).failures,
    ).toHaveLength(6);
  });

  it('has nothing in a new project', async () => {
    const { text, data } = await museumOf({ '_bmad/_memory/failure-museum.md': NEW_MUSEUM });
    expect(text).toBe('No failures are recorded.');
    expect(data['total']).toBe(0);
  });

  it('reads the log of the other family before its page, each failure once', async () => {
    const { failures } = await museumOf(GRIMOIRE_FILES);
    expect(failures.map(({ id, severity, status }) => [id, severity, status])).toEqual([
      ['FM-002', 'critical', 'open'],
      ['FM-001', 'micro', 'resolved'],
    ]);
  });

  it('adds failures that were only remembered', async () => {
    const { session } = await museumOf(KIT_FILES);
    const id = await session.remember('failures', 'qa', 'WRONG-ASSUMPTION: the clock was taken for UTC', [
      'critical',
    ]);
    const { data } = await session.ok(getFailureMuseum);
    expect((data['failures'] as FailureData[]).find((each) => each.id === id)).toMatchObject({
      category: 'WRONG-ASSUMPTION',
      severity: 'critical',
      agents: ['qa'],
    });
    expect(data['total']).toBe(3);
  });

  it('reads severities and categories in any case and language, and says in plain words what is not given', async () => {
    const { session } = await museumOf({});
    for (const [text, tags] of [
      ['cc-fail : livré sans lancer les tests', ['Critique']],
      ['[high] Wrong assumption — the clock was taken for UTC', []],
      ['Étape sautée: no review was held\nSévérité : moyenne', []],
      ['The cache was never cleared', []],
    ] as const)
      await session.remember('failures', 'qa', text, [...tags]);
    const { data, answer } = await session.ok(getFailureMuseum);
    expect(data).toMatchObject({
      by_severity: { critical: 2, important: 1, unknown: 1 },
      by_category: { 'CC-FAIL': 1, 'WRONG-ASSUMPTION': 1, 'PROCESS-SKIP': 1, UNKNOWN: 1 },
    });
    expect(answer.body).toMatch(
      /^4 failures \(critical 2, important 1; .*; 1 without a severity, 1 without a category\)$/m,
    );
    expect(answer.body).toMatch(/^4\. The cache was never cleared \(/m);
    expect(answer.body).not.toMatch(/unknown/i);
    const one = await session.ok(getFailureMuseum, { category: 'mauvaise hypothèse' });
    expect(one.data).toMatchObject({ total: 1, failures: [{ title: 'the clock was taken for UTC' }] });
    const { session: other } = await museumOf({});
    await other.remember('failures', 'qa', 'The cache was never cleared');
    expect((await other.ok(getFailureMuseum)).answer.body).toContain(
      '1 failure (without severity and category)',
    );
  });

  it('says the same of a page whether or not anything else is remembered', async () => {
    const { session } = await museumOf({ '_bmad/_memory/failure-museum.md': page });
    const shown = async (): Promise<FailureData[]> =>
      (await session.ok(getFailureMuseum)).data['failures'] as FailureData[];
    const [alone, other] = [await shown(), await session.remember('failures', 'qa', 'The clock was wrong')];
    expect(new Set(alone.map(({ id }) => id)).size).toBe(6);
    expect((await shown()).filter(({ id }) => id !== other)).toEqual(alone);
    await session.ok(memorySupersede, { id: alone[0]?.id });
    expect((await shown()).filter(({ id }) => id !== other)).toEqual(alone.slice(1));
  });

  it('works in a project without BMAD', async () => {
    const { session } = await museumOf({});
    await session.remember('failures', 'qa', 'The cache was never cleared');
    expect((await session.ok(getFailureMuseum)).data['total']).toBe(1);
  });

  it('tells of a log with broken lines', async () => {
    const name = '_grimoire/_memory/failure-museum.jsonl';
    const { data } = await museumOf({ ...GRIMOIRE_FILES, [name]: `{"half\n${GRIMOIRE_FILES[name] ?? ''}` });
    expect(data).toMatchObject({ total: 2, notes: [`${name}:1 is not valid JSON and was skipped.`] });
  });

  it('names the categories when there is no such one', async () => {
    const { session } = await museumOf(KIT_FILES);
    const error = await session.fail(getFailureMuseum, { category: 'CC-FALI' });
    expect(error).toMatchObject({ code: 'invalid_input', suggestions: ['CC-FAIL'] });
    expect(error.hint).toContain('PROCESS-SKIP');
    expect((await session.fail(getFailureMuseum, { top_n: 0 })).code).toBe('invalid_input');
  });
});
