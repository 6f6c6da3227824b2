import { BmadError } from '../base/errors.ts';
import { inUrl, isEverywhere } from '../surfaces/http/names.ts';

const ASK_MS = 1_000;

/** A second start is often a mistake: the server that is wanted runs already. */
export async function explained(error: unknown, host: string, port: number): Promise<never> {
  if (
    !(error instanceof BmadError) ||
    (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE'
  )
    throw error;
  const origin = `http://${isEverywhere(host) ? '127.0.0.1' : inUrl(host)}:${port}`;
  if (!(await answersAsOne(origin))) throw error;
  throw new BmadError(error.code, error.message, {
    hint: `A BMAD MCP server is already running at ${origin}/mcp: use it, stop it first, or choose another port with --port.`,
    cause: error,
  });
}

async function answersAsOne(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(ASK_MS) });
    const { status } = (await response.json()) as { status?: unknown };
    return status === 'ready' || status === 'not ready';
  } catch {
    return false;
  }
}
