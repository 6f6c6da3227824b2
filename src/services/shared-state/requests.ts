import { BmadError, ours } from '../../base/errors.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { t } from '../../base/text/message.ts';
import type { SharedProject } from '../../lines/database.ts';
import type { KeptRequest, RequestKey, RequestPlace } from '../../model/client.ts';

/** Who has a key says so again and again; one that has been silent for longer was cut. */
const HELD_MS = 5_000;
const SILENT = '15 seconds';
const KEPT = '24 hours';

/** Calls that may be made again, as rows that all servers of a team see. */
export class RequestRows implements RequestPlace {
  readonly #opened: () => Promise<SharedProject>;

  constructor(opened: () => Promise<SharedProject>) {
    this.#opened = opened;
  }

  async alone<T>(request: RequestKey, work: (kept: KeptRequest | undefined) => Promise<T>): Promise<T> {
    const kept = await this.#held(request);
    const beat = setInterval(() => void this.#set(request, 'held = now()').catch(() => undefined), HELD_MS);
    try {
      return await work(kept);
    } finally {
      clearInterval(beat);
      await this.#set(request, 'held = null').catch(ours(() => undefined));
    }
  }

  async #held({ caller, key }: RequestKey): Promise<KeptRequest | undefined> {
    const { database, id } = await this.#opened();
    const values = [id, caller, key];
    await database.query('delete from bmad.request where project = $1 and until < now()', [id]);
    const [row] = await database.query<{ answer: string | null }>(
      `insert into bmad.request as known (project, caller, key, held, until)
      values ($1, $2, $3, now(), now() + interval '${KEPT}')
      on conflict (project, caller, key) do update set held = now()
      where known.held is null or known.held < now() - interval '${SILENT}' returning answer`,
      values,
    );
    if (row === undefined)
      throw new BmadError('conflict', t`A call with this idempotency key is under way.`, {
        reason: 'locked',
      });
    return row.answer === null ? undefined : (jsonObject(row.answer) as KeptRequest | undefined);
  }

  keep(request: RequestKey, kept: KeptRequest): Promise<void> {
    return this.#set(request, 'answer = $4', JSON.stringify(kept));
  }

  async remove({ caller, key }: RequestKey): Promise<void> {
    const { database, id } = await this.#opened();
    await database.query('delete from bmad.request where project = $1 and caller = $2 and key = $3', [
      id,
      caller,
      key,
    ]);
  }

  async #set({ caller, key }: RequestKey, change: string, ...more: string[]): Promise<void> {
    const { database, id } = await this.#opened();
    await database.query(
      `update bmad.request set ${change} where project = $1 and caller = $2 and key = $3`,
      [id, caller, key, ...more],
    );
  }
}
