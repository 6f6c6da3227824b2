import { mkdir } from 'node:fs/promises';
import type { Context } from '../../src/operations/context.ts';
import { estimateTokens } from '../../src/base/text/text-budget.ts';
import { instructionsFor } from '../../src/surfaces/mcp/instructions.ts';
import { callTool, toolList } from '../../src/surfaces/mcp/tools.ts';
import { contextIn, testCall } from './app.ts';
import { writeFiles } from './folders.ts';

/** What a model knows when it makes a call: the answers so far, the last one last. */
interface Seen {
  /** What a pattern finds first in the latest answer that has it; its group, where it has one. */
  find(pattern: RegExp): string;
}

type Arguments = Readonly<Record<string, unknown>>;

/** One call of a journey, what its answer has to say and what it may cost. */
interface Move {
  /** What the model wants, in its own words. */
  wants: string;
  /** Files that it has written since the call before. */
  writes?: Readonly<Record<string, string>>;
  call: readonly [tool: string, args: Arguments | ((seen: Seen) => Arguments)];
  says?: readonly (string | RegExp)[];
  never?: readonly (string | RegExp)[];
  /** In bytes. */
  atMost: number;
  /** Whether it has to be refused, with what to do instead. */
  refused?: true;
}

export interface Journey {
  name: string;
  /** Of everything the model is shown, the opening words included. */
  tokens: number;
  moves: readonly Move[];
}

export interface Walk {
  /** What was not as it has to be: the move and what is wrong with it. */
  wrong: string[];
  tokens: number;
  /** A line for each move: bytes, limit, what it was. */
  table: string[];
}

/** Makes the calls of a journey, one after the other, as a host would. */
export async function walk({ moves }: Journey, folder: string, home: string): Promise<Walk> {
  await mkdir(home, { recursive: true });
  const context = await contextIn(folder, { home, env: { PATH: process.env['PATH'] } });
  const answers: string[] = [await openingWords(context)];
  const result: Walk = { wrong: [], tokens: estimateTokens(answers[0] ?? ''), table: [] };
  const seen: Seen = {
    find(pattern) {
      const match = answers.toReversed().flatMap((answer) => pattern.exec(answer) ?? []);
      return match[1] ?? match[0] ?? `(nothing matches ${String(pattern)})`;
    },
  };
  try {
    for (const move of moves) {
      await writeFiles(folder, move.writes ?? {});
      const [tool, args] = move.call;
      const given = typeof args === 'function' ? args(seen) : args;
      const { content, isError = false } = await callTool(tool, given, context, testCall());
      const text = content.map((part) => ('text' in part ? part.text : '')).join('\n');
      answers.push(text);
      const bytes = Buffer.byteLength(text);
      result.tokens += estimateTokens(text);
      result.table.push(`${bytes} of ${move.atMost}: ${move.wants}`);
      const faults = faultsOf(move, text, isError, bytes);
      result.wrong.push(...faults.map((fault) => `${move.wants} (${JSON.stringify(given)}): ${fault}`));
    }
  } finally {
    context.close();
  }
  return result;
}

async function openingWords(context: Context): Promise<string> {
  return `${context.worded(instructionsFor(context.tools))}\n${JSON.stringify(await toolList(context, testCall()))}`;
}

function faultsOf(
  { says = [], never = [], atMost, refused }: Move,
  text: string,
  isError: boolean,
  bytes: number,
) {
  const has = (sought: string | RegExp): boolean =>
    typeof sought === 'string' ? text.includes(sought) : sought.test(text);
  return [
    ...(isError === (refused === true)
      ? []
      : [`${isError ? 'refused' : 'not refused'}: ${text.slice(0, 400)}`]),
    ...says
      .filter((sought) => !has(sought))
      .map((sought) => `does not say ${String(sought)}: ${text.slice(0, 400)}`),
    ...never.filter(has).map((sought) => `says ${String(sought)}`),
    ...(bytes > atMost ? [`${bytes} bytes, at most ${atMost}`] : []),
  ];
}
