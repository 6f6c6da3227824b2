'use strict';
// Starts the server of a Claude Desktop bundle. Its files are packed in parts, since Desktop passes over bundles with large
// files. They are unpacked once for each version, into a folder of the user's own, and run from there.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const { homedir } = require('node:os');
const { dirname, join } = require('node:path');
const { gunzipSync } = require('node:zlib');

const DIGEST = '@digest@';
const { env, pid, platform } = process;

const caches =
  platform === 'win32'
    ? env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local')
    : platform === 'darwin'
      ? join(homedir(), 'Library', 'Caches')
      : env.XDG_CACHE_HOME || join(homedir(), '.cache');
const above = join(caches, 'bmad-mcp-server', 'desktop');
const folder = join(above, DIGEST.slice(0, 16));
const whole = join(folder, 'unpacked');

function unpack() {
  const parts = join(__dirname, 'parts');
  const packed = Buffer.concat(
    fs
      .readdirSync(parts)
      .sort()
      .map((name) => fs.readFileSync(join(parts, name))),
  );
  if (createHash('sha256').update(packed).digest('hex') !== DIGEST)
    throw new Error('The bundle is damaged: install it again.');
  const all = gunzipSync(packed);
  const start = 4 + all.readUInt32BE(0);
  let at = start;
  const making = `${folder}.${pid}`;
  for (const [path, size] of JSON.parse(all.toString('utf8', 4, start))) {
    const file = join(making, path);
    fs.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(file, all.subarray(at, at + size));
    at += size;
  }
  fs.writeFileSync(join(making, 'unpacked'), DIGEST);
  // Another start may have been faster, which is as good; what an interrupted one has left is in the way.
  if (fs.existsSync(whole)) return fs.rmSync(making, { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(making, folder);
}

if (!fs.existsSync(whole) || fs.readFileSync(whole, 'utf8') !== DIGEST) unpack();
const program = join(folder, 'bmad-mcp-server.cjs');
process.argv[1] = program;
require(program);
