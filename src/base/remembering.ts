/** Characters of all texts together: some megabytes. */
const MOST_CHARACTERS = 1_000_000;

/** A function of a text that is asked for the same texts again within one piece of work; the last few answers are kept. */
export function remembering<T>(make: (text: string) => T, most = 300): (text: string) => T {
  const known = new Map<string, T>();
  let characters = 0;
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    characters += text.length;
    if (known.size >= most || characters > MOST_CHARACTERS) {
      known.clear();
      characters = text.length;
    }
    const made = make(text);
    known.set(text, made);
    return made;
  };
}
