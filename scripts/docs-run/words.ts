/** Takes a command line apart as a shell does: words, single and double quotes, a comment at the end. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  const parts = /\s*(?:#.*$|((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+))/gy;
  for (const [, word] of line.trim().matchAll(parts))
    if (word !== undefined)
      words.push(
        word.replace(
          /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/g,
          (_, escaped?: string, single?: string, double?: string) =>
            escaped ?? single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1'),
        ),
      );
  return words;
}

/** A tool and its arguments as documents write them: `tool {name:"value"}`, or only the braces for `bmad`. */
export function callOf(line: string): { tool: string; args: Record<string, unknown> } {
  const [, tool = 'bmad', braces = ''] = /^(?:([a-z][\w-]*) +)?(\{.*\})$/.exec(line.trim()) ?? [];
  if (braces === '') throw new Error(`This is not a call: ${line}`);
  const strict = braces.replace(
    /"(?:[^"\\]|\\.)*"|([{,]\s*)([A-Za-z_]\w*)(?=\s*:)/g,
    (whole, before?: string, name?: string) => (name === undefined ? whole : `${before}"${name}"`),
  );
  return { tool, args: JSON.parse(strict) as Record<string, unknown> };
}
