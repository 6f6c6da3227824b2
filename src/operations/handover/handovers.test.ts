import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DELIVERY_FILES } from '../../../tests/support/delivery-project.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { inbox } from '../inbox/inbox.ts';
import type { InboxItem } from '../inbox/inbox.ts';
import { manageProject } from '../unified/action-tool.ts';
import {
  createDeliveryContract,
  deliveryAccept,
  deliveryList,
  deliveryReject,
  deliveryValidate,
} from './handovers.ts';

const given = { from_team: 'team-vision', to_team: 'Build', signed_by: 'Ada' };

async function opened(files: Readonly<Record<string, string>> = DELIVERY_FILES): Promise<MemorySession> {
  return memorySession(afterAll, { files });
}

const digestOf = async (session: MemorySession, contract_id: string): Promise<string> =>
  ((await session.ok(deliveryValidate, { contract_id })).data['contract'] as { digest: string }).digest;

describe('the answer to a contract', () => {
  async function made(): Promise<{ session: MemorySession; id: string; file: string }> {
    const session = await opened();
    const { data } = await session.ok(createDeliveryContract, { ...given, artefacts: ['docs/prd.md'] });
    const { contract_id: id, file } = data['contract'] as { contract_id: string; file: string };
    return { session, id, file: join(session.folder, file) };
  }

  it('is kept in the file, and what was agreed stays', async () => {
    const { session, id, file } = await made();
    await writeFile(file, `${await readFile(file, 'utf8')}\nA note by hand\n`);
    const digest = await digestOf(session, id);
    const { data } = await session.ok(deliveryAccept, { contract_id: id, by: 'Bob', digest });
    expect(data['contract']).toMatchObject({ status: 'accepted' });
    const text = await readFile(file, 'utf8');
    expect(text).toContain('- [x] ACCEPTÉ');
    expect(text).toContain('A note by hand');
    expect(text).toMatch(/Bob : accepté\n$/);
    await session.ok(deliveryAccept, { contract_id: id, digest: await digestOf(session, id) });
    expect(await readFile(file, 'utf8')).toBe(text);
    expect((await session.fail(deliveryReject, { contract_id: id, reason: 'too late' })).code).toBe(
      'conflict',
    );
  });

  it('is for the text that was read, and for no other that has taken its place', async () => {
    const { session, id, file } = await made();
    const digest = await digestOf(session, id);
    const { data } = await session.ok(inbox);
    const waiting = (data['items'] as InboxItem[]).find(({ kind }) => kind === 'contract');
    const accepting = waiting?.actions.find(({ operation }) => operation === 'delivery_accept');
    expect(accepting?.args).toEqual({ contract_id: id, digest });
    const changed = `${await readFile(file, 'utf8')}\n- and nights on call\n`;
    await writeFile(file, changed);
    const error = await session.fail(deliveryAccept, accepting?.args);
    expect(error).toMatchObject({ code: 'conflict', subject: id });
    expect(await readFile(file, 'utf8')).toBe(changed);
  });

  const edited = async (file: string, status: string): Promise<void> =>
    writeFile(file, (await readFile(file, 'utf8')).replace(/^status: .*$/m, status));

  async function waitingContracts(session: MemorySession): Promise<InboxItem[]> {
    const { items } = (await session.ok(inbox)).data as { items: InboxItem[] };
    return items.filter(({ kind }) => kind === 'contract');
  }

  it('is shown before it is given: without a digest nothing is accepted (X-09)', async () => {
    const { session, id, file } = await made();
    const before = await readFile(file, 'utf8');
    const { answer, failed, data } = await session.ok(deliveryAccept, { contract_id: id });
    expect([failed, data['accepted'], data['text']]).toEqual([true, false, before]);
    const { digest } = data['contract'] as { digest: string };
    expect(answer.steps).toMatchObject([{ operation: 'delivery_accept', args: { contract_id: id, digest } }]);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it.each([
    ['status: accepted', /was accepted elsewhere, not on this machine/],
    ['status: accepted-acceptance', /waits for an answer, and is not complete/],
    ['', /waits for an answer, and is not complete/],
  ])('is not given by a file that says "%s" (X-09)', async (status, title) => {
    const { session, id, file } = await made();
    await edited(file, status);
    expect((await waitingContracts(session)).map((item) => item.title)).toEqual([
      expect.stringMatching(title),
    ]);
    const { contracts } = (await session.ok(deliveryList)).data as { contracts: { status: string }[] };
    expect(contracts[0]?.status).not.toBe('accepted');
    if (status !== 'status: accepted') {
      const { answer } = await session.ok(deliveryValidate, { contract_id: id });
      expect(answer.body).toContain('so no one has answered it');
      return;
    }
    const told = await readFile(file, 'utf8');
    await session.ok(deliveryAccept, { contract_id: id, digest: await digestOf(session, id) });
    expect([await waitingContracts(session), await readFile(file, 'utf8')]).toEqual([[], told]);
  });

  it('is for the text that was accepted, also afterwards (X-09)', async () => {
    const { session, id, file } = await made();
    await session.ok(deliveryAccept, { contract_id: id, digest: await digestOf(session, id) });
    expect(await waitingContracts(session)).toEqual([]);
    const accepted = await readFile(file, 'utf8');
    await writeFile(file, accepted.replace('docs/prd.md', 'docs/other.md'));
    expect((await waitingContracts(session))[0]?.title).toContain('has changed since it was accepted here');
    await writeFile(file, accepted);
    expect(await waitingContracts(session)).toEqual([]);
  });

  it('holds though the process ended before it had told the file (X-09)', async () => {
    const { session, id, file } = await made();
    const before = await readFile(file, 'utf8');
    const digest = await digestOf(session, id);
    await session.ok(deliveryAccept, { contract_id: id, digest, by: 'Bob' });
    await writeFile(file, before);
    expect(await waitingContracts(session)).toEqual([]);
    await session.ok(deliveryAccept, { contract_id: id, digest, by: 'Bob' });
    expect(await readFile(file, 'utf8')).toContain('status: accepted');
  });

  it('is yes only from a person: the tool for models leads to the command', async () => {
    const { session, id, file } = await made();
    const before = await readFile(file, 'utf8');
    const args = { contract_id: id, by: 'operations' };
    const error = await session.fail(manageProject, { action: 'delivery_accept', args });
    expect(error).toMatchObject({ code: 'forbidden', steps: [{ operation: 'delivery_accept', args }] });
    expect(await readFile(file, 'utf8')).toBe(before);
    await session.ok(manageProject, { action: 'delivery_reject', args: { contract_id: id, reason: 'late' } });
    const { data } = await session.ok(deliveryList);
    expect(data['contracts']).toMatchObject([{ answered_by: 'l’équipe qui reçoit', reason: 'late' }]);
  });

  it('M-49: is told in the language of the contract', async () => {
    const { session, id, file } = await made();
    await session.ok(deliveryAccept, { contract_id: id, digest: await digestOf(session, id) });
    expect(await readFile(file, 'utf8')).toMatch(/, l’équipe qui reçoit : accepté\n$/);
    const english = await opened({
      ...DELIVERY_FILES,
      'project-context.yaml': 'project:\n  name: Shop\nuser:\n  language: English\n',
      '_bmad/_memory/shared-context.md': '# Context\n\n## Inter-Agent Requests\n',
    });
    const { data } = await english.ok(createDeliveryContract, { ...given, artefacts: ['docs/prd.md'] });
    const contract = data['contract'] as { contract_id: string; file: string };
    const { contract_id } = contract;
    await english.ok(deliveryAccept, { contract_id, digest: await digestOf(english, contract_id) });
    expect(await readFile(join(english.folder, contract.file), 'utf8')).toMatch(
      /, the team that receives it: accepted\n$/,
    );
  });

  it('is no while something is missing, and keeps its line ends', async () => {
    const { session, id, file } = await made();
    const windows = (await readFile(file, 'utf8')).replaceAll('\n', '\r\n').replace('prd.md`', 'gone.md`');
    await writeFile(file, windows);
    const digest = await digestOf(session, id);
    const error = await session.fail(deliveryAccept, { contract_id: id, digest });
    expect(error.hint).toContain('docs/gone.md does not exist');
    expect((await session.ok(deliveryValidate, { contract_id: id })).failed).toBe(true);
    await session.ok(deliveryReject, { contract_id: id, reason: 'no', renegotiate: true });
    const text = await readFile(file, 'utf8');
    expect(text).toContain('status: renegotiating\r\n');
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('reads what people and other tools have written', async () => {
    const session = await opened();
    const file = join(session.folder, '_bmad-output/contracts/build-to-ops-2026-02-01.md');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(
      file,
      '---\n# a comment\ncontract_id: "build-to-ops-2026-02-01"\nstatus: pending-acceptance\nfrom_team: build\nto_team: ops\n' +
        'date: 2026-02-01\nsigned_by: "{{name}}"\n---\n\n## Delivered Artefacts\n\n### Required\n\n- [ ] **PRD**\n  Path: `docs/prd.md`\n',
    );
    const { data } = await session.ok(deliveryValidate, { contract_id: 'build-to-ops-2026-02-01' });
    expect(data['findings']).toEqual([
      { level: 'error', message: '{{name}} has not been filled in.', line: 8 },
      { level: 'warning', message: 'No key decisions are listed.' },
    ]);
    const near = await session.fail(deliveryValidate, { contract_id: 'build-to-ops-2026-02-02' });
    expect(near.suggestions).toEqual(['build-to-ops-2026-02-01']);
  });
});

describe('a project without an output folder', () => {
  it('has no contracts, which is no error', async () => {
    const bare = await opened({});
    const { data, answer } = await bare.ok(deliveryList);
    expect(data['contracts']).toEqual([]);
    expect(answer.steps).toMatchObject([{ operation: 'create_delivery_contract' }]);
    expect((await bare.fail(deliveryValidate, { contract_id: 'x' })).code).toBe('not_found');
  });
});
