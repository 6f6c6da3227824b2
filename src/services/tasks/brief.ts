import { bullets, byteLength, cut, fenced } from '../../base/text/text.ts';

export interface BriefParts {
  agent: { name: string; title: string; role?: string | undefined; identity?: string | undefined };
  task: string;
  outputKey: string;
  files: readonly { path: string; text: string }[];
  decisions: readonly string[];
  failures: readonly string[];
  dependsOn: readonly string[];
  /** What has to be known about where it comes from. */
  origin?: string | undefined;
  /** What the project is spoken to in, where it says so. */
  language?: string | undefined;
  maxBytes: number;
}

export interface Brief {
  text: string;
  /** What did not fit, and where it is. */
  leftOut: string[];
}

const HEAD_SHARE = 0.75;

/**
 * All that a worker needs, in one text and within a budget: it may run in a fresh context with no other help. What is
 * most needed comes first, and files share what is left evenly, so that one long file does not push out the others.
 */
export function composeBrief(parts: BriefParts): Brief {
  const { agent, task, outputKey, dependsOn } = parts;
  const head = [
    `# Task for ${agent.name}${agent.title === '' ? '' : ` (${agent.title})`}`,
    ...[agent.role, agent.identity].filter((text) => text !== undefined && text !== ''),
    ...(parts.origin === undefined ? [] : [`## Where it comes from\n\n${parts.origin}`]),
    // Words from outside stay inside their frame: they must not look like a part of the brief.
    `## What to do\n\n${parts.origin === undefined ? task.trim() : fenced(task.trim())}`,
    `## What to give back\n\nSelf-contained JSON or structured Markdown; it is kept as \`${outputKey}\`.${parts.language === undefined ? '' : ` Write it in ${parts.language}, the language of this project.`} Change nothing that the task does not ask for. If it cannot be done, say what is missing instead of guessing.`,
    ...(dependsOn.length === 0
      ? []
      : [`## What it builds on\n\nThe results of ${dependsOn.join(', ')} come with the claim.`]),
  ].join('\n\n');
  const leftOut: string[] = [];
  let room = parts.maxBytes - byteLength(head);
  const sections: string[] = [];
  const addList = (title: string, items: readonly string[]): void => {
    const kept: string[] = [];
    for (const item of items) {
      const line = `- ${cut(item.replace(/\s+/g, ' ').trim(), 400)}`;
      if (byteLength(line) + 1 > room * HEAD_SHARE) break;
      room -= byteLength(line) + 1;
      kept.push(line);
    }
    if (kept.length > 0) {
      sections.push(`## ${title}\n\n${kept.join('\n')}`);
      room -= byteLength(title) + 8;
    }
    if (kept.length < items.length)
      leftOut.push(`${items.length - kept.length} of ${items.length}: ${title}`);
  };
  addList('Decisions in force', parts.decisions);
  addList('Past failures to avoid', parts.failures);
  const files = filesWithin(parts.files, room, leftOut);
  const left = leftOut.length === 0 ? [] : [`## Left out for length\n\n${bullets(leftOut)}`];
  const text = [head, ...sections, ...files, ...left].join('\n\n');
  return { text: `${text}\n`, leftOut };
}

const FRAME = 60;

function filesWithin(files: BriefParts['files'], bytes: number, leftOut: string[]): string[] {
  let room = bytes;
  const share = new Map<string, number>();
  // Short files first take what they need; the rest is for the long ones.
  const bySize = [...files].sort((a, b) => a.text.length - b.text.length);
  for (const [index, { path, text }] of bySize.entries()) {
    const even = Math.max(0, Math.floor(room / (bySize.length - index)) - FRAME - path.length);
    const given = Math.min(byteLength(text), even);
    share.set(path, given);
    room -= given + FRAME + path.length;
  }
  return files.flatMap(({ path, text }) => {
    const given = share.get(path) ?? 0;
    if (given >= byteLength(text)) return [`## ${path}\n\n${fenced(text)}`];
    const shown = cutBytes(text, given);
    leftOut.push(`${path}: ${byteLength(text) - byteLength(shown)} of ${byteLength(text)} bytes`);
    return shown === '' ? [] : [`## ${path} (beginning)\n\n${fenced(shown)}`];
  });
}

/** Whole lines, so that no table row or sentence ends in the middle. */
function cutBytes(text: string, bytes: number): string {
  let used = 0;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    used += byteLength(line) + 1;
    if (used > bytes) break;
    lines.push(line);
  }
  return lines.join('\n');
}
