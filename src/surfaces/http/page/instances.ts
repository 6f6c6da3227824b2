import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { get } from 'node:http';
import { join } from 'node:path';
import * as z from 'zod';
import { systemCode } from '../../../base/errors.ts';
import { newId, processList } from '../../../base/files/file-state.ts';
import { type HttpRoute, refuseAsProblem } from '../../../base/http/http-route.ts';
import { jsonObject } from '../../../base/parse/json.ts';
import { socketPlace } from '../names.ts';

/** In the user's state folder. */
const FOLDER = 'instances';
const PATH = '/instance';
const ASK_MS = 5_000;
const SECRET_BYTES = 32;
const NONCE = /^[\w-]{43}$/;
/** An answer is a digest; a stranger may send anything. */
const LONGEST_ANSWER = 1_000;

const instanceSchema = z.object({
  /** Tells it from a later process with the same number, and is what links are made for. */
  id: z.string(),
  /** By this it proves that it is the one on the list. It is in the private file and nowhere else, and never travels. */
  secret: z.string(),
  pid: z.int(),
  origin: z.url(),
  /** The address that a proxy serves it under, perhaps beside others of its kind. */
  publicUrl: z.string().optional(),
  /** `page` is a server that was started for the page alone: it is for people, and for all projects of the user. */
  kind: z.enum(['serve', 'page']),
  /** Whether it has the page. */
  page: z.boolean(),
  roots: z.array(z.string()),
  started: z.string(),
  version: z.string(),
});
export type Instance = z.output<typeof instanceSchema>;

/** What an instance knows itself by. */
export type Identity = Pick<Instance, 'id' | 'secret'>;

export function newIdentity(): Identity {
  return { id: newId(), secret: randomBytes(SECRET_BYTES).toString('base64url') };
}

/** The servers over HTTP that a user runs on this machine. */
export function openInstances(state: string) {
  const list = processList(join(state, FOLDER), instanceSchema);
  return {
    running: list.running,
    /** Answers with how to take it off the list again. */
    add: (instance: Instance): Promise<() => Promise<void>> => list.add(instance, instance.id),
    /**
     * Those that have proven that they are the ones on the list, and those in whose place another program answers; these
     * are taken off it. `own` need not be asked.
     */
    async answering(own?: Identity): Promise<{ proven: Instance[]; strangers: Instance[] }> {
      const all = await list.found();
      const answers = await Promise.all(
        all.map(async ({ entry, remove }) => {
          const answer = entry.id === own?.id ? 'proven' : await asked(entry);
          if (answer === 'stranger' || answer === 'silence') await remove();
          return answer;
        }),
      );
      const those = (wanted: Answer): Instance[] =>
        all.filter((_, at) => answers[at] === wanted).map(({ entry }) => entry);
      return { proven: those('proven'), strangers: those('stranger') };
    },
  };
}

/** By which a program of the same user, which can read the list, finds out whether this is the instance on it. */
export function createProofRoute(own: Identity): HttpRoute {
  return {
    path: PATH,
    methods: ['GET', 'HEAD'],
    open: true,
    refuse: refuseAsProblem,
    async handle({ request, place }) {
      const nonce = new URL(request.url).searchParams.get('nonce') ?? '';
      if (!NONCE.test(nonce)) return refuseAsProblem(400, 'The argument nonce must have 43 characters.');
      const proof = proofOf(own, nonce, place).toString('base64url');
      return Response.json({ proof }, { headers: { 'cache-control': 'no-store' } });
    },
  };
}

/**
 * The place is part of it, as either side sees it from its own end of the connection: a program that passes the question on to the
 * real instance does so over another connection, to another place, and gets a proof for that.
 */
function proofOf({ id, secret }: Identity, nonce: string, place: string): Buffer {
  return createHmac('sha256', secret).update(`instance\n${id}\n${place}\n${nonce}`).digest();
}

/** `silent` may be there and busy; nothing is concluded from it, and no link is made for it. */
type Answer = 'proven' | 'stranger' | 'silence' | 'silent';

function asked(instance: Instance): Promise<Answer> {
  const nonce = randomBytes(SECRET_BYTES).toString('base64url');
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ASK_MS);
    const request = get(`${instance.origin}${PATH}?nonce=${nonce}`, { agent: false, signal }, (response) => {
      const { remoteAddress, remotePort } = response.socket;
      const wanted = proofOf(instance, nonce, socketPlace(remoteAddress, remotePort));
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.length > LONGEST_ANSWER) told('stranger');
      });
      response.on('error', () => told('silent'));
      response.on('end', () => {
        const proof = jsonObject(text)?.['proof'];
        const given = Buffer.from(typeof proof === 'string' ? proof : '', 'base64url');
        if (given.length === wanted.length && timingSafeEqual(given, wanted)) told('proven');
        else told(response.statusCode === 503 ? 'silent' : 'stranger');
      });
    });
    function told(answer: Answer): void {
      resolve(answer);
      request.destroy();
    }
    request.on('error', (error) => {
      const code = systemCode(error) ?? '';
      told(code === 'ECONNREFUSED' ? 'silence' : code.startsWith('HPE_') ? 'stranger' : 'silent');
    });
  });
}
