import { cutToFit } from '../base/text/markdown.ts';
import { answerRoom } from '../base/text/paging.ts';
import { byteLength, kilobytes } from '../base/text/text.ts';
import type { SettingsPort } from './context.ts';
import type { AnyOperation, Answer } from './operation.ts';

/** From this size on nobody counts: command lines and programs take what there is. */
const UNLIMITED = 400_000;
/** Room for the note, with what is said here. */
const NOTE = 600;
/** Arguments that make an answer smaller or say which part of it is wanted. */
const NARROWING = ['query', 'limit', 'type', 'agent', 'branch', 'status', 'run_id', 'module', 'category'];

/**
 * The last check of every answer: one that its operation has not kept small itself is cut at a good place, and says so.
 * Operations with a cursor or a budget of their own have shaped their answers already; files are never changed.
 */
export function shaped(
  answer: Answer,
  { input: { shape }, answersData, effect }: AnyOperation,
  input: Record<string, unknown>,
  { config }: SettingsPort,
): Answer {
  const limit = config.answerBytes;
  const isOwn = 'cursor' in shape || 'budget' in shape || answersData === true || answer.exact === true;
  if (isOwn || limit >= UNLIMITED || input['detail'] === 'full') return answer;
  const size = byteLength(answer.body);
  if (size + byteLength(answer.note ?? '') <= limit) return answer;
  const body = cutToFit(answer.body, answerRoom(limit, NOTE));
  const ways = [
    ...('detail' in shape ? ['detail "full" gives all of it'] : []),
    // For what writes, a run is where something is kept, and makes no answer smaller.
    ...NARROWING.filter((name) => name in shape && (name !== 'run_id' || effect === 'read')).map(
      (name) => `"${name}" narrows it`,
    ),
  ];
  const said = `CUT after ${kilobytes(byteLength(body))} of ${kilobytes(size)}${ways.length === 0 ? '' : `: ${ways.join(', ')}`}.`;
  return { ...answer, body, note: [answer.note, said].filter(Boolean).join(' ') };
}
