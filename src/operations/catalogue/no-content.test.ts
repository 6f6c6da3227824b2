import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { activate } from '../activation/activate.ts';
import { next } from '../project/next.ts';
import { doctor } from '../server/doctor.ts';

describe.each(['local', 'user', 'strict'])(
  'without content, with discovery "%s" (A-4)',
  async (discovery) => {
    const folder = await temporaryFolder(afterAll);
    const session = await openSession(afterAll, { flags: { project: folder, discovery } });
    const said = `No BMAD content was found: discovery is "${discovery}", so only `;

    it.each([
      ['architect', 'agent'],
      ['prd', 'workflow'],
    ])('the start of %s says so, and names no list', async (name, kind) => {
      const error = await session.fail(activate, { name, kind });
      expect(error.code).toBe('not_found');
      expect(error.hint).toContain(said);
      expect(error.steps).toEqual([{ operation: 'doctor', why: 'See why' }]);
    });

    it('next says so first', async () => {
      const { answer } = await session.ok(next);
      expect(answer.body.startsWith(said)).toBe(true);
    });

    it('doctor warns of it', async () => {
      const { data, answer } = await session.ok(doctor, { handshake: false });
      expect(data['warnings']).toContainEqual(expect.stringContaining(said));
      expect(answer.note).toBe('It works; see the warnings above.');
    });
  },
);
