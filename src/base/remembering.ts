/** A function of a text that is asked for the same texts again within one piece of work; the last few answers are kept. */
export function remembering<T>(make: (text: string) => T, most = 300): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    if (known.size >= most) known.clear();
    const made = make(text);
    known.set(text, made);
    return made;
  };
}
