import { t } from '../../base/text/message.ts';
import { findNamed } from '../../base/files/find-program.ts';
import { openToOthers } from '../../base/files/file-modes.ts';
import { jsonObject } from '../../base/parse/json.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { present } from '../../base/present.ts';
import { clearCache, surveyCache } from './cache.ts';
import { examine, type Finding } from './findings.ts';
import type { CheckedFiles } from './hidden-text.ts';
import { runProgram } from '../../base/process/process.ts';

export type Diagnosis = ReturnType<typeof createDiagnosis>;

export interface DiagnosisParts {
  /** Program and arguments that start the server. */
  command: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The user's own folders, which only the user should be able to read. */
  privateFolders: readonly string[];
  /** The folder for what can be made again. */
  cache: string;
}

const TIME_LIMIT_MS = 15_000;

const REQUESTS = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'doctor', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
];

interface Reply {
  id?: number;
  result?: { protocolVersion?: string; tools?: { name: string }[] };
  error?: { message: string };
}

export function createDiagnosis({
  command: [command, ...args],
  cwd,
  env,
  privateFolders,
  cache,
}: DiagnosisParts) {
  const checked: CheckedFiles = new Map();
  const kept = new WeakMap<Catalogue, readonly Finding[]>();
  return {
    /**
     * A catalogue is replaced when any file has changed that was looked at for it, here too: what was found holds as long
     * as it does. In another one, files that have not changed are not read again for what is hidden in them.
     */
    async examine(catalogue: Catalogue, signal?: AbortSignal): Promise<readonly Finding[]> {
      const known = kept.get(catalogue);
      if (known !== undefined) return known;
      const found = await examine(
        catalogue,
        present<NonNullable<Parameters<typeof examine>[1]>>({ checked, signal }),
      );
      kept.set(catalogue, found);
      return found;
    },
    openToOthers: () => openToOthers(privateFolders),
    /** What is kept of large content, and how to be rid of it. */
    cache: () => surveyCache(cache),
    clearCache: () => clearCache(cache),
    /** Starts this very server as a host would and asks it for its tools; `trouble` says in words what went wrong. */
    async handshake(
      signal: AbortSignal,
    ): Promise<{ ok: boolean; tools: string[]; protocol: string; trouble?: string }> {
      const replies = new Map<number, Reply>();
      let stray: string | undefined;
      const program = await findNamed(command, { env, besides: [cwd] });
      const { timedOut, code, stderr } = await runProgram(program, args, {
        cwd,
        env,
        input: REQUESTS.map((request) => `${JSON.stringify(request)}\n`).join(''),
        until(line) {
          const reply = jsonObject(line) as Reply | undefined;
          if (reply === undefined) stray ??= line.slice(0, 200);
          else if (reply.id !== undefined) replies.set(reply.id, reply);
          return reply === undefined || reply.id === 2;
        },
        timeoutMs: TIME_LIMIT_MS,
        signal,
      });
      const { result, error } = replies.get(2) ?? {};
      const tools = result?.tools?.map(({ name }) => name) ?? [];
      const troubleOf = (): string | undefined => {
        if (stray !== undefined) return t`it wrote something that is not JSON-RPC to stdout: ${stray}`;
        if (timedOut) return t`no answer within ${TIME_LIMIT_MS / 1000} s`;
        if (error !== undefined) return t`tools/list failed: ${error.message}`;
        if (tools.length === 0) return t`it registered no tools; stderr ends with: ${lastWords(stderr)}`;
        return code === 0 ? undefined : t`it exited with code ${code ?? t`none (a signal)`}`;
      };
      const trouble = troubleOf();
      return {
        ok: trouble === undefined,
        tools,
        protocol: replies.get(1)?.result?.protocolVersion ?? '',
        ...(trouble === undefined ? {} : { trouble }),
      };
    },
  };
}

/** The end of a program's output, without the stack below it: the reason is above. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !/^\s+at /.test(line));
  return lines.join('\n').trim().slice(-300);
}
