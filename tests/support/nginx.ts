import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository, temporaryFolder } from './app.ts';
import { debianProgram } from './debian.ts';

const run = promisify(execFile);
/** nginx of this machine, or Debian's own; nothing, where there is neither. */
export const nginxProgram = (): string | undefined => debianProgram('nginx', 'nginx-light');

export interface Balancer {
  url: string;
}

type OnEnd = (cleanUp: () => Promise<void>) => void;

/** The configuration that is shipped, before these two servers, on a free port; answers say which one gave them. */
export async function startBalancer(
  program: string,
  replicas: readonly [string, string],
  onEnd: OnEnd,
): Promise<Balancer> {
  const port = await freePort();
  await startNginx(program, port, onEnd, 'nginx.conf', [
    ['bmad-1:2623', replicas[0]],
    ['bmad-2:2623', replicas[1]],
    ['listen 8080;', `listen 127.0.0.1:${port}; add_header x-replica $upstream_addr always;`],
  ]);
  return { url: `http://127.0.0.1:${port}` };
}

/** The one for TLS, before one server, with a certificate of its own. */
export async function startTls(
  program: string,
  server: string,
  onEnd: OnEnd,
): Promise<Balancer & { ca: string }> {
  const folder = await temporaryFolder(onEnd);
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const asked = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject];
  await run('openssl', [...asked, '-keyout', key, '-out', certificate]);
  const port = await freePort();
  await startNginx(program, port, onEnd, 'nginx-tls.conf', [
    ['127.0.0.1:2623', server],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['/etc/letsencrypt/live/bmad.example.org/fullchain.pem', certificate],
    ['/etc/letsencrypt/live/bmad.example.org/privkey.pem', key],
  ]);
  return { url: `https://localhost:${port}`, ca: await readFile(certificate, 'utf8') };
}

async function startNginx(
  program: string,
  port: number,
  onEnd: OnEnd,
  name: string,
  changes: readonly (readonly [from: string, to: string])[],
): Promise<void> {
  const folder = await temporaryFolder(onEnd);
  const shipped = await readFile(join(repository, 'deploy', name), 'utf8');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  const places = ['http {', `http { access_log off; ${temporary.join(' ')}`] as const;
  const text = [...changes, places].reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`deploy/${name} has no "${from}"`);
    return before.replaceAll(from, to);
  }, shipped);
  const file = join(folder, 'nginx.conf');
  await writeFile(file, text);
  const args = ['-p', folder, '-c', file, '-e', 'stderr', '-g', `pid ${folder}/pid; daemon off;`];
  await run(program, ['-t', ...args]);
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  onEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await untilItListens(port, ended);
}

async function untilItListens(port: number, ended: Promise<void>): Promise<void> {
  let gone = false;
  void ended.then(() => (gone = true));
  const answers = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  while (!(await answers())) if (gone) throw new Error('nginx has ended');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
