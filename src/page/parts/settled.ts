import { useEffect, useState } from 'preact/hooks';

/** What somebody types, once they pause: a search for each letter would be thrown away by the next. */
export function useSettled(text: string, ms = 150): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const pause = setTimeout(() => setSettled(text.trim()), ms);
    return () => clearTimeout(pause);
  }, [text, ms]);
  return settled;
}
