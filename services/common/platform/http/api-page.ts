import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { NOT_FOUND } from './error-reply.ts';
import type { Reply } from './route.ts';

/** The page works without a network: everything it loads comes from this server. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>TITLE</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** Files of swagger-ui-dist that the page loads. */
const ASSETS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    'swagger-ui.css': 'text/css; charset=utf-8',
    'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
    'favicon-32x32.png': 'image/png',
  }),
);

/** The OpenAPI document for people: `/docs` and `/redoc`. */
export function createApiPage(title: string) {
  const html = PAGE.replace('TITLE', title.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
  return {
    page: (): Reply => ({
      text: html,
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
    }),
    async asset(name: string) {
      if (name === 'start.js') return file(Buffer.from(START), 'text/javascript; charset=utf-8');
      const type = ASSETS.get(name);
      if (type === undefined) return NOT_FOUND;
      return file(await readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))), type);
    },
  };
}

function file(content: Buffer, type: string): Reply {
  return { bytes: content, headers: { 'content-type': type, 'cache-control': 'public, max-age=86400' } };
}
