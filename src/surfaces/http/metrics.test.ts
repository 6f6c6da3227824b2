import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { parseMetrics } from '../../../tests/support/prometheus.ts';
import { served } from '../../../tests/support/served.ts';
import type { Context } from '../../operations/context.ts';
import { doctor } from '../../operations/server/doctor.ts';
import { execute } from '../../operations/execute.ts';
import { list } from '../../operations/catalogue/list.ts';
import { createApiRoutes } from './api/route.ts';
import { catalogueFigures, createMetrics, type Metrics } from './health.ts';

const folder = await temporaryFolder(afterAll);
const plain = await contextIn(folder);

const NOBODY = { kind: 'anonymous', name: '' } as const;

async function textOf(metrics: Metrics, context: Context = plain): Promise<string> {
  const figures = { catalogue: () => catalogueFigures(context), sessions: () => 3 };
  const { origin } = await served(context, [metrics.route(figures)], onTestFinished);
  const response = await fetch(`${origin}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

describe('the metrics', () => {
  it('count the calls of operations, what failed and how long they took', async () => {
    const metrics = createMetrics();
    const context = { ...plain, observe: metrics.observe };
    const { origin } = await served(context, createApiRoutes(context), onTestFinished);
    for (const path of ['list', 'search?query=prd', 'search', 'read?target=nobody-has-this'])
      await (await fetch(`${origin}/api/${path}`)).text();
    const families = parseMetrics(await textOf(metrics, context));
    const calls = families.get('bmad_calls_total');
    expect(calls?.value({ operation: 'search' })).toBe(2);
    expect(calls?.value({ operation: 'list' })).toBe(1);
    const callers = families.get('bmad_caller_calls_total');
    expect(callers?.value({ operation: 'search', status: 'ok', caller: 'anonymous' })).toBe(1);
    expect(callers?.value({ operation: 'search', status: 'invalid_input', caller: 'anonymous' })).toBe(1);
    const errors = families.get('bmad_call_errors_total');
    expect(errors?.value({ operation: 'search', code: 'invalid_input' })).toBe(1);
    expect(errors?.value({ operation: 'read', code: 'not_found' })).toBe(1);
    expect(errors?.value({ operation: 'list', code: 'not_found' })).toBeUndefined();
    expect(families.get('bmad_catalogue_records')?.value({ kind: 'agent' })).toBe(5);
    expect(families.get('bmad_sessions')?.value({})).toBe(3);
    expect(families.get('bmad_build_info')?.value({ version: '0.1.0', node: process.version })).toBe(1);
  });

  it('count what lists show, and old names apart', async () => {
    const { workspace } = plain;
    const { winners } = (await workspace()).catalogue;
    const records = parseMetrics(await textOf(createMetrics())).get('bmad_catalogue_records');
    const listed = await execute(list, { what: 'workflows' }, plain, testCall());
    expect(listed).toMatchObject({ data: { total: records?.value({ kind: 'workflow' }) } });
    const told = await execute(doctor, { handshake: false }, plain, testCall());
    const [agents, workflows, skills] = ['agent', 'workflow', 'skill'].map((kind) =>
      records?.value({ kind }),
    );
    expect(told).toMatchObject({ data: { origins: [{ agents, workflows, skills }] } });
    const old = winners.filter(({ deprecated }) => deprecated !== undefined);
    expect(old.length).toBeGreaterThan(0);
    expect(records?.value({ kind: 'deprecated' })).toBe(old.length);
  });

  it('sort calls into buckets that add up', async () => {
    const metrics = createMetrics();
    for (const ms of [0.4, 1, 30, 120_000]) metrics.observe({ operation: 'a', ms, by: NOBODY });
    const histogram = parseMetrics(await textOf(metrics)).get('bmad_call_duration_seconds');
    const bucket = (le: string): number | undefined => histogram?.value({ operation: 'a', le });
    expect([bucket('0.001'), bucket('0.025'), bucket('0.05'), bucket('60'), bucket('+Inf')]).toEqual([
      2, 2, 3, 3, 4,
    ]);
  });

  it('are valid whatever operations are called, and do not grow without end', async () => {
    const metrics = createMetrics();
    metrics.observe({ operation: 'a"b\\c\nd', ms: 1, by: NOBODY });
    for (let count = 0; count < 1_000; count += 1)
      metrics.observe({ operation: `agent-${count}`, ms: 1, by: NOBODY });
    const calls = parseMetrics(await textOf(metrics)).get('bmad_calls_total');
    expect(calls?.value({ operation: 'a"b\\c\nd' })).toBe(1);
    expect(calls?.samples.length).toBe(301);
    expect(calls?.value({ operation: '(others)' })).toBe(701);
  });
});
