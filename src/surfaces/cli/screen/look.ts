/** How a stream is written to: as what, and how wide. */
export interface Look {
  width: number;
  colours: boolean;
  /** Whether addresses can be clicked. */
  links: boolean;
  /** Whether a person watches, so that a line may be written over. */
  live: boolean;
}

export interface Output {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

export type Colour = 'always' | 'never' | undefined;

/** What is taken where nobody says how wide the output is. */
const USUAL_WIDTH = 80;
const NARROWEST = 20;

/**
 * How a stream looks; nothing where it gets plain text, which every pipe does unless colours are asked for. What is typed
 * counts before the environment, and FORCE_COLOR before NO_COLOR, as in Node itself.
 */
export function lookOf(
  { isTTY = false, columns }: Output,
  env: Readonly<Partial<Record<string, string>>>,
  colour: Colour,
): Look | undefined {
  const forced = forcedBy(env);
  const dumb = env['TERM'] === 'dumb';
  const wanted = colour === undefined ? forced : colour === 'always';
  if (!isTTY && wanted !== true) return undefined;
  const refused = (env['NO_COLOR'] ?? '') !== '' || dumb;
  const colours = wanted ?? !refused;
  // Some terminals say that they have no columns at all.
  const width = [isTTY ? columns : undefined, Number(env['COLUMNS'])].find((each) => isWidth(each));
  return {
    width: Math.max(NARROWEST, width ?? USUAL_WIDTH),
    colours,
    links: isTTY && colours && knowsLinks(env),
    live: isTTY && !dumb && !isAutomatic(env),
  };
}

const isWidth = (given: number | undefined): boolean =>
  given !== undefined && Number.isInteger(given) && given > 0;

function forcedBy({ FORCE_COLOR: force }: Readonly<Partial<Record<string, string>>>): boolean | undefined {
  if (force === undefined) return undefined;
  return force !== '0' && force !== 'false';
}

/** Whether the terminal belongs to a machine that builds or tests, where nobody sits. */
export function isAutomatic({ CI: ci }: Readonly<Partial<Record<string, string>>>): boolean {
  return ci !== undefined && ci !== '' && ci !== '0' && ci !== 'false';
}

/** There is no way to ask a terminal whether it knows links; others print the codes as text, so only known ones get them. */
function knowsLinks(env: Readonly<Partial<Record<string, string>>>): boolean {
  if (isAutomatic(env) || env['TMUX'] !== undefined || env['STY'] !== undefined) return false;
  if (Number(env['VTE_VERSION'] ?? 0) >= 5_000) return true;
  if (env['WT_SESSION'] !== undefined || env['KITTY_WINDOW_ID'] !== undefined) return true;
  return /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/.test(env['TERM_PROGRAM'] ?? '');
}
