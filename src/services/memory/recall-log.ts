import { hasActivity, logActivity } from '../../kit/memories/activity.ts';
import type { Answered, RecallQuestion } from './recall.ts';
import { shownText } from '../../base/secrets/secret-text.ts';
import type { OpenMemory } from './opened.ts';

/** The kit counts what its memory is asked; where it keeps such a log, it learns of our questions too. */
export async function logged(
  { files, hide, writes, log }: OpenMemory,
  question: RecallQuestion,
  found: Answered,
): Promise<void> {
  const { memory } = files.kit;
  if (!writes || memory === undefined) return;
  try {
    if (!(await hasActivity(memory))) return;
    const { agent = '' } = question;
    const top = Math.round((found.hits[0]?.score ?? 0) * 1000) / 1000;
    const counted = { hits: found.hits.length, top_score: top };
    const query = shownText(question.query, hide);
    await logActivity(memory, {
      cmd: 'recall',
      agent: shownText(agent, hide),
      mode: found.mode,
      query,
      ...counted,
    });
  } catch (error) {
    log.debug('a recall was not logged', { error: error instanceof Error ? error.message : '' });
  }
}
