import { AGENT_TOOL_LIMIT } from '../../src/operations/activation/agent-tools.ts';
import { tokens } from '../bench/statistics.ts';
import { toolsetSizes } from '../reference/tools.ts';
import type { Figures } from './markers.ts';
import { Story } from './story.ts';

/** About as much: the paths in an answer are longer on one machine than on the other. */
const about = (size: number): number => Math.round(size / 10) * 10;

/** Everything that documents may mention with `<!-- figure: name -->`. */
export async function measuredFigures(): Promise<Figures> {
  const figures = new Map<string, number>([['tools.agents.limit', AGENT_TOOL_LIMIT]]);
  for (const { toolsets, tools, tokens: size } of await toolsetSizes()) {
    figures.set(`tools.${toolsets}`, tools.length);
    figures.set(`tools.${toolsets}.tokens`, size);
    const operation = tools.find(({ name }) => name === 'bmad')?.inputSchema.properties?.['operation'];
    if (toolsets === 'bmad') figures.set('bmad.operations', (operation as { enum: string[] }).enum.length);
  }
  const story = await Story.open('empty');
  try {
    const { answer, instructions, prompts, templates } = await story.greeting();
    figures.set('initialize.bytes', Buffer.byteLength(answer));
    figures.set('instructions.bytes', Buffer.byteLength(instructions));
    figures.set('instructions.tokens', tokens(Buffer.byteLength(instructions)));
    figures.set('prompts', prompts);
    figures.set('resources.templates', templates);
    const old = await story.call('{operation:"list", query:"workflows", category:"deprecated"}', true);
    figures.set('old.names', Number(/^(\d+) workflows/.exec(old.at(-1) ?? '')?.[1]));
    for (const [name, call] of [
      ['execute.architect', '{operation:"execute", agent:"architect"}'],
      ['execute.prd', '{operation:"execute", workflow:"prd"}'],
    ] as const) {
      const text = (await story.call(call, true)).join('\n');
      figures.set(`${name}.tokens`, about(tokens(Buffer.byteLength(text))));
    }
  } finally {
    await story.close();
  }
  return figures;
}
