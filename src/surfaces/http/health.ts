import { refuseAsProblem } from '../../base/http/http-refusals.ts';
import type { HttpRoute } from '../../base/http/http-route.ts';
import type { Context } from '../../operations/context.ts';

/** How long to wait for the stores to respond. */
const STORE_MS = 2_000;
/** Balancers ask often; within this time they get the last answer about the stores. */
const STORE_KEPT_MS = 5_000;

/**
 * Whether the process is alive, and whether it is ready for work. Anyone may ask, so the answers are the same for every
 * project.
 */
export function createHealthRoutes(context: Context): HttpRoute[] {
  let content: 'is being read' | 'is read' | 'cannot be read' = 'is being read';
  let ending = false;
  let stores: { at: number; answer: Promise<boolean> } | undefined;

  /** Tried again at each question until it has worked once. */
  let reading: Promise<void> | undefined;
  function readContent(): void {
    reading ??= context.workspace().then(
      () => void (content = 'is read'),
      () => {
        content = 'cannot be read';
        reading = undefined;
      },
    );
  }
  readContent();

  function storesAnswer(): Promise<boolean> {
    if (stores === undefined || performance.now() - stores.at > STORE_KEPT_MS) {
      const late = new Promise<boolean>((resolve) => void setTimeout(resolve, STORE_MS, false).unref());
      stores = { at: performance.now(), answer: Promise.race([context.memoriesAnswer(), late]) };
    }
    return stores.answer;
  }

  async function reasons(): Promise<string[]> {
    if (content !== 'is read') readContent();
    return [
      ...(ending ? ['The server is shutting down.'] : []),
      ...(content === 'is read' ? [] : [`The content ${content}.`]),
      ...((await storesAnswer()) ? [] : ['The memory store is not responding.']),
    ];
  }

  const route = (path: string, handle: () => Promise<Response>): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    open: true,
    whileEnding: true,
    refuse: refuseAsProblem,
    handle,
  });
  return [
    route('/healthz', async () => statusResponse(200, { status: 'ok' })),
    {
      ...route('/readyz', async () => {
        const why = await reasons();
        return why.length === 0
          ? statusResponse(200, { status: 'ready' })
          : statusResponse(503, { status: 'not ready', reasons: why });
      }),
      ending() {
        ending = true;
      },
    },
  ];
}

function statusResponse(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
}
