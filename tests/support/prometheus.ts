/** One metric with all its samples, as the text format 0.0.4 has it. */
export interface Family {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
  /** Which samples there are already. */
  known: Set<string>;
  /** The value of the sample with exactly these labels. */
  value(labels: Record<string, string>): number | undefined;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(String.raw`^(${NAME})(?:\{(.*)\})? (\S+)$`, 's');
const SUFFIXES: Record<string, readonly string[]> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

/** Reads the text strictly and throws on the first thing that Prometheus would not take. */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const families = new Map<string, Family>();
  let current: Family | undefined;
  let name = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line);
    const type = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line);
    if (help !== null) {
      name = help[1] ?? '';
      if (families.has(name)) throw new Error(`${name} stands twice.`);
      current = family(help[2] ?? '');
      families.set(name, current);
    } else if (type !== null) {
      if (current === undefined || type[1] !== name || current.type !== '')
        throw new Error(`Out of place: ${line}`);
      current.type = type[2] ?? '';
    } else addSample(line, name, current);
  }
  for (const [each, found] of families) {
    if (found.type === '') throw new Error(`${each} has no type.`);
    if (found.type === 'histogram') checkHistogram(each, found);
  }
  return families;
}

function family(help: string): Family {
  const samples: Family['samples'] = [];
  const key = (labels: object): string =>
    JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    type: '',
    help,
    samples,
    known: new Set(),
    value: (labels) => samples.find((each) => key(each.labels) === key(labels))?.value,
  };
}

function addSample(line: string, name: string, current: Family | undefined): void {
  const found = SAMPLE.exec(line);
  if (found === null || current === undefined) throw new Error(`No sample: ${line}`);
  const [, sample = '', inside, written = ''] = found;
  const allowed = (SUFFIXES[current.type] ?? []).map((suffix) => name + suffix);
  if (!allowed.includes(sample)) throw new Error(`${sample} does not belong to ${name}.`);
  if (!/^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf|NaN)$/i.test(written)) throw new Error(`No number: ${line}`);
  const labels = labelsIn(inside ?? '');
  if (current.type === 'counter' && Number(written) < 0) throw new Error(`A counter below 0: ${line}`);
  const key = JSON.stringify([sample, labels]);
  if (current.known.has(key)) throw new Error(`The same sample twice: ${line}`);
  current.known.add(key);
  current.samples.push({ name: sample, labels, value: Number(written) });
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const found = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest);
    if (found === null) throw new Error(`No labels: ${text}`);
    const [whole, key = '', value = ''] = found;
    if (key in labels) throw new Error(`The label ${key} stands twice.`);
    labels[key] = value.replace(/\\(.)/g, (_escape, letter: string) => (letter === 'n' ? '\n' : letter));
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Buckets never fall, end with +Inf, and that one is the count. */
function checkHistogram(name: string, { samples }: Family): void {
  const series = new Map<string, { bounds: number[]; counts: number[] }>();
  const keyOf = ({ le: _le, ...labels }: Record<string, string>): string => JSON.stringify(labels);
  for (const { name: sample, labels, value } of samples.filter((each) => each.name === `${name}_bucket`)) {
    const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
    const known = series.get(keyOf(labels)) ?? { bounds: [], counts: [] };
    if (Number.isNaN(bound) || bound <= (known.bounds.at(-1) ?? Number.NEGATIVE_INFINITY))
      throw new Error(`${sample}: the bounds do not rise.`);
    if (value < (known.counts.at(-1) ?? 0)) throw new Error(`${sample}: the counts fall.`);
    known.bounds.push(bound);
    known.counts.push(value);
    series.set(keyOf(labels), known);
  }
  for (const { labels, value } of samples.filter((each) => each.name === `${name}_count`)) {
    const found = series.get(keyOf(labels));
    if (found?.bounds.at(-1) !== Number.POSITIVE_INFINITY || found.counts.at(-1) !== value)
      throw new Error(`${name}: the last bucket is not the count.`);
  }
}
