/** The filters of Qdrant, on plain payloads. */

export interface FakePoint {
  id: string;
  vector: number[] | undefined;
  payload: Record<string, unknown>;
}

export interface FakeFilter {
  must?: FakeCondition[];
  should?: FakeCondition[];
  must_not?: FakeCondition[];
}

type FakeCondition = FakeFilter & {
  key?: string;
  match?: { value?: unknown; any?: unknown[] };
  range?: Record<'gt' | 'gte' | 'lt' | 'lte', string | number | undefined>;
  is_empty?: { key: string };
  has_id?: string[];
};

const valuesOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

export function holds(point: FakePoint, filter: FakeFilter | undefined | null): boolean {
  if (filter === undefined || filter === null) return true;
  const { must = [], should = [], must_not: not = [] } = filter;
  return (
    must.every((condition) => meets(point, condition)) &&
    (should.length === 0 || should.some((condition) => meets(point, condition))) &&
    !not.some((condition) => meets(point, condition))
  );
}

function meets(point: FakePoint, condition: FakeCondition): boolean {
  if (condition.is_empty !== undefined) return valuesOf(point.payload[condition.is_empty.key]).length === 0;
  if (condition.has_id !== undefined) return condition.has_id.includes(point.id);
  if (condition.key === undefined) return holds(point, condition);
  const values = valuesOf(point.payload[condition.key]);
  const { match, range } = condition;
  if (match !== undefined)
    return values.some((value) =>
      match.any === undefined ? value === match.value : match.any.includes(value),
    );
  if (range === undefined)
    throw new Error(`a condition that the fake does not know: ${JSON.stringify(condition)}`);
  return values.some((value) => {
    const place = placeOf(value);
    return (
      (range.gte === undefined || place >= placeOf(range.gte)) &&
      (range.gt === undefined || place > placeOf(range.gt)) &&
      (range.lte === undefined || place <= placeOf(range.lte)) &&
      (range.lt === undefined || place < placeOf(range.lt))
    );
  });
}

/** Times without a zone are UTC for Qdrant. */
function placeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const text = String(value);
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
}
