import type { HandoverState } from './document.ts';

interface Answer {
  status: HandoverState;
  by: string;
  at: string;
  reason?: string | undefined;
}

const BOX: Partial<Record<HandoverState, RegExp>> = {
  accepted: /^(\s*[-*]\s+)\[ \](?=.*(?:ACCEPTÉ|ACCEPTED))/m,
  rejected: /^(\s*[-*]\s+)\[ \](?=.*(?:REJETÉ|REJECTED))/m,
  renegotiating: /^(\s*[-*]\s+)\[ \](?=.*(?:RENEGOCIATING|RENEGOTIATING))/m,
};

/** The text with another status: one line of the front matter, the box, and who said so; all else stays to the byte. */
export function withStatus(text: string, { status, by, at, reason }: Answer): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const line = reason === undefined ? '' : ` : ${reason.replace(/\s+/g, ' ').trim()}`;
  const ticked = text
    .replace(/^status:.*$/m, () => `status: ${status}`)
    .replace(BOX[status] ?? /$^/, (_box, bullet: string) => `${bullet}[x]`);
  const gap = ticked.endsWith('\n') ? '' : end;
  return `${ticked}${gap}${end}- ${at}, ${by.replace(/\s+/g, ' ')}: ${status}${line}${end}`;
}
