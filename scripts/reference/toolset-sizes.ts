import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tmpdir } from 'node:os';
import type { Tool } from '@modelcontextprotocol/server';
import { createContext } from '../../src/app/app.ts';
import { tokens as tokensOf } from '../bench/statistics.ts';
import { TOOLSETS } from '../../src/operations/toolsets.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';

const repository = resolve(fileURLToPath(import.meta.url), '..', '..', '..');

/** What one choice of toolsets costs a host, on the built-in content. */
export interface ToolsetSize {
  toolsets: string;
  tools: readonly Tool[];
  bytes: number;
  tokens: number;
}

/** The tools of a choice of toolsets as a host gets them, in a folder where nothing is installed. */
async function offeredTools(toolsets?: readonly string[]): Promise<Tool[]> {
  const nowhere = join(tmpdir(), 'bmad-docs-nowhere');
  const context = await createContext({
    flags: toolsets === undefined ? {} : { toolsets },
    presets: {},
    env: {},
    cwd: nowhere,
    home: nowhere,
    platform: 'linux',
    contentRoot: join(repository, 'dist', 'content'),
    serverCommand: [process.execPath],
    writeError: () => undefined,
    terminal: false,
    patient: false,
  });
  return toolList(context, { signal: new AbortController().signal, progress: () => undefined });
}

export async function toolsetSizes(): Promise<ToolsetSize[]> {
  const choices: [string, readonly string[] | undefined][] = [
    ['default', undefined],
    ...TOOLSETS.map((name): [string, readonly string[]] => [name, [name]]),
    ['all', TOOLSETS],
  ];
  return Promise.all(
    choices.map(async ([name, choice]) => {
      const tools = await offeredTools(choice);
      const bytes = Buffer.byteLength(JSON.stringify({ tools }));
      return { toolsets: name, tools, bytes, tokens: tokensOf(bytes) };
    }),
  );
}
