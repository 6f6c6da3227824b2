import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contractSession, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { receiptShow, runCompletionContract } from './completion.ts';

const project = (script: string): Record<string, string> => ({ [SCRIPT_PATH]: script });

describe.skipIf(process.platform === 'win32')('the verdict of a contract', () => {
  it('names the failing test among 600 first, and the file with all of the output (J-E2)', async () => {
    const tests = `for i in $(seq 1 600); do
  if [ $i = 300 ]; then printf "not ok 300 - number 300\\n  ---\\n  error: 'boom'\\n  ...\\n"
  else printf "ok $i - number $i\\n  ---\\n  duration_ms: 0.1\\n  ...\\n"; fi
done; printf '# tests 600\\n# pass 599\\n# fail 1\\n'\n`;
    const session = await contractSession(
      onTestFinished,
      project(`${tests}echo "CC FAIL — [typescript] — 2026-01-01 00:00:00"; exit 1\n`),
    );
    const { data, answer } = await session.ok(runCompletionContract);
    expect(data).toMatchObject({
      status: 'FAIL',
      counts: '600 tests, 599 pass, 1 fail',
      failures: "not ok 300 - number 300\n  ---\n  error: 'boom'\n  ...",
    });
    const [before = '', after = ''] = answer.body.split('not ok 300 - number 300');
    expect(before.split('\n')).toHaveLength(5);
    expect(after).toContain('ok 600 - number 600');
    expect(answer.body.length).toBeLessThan(4_500);
    expect(answer.body).toMatch(/All of the output \(2404 lines\) is in .*logs.cc-000001\.log\.$/);
    const kept = await readFile(String(data['output_file']), 'utf8');
    expect(kept.match(/^(?:not )?ok /gm)).toHaveLength(600);
    expect((await session.ok(runCompletionContract)).data['hints']).not.toContain('Files changed');
    // It is read again later, as long as the output is kept.
    const shown = await session.ok(receiptShow, { id: 'cc-000001' });
    expect(shown).toMatchObject({
      failed: true,
      data: { receipt: { status: 'FAIL' }, failures: data['failures'], output_lines: 2404 },
    });
    expect((await session.ok(receiptShow)).data['receipt']).toMatchObject({ id: 'cc-000002' });
    expect((await session.fail(receiptShow, { id: '../../state' })).code).toBe('not_found');
  });

  it('shows with PASS the end of the output where it names neither steps nor tests', async () => {
    const pass = 'echo "CC PASS — [x] — 2026-01-01 00:00:00"\n';
    const uncounted = await contractSession(
      onTestFinished,
      project(`seq 1 1000; echo "read 0 lines"; ${pass}echo LAST\n`),
    );
    const shown = (await uncounted.ok(runCompletionContract)).data['output'];
    expect(shown).toMatch(/\nread 0 lines\nCC PASS .*\nLAST$/);
    expect(String(shown).length).toBeLessThanOrEqual(300);
    const counted = await contractSession(
      onTestFinished,
      project(`printf 'ok 1 - a\n# tests 1\n# pass 1\n# fail 0\n'; ${pass}`),
    );
    expect((await counted.ok(runCompletionContract)).data).toMatchObject({
      output: '',
      counts: '1 tests, 1 pass',
    });
  });

  it.each(['2026-11-17', '2026-11-17 09:30', '2026-11-17T09:30:00Z'])(
    'takes %s for the time of a verdict (B-08)',
    async (time) => {
      const session = await contractSession(
        onTestFinished,
        project(`echo "✅ CC PASS — [typescript] — ${time}"\n`),
      );
      expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    },
  );

  it('bears a line without an end', async () => {
    const session = await contractSession(
      onTestFinished,
      project(`head -c 4000000 /dev/zero | tr '\\0' 'x'\n`),
    );
    expect((await session.ok(runCompletionContract)).data['status']).toBe('NOT_VERIFIED');
  });
});
