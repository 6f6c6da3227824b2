import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EmbeddingServer {
  url: string;
  /** Texts that were asked for. */
  asked: string[];
  /** What it answers with from now on: vectors of this length, or this status. */
  dim: number;
  status: number;
  /** How many more requests for several texts are answered; the others wait until this is raised by `admit`. */
  admit(requests: number): void;
  waiting(): number;
}

/** A server that speaks as Ollama and OpenAI do, and puts words into buckets. */
export async function embeddingServer(
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<EmbeddingServer> {
  let admitted = Infinity;
  const waiting: (() => void)[] = [];
  const state: EmbeddingServer = {
    url: '',
    asked: [],
    dim: 64,
    status: 200,
    waiting: () => waiting.length,
    admit(requests) {
      admitted = requests;
      while (admitted > 0 && waiting.length > 0) {
        admitted--;
        waiting.shift()?.();
      }
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { input: string[] };
      if (input.length > 1 && admitted-- <= 0) waiting.push(() => answerWith(input));
      else answerWith(input);
    });
    const answerWith = (input: string[]): void => {
      state.asked.push(...input);
      const vectors = input.map((text) => bucketed(text, state.dim));
      const answer = request.url?.endsWith('/api/embed')
        ? { embeddings: vectors }
        : { data: vectors.map((embedding, index) => ({ index, embedding })).toReversed() };
      response.writeHead(state.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(state.status === 200 ? answer : { error: 'no' }));
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onEnd(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return state;
}

/** Database words share a bucket, so that something is near in meaning without a word in common. */
function bucketed(text: string, dim: number): number[] {
  const vector = Array.from({ length: dim }, () => 0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const root = /^(?:postgres\w*|database|données|sql)$/.test(word) ? 'database' : word;
    let hash = 7;
    for (const char of root) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
    vector[hash % dim] = (vector[hash % dim] ?? 0) + 1;
  }
  return vector;
}
