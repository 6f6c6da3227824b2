import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What never became a request, by the code of node's parser. */
const ANSWERS: Record<string, [status: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too long.'],
};

const BROKEN: [string, string] = ['400 Bad Request', 'Malformed HTTP request.'];

/** Answers what node could not read, or did not get in time, and cuts the connection. */
export function answerBrokenRequests(http: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  http.prependListener('request', (incoming, outgoing) => void latest.set(incoming.socket, outgoing));
  http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answering = latest.get(socket);
    const midAnswer = answering !== undefined && answering.headersSent && !answering.writableFinished;
    if (!socket.writable || midAnswer || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, detail] = ANSWERS[error.code ?? ''] ?? BROKEN;
    const number = Number(status.slice(0, 3));
    const body = JSON.stringify({ type: 'about:blank', title: status.slice(4), status: number, detail });
    const head = `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
  });
}
