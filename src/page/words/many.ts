/** In French, none and one are singular. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count > 1 ? more : one}`;
