import type { Look } from '../surfaces/cli/screen/look.ts';
import { line, span } from '../surfaces/cli/screen/lines.ts';
import { overwritten } from '../surfaces/cli/screen/paint.ts';
import { cutLine } from '../surfaces/cli/screen/width.ts';
import type { StatusLine } from '../surfaces/cli/terminal.ts';

/** What is done sooner need not be announced. */
const SOON_MS = 700;
const EVERY_MS = 1_000;
/** From here on people want to know how long it has been. */
const LONG_MS = 3_000;

/** One line on stderr that says what is going on, and for how long; gone before anything else is printed. */
export function statusLine(
  stream: { write(text: string): unknown; columns?: number },
  look: Look,
  now: () => number = () => performance.now(),
): StatusLine {
  let began: number | undefined;
  let text = '';
  let drawn = false;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const ms = now() - (began ?? now());
    const seconds = ms < LONG_MS ? '' : ` ${Math.floor(ms / 1_000)} s`;
    const width = (stream.columns || look.width) - 1;
    stream.write(overwritten(cutLine(line(span(`${text} …`), span(seconds, 'muted')), width), look));
    drawn = true;
  };
  const tick = (): void => {
    draw();
    timer = setTimeout(tick, EVERY_MS).unref();
  };
  return {
    show(message) {
      text = message;
      began ??= now();
      if (drawn) draw();
      else if (now() - began >= SOON_MS) {
        clearTimeout(timer);
        tick();
      } else timer ??= setTimeout(tick, SOON_MS).unref();
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
      began = undefined;
      if (drawn) stream.write(overwritten([], look));
      drawn = false;
    },
  };
}
