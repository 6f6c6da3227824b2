import { say, t } from '../../base/text/message.ts';
import { type BmadError, ERROR_CODES } from '../../base/errors.ts';
import { stepLines } from '../../base/step.ts';
import { byteLength, kilobytes } from '../../base/text/text.ts';
import { commandLine } from '../../operations/offers.ts';
import type { Answer } from '../../operations/operation.ts';
import type { Line } from './screen/paint.ts';
import type { Sight } from './screens/index.ts';
import type { Canvas, Terminal } from './terminal.ts';

const SHOWN = 'Hidden characters are shown as escapes; with --raw, a pipe or a file gets them as they are.';

/** Prints an answer: drawn for a person who looks at it, as plain text for everybody else. */
export async function printAnswer(
  operation: string,
  data: Record<string, unknown>,
  answer: Answer,
  raw: boolean,
  terminal: Terminal,
): Promise<void> {
  const { body, note, exact, json: isJson, steps = [] } = answer;
  const { answers, remarks } = terminal;
  const screens = answers === undefined && remarks === undefined ? undefined : await loadScreens();
  // What is a file stays one, to be copied; a Markdown file is drawn as others are, unless it is asked for as it is.
  const isFile = exact === true && (raw || data['mimeType'] !== 'text/markdown');
  let drawn: Line[] = [];
  let shown = false;
  if (answers !== undefined && remarks !== undefined && screens !== undefined) {
    const told = forModel(operation, data);
    if (told.length > 0) remarks.show([...screens.remarkLines({}, told, [], sight(remarks)), []]);
  }
  if (isJson === true && !raw) terminal.json(body);
  else if (answers !== undefined && screens !== undefined && !isFile) {
    drawn = screens.answerLines(operation, data, answer, sight(answers));
    answers.show(drawn);
  } else if (exact === true) shown = terminal.file(body, raw);
  else terminal.out(body.endsWith('\n') ? body : `${body}\n`);
  // A file may end in the middle of a line; what is said about it begins a new one.
  const gap = exact === true && drawn.length === 0 && body !== '' && !body.endsWith('\n') ? '\n' : '';
  if (remarks !== undefined && screens !== undefined) {
    const said = screens.remarkLines(answer, shown ? [say(SHOWN)] : [], drawn, sight(remarks));
    if (said.length > 0) {
      terminal.err(gap);
      remarks.show(drawn.length === 0 ? said : [[], ...said]);
    }
    return;
  }
  const said = [
    ...(note === undefined ? [] : [note]),
    ...(shown ? [say(SHOWN)] : []),
    ...stepLines(steps, commandLine),
  ];
  if (said.length > 0) terminal.err(`${gap}${said.join('\n')}\n`);
}

/** The text for a model goes to the clipboard, as it is; the person hears what to do with it. */
export async function copied({ body, note, steps = [] }: Answer, terminal: Terminal): Promise<void> {
  const text = [body, note, ...stepLines(steps, commandLine)].filter(Boolean).join('\n');
  await terminal.copy?.(text);
  terminal.err(t`Copied, ${kilobytes(byteLength(text))}. Paste it where a model reads it.\n`);
}

/** A person who starts an agent at a terminal sees a text that speaks to a model: that is said first, and what to do instead. */
function forModel(operation: string, data: Record<string, unknown>): string[] {
  const started = operation === 'bmad' && data['operation'] === 'execute' ? data['result'] : data;
  if (started === data && operation !== 'execute') return [];
  const { name } = started as { name?: unknown };
  if (typeof name !== 'string') return [];
  const short = name.replace(/^.*\//, '').replace(/^bmad-(?:agent-)?/, '');
  return [
    t`What follows is the text that a model is given. To put one to work, say in your host: use bmad, start ${short}. With --copy the text goes to the clipboard.`,
  ];
}

const sight = ({ look }: Canvas): Sight => ({ width: look.width });

/** What draws is loaded where somebody looks. */
const loadScreens = () => import('./screens/index.ts');

/** Prints help, and what the parser says of a command line that it does not understand, in the language of the person. */
export async function printHelp(text: string, stream: 'out' | 'err', terminal: Terminal): Promise<void> {
  const canvas = stream === 'out' ? terminal.answers : terminal.remarks;
  if (text === '') return;
  if (canvas === undefined) terminal[stream](text);
  else canvas.show((await loadScreens()).helpLines(text, canvas.look.width));
}

/** Prints an error; answers with the exit code. */
export async function report(error: BmadError, json: boolean, terminal: Terminal): Promise<number> {
  if (json) {
    const { code, message, subject, suggestions } = error;
    const hint = error.wayOut(commandLine);
    terminal.json(`${JSON.stringify({ error: { code, message, hint, subject, suggestions } }, null, 2)}\n`);
  } else if (terminal.remarks !== undefined) {
    const { errorLines } = await loadScreens();
    terminal.remarks.show(errorLines(error, sight(terminal.remarks)));
  } else {
    terminal.err(`${error.textWith(commandLine)}\n`);
  }
  return ERROR_CODES[error.code].exit;
}
