import { signal } from '@preact/signals';
import { takeBack } from './parts/notices.tsx';
import { address, go, VIEWS, type View } from './router.ts';

/** Whether the sheet with all keys is open, and the search over everything. */
export const sheet = signal(false);
export const finding = signal(false);

/** `g` and then one of these. */
export const GO: Readonly<Record<View, string>> = {
  inbox: 'i',
  now: 'n',
  board: 'b',
  memory: 'm',
  proof: 'p',
  catalogue: 'c',
  health: 'h',
};

/** How long the second key may take. */
const PAUSE_MS = 1500;

let lastG = -PAUSE_MS;

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select');

function move(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-entry]')];
  // Who reads an entry goes on from it.
  const isReading = document.activeElement?.closest('[data-reader]') !== null;
  const at = all.findIndex((entry) =>
    isReading ? entry.ariaCurrent === 'true' : entry.contains(document.activeElement),
  );
  const to = at === -1 ? (by === 1 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[to]?.focus();
  all[to]?.scrollIntoView({ block: 'nearest' });
}

/** The buttons of an entry are in it, or beside the list where it is read. */
function press(number: string): void {
  const at = document.activeElement?.closest<HTMLElement>('[data-entry], [data-reader]');
  const reader = at?.dataset['row'] === undefined ? at : document.querySelector<HTMLElement>('[data-reader]');
  reader?.querySelector<HTMLElement>(`[data-act="${number}"]`)?.click();
}

/** What is open in front of a view is closed by its own link, which leads back to where it was opened. */
function close(target: EventTarget | null): void {
  if (typing(target)) (target as HTMLElement).blur();
  else document.querySelector<HTMLElement>('[data-close]')?.click();
}

function onKey(event: KeyboardEvent): void {
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
    event.preventDefault();
    finding.value = true;
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector('dialog[open]') !== null) {
    if (key === '?' && sheet.value) sheet.value = false;
    return;
  }
  if (key === 'Escape') {
    close(event.target);
    return;
  }
  if (typing(event.target)) return;
  if (event.timeStamp - lastG < PAUSE_MS) {
    lastG = -PAUSE_MS;
    const view = VIEWS.find((each) => GO[each] === key);
    if (view !== undefined) go(address(view));
    return;
  }
  if (key === 'g') lastG = event.timeStamp;
  else if (key === '?') sheet.value = !sheet.value;
  else if (key === '/') finding.value = true;
  else if (key === 'z') void takeBack();
  else if (key === 'c') document.querySelector<HTMLElement>('[data-next] button.go')?.click();
  else if (key === 'j') move(1);
  else if (key === 'k') move(-1);
  else if (/^[1-9]$/.test(key)) press(key);
  else return;
  event.preventDefault();
}

export function listenToKeys(): () => void {
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
