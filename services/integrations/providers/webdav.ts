import { text } from 'node:stream/consumers';
import { engramError } from '../../common/kernel/errors.ts';
import type { SourceNetwork, SourceResponse } from '../../common/ports/source-network.ts';
import {
  type ChangePage,
  type Connector,
  type SourceAccess,
  SourceBusyError,
  type SourceLogin,
  SourceRevokedError,
  waitMsOf,
} from './connector.ts';
import { folderResources, slug, TOP } from './folder.ts';
import { type Node, xml } from './web.ts';

const MAX_LISTING_BYTES = 64 * 1024 * 1024;
const REVOKED = 'The server does not accept the user name and password any more. Connect it again.';
const REFUSED = 'The server does not accept the user name and password.';
const PROPERTIES =
  '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getetag/><getlastmodified/><getcontentlength/></prop></propfind>';

interface Entry {
  /** Path below the address, without a slash at its end; empty for the address itself. */
  readonly key: string;
  readonly isFolder: boolean;
  readonly size: number;
  readonly version: string;
}

interface Asked {
  readonly method: 'GET' | 'PROPFIND';
  readonly root: string;
  readonly path: string;
  readonly login: SourceLogin | undefined;
  readonly signal: AbortSignal;
}

/** A folder of a WebDAV server (Nextcloud, ownCloud, Apache, a NAS; RFC 4918), with the folders in it as resources. */
export function createWebdavConnector({
  network,
  maxBytes,
}: {
  readonly network: SourceNetwork;
  readonly maxBytes: number;
}): Connector {
  const { send, listFolder } = createClient({ network, maxBytes });
  return {
    provider: 'webdav',
    capabilities: {
      title: 'WebDAV',
      feeds: ['files'],
      selection: 'optional',
      takesLogin: true,
      accounts: 'of each user',
      everyMs: 900_000,
    },
    datasetName: ({ accountLabel }) => `webdav_${slug(accountLabel)}`,
    async connect(address, login) {
      const url = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`);
      if (url === null) throw engramError('InvalidRequestError', 'The address is not valid.');
      if (login !== undefined && url.protocol === 'http:' && !network.isListed(url.hostname)) {
        throw engramError('InvalidRequestError', 'A password goes over https:// only.');
      }
      const root = `${url.origin}${url.pathname.replace(/\/*$/, '/')}`;
      const entries = await listFolder({ root, path: '', login, signal: AbortSignal.timeout(30_000) }).catch(refused);
      if (entries === null) throw engramError('InvalidRequestError', 'There is no such folder on that server.');
      const label = login === undefined ? url.host : `${login.userName}@${url.host}`;
      const account = { accountId: root, label, scopes: [] };
      if (login === undefined) return { ...account, authType: 'none', metadata: {} };
      const tokens = { accessToken: login.password, refreshToken: null, expiresAt: null };
      return { ...account, authType: 'password', metadata: { user_name: login.userName }, tokens };
    },
    async list(access) {
      const entries = (await listFolder(await asking(access, ''))) ?? [];
      const folders = entries.filter(({ isFolder }) => isFolder).map(({ key }) => key);
      return folderResources('Files outside of folders', folders.toSorted());
    },
    async *changesSince(access, { resource }) {
      const waiting = [resource === TOP ? '' : resource];
      let total = 0;
      for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
        access.signal.throwIfAborted();
        const entries = await listFolder(await asking(access, folder));
        // A folder that was removed meanwhile is empty; the address itself is not taken for it.
        if (entries === null && folder === '') throw new Error('The folder is not on that server any more.');
        const files = (entries ?? []).filter(({ isFolder, size }) => !isFolder && size > 0);
        if (folder !== '') waiting.push(...(entries ?? []).filter(({ isFolder }) => isFolder).map(({ key }) => key));
        total += files.length;
        const present = files.map(({ key, version }) => ({ key, version }));
        const page: ChangePage = { present, gone: [], cursor: null, total };
        yield waiting.length === 0 ? { ...page, isWhole: true } : page;
      }
    },
    async fetch(access, { key, version }) {
      const asked = await asking(access, key);
      const answer = await send({ ...asked, method: 'GET' });
      if (answer.status !== 200) {
        answer.body.destroy();
        return null;
      }
      return {
        fileName: key.split('/').at(-1) ?? key,
        mimeType: null,
        content: answer.body,
        version: version ?? versionOf(answer.headers.etag, answer.headers['last-modified']),
        uri: new URL(key.split('/').map(encodeURIComponent).join('/'), asked.root).href,
      };
    },
  };
}

/** Requests to WebDAV servers. */
function createClient({ network, maxBytes }: { readonly network: SourceNetwork; readonly maxBytes: number }) {
  const send = async ({ method, root, path, login, signal }: Asked): Promise<SourceResponse> => {
    const url = new URL(path.split('/').map(encodeURIComponent).join('/'), root);
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'Engram' };
    if (login !== undefined) {
      const pair = Buffer.from(`${login.userName}:${login.password}`).toString('base64');
      headers['authorization'] = `Basic ${pair}`;
    }
    const listing = { depth: '1', 'content-type': 'application/xml; charset=utf-8' };
    const body = method === 'PROPFIND' ? { body: Buffer.from(PROPERTIES) } : {};
    if (method === 'PROPFIND') Object.assign(headers, listing, { 'content-length': String(PROPERTIES.length) });
    const limit = method === 'PROPFIND' ? MAX_LISTING_BYTES : maxBytes;
    const answer = await network.send(url, { method, headers, ...body, maxBytes: limit, signal });
    const { status } = answer;
    if (status === 200 || status === 207 || status === 404 || status === 410) return answer;
    answer.body.destroy();
    if (status === 401) throw new SourceRevokedError(REVOKED);
    if (status === 429 || status === 503) throw new SourceBusyError(waitMsOf(answer.headers['retry-after'], 60_000));
    const where = status >= 300 && status <= 399 ? `, and names ${answer.headers.location ?? 'no other place'}` : '';
    throw new Error(`${url.origin}${url.pathname} answers ${method} with status ${status}${where}`);
  };
  /** Entries of a folder; null: it is gone. */
  const listFolder = async (asked: Omit<Asked, 'method'>): Promise<readonly Entry[] | null> => {
    const answer = await send({ ...asked, method: 'PROPFIND', path: asked.path === '' ? '' : `${asked.path}/` });
    if (answer.status !== 207) {
      answer.body.destroy();
      if (answer.status !== 200) return null;
      throw new Error('The address is not one of a WebDAV server.');
    }
    const entries = await entriesOf(await text(answer.body), asked.root);
    return entries.filter(({ key }) => key !== asked.path && !key.split('/').at(-1)?.startsWith('.'));
  };
  return { send, listFolder };
}

/** What a request needs for a path of a connection. */
async function asking(access: SourceAccess, path: string): Promise<Omit<Asked, 'method'>> {
  const { connection, signal } = access;
  const { user_name: userName } = connection.metadata;
  const login = typeof userName === 'string' ? { userName, password: await access.token() } : undefined;
  return { root: connection.accountId, path, login, signal };
}

/** Errors of the first request are those of what the person typed. */
function refused(error: unknown): never {
  if (error instanceof SourceRevokedError) throw engramError('InvalidRequestError', REFUSED, { cause: error });
  if (error instanceof SourceBusyError)
    throw engramError('InvalidRequestError', 'The server is busy. Try again later.');
  if (error instanceof Error && error.name === 'Error') {
    throw engramError('InvalidRequestError', `The server cannot be read: ${error.message}`, { cause: error });
  }
  throw error;
}

/** Reads a multi-status answer (RFC 4918, 9.1). Names are those of the path below the root. */
async function entriesOf(body: string, root: string): Promise<readonly Entry[]> {
  const base = new URL(root);
  return named(await xml(body), 'response').flatMap((response): readonly Entry[] => {
    const [href] = named(response, 'href');
    const path = URL.parse(href?.textContent?.trim() ?? '', root)?.pathname ?? '';
    if (!path.startsWith(base.pathname)) return [];
    const key = decoded(path.slice(base.pathname.length).replace(/\/+$/, ''));
    if (key === null) return [];
    const property = (name: string) => named(response, name)[0]?.textContent?.trim() || undefined;
    const size = Number(property('getcontentlength') ?? 0);
    const version = versionOf(property('getetag'), `${property('getlastmodified') ?? ''}:${size}`);
    return [{ key, isFolder: named(response, 'collection').length > 0, size, version }];
  });
}

/** Descendants with a local name: servers choose the prefixes of the namespace. */
function named(node: Node, name: string): readonly Node[] {
  return [...node.children].flatMap((child) => {
    const isIt = child.tagName.toLowerCase().split(':').at(-1) === name;
    return isIt ? [child] : named(child, name);
  });
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

function versionOf(etag: string | undefined, otherwise: string | undefined): string {
  return etag ?? otherwise ?? '';
}
