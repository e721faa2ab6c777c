import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Reply } from './route.ts';

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 36rem; margin: 15vh auto 0; padding: 0 1rem }
h1 { font-size: 1.4rem } p { overflow-wrap: anywhere } small { opacity: .7 }`;

/** Whether a person in a browser opens the address. */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && acceptsPage(headers.accept);
}

/** Browsers ask for HTML first when they navigate, programs do not. */
export function acceptsPage(accept: string | undefined): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(accept ?? '');
}

/** The error answer as a page for people, with the same status and headers. */
export function errorPage(reply: Reply): Reply {
  const status = reply.status ?? 500;
  const title = STATUS_CODES[status] ?? 'Error';
  const message = messageOf(reply.json);
  const ways = status === 401 ? '<a href="/">Sign in</a>' : '<a href="/">Start page</a>';
  const text = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Engram</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>
<p>${escaped(status === 404 && message === title ? 'There is no such page on this server.' : message)}</p>
<p>${ways} · <a href="/docs">API documentation</a></p>
<small>${status}</small></main></body>
</html>
`;
  const { json: _json, ...rest } = reply;
  const headers = {
    ...rest.headers,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    vary: 'Accept, Origin',
  };
  return { ...rest, headers, text };
}

/** The message of the three error bodies of the contract: a text, a list of validation errors, error with detail. */
function messageOf(body: unknown): string {
  const { detail, error } = Object(body) as { readonly detail?: unknown; readonly error?: unknown };
  const details = Array.isArray(detail) ? detail.map((entry) => String((entry as { msg?: unknown }).msg)) : [detail];
  return [error, ...details].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
