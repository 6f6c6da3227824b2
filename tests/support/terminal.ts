import { spawnSync } from 'node:child_process';
import { cliFile } from './app.ts';
import { runToEnd, type RunOptions } from './programs.ts';

/**
 * A program in Python, because nothing else that is everywhere opens a terminal: its output is what a person gets. The
 * person types "n" and goes away.
 */
const IN_TERMINAL = `
import os, pty, sys
pid, screen = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.write(screen, b"n\\n")
while True:
    try:
        piece = os.read(screen, 65536)
    except OSError:
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece)
sys.stdout.buffer.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** The same with a person who waits for a text before each of the things that they type. */
const WITH_PERSON = `
import json, os, pty, sys
pid, screen = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
def read():
    global shown
    try:
        piece = os.read(screen, 65536)
    except OSError:
        return False
    shown += piece
    sys.stdout.buffer.write(piece)
    return piece != b""
more = True
seen = 0
for awaited, typed in json.loads(sys.argv[1]):
    while more and awaited.encode() not in shown[seen:]:
        more = read()
    seen = len(shown)
    if more:
        os.write(screen, typed.encode())
while more:
    more = read()
sys.stdout.buffer.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** Whether a real terminal can be opened here. */
export const hasTerminal =
  process.platform !== 'win32' &&
  spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode']).status === 0;

/** Runs the command line in a terminal of its own; stdout and stderr come as one, as they do on a screen. */
export async function bmadInTerminal(
  args: readonly string[],
  { file = cliFile, cwd, env }: RunOptions,
): Promise<{ code: number | null; screen: string }> {
  const ended = await runToEnd('python3', ['-c', IN_TERMINAL, process.execPath, file, ...args], { cwd, env });
  return { code: ended.code, screen: ended.stdout.toString('utf8') };
}

/** Runs it with a person at the keyboard: what they wait for on the screen, and what they type then. */
export async function bmadWithPerson(
  args: readonly string[],
  typed: readonly (readonly [awaited: string, typed: string])[],
  { file = cliFile, cwd, env }: RunOptions,
): Promise<{ code: number | null; screen: string }> {
  const program = ['-c', WITH_PERSON, JSON.stringify(typed), process.execPath, file, ...args];
  const ended = await runToEnd('python3', program, { cwd, env });
  return { code: ended.code, screen: ended.stdout.toString('utf8') };
}
