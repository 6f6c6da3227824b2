import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { once } from '../../../base/async.ts';
import { readInside } from '../../../base/files/files.ts';
import { refuseAsProblem } from '../../../base/http/http-refusals.ts';
import type { HttpRoute } from '../../../base/http/http-route.ts';

/** Everything there is, by its path: nothing that is asked for becomes the name of a file. */
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/page/page.css': ['page.css', 'text/css; charset=utf-8'],
};
const MOST_BYTES = 4_000_000;

/** Nothing but its own files and its own server; no text ever becomes markup or code. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

interface Kept {
  plain: Buffer;
  packed: Buffer;
  tag: string;
}

/** The files of the page. They say nothing about the project, so anyone may have them. */
export function pageFiles(folder: string): HttpRoute[] {
  const kept = new Map(
    Object.values(FILES).map(([file]) => [file, once(async () => read(folder, file))] as const),
  );
  const route = (path: string): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    open: true,
    refuse: refuseAsProblem,
    async handle({ request, path: asked }) {
      const [file, type] = FILES[asked] ?? [];
      const found =
        file === undefined
          ? undefined
          : await kept
              .get(file)?.()
              .catch(() => undefined);
      if (found === undefined || type === undefined)
        return refuseAsProblem(
          404,
          asked === '/' ? 'The page is not part of this build.' : 'There is no such file.',
        );
      const { plain, packed, tag } = found;
      const headers = {
        ...PAGE_HEADERS,
        'content-type': type,
        etag: tag,
        // The names stay the same from one version to the next.
        'cache-control': 'no-cache',
        vary: 'Accept-Encoding',
      };
      const known = request.headers.get('if-none-match')?.split(',') ?? [];
      if (known.some((each) => each.trim().replace(/^W\//, '') === tag))
        return new Response(null, { status: 304, headers });
      const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(
        request.headers.get('accept-encoding') ?? '',
      );
      const body = isPacked ? packed : plain;
      return new Response(request.method === 'HEAD' ? null : new Uint8Array(body), {
        headers: {
          ...headers,
          'content-length': String(body.length),
          ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
        },
      });
    },
  });
  return [route('/'), route('/page/*')];
}

async function read(folder: string, file: string): Promise<Kept> {
  const plain = await readInside(folder, file, MOST_BYTES);
  const packed = await promisify(gzip)(plain, { level: 9 });
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { plain, packed, tag };
}
