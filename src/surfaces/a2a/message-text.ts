import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { quoted } from '../../base/errors.ts';
import { fenced, oneLine } from '../../base/text/text.ts';

/** What a worker can read; the rest is refused rather than left out. */
const TEXTUAL = /^(?:text\/[\w.+-]+|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|toml))(?:\s*;.*)?$/i;
const OTHER_LETTERS = /;\s*charset\s*=\s*(?!"?(?:utf-?8|us-ascii)\b)/i;
const FILE_NAME = 200;

/** All that a message says as one text: files and data that are text are put in, each under its name. */
export function textOf({ parts }: Message): string {
  const text = parts
    .map(partText)
    .filter((part) => part.trim() !== '')
    .join('\n\n');
  if (text.trim() === '') throw new RequestMalformedError('The message has no text.');
  return text;
}

function partText({ content, filename, mediaType }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return fenced(JSON.stringify(content.value, null, 2), 'json');
    case 'raw':
      return fileText(content.value, oneLine(filename, FILE_NAME), mediaType);
    case 'url':
      throw new ContentTypeNotSupportedError(
        'Files at an address are not fetched. Send the text of the file in the message.',
      );
    case undefined:
      throw new RequestMalformedError('A message part has no text, data or file.');
  }
}

function fileText(bytes: Buffer, name: string, mediaType: string): string {
  const isText = mediaType === '' || (TEXTUAL.test(mediaType) && !OTHER_LETTERS.test(mediaType));
  if (!isText || bytes.includes(0))
    throw new ContentTypeNotSupportedError(
      `${quoted(mediaType === '' ? name : mediaType)} is not supported. Send UTF-8 text, JSON, XML, YAML or TOML.`,
    );
  return `${name === '' ? 'File' : name}:\n\n${fenced(decoded(bytes, name))}`;
}

/** A worker must get exactly the characters that were sent. */
function decoded(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const which = name === '' ? 'A file in the message' : quoted(name);
    throw new ContentTypeNotSupportedError(`${which} is not UTF-8 text.`);
  }
}
