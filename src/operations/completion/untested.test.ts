import { describe, expect, it, onTestFinished } from 'vitest';
import { contractSession, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { runCompletionContract } from './completion.ts';

describe.skipIf(process.platform === 'win32')('a contract script without tests', () => {
  it('proves nothing by its PASS, and says which stack was not tested beside another', async () => {
    const script = (more = ''): string =>
      `printf '▶ Stack : TypeScript\\n▶ npm test\\n# tests 0\\n  → tests OK\\n${more}'
echo "CC PASS — [typescript${more === '' ? '' : ', go'}] — 2026-01-01 00:00:00"
`;
    const run = async (text: string) =>
      (await (await contractSession(onTestFinished, { [SCRIPT_PATH]: text })).ok(runCompletionContract)).data;
    expect(await run(script())).toMatchObject({
      status: 'NOT_VERIFIED',
      reason: 'The script says PASS, but nothing was tested: node --test found no tests.',
      hints: [expect.stringContaining('add tests')],
    });
    expect(await run(script('▶ Stack : Go\\n▶ go test\\n  → tests OK\\n'))).toMatchObject({
      status: 'PASS',
      hints: ['typescript: node --test found no tests.'],
    });
  });
});
