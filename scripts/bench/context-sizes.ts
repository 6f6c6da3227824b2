import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { callTool } from './call-tool.ts';
import { withClient, type Program } from './client.ts';
import { bmadCall } from './contenders.ts';
import { AGENT } from './peer-project.ts';

export interface ContextSizes {
  agentBytes: number;
  workflowBytes: number;
  /** Every skill's main file together: what a host would load to have all agents and workflows at hand. */
  everythingBytes: number;
  mainFiles: number;
}

/** How much our answers put into a model's context, and how much loading everything would. */
export async function measureContext(ours: Program, content: string): Promise<ContextSizes> {
  const agent = bmadCall({ operation: 'execute', agent: AGENT, message: 'hi' }, AGENT);
  const workflow = bmadCall({ operation: 'execute', workflow: 'prd' }, 'prd');
  const [agentBytes, workflowBytes] = await withClient(ours, async (client) => {
    await client.start();
    return [(await callTool(client, agent)).bytes, (await callTool(client, workflow)).bytes] as const;
  });
  const entries = await readdir(content, { recursive: true });
  const files = entries.filter((path) => /(?:^|[\\/])SKILL\.md$/.test(path));
  const sizes = await Promise.all(files.map(async (path) => (await stat(join(content, path))).size));
  const everythingBytes = sizes.reduce((sum, size) => sum + size, 0);
  return { agentBytes, workflowBytes, everythingBytes, mainFiles: files.length };
}

export function percentSaved({ agentBytes, everythingBytes }: ContextSizes): number {
  return 100 * (1 - agentBytes / everythingBytes);
}
