import type { Outside } from '../../src/app/app.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { KIT_FILES, writeFiles } from './kit-project.ts';
import { openSession, type Session } from './operations.ts';

interface Hit {
  id: string;
  type: string;
  agent: string;
  snippet: string;
  score: number;
  meaning?: number;
  words: number;
  matched: string[];
  stored: boolean;
  sources: string[];
}

export interface MemorySession extends Session {
  /** Remembers something and gives its id. */
  remember(type: string, agent: string, text: string, tags?: string[]): Promise<string>;
  recall(query: string, more?: object): Promise<Hit[]>;
}

type OnEnd = Parameters<typeof openSession>[0];

/** The real application in a project with the kit's files, or in one without any. */
export async function memorySession(
  onEnd: OnEnd,
  { files = KIT_FILES, ...outside }: Partial<Outside> & { files?: Readonly<Record<string, string>> } = {},
): Promise<MemorySession> {
  const session = await openSession(onEnd, { flags: { embedder: 'none' }, ...outside });
  await writeFiles(session.folder, files);
  return {
    ...session,
    async remember(type, agent, text, tags) {
      const { data } = await session.ok(rememberStructured, { type, agent, text, tags });
      return (data['memory'] as { id: string }).id;
    },
    async recall(query, more = {}) {
      const { data } = await session.ok(recallStructured, { query, ...more });
      return data['hits'] as Hit[];
    },
  };
}
