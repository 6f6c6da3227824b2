/** The forms an answer has: data for programs, the text that a person or a model reads. */
export const FORMS = ['application/json', 'text/markdown', 'text/plain'] as const;
export type Form = (typeof FORMS)[number];

/** The form that is wanted most; of equal ones the first of ours. Nothing, if none of them will do. */
export function wantedForm(accept: string | null): Form | undefined {
  if (accept === null || accept.trim() === '') return FORMS[0];
  const wanted = accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((piece) => piece.startsWith('q='))?.slice(2);
    return { range, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const best = FORMS.map((form) => ({ form, weight: weightOf(form, wanted) })).reduce((a, b) =>
    b.weight > a.weight ? b : a,
  );
  return best.weight > 0 ? best.form : undefined;
}

/** What says most about a form decides: `text/plain;q=0, *\/*` is everything but plain text. */
function weightOf(form: Form, wanted: readonly { range: string; weight: number }[]): number {
  const [kind] = form.split('/');
  for (const range of [form, `${kind}/*`, '*/*']) {
    const found = wanted.find((each) => each.range === range);
    if (found !== undefined) return found.weight;
  }
  return 0;
}
