import { say, t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { byteLength } from '../../base/text/text.ts';
import { refuseSecret, secretsOut } from '../../base/secrets/scanner.ts';

/** Shorter texts are removed by the tools that share the project's files. */
const SHORTEST = 10;
const LONGEST_BYTES = 100_000;

/** Control characters other than tab and line break; they end texts early in some stores and mean nothing here. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;
const HALF = /\p{Surrogate}/gu;

/**
 * A text as it may be kept: whole characters, no secrets, neither too short nor too long. The notes tell the caller what
 * was changed.
 */
export function cleanText(raw: string, hide: (text: string) => string): { text: string; notes: string[] } {
  if (byteLength(raw) > LONGEST_BYTES)
    throw new BmadError(
      'too_large',
      t`The text is ${byteLength(raw)} bytes long; a memory may be at most ${LONGEST_BYTES}.`,
      {
        subject: 'text',
        hint: t`Summarize what matters in a few sentences, and name the file it is in.`,
      },
    );
  const notes: string[] = [];
  let text = raw.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (CONTROL.test(text)) notes.push(t`Control characters were removed from the text.`);
  text = text.replace(CONTROL, '');
  if (HALF.test(text)) notes.push(t`Incomplete characters in the text were replaced.`);
  text = text.replace(HALF, '\uFFFD').trim();
  const { text: safe, found } = secretsOut(text, hide);
  if (found.length > 0) notes.push(t`Masked before storing: ${found.map((label) => say(label)).join(', ')}.`);
  if (characters(safe) < SHORTEST)
    throw new BmadError('invalid_input', t`The text ${quoted(safe)} has fewer than ${SHORTEST} characters.`, {
      subject: 'text',
      hint: t`Write a sentence that can be understood without this conversation.`,
    });
  return { text: safe, notes };
}

const AGENT_LENGTH = 100;

/** The name of an agent, which may become the name of a file. */
export function cleanAgent(raw: string): string {
  const agent = raw.normalize('NFC').trim();
  // First, because the other refusal repeats what was given.
  refuseSecret(agent, 'agent');
  const wrong =
    agent === '' ||
    characters(agent) > AGENT_LENGTH ||
    agent.startsWith('.') ||
    /[/\\:]|\.\.|[\p{C}\u2028\u2029]/u.test(agent);
  if (!wrong) return agent;
  throw new BmadError('invalid_input', t`${quoted(raw)} cannot be the name of an agent.`, {
    subject: 'agent',
    hint: t`Use a plain name such as "dev" or "architect", without slashes or leading dots.`,
  });
}

const TAG_LENGTH = 60;
const TAG_COUNT = 20;

/** Tags without repetitions. A grave accent would end a tag in the exported Markdown. */
export function cleanTags(raw: readonly string[]): string[] {
  const tags = [...new Set(raw.map((tag) => tag.normalize('NFC').trim()).filter((tag) => tag !== ''))];
  for (const tag of tags) refuseSecret(tag, 'tags');
  const wrong = tags.find((tag) => characters(tag) > TAG_LENGTH || /[`,\p{C}\u2028\u2029]/u.test(tag));
  if (wrong !== undefined)
    throw new BmadError('invalid_input', t`${quoted(wrong)} cannot be a tag.`, {
      subject: 'tags',
      hint: t`A tag has at most ${TAG_LENGTH} characters, and no commas or backticks.`,
    });
  if (tags.length <= TAG_COUNT) return tags;
  throw new BmadError(
    'invalid_input',
    t`A memory has at most ${TAG_COUNT} tags; ${tags.length} were given.`,
    {
      subject: 'tags',
      hint: t`Keep the ones someone would search for.`,
    },
  );
}

/** Code points, as other languages count. */
function characters(text: string): number {
  return Array.from(text).length;
}
