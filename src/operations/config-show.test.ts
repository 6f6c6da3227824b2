import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../tests/support/operations.ts';
import { configShow } from './config-show.ts';

describe('config_show', () => {
  it('shows each value with its source', async () => {
    const session = await openSession(afterAll, {
      flags: { pageSize: '7' },
      env: { BMAD_ANSWER_BYTES: '5000', BMAD_MAX_FILE_BYTES: 'abc' },
    });
    const { answer, data } = await session.ok(configShow);
    expect(data['settings']).toEqual([
      { name: 'project', value: '(not set)', from: 'default' },
      { name: 'logLevel', value: 'warn', from: 'default' },
      { name: 'answerBytes', value: '5000', from: 'environment BMAD_ANSWER_BYTES' },
      { name: 'pageSize', value: '7', from: 'flag --page-size' },
      { name: 'maxFileBytes', value: '10485760', from: 'default' },
    ]);
    expect(answer.body).toContain(`Project in use: ${session.folder} (the working directory)`);
    expect(answer.body).toMatch(
      /Warning: environment BMAD_MAX_FILE_BYTES: "abc" is not valid for max_file_bytes\./,
    );
  });
});
