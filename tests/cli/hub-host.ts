// A host with the paths of the Hugging Face Hub, whose weights are on a second host, as those of the Hub are.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
/** Opens gated and private models. */
export const TOKEN = 'hf_secret';

/** How the second host sends the weights of a model. */
export type Sending = 'ranges' | 'whole' | 'truncated' | 'slow' | 'unavailable' | 'flaky' | 'expiring' | 'changing';

export interface HostedModel {
  files: Record<string, Buffer>;
  sending?: Sending;
  /** `closed`: gated, and the account of the token has not accepted its terms. */
  access?: 'public' | 'gated' | 'closed' | 'private';
}

export interface Asked {
  /** Of both hosts. */
  host: 'hub' | 'store';
  path: string;
  /** First and last byte. */
  range: [number, number] | null;
  token: string;
}

export interface HubHost {
  endpoint: string;
  store: string;
  /** All requests so far. */
  asked: Asked[];
  close(): void;
}

/** Starts both hosts; models are named `owner/name`. */
export async function hostHub(models: Record<string, HostedModel>): Promise<HubHost> {
  const asked: Asked[] = [];
  const note = (host: Asked['host'], { url, headers }: IncomingMessage) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const range: Asked['range'] = first === undefined ? null : [Number(first), Number(last)];
    const request = { host, path: (url ?? '').split('?')[0], range, token: headers.authorization ?? '' };
    asked.push(request);
    return request;
  };

  /** Answers to requests for weights so far, by model or by signed address. */
  const counts = new Map<string, number>();
  const counted = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1).get(key)!;
  const store = await listen((request, response) => {
    const { path, range } = note('store', request);
    const [, name, file] = /^\/([^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const { files, sending = 'ranges' } = models[name];
    if (!files[file]) return response.writeHead(404).end();
    const count = counted(sending === 'expiring' ? (request.url ?? '') : name);
    send(response, files[file], range, sending, count);
  });

  let signatures = 0;
  const hub = await listen((request, response) => {
    const { path, token } = note('hub', request);
    const refuse = (status: number, code = '') =>
      response.writeHead(status, code ? { 'x-error-code': code } : {}).end();
    const [, ofApi, revision] = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/(.+)$/.exec(path) ?? [];
    const [, ofFile, commit, file] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path) ?? [];
    const name = ofApi ?? ofFile ?? '';
    const model = models[name];
    const knows = token === `Bearer ${TOKEN}`;
    if (token && !knows) return refuse(401);
    if (!model || (model.access === 'private' && !knows)) return refuse(knows ? 404 : 401, 'RepoNotFound');
    const isGated = model.access === 'gated' || model.access === 'closed';
    if (ofApi) {
      if (!['main', 'v1', 'step1000', 'step2000'].includes(revision!)) return refuse(404, 'RevisionNotFound');
      const siblings = Object.entries(model.files).map(([rfilename, { length }]) => ({ rfilename, size: length }));
      return response.end(JSON.stringify({ sha: COMMIT, gated: isGated && 'auto', siblings }));
    }
    if (isGated && !knows) return refuse(401, 'GatedRepo');
    if (model.access === 'closed') return refuse(403, 'GatedRepo');
    if (commit !== COMMIT || !model.files[file]) return refuse(404, 'EntryNotFound');
    if (file.endsWith('.json')) return response.end(model.files[file]);
    return response.writeHead(302, { location: `${store.address}/${name}/${file}?s=${++signatures}` }).end();
  });
  const close = () => [hub, store].forEach((it) => it.close());
  return { endpoint: hub.address, store: store.address, asked, close };
}

function send(response: ServerResponse, bytes: Buffer, range: Asked['range'], sending: Sending, count: number): void {
  if (sending === 'unavailable' || (sending === 'flaky' && count % 3 !== 0)) {
    response.writeHead(503).end();
    return;
  }
  // A signed address that may be used twice.
  if (sending === 'expiring' && count > 2) {
    response.writeHead(403).end('expired');
    return;
  }
  if (!range || sending === 'whole') {
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    return;
  }
  const [first, last] = [range[0], Math.min(range[1], bytes.length - 1)];
  const part = bytes.subarray(first, last + 1);
  const headers = {
    etag: sending === 'changing' ? `"${count}"` : '"1"',
    'content-length': part.length,
    'content-range': `bytes ${first}-${last}/${bytes.length}`,
  };
  response.writeHead(206, headers);
  if (part.length === 1 || !['truncated', 'slow'].includes(sending)) {
    response.end(part);
  } else {
    response.write(part.subarray(0, part.length / 2)); // and no more
    if (sending === 'truncated') setTimeout(() => response.destroy(), 20);
  }
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${port}`, close };
}
