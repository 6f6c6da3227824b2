import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Outside } from '../../src/app/app.ts';
import { trust } from '../../src/operations/completion/trust.ts';
import type { Receipt, ReceiptBody } from '../../src/services/completion/receipts.ts';
import { writeFiles } from './folders.ts';
import { openSession, type Session } from './operations.ts';
import { isOnDatabase, teamLines } from './team-state.ts';

export const SCRIPT_PATH = '_bmad/_config/custom/cc-verify.sh';

/**
 * A contract of our own that speaks as the kit's does: colours, headers, commands, results and verdicts have its forms, and
 * it takes the folder and the stack in the same ways. What it "runs" stands in `.verify/<stack>`: `command|result` lines.
 */
export const KIT_LIKE_SCRIPT = `#!/usr/bin/env bash
set -euo pipefail
cd "\${1:-$(pwd)}"
only="\${CC_STACK:-}"
ran=(); good=true; known=" go ts typescript terraform tf ansible python py docker k8s kubernetes shell sh "
say() { printf '%b\\n' "$*"; }
say "\\033[1m\\033[0;36m🔒 BMAD Completion Contract Verifier\\033[0m"
if [[ -n "$only" && "$known" != *" $only "* ]]; then say "\\033[1;33m⚠️  Stack '$only' non reconnu. Stacks supportés: go, ts\\033[0m"; fi
for file in .verify/*; do
  [[ -f "$file" ]] || continue
  name="$(basename "$file")"; short="$name"
  [[ "$name" == kubernetes ]] && short=k8s
  [[ -n "$only" && "$only" != "$name" && "$only" != "$short" ]] && continue
  ran+=("$name")
  say "\\033[1m▶ Stack : \${name^} / x\\033[0m"
  while IFS='|' read -r command result; do
    [[ -z "$command" ]] && continue
    say "\\033[0;36m▶\\033[0m $command"
    [[ -n "$result" ]] && say "  \\033[0;31m→ $result\\033[0m"
    [[ "$result" == *FAILED* || "$result" == *"type errors"* ]] && good=false
  done < "$file"
  say ""
done
if [[ \${#ran[@]} -eq 0 ]]; then say "\\033[1;33m⚠️  Aucun stack détecté — vérification non requise (doc-only ?)\\033[0m"; exit 0; fi
list="$(IFS=,; echo "\${ran[*]}" | sed 's/,/, /g')"
if $good; then say "\\033[0;32m✅ CC PASS — [$list] — $(date '+%Y-%m-%d %H:%M:%S')\\033[0m"
else say "\\033[0;31m🔴 CC FAIL — [$list] — $(date '+%Y-%m-%d %H:%M:%S')\\033[0m"; exit 1; fi
`;

/** A project whose contract passes, with some files of each kind. */
export const PASSING_PROJECT = {
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|tests OK\n',
  'main.go': 'package main\n',
  'docs/plan.md': '# Plan\n',
  '_bmad-output/notes.md': 'notes\n',
  '_bmad/_memory/decisions-log.md': '',
};

/** The real application in a trusted project with these files; git and the tools of the machine can be found. */
export async function contractSession(
  onEnd: Parameters<typeof openSession>[0],
  files: Readonly<Record<string, string>>,
  { env = {}, flags = {}, ...outside }: Partial<Outside> = {},
): Promise<Session> {
  const session = await openSession(onEnd, {
    env: { PATH: process.env['PATH'], ...env },
    flags: { trustProject: 'true', ...flags },
    ...outside,
  });
  await writeFiles(session.folder, files);
  return session;
}

/** Makes a folder a git repository with one commit of all that is in it, on main; answers with a way to ask git there. */
export async function inGit(folder: string): Promise<(...words: string[]) => Promise<string>> {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'init.defaultBranch=main'];
  const git = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)('git', [...who, ...words], { cwd: folder })).stdout.trim();
  await git('init', '-q', '.');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'first');
  return git;
}

export async function commitAll(folder: string): Promise<string> {
  return (await inGit(folder))('rev-parse', 'HEAD');
}

const RECEIPTS = '_bmad-output/.receipts';

/** The files with the receipts of a project, a process each. */
async function receiptFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, RECEIPTS), { recursive: true }).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, RECEIPTS, name));
}

const linesIn = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');

interface ReceiptLine {
  events: [{ data: Receipt }];
}

/** All receipts of a project, as they are kept. */
export async function receiptsIn(folder: string): Promise<Receipt[]> {
  const lines = isOnDatabase
    ? await teamLines(folder, 'receipt')
    : (await Promise.all((await receiptFiles(folder)).map(linesIn))).flat();
  const receipts = lines.map((line) => (JSON.parse(line) as ReceiptLine).events[0].data);
  return receipts.sort((a, b) => a.seq - b.seq);
}

/** Does to the receipts of a project, where they are in one file, what somebody does who wants them to say something else. */
export async function editReceipts(
  folder: string,
  edit: (lines: readonly string[]) => readonly string[],
): Promise<void> {
  if (isOnDatabase) return void (await teamLines(folder, 'receipt', edit));
  const [path = '', ...more] = await receiptFiles(folder);
  if (more.length > 0) throw new Error('There are several files of receipts.');
  await writeFile(
    path,
    edit(await linesIn(path))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** A line of such a file, with another receipt in it. */
export function withReceipt(line: string, change: (receipt: Receipt) => object): string {
  const read = JSON.parse(line) as ReceiptLine;
  const [event] = read.events;
  return JSON.stringify({ ...read, events: [{ ...event, data: change(event.data) }] });
}

/** What a receipt is about, without its place. */
export function bodyOf({
  version: _v,
  seq: _s,
  id: _i,
  previous: _p,
  hash: _h,
  ...body
}: Receipt): ReceiptBody {
  return body;
}

/** Waits until a process is gone or a zombie; the test's own time limit ends the waiting when it never is. */
export async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    if (/\) [ZX]/.test(state)) return;
    await new Promise(setImmediate);
  }
}

/** As a person who has read what would run, and says yes to exactly that. */
export async function allowed(session: Session, input: object = {}): ReturnType<Session['ok']> {
  const { digest } = (await session.ok(trust, { ...input, show: true })).data;
  return session.ok(trust, { ...input, yes: true, digest });
}
