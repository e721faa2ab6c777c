import { createServer, type IncomingMessage } from 'node:http';
import { sha256 } from '../../services/common/kernel/hashes.ts';
import { closed, listening } from './listening.ts';

interface FakeWebdav extends AsyncDisposable {
  /** Address of the folder of the user. */
  readonly url: string;
  /** Texts by their path, `folder/name.md`; a folder exists while a file is in it. */
  readonly files: Map<string, string>;
  password: string;
}

const BASE = '/remote.php/dav/files/anna/';

/** A WebDAV server (RFC 4918) with one user, as Nextcloud answers: prefixes of the namespace, encoded names, tags, basic login. */
export async function startFakeWebdav(): Promise<FakeWebdav> {
  const files = new Map<string, string>();
  const state = { password: 'app-password' };
  const server = createServer((request, response) => {
    request.resume();
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname);
    const name = path.slice(BASE.length).replace(/\/$/, '');
    if (!isSignedIn(request, state.password)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="files"' }).end();
      return;
    }
    const text = files.get(name);
    const isFolder = path.startsWith(BASE) && (name === '' || childrenOf(files, name).length > 0);
    if (request.method === 'GET' && text !== undefined) {
      response.writeHead(200, { 'content-type': 'text/markdown', etag: tagOf(text) }).end(text);
    } else if (request.method === 'PROPFIND' && (isFolder || text !== undefined) && request.headers['depth'] === '1') {
      const listed = text === undefined ? [name, ...childrenOf(files, name)] : [name];
      const body = listed.map((one) => responseOf(one, files.get(one))).join('');
      response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' });
      response.end(`<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${body}</d:multistatus>`);
    } else response.writeHead(404).end();
  });
  const origin = await listening(server);
  return {
    url: `${origin}${BASE}`,
    files,
    get password() {
      return state.password;
    },
    set password(value) {
      state.password = value;
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

function isSignedIn({ headers: { authorization = '' } }: IncomingMessage, password: string): boolean {
  return authorization === `Basic ${Buffer.from(`anna:${password}`).toString('base64')}`;
}

function childrenOf(files: ReadonlyMap<string, string>, folder: string): readonly string[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const below = [...files.keys()].filter((name) => name.startsWith(prefix));
  return [...new Set(below.map((name) => `${prefix}${name.slice(prefix.length).split('/')[0]}`))];
}

function responseOf(name: string, text: string | undefined): string {
  const href = `${BASE}${name.split('/').map(encodeURIComponent).join('/')}${text === undefined && name !== '' ? '/' : ''}`;
  const facts =
    text === undefined
      ? '<d:resourcetype><d:collection/></d:resourcetype><d:getetag>"folder"</d:getetag>'
      : `<d:resourcetype/><d:getetag>${tagOf(text).replaceAll('"', '&quot;')}</d:getetag><d:getcontentlength>${Buffer.byteLength(text)}</d:getcontentlength>`;
  return `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${facts}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
}

function tagOf(text: string): string {
  return `"${sha256(text).slice(0, 16)}"`;
}
