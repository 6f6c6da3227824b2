import { describe, expect, it } from 'vitest';
import { toolCall } from '../../operations/unified/forms.ts';
import { changed, GAP_MS, messageOf, newTo, waitFor, type Marks, type NewsKind } from './news.ts';

const NOTHING: Marks = { approved: [], failed: [], ready: [], sources: [] };

describe('news for a session', () => {
  it('are what is there and was not, not what is gone', () => {
    const now = { ...NOTHING, approved: ['a'], ready: ['s', 't'] };
    expect(changed(NOTHING, now)).toEqual(['approved', 'ready']);
    expect(changed({ ...now, ready: ['t'] }, now)).toEqual(['ready']);
    expect(changed(now, NOTHING)).toEqual([]);
    expect(changed(now, now)).toEqual([]);
  });

  it('are not what a session has just done itself', () => {
    expect(newTo(['approved', 'failed', 'ready'], true)).toEqual(['approved', 'ready']);
    expect(newTo(['approved', 'failed', 'ready'], false)).toEqual(['approved', 'failed', 'ready']);
  });

  it('have the words of the server alone, one sentence each, with the call that says more', () => {
    const kinds = new Set<NewsKind>(['sources', 'approved', 'failed', 'ready']);
    const { content, meta } = messageOf(kinds, toolCall);
    expect(content.split('\n')).toEqual([
      expect.stringMatching(/^A person has approved a task of this project\. See which: manage_project /),
      expect.stringMatching(
        /^The completion contract of this project has failed\. See the verdicts: manage_project /,
      ),
      expect.stringMatching(/^A story of this project is ready to be developed\. See which: bmad /),
      expect.stringMatching(/^The git sources of this project have changed\. See what is served now: bmad /),
    ]);
    expect(meta).toEqual({ events: 'task_approved contract_failed story_ready sources_changed' });
    expect(messageOf(new Set(['ready']), () => undefined).content).toBe(
      'A story of this project is ready to be developed.',
    );
  });

  it('come at once, then after a while, and not more than thirty times an hour', () => {
    const sent: number[] = [];
    let now = 1_000;
    expect(waitFor(sent, now)).toBe(0);
    const gaps = Array.from({ length: 40 }, () => {
      const wait = waitFor(sent, now);
      now += wait;
      sent.push(now);
      return wait;
    });
    expect(gaps[0]).toBe(0);
    expect(new Set(gaps.slice(1, 30))).toEqual(new Set([GAP_MS]));
    expect(gaps[30]).toBe(3_600_000 - 29 * GAP_MS);
    expect(waitFor([0], 4_000_000)).toBe(0);
  });
});
