/** Numbers that documents mention, by name. */
export type Figures = ReadonlyMap<string, number>;

const FIGURE = /(<!-- figure: (\S+) -->)([^<]*)(<!-- \/figure -->)/g;

/** 2,386: thousands are set apart. */
const written = (value: number): string => value.toLocaleString('en-GB');

/** The page with the numbers of today; a name that nothing measures is an error. */
export function figuresBrought(text: string, figures: Figures): string {
  return text.replace(FIGURE, (_, before: string, name: string, _now: string, after: string) => {
    const value = figures.get(name);
    if (value === undefined)
      throw new Error(`There is no figure "${name}". There are: ${[...figures.keys()].join(', ')}.`);
    return `${before}${written(value)}${after}`;
  });
}
