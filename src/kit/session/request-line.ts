/** `dev → qa`, with the arrow in either form: who stands on its left and on its right. */
export function arrowIn(text: string): { from: string; to: string } | undefined {
  const [arrow] = text.matchAll(/→|->/g);
  if (arrow === undefined) return undefined;
  return { from: text.slice(0, arrow.index).trim(), to: text.slice(arrow.index + arrow[0].length).trim() };
}

export interface RequestLine {
  from: string;
  to: string;
  text: string;
  done: boolean;
}

/** `- [ ] [dev→qa] text`, with and without a box to tick. */
export function requestIn(line: string): RequestLine | undefined {
  const bare = line
    .trim()
    .replace(/^[-*]\s/, '')
    .trimStart();
  const [box = '', tick = ' '] = /^\[([ xX])\]/.exec(bare) ?? [];
  const [whole = '', inside = ''] = /^\[([^\]]*)\]/.exec(bare.slice(box.length).trimStart()) ?? [];
  const arrow = arrowIn(inside);
  const text = bare.slice(box.length).trimStart().slice(whole.length).trim();
  return arrow === undefined || text === '' ? undefined : { ...arrow, text, done: tick !== ' ' };
}
