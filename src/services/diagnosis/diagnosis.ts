import { openToOthers } from '../../base/files/file-modes.ts';
import { findNamed } from '../../base/files/find-program.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { runProgram } from '../../base/process/process.ts';
import { t, wordsNow } from '../../base/text/message.ts';
import { madeOnce, present } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import {
  KEPT_PARTS,
  type KeptFile,
  diskCache,
  MOST_FILES,
  MOST_FOLDER_BYTES,
} from '../../catalogue/disk-cache.ts';
import { type CheckedFiles, examine, type Finding } from './findings.ts';

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
  /** What is wrong with the tokens of a server over HTTP. */
  tokens(): Promise<readonly Finding[]>;
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
  tokens,
}: DiagnosisParts) {
  const checked: CheckedFiles = new Map();
  const foundIn = madeOnce((_catalogue: Catalogue) => new Map<unknown, readonly Finding[]>());
  return {
    /**
     * A catalogue is replaced when any file has changed that was looked at for it, here too: what was found holds as long
     * as it does. In another one, files that have not changed are not read again for what is hidden in them.
     */
    async examine(catalogue: Catalogue, signal?: AbortSignal): Promise<readonly Finding[]> {
      const inWords = foundIn(catalogue);
      const known = inWords.get(wordsNow());
      if (known !== undefined) return known;
      const found = await examine(
        catalogue,
        present<NonNullable<Parameters<typeof examine>[1]>>({ checked, signal }),
      );
      inWords.set(wordsNow(), found);
      return found;
    },
    tokens,
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
        ...present({ trouble }),
      };
    },
  };
}

/** The end of a program's output, without the stack below it: the reason is above. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !/^\s+at /.test(line));
  return lines.join('\n').trim().slice(-300);
}

/** What is kept of large content for the next process, of all projects, and what each folder may hold at most. */
async function surveyCache(cache: string) {
  const parts = [];
  for (const part of KEPT_PARTS) {
    const kept = diskCache(cache, part);
    const files = await kept.survey();
    const count = (is: KeptFile['is']): number => files.filter((file) => file.is === is).length;
    const written = (file: KeptFile | undefined) => file && new Date(file.mtimeMs).toISOString();
    parts.push({
      part,
      folder: kept.folder,
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      ...present({ newest: written(files[0]), oldest: written(files.at(-1)) }),
      damaged: count('damaged'),
      outdated: count('of another version'),
    });
  }
  return { parts, mostFiles: MOST_FILES, mostBytes: MOST_FOLDER_BYTES };
}

/** Removes all of it. */
async function clearCache(cache: string): Promise<{ files: number; bytes: number }> {
  const cleared = { files: 0, bytes: 0 };
  for (const part of KEPT_PARTS) {
    const { files, bytes } = await diskCache(cache, part).clear();
    cleared.files += files;
    cleared.bytes += bytes;
  }
  return cleared;
}
