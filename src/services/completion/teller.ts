import { oneLine } from '../../base/text/text.ts';

const EVERY_MS = 250;
const SILENT_MS = 10_000;

/** Tells how far it is: steps at once, other lines now and then, and in silence that it still runs. */
export function tellerOf(progress: (message: string) => void, hide: (text: string) => string) {
  const started = performance.now();
  let told = 0;
  const tell = (message: string): void => {
    told = performance.now();
    progress(hide(oneLine(message, 200)));
  };
  const timer = setInterval(() => {
    if (performance.now() - told >= SILENT_MS)
      tell(`Still running after ${Math.round((performance.now() - started) / 1_000)} s`);
  }, SILENT_MS / 2);
  timer.unref();
  return {
    line(line: string, step: boolean): void {
      if (line.trim() !== '' && (step || performance.now() - told >= EVERY_MS)) tell(line);
    },
    stop: () => clearInterval(timer),
  };
}
