import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { createSecrets } from '../../src/base/secrets/rules.ts';
import { createCodebase, type CodeAnswer, type CodebaseParts } from '../../src/services/codebase/codebase.ts';
import { temporaryFolder } from './app.ts';
import { writeFiles } from './folders.ts';

const log = createLog({ level: 'silent', write: () => undefined, json: false, secrets: createSecrets() });
const forever = new AbortController().signal;

/** A function, a method, a Python function and two sections. */
export const PROJECT = {
  'src/session.ts':
    '/** Ends the session of a user and frees its handles. */\nexport function closeSession(id: string): void {\n  sessions.delete(id);\n}\n\nexport class SessionStore {\n  /** Keeps a session for later. */\n  rememberSession(id: string): void {\n    this.all.add(id);\n  }\n}\n',
  'lib/retry.py':
    'def retry_with_backoff(action, times):\n    """Tries again after a pause that grows."""\n    return action()\n',
  'docs/notes.md': '# Notes\n\nSome words.\n\n## Closing sessions\n\nSessions are closed at night.\n',
};

export interface CodeProject {
  root: string;
  cache: string;
  ask(
    query: string,
    more?: { path?: string; lang?: string; limit?: number; signal?: AbortSignal },
  ): Promise<CodeAnswer>;
  again(parts?: Partial<CodebaseParts>): CodeProject;
}

/** A project in a new folder, with a cache of its own. */
export async function codeProject(
  files: Record<string, string | Buffer> = PROJECT,
  parts: Partial<CodebaseParts> = {},
): Promise<CodeProject> {
  const folder = await temporaryFolder(afterAll);
  const root = join(folder, 'project');
  await writeFiles(root, files);
  return opened({
    root,
    cache: join(folder, 'cache'),
    budgetMs: 20_000,
    background: false,
    env: process.env,
    log,
    ...parts,
  });
}

function opened(parts: CodebaseParts): CodeProject {
  const codebase = createCodebase(parts);
  return {
    root: parts.root,
    cache: parts.cache,
    ask: (query, { signal = forever, ...more } = {}) =>
      codebase.search({ query, limit: 8, ...more }, signal, () => undefined),
    again: (other = {}) => opened({ ...parts, ...other }),
  };
}

export const paths = ({ hits }: CodeAnswer): string[] => hits.map(({ path }) => path);

/** Small files, each with one function `<name><number>`. */
export function manyFiles(count: number, name: string): Record<string, string> {
  const file = (at: number): string => `export function ${name}${at}() {\n  return ${at};\n}\n`;
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`d/f${at}.ts`, file(at)]));
}
