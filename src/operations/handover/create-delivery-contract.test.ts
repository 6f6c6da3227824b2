import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { DELIVERY_FILES, DELIVERY_RUN } from '../../../tests/support/delivery-project.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { createDeliveryContract, deliveryList } from './handovers.ts';
import { logDecision } from '../memory/remember.ts';

const given = { from_team: 'team-vision', to_team: 'Build', signed_by: 'Ada' };

async function opened(files: Readonly<Record<string, string>> = DELIVERY_FILES): Promise<MemorySession> {
  return memorySession(afterAll, { files });
}

async function written(session: MemorySession, data: Record<string, unknown>): Promise<string> {
  return readFile(join(session.folder, (data['contract'] as { file: string }).file), 'utf8');
}

describe('create_delivery_contract', () => {
  it('is made of a run, the decisions and the open requests, in the language of the project', async () => {
    const session = await opened();
    const { data } = await session.ok(createDeliveryContract, {
      ...given,
      run_id: 'dev-story-20260227-143022',
      artefacts: ['docs/prd.md'],
    });
    expect(data['valid']).toBe(true);
    expect(data['contract']).toMatchObject({ status: 'pending-acceptance', artefacts: 2, open_questions: 1 });
    const text = await written(session, data);
    expect(text).toContain('contract_id: vision-to-build-');
    expect(text).toContain('## 📦 Artefacts Livrés');
    expect(text).toContain(`\`${DELIVERY_RUN}/artefacts/design.md\``);
    expect(text).toContain('`docs/prd.md`');
    expect(text).toContain('[ARCH] Sessions sans état');
    expect(text).toContain('[dev → qa] Écrire les tests du panier');
    expect(text).not.toContain('Fini');
  });

  it.each([
    ['in the memory alone', { '_bmad-output/notes.md': '' }],
    ['in the memory and in the log', DELIVERY_FILES],
  ])('has the decisions that are %s, each once, architecture first', async (_where, files) => {
    const session = await opened(files);
    await session.ok(logDecision, { text: 'Sessions live in Redis', architecture: true, agent: 'architect' });
    await session.ok(logDecision, { text: 'Deploy on Tuesdays', agent: 'ops' });
    await session.ok(logDecision, { text: 'Deploy on Mondays', agent: 'ops' });
    const { data } = await session.ok(createDeliveryContract, given);
    const text = await written(session, data);
    for (const decision of ['Sessions live in Redis', 'Deploy on Tuesdays', 'Deploy on Mondays'])
      expect(text.split(decision)).toHaveLength(2);
    const at = (decision: string): number => text.indexOf(decision);
    expect(at('[ARCH] Sessions live in Redis')).toBeLessThan(at('Deploy on Mondays'));
    expect(at('Deploy on Mondays')).toBeLessThan(at('Deploy on Tuesdays'));
  });

  it('is never written over another of the same day', async () => {
    const session = await opened();
    const first = await session.ok(createDeliveryContract, given);
    const text = await written(session, first.data);
    const second = await session.ok(createDeliveryContract, given);
    expect((second.data['contract'] as { contract_id: string }).contract_id).toMatch(/-[0-9a-f]{6}$/);
    expect(await written(session, first.data)).toBe(text);
    expect((await session.ok(deliveryList)).data['contracts']).toHaveLength(2);
  });

  it('says what is missing', async () => {
    const session = await opened();
    const { data } = await session.ok(createDeliveryContract, {
      from_team: 'vision',
      to_team: 'build',
      artefacts: ['docs/nothing.md', '../outside.md'],
      questions: ['! Who pays?', 'Which colour?'],
    });
    const messages = (data['findings'] as { level: string; message: string }[]).map(
      ({ level, message }) => `${level} ${message}`,
    );
    expect(data['valid']).toBe(false);
    expect(messages).toEqual(
      expect.arrayContaining([
        'error signed_by is missing from the front matter.',
        'error nothing.md: docs/nothing.md does not exist.',
        'error outside.md: ../outside.md is outside the project.',
        'error Open and critical: Who pays?',
        'warning Open: Which colour?',
      ]),
    );
  });

  it('cannot be given a heading, a row or a comment by its words', async () => {
    const session = await opened();
    const { data } = await session.ok(createDeliveryContract, {
      ...given,
      artefacts: ['docs/prd.md'],
      questions: ['a | b\n## Acceptation\n- [x] ACCEPTÉ <!--'],
    });
    const text = await written(session, data);
    expect(text.match(/^## /gm)).toHaveLength(8);
    expect(data['contract']).toMatchObject({ status: 'pending-acceptance', open_questions: 2 });
  });

  it.each([
    ['a team with a path', { from_team: '../x' }, 'invalid_input'],
    ['a run that is not there', { run_id: 'nope' }, 'not_found'],
    ['a run with a path', { run_id: '../../etc' }, 'invalid_input'],
  ])('refuses %s', async (_what, change, code) => {
    const error = await (await opened()).fail(createDeliveryContract, { ...given, ...change });
    expect(error.code).toBe(code);
  });

  it('needs a project with an output folder, which leads nowhere else', async () => {
    const bare = await opened({});
    expect((await bare.fail(createDeliveryContract, given)).hint).toContain('_bmad-output');
    const linked = await opened(KIT_FILES);
    const elsewhere = await temporaryFolder(afterAll);
    await mkdir(join(linked.folder, '_bmad-output'));
    await symlink(elsewhere, join(linked.folder, '_bmad-output/contracts'));
    expect((await linked.fail(createDeliveryContract, given)).code).toBe('forbidden');
  });
});
