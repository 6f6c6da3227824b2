import { visible, visibleLines } from '../../../base/text/hidden.ts';
import { placed } from '../../../base/text/text.ts';
import { PRODUCT, VERSION } from '../../../base/product.ts';
import type { Answers } from '../../../operations/registry.ts';

type NextData = Answers['next'];
type InboxData = Answers['inbox'];
type Evidence = NextData['drift'][number]['evidence'][number];

const LONGEST_TEXT = 20_000;

/** Board, next steps and inbox as one file that needs no script, no server and no other file. */
export function pageAsFile(next: NextData, inbox: InboxData, now: Date): string {
  const title = `${nameOf(next.project)}: board, next steps, inbox`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>${line(title)}</title>
<style>${CSS}</style>
</head>
<body>
<header><h1>${line(nameOf(next.project))}</h1>
<p>As of ${line(now.toISOString().slice(0, 16))} UTC, by ${line(PRODUCT)} ${line(VERSION)}. This is a copy: nothing can be decided here.</p></header>
<main>
${inboxSection(inbox)}
${nextSection(next)}
${boardSection(next)}
</main>
</body>
</html>
`;
}

function inboxSection({ items, unread }: InboxData): string {
  const shown = items.map(
    ({ kind, role, since, title, evidence, text }) => `<article>
<h3>${line(title)}</h3>
<p class="of">${[kind, role, since?.slice(0, 16)]
      .filter((part) => part !== undefined)
      .map(line)
      .join(' · ')}</p>
${evidenceList(evidence)}
<details><summary>Exact text</summary><pre>${lines(text.slice(0, LONGEST_TEXT))}${text.length > LONGEST_TEXT ? '\n…' : ''}</pre></details>
</article>`,
  );
  return section('Inbox', [
    ...(shown.length === 0 ? ['<p>Nothing waits for a person.</p>'] : shown),
    unreadList(unread.map(({ what, why }) => `${what}: ${why}`)),
  ]);
}

function nextSection({ phases, actions, drift, troubles }: NextData): string {
  return section('Next', [
    `<ul>${phases
      .map(
        ({ name, word, stories = word, evidence }) =>
          `<li><b>${line(name)}</b> ${line(stories)}${evidenceList(evidence.slice(0, 3))}</li>`,
      )
      .join('\n')}</ul>`,
    `<ol>${actions
      .map(
        ({ what, why, says, use, evidence }) =>
          `<li>${line(what)}${use === undefined ? '' : ` <code>${line(use)}</code>`}<br><small>${line(says === undefined ? why : `${why}: ${says}`)}</small>${evidenceList(evidence.slice(0, 3))}</li>`,
      )
      .join('\n')}</ol>`,
    drift.length === 0
      ? ''
      : `<h3>Where the project disagrees with itself</h3><ul>${drift.map(({ says }) => `<li>${line(says)}</li>`).join('')}</ul>`,
    unreadList(troubles.map((trouble) => `${placed(trouble)}: ${trouble.message}`)),
  ]);
}

function boardSection({ items = [], columns = {} }: NextData): string {
  if (items.every(({ column }) => column === undefined))
    return section('Board', ['<p>There are no stories yet.</p>']);
  const cards = (id: string): string =>
    items
      .filter(({ column }) => column === id)
      .map(
        ({ kind, id: own, title = own, evidence }) =>
          `<article><b>${line(title)}</b> <span class="of">${line(kind)}</span>${evidenceList(evidence.slice(0, 2))}</article>`,
      )
      .join('\n');
  return section('Board', [
    `<div class="board">${Object.entries(columns)
      .map(([id, name]) => `<section><h3>${line(name)}</h3>${cards(id)}</section>`)
      .join('\n')}</div>`,
  ]);
}

const section = (title: string, parts: readonly string[]): string =>
  `<section><h2>${title}</h2>\n${parts.filter((part) => part !== '').join('\n')}\n</section>`;

function evidenceList(evidence: readonly Evidence[]): string {
  if (evidence.length === 0) return '';
  const rows = evidence.map(
    ({ file, line: at, says }) =>
      `<li><code>${line(file)}${at === undefined ? '' : `:${at}`}</code> ${line(says)}</li>`,
  );
  return `<ul class="evidence">${rows.join('')}</ul>`;
}

function unreadList(problems: readonly string[]): string {
  if (problems.length === 0) return '';
  return `<h3>Could not be read</h3><ul>${problems.map((problem) => `<li>${line(problem)}</li>`).join('')}</ul>`;
}

const nameOf = (root: string): string => root.split(/[\\/]/).findLast((part) => part !== '') ?? root;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of others as text: no markup, and nothing hidden in it. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
const line = (text: string): string => escaped(visible(text));
const lines = (text: string): string => escaped(visibleLines(text));

const CSS = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:0 auto;padding:1rem}
h1{margin:0}h2{border-bottom:1px solid;margin-top:2rem}h3{margin:.6rem 0 .2rem;font-size:1rem}article{border:1px solid #8886;border-radius:4px;padding:.4rem .7rem;margin:.5rem 0;overflow-wrap:anywhere}
.of,small,.evidence{opacity:.8;font-size:.87rem}.of{margin:0}.evidence{margin:.2rem 0;padding-left:1.1rem}code,pre{font-family:ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere}
.board{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr))}.board h3{text-transform:capitalize}`;
