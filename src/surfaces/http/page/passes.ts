import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { withLock } from '../../../base/files/file-lock.ts';
import { readState, writeAtomic } from '../../../base/files/file-state.ts';
import { jsonIn } from '../../../base/parse/json.ts';
import { digestOf } from '../gate.ts';

/** In the user's state folder, so that all servers of a user on a machine know the same people. */
const FILE = 'page-sessions.json';
const LOCK_WAIT_MS = 5_000;
const SECRET_BYTES = 32;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** A link is to be opened at once; a session ends even if it is used all the time. */
export const LINK_MS = 10 * MINUTE;
export const SESSION_MS = 7 * DAY;
/** That a session was used is noted so often, at most. */
const NOTED_MS = 10 * MINUTE;
/** For one more, the oldest goes. */
const MOST_LINKS = 20;
const MOST_SESSIONS = 50;
/** What a browser calls itself is only shown in a list. */
const LONGEST_AGENT = 120;

/** A link of an earlier version is for no server. */
const linkSchema = z.object({ digest: z.string(), until: z.number(), place: z.string().default('') });
const sessionSchema = z.object({
  id: z.string(),
  digest: z.string(),
  made: z.number(),
  used: z.number(),
  until: z.number(),
  agent: z.string(),
});
const fileSchema = z.object({
  version: z.literal(1),
  links: z.array(linkSchema),
  sessions: z.array(sessionSchema),
});

type Kept = z.output<typeof fileSchema>;
type KeptSession = z.output<typeof sessionSchema>;

/** A session of a person, without anything that would let somebody in. */
export type PersonSession = Omit<KeptSession, 'digest'>;

export type Passes = ReturnType<typeof openPasses>;

/**
 * What lets people in: links that work once and for a short time, and the sessions that came of them. The file has digests
 * only; it is read for each request, so that a session that is revoked by another process ends at once.
 */
export function openPasses(state: string, now: () => number = Date.now) {
  const file = join(state, FILE);

  async function read(): Promise<Kept> {
    const text = await readState(file);
    const { data } = fileSchema.safeParse(text === undefined ? undefined : jsonIn(text));
    // A file that is no such list lets nobody in; the next link begins it anew.
    const { links, sessions }: Kept = data ?? { version: 1, links: [], sessions: [] };
    const time = now();
    return {
      version: 1,
      links: links.filter(({ until }) => until > time),
      sessions: sessions.filter(({ until }) => until > time),
    };
  }

  function change<T>(work: (kept: Kept) => T): Promise<T> {
    return withLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
      const kept = await read();
      const result = work(kept);
      await writeAtomic(file, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
      return result;
    });
  }

  return {
    /** A new link's secret part. It is nowhere else, and works once, at the server that it is made for. */
    async link(place: string): Promise<{ key: string; until: number }> {
      const key = newSecret();
      const until = now() + LINK_MS;
      await change((kept) => {
        kept.links = [...kept.links, { digest: hexOf(key), until, place }].slice(-MOST_LINKS);
      });
      return { key, until };
    },

    /** Turns a link into a session; nothing, if there is no such link any more, or it is for none of these places. */
    async enter(
      key: string,
      agent: string,
      places: readonly string[],
    ): Promise<{ secret: string; session: PersonSession } | undefined> {
      const linkIn = ({ links }: Kept) =>
        links.find(({ digest, place }) => isSame(digest, key) && places.includes(place));
      if (linkIn(await read()) === undefined) return undefined;
      return change((kept) => {
        const link = linkIn(kept);
        if (link === undefined) return undefined;
        const secret = newSecret();
        const time = now();
        const session = {
          id: randomBytes(4).toString('hex'),
          made: time,
          used: time,
          until: time + SESSION_MS,
          agent: agent.slice(0, LONGEST_AGENT),
        };
        kept.links = kept.links.filter((each) => each !== link);
        kept.sessions = [...kept.sessions, { ...session, digest: hexOf(secret) }].slice(-MOST_SESSIONS);
        return { secret, session };
      });
    },

    async find(secret: string): Promise<PersonSession | undefined> {
      const { sessions } = await read();
      // All are compared, each in constant time: how long it takes says nothing about any of them.
      let found: KeptSession | undefined;
      for (const each of sessions) if (isSame(each.digest, secret)) found = each;
      if (found === undefined) return undefined;
      const session = withoutDigest(found);
      if (now() - session.used > NOTED_MS) await noteUse(session.id).catch(() => undefined);
      return session;
    },

    async isOpen(id: string): Promise<boolean> {
      return (await read()).sessions.some((each) => each.id === id);
    },

    /** The oldest first. */
    async list(): Promise<PersonSession[]> {
      return (await read()).sessions.map(withoutDigest);
    },

    /** Ends one session, or all of them and every link; answers with how many sessions ended. */
    revoke(id: string): Promise<number> {
      return change((kept) => {
        const left = id === 'all' ? [] : kept.sessions.filter((each) => each.id !== id);
        const ended = kept.sessions.length - left.length;
        kept.sessions = left;
        if (id === 'all') kept.links = [];
        return ended;
      });
    },
  };

  function noteUse(id: string): Promise<void> {
    return change(({ sessions }) => {
      for (const each of sessions) if (each.id === id) each.used = now();
    });
  }
}

/** What a page has to send beside the cookie: a browser sends cookies by itself, but never this. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('requests of the page').digest('base64url');
}

function withoutDigest({ digest: _digest, ...session }: KeptSession): PersonSession {
  return session;
}

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
const hexOf = (secret: string): string => digestOf(secret).toString('hex');

function isSame(hex: string, secret: string): boolean {
  const kept = Buffer.from(hex, 'hex');
  const given = digestOf(secret);
  return kept.length === given.length && timingSafeEqual(kept, given);
}
