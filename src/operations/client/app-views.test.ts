import { afterAll, describe, expect, it } from 'vitest';
import { sessionIn } from '../../../tests/support/operations.ts';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { appData, askDecision, showBoard, showCatalogue } from './app-views.ts';

const session = await sessionIn(await temporaryFolder(afterAll));
afterAll(() => session.close());

describe('what hosts show that show apps', () => {
  it('has the whole text of what it draws', async () => {
    const { answer } = await session.ok(showBoard);
    expect(answer.body).toContain('Nothing is planned yet.');
    expect((await session.ok(showCatalogue, { what: 'agents' })).answer.body).toContain('architect');
    expect((await session.ok(showCatalogue, { query: 'product brief' })).answer.body).toContain('brief');
  });

  it('has the same as data for the app itself', async () => {
    expect((await session.ok(appData, { view: 'board' })).data).toMatchObject({ detail: 'full' });
    const { data } = await session.ok(appData, { view: 'catalogue', what: 'workflows' });
    expect((data['items'] as unknown[]).length).toBeGreaterThan(0);
  });

  it('puts a question with two to four options, and says that the answer approves nothing', async () => {
    const question = { question: 'Which queue?', options: ['PostgreSQL', 'Redis'] };
    const { data, answer } = await session.ok(askDecision, { ...question, recommendation: 'Kafka' });
    expect(data).toEqual({ ...question, evidence: [] });
    expect(answer.note).toContain('approves nothing');
    for (const options of [['One'], ['1', '2', '3', '4', '5']])
      expect((await session.fail(askDecision, { ...question, options })).code).toBe('invalid_input');
  });
});
