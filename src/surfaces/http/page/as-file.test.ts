import { describe, expect, it } from 'vitest';
import { pageAsFile } from './as-file.ts';

const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> "\'& \u202etxt\u0007';
const evidence = [{ file: HOSTILE, line: 3, says: HOSTILE }];
const phase = 'implementation';

describe('the page as a file', () => {
  const html = pageAsFile(
    {
      project: `/srv/${HOSTILE.replaceAll('/', '')}`,
      phases: [
        {
          phase: 'planning',
          name: 'Planning',
          state: HOSTILE,
          word: HOSTILE,
          share: { done: 0, total: 2 },
          evidence,
        },
      ],
      detail: 'full',
      actions: [
        { what: HOSTILE, why: HOSTILE, use: HOSTILE, of: 'new', steps: [], optional: false, evidence },
      ],
      drift: [{ kind: 'no file', about: '1-1', says: HOSTILE, evidence }],
      troubles: [{ file: HOSTILE, message: HOSTILE }],
      items: [
        { phase, kind: 'story', id: HOSTILE, state: 'complete', status: HOSTILE, column: 'done', evidence },
        { phase, kind: 'prd', id: 'the-prd', state: 'complete', evidence },
      ],
      columns: { done: HOSTILE },
      totals: { stories: 1, done: 1, waiting_for_review: 0, done_without_review: 1 },
    },
    {
      project: '/srv',
      items: [
        {
          id: 'task',
          kind: 'task',
          actions: [],
          role: HOSTILE,
          since: '2026-11-16',
          title: HOSTILE,
          evidence,
          text: `${HOSTILE}\nline 2`,
        },
      ],
      unread: [{ what: 'tasks', why: HOSTILE }],
    },
    new Date(0),
  );

  it('has the texts of others as text, and shows what is hidden in them', () => {
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('\\u202e');
    expect(html).toContain('line 2');
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name));
    expect(tags).not.toContain('script');
    expect(tags).not.toContain('img');
    // eslint-disable-next-line no-control-regex -- these are what must not be there
    expect(html).not.toMatch(/[\u202e\u0007]/);
  });

  it('has board, next steps and inbox, and asks for nothing else', () => {
    for (const title of ['Inbox', 'Next', 'Board', 'Could not be read']) expect(html).toContain(`>${title}<`);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/https?:|\bsrc=(?!x )|url\(|@import/);
  });
});
