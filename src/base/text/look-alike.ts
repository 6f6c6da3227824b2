/** Letters of other scripts that print like Latin ones, small letters only, and digits that do. */
const LIKE_LATIN: Readonly<Record<string, string>> = {
  a: 'аαɑạ',
  b: 'ьᖯƅ',
  c: 'сϲⅽ',
  d: 'ԁⅾɗ',
  e: 'еєҽẹ',
  f: 'ғƒ',
  g: 'ɡցģ',
  h: 'һհ',
  i: 'іιıɩỉ',
  j: 'јϳ',
  k: 'кκⲕ',
  l: 'ⅼӏ1|ן',
  m: 'мⅿ',
  n: 'ոпռη',
  o: 'оοօσ0ọ',
  p: 'рρⲣ',
  q: 'ԛգ',
  r: 'гᴦⲅ',
  s: 'ѕꜱʂ',
  t: 'тτ',
  u: 'սυц',
  v: 'ѵνⅴ',
  w: 'ԝաω',
  x: 'хχⅹ',
  y: 'уүγ',
  z: 'ᴢʐ',
  '-': '‐‑‒–—−_',
};

const LATIN = new Map(
  Object.entries(LIKE_LATIN).flatMap(([latin, others]) =>
    Array.from(others, (other) => [other, latin] as const),
  ),
);

/** What a name looks like: the same for two names that people take for each other. Accents are seen, so they count. */
export function looks(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase();
  return Array.from(plain, (char) => LATIN.get(char) ?? char)
    .join('')
    .replaceAll(/[\s.]+/g, '-');
}
