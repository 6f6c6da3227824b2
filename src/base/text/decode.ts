/** How the bytes of a text are to be read; Windows programs save UTF-16, with a mark at the beginning or without. */
export function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // Most letters of our languages have an empty byte then, always on the same side.
  const head = bytes.subarray(0, 200);
  if (head.length < 8 || !head.includes(0)) return 'utf-8';
  const zeros = [0, 1].map((side) => head.filter((byte, at) => at % 2 === side && byte === 0).length);
  const [even = 0, odd = 0] = zeros;
  const most = head.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : 'utf-8';
}

/** The text of a file. The mark of UTF-8 stays where that is asked for, so that what is delivered is what is on disk. */
export function decodeText(bytes: Uint8Array, keepsMark = false): string {
  const encoding = encodingOf(bytes);
  return new TextDecoder(encoding, { ignoreBOM: keepsMark && encoding === 'utf-8' }).decode(bytes);
}
