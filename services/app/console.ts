import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sha256 } from '../common/kernel/hashes.ts';
import { NOT_FOUND } from '../common/platform/http/error-reply.ts';
import type { Pages } from '../common/platform/http/pages.ts';
import type { Reply } from '../common/platform/http/route.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import { type ConsoleFiles, consoleFiles } from '../console/bundle.ts';

/** First part of the addresses that the console has pages for. */
const PAGES = new Set(
  ',ask,datasets,graph,sessions,skills,improve,activity,people,integrations,costs,settings,device,authorize,link-slack'.split(
    ',',
  ),
);

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Everything comes from this server; the layout of a graph runs in a worker made of a blob. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    'worker-src blob:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Serves the console. Its files are read, or made, when a browser first asks for it: a start takes no longer. */
export function createConsole(logger: Logger, load: () => Promise<ConsoleFiles> = consoleFiles): Pages {
  let loading: Promise<ConsoleFiles> | null = null;
  const files = (): Promise<ConsoleFiles> => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  return {
    async page(path) {
      const nonce = randomBytes(16).toString('base64');
      const status = PAGES.has(path.split('/')[1] ?? '') ? 200 : 404;
      const headers = { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' };
      try {
        const { page } = await files();
        return {
          status,
          text: page.replace('{{nonce}}', nonce),
          headers: { ...headers, 'content-security-policy': policy(nonce) },
        };
      } catch (error) {
        logger.warn('console.not_made', { error });
        return { status: 503, text: MISSING, headers };
      }
    },
    async asset(name, headers) {
      const content = (await files().catch(() => null))?.assets.get(name);
      const type = TYPES[extname(name)];
      return content === undefined || type === undefined ? NOT_FOUND : await assetReply(content, type, headers);
    },
  };
}

async function assetReply(content: Buffer, type: string, headers: Parameters<Pages['asset']>[1]): Promise<Reply> {
  const etag = `"${sha256(content, 'base64url').slice(0, 22)}"`;
  const lasting = { etag, vary: 'Accept-Encoding', 'cache-control': 'public, max-age=31536000, immutable' };
  if (headers['if-none-match'] === etag) return { status: 304, headers: lasting };
  if (/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))) {
    return { bytes: content, headers: { ...lasting, 'content-type': type, 'content-encoding': 'gzip' } };
  }
  return { bytes: await promisify(gunzip)(content), headers: { ...lasting, 'content-type': type } };
}

const MISSING = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Engram</title></head>
<body>
<h1>Engram is running, without its console</h1>
<p>The console could not be made from its sources. It needs the packages for development: run <code>npm ci</code> without <code>--omit=dev</code>, then open this page again. The container image has the console made already.</p>
<p>The log says what was wrong (<code>console.not_made</code>). The API works: <a href="/docs">its documentation</a>.</p>
</body>
</html>
`;
