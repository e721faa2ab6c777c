import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, flag, secret, setting, text } = rowsOf('Integrations');

const redirect = (prefix: string, provider: string) =>
  address(
    `${prefix}_REDIRECT_URI`,
    `Redirect URI as it is registered at ${provider}. Unset: \`<ENGRAM_PUBLIC_URL>/api/v1/integrations/${prefix.toLowerCase()}/callback\`.`,
  );
const frontend = (prefix: string) =>
  address(
    `${prefix}_FRONTEND_BASE_URL`,
    'Where the browser returns after an install: `<it>/integrations`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  );

/** Linear and Notion. */
export const integrationsNotes = {
  linearClientId: text('LINEAR_CLIENT_ID', 'Client id of the OAuth application by which workspaces of Linear connect.'),
  linearClientSecret: secret('LINEAR_CLIENT_SECRET', 'Its client secret.'),
  linearWebhookSecret: secret(
    'LINEAR_WEBHOOK_SECRET',
    'Signing secret of its webhooks, which go to `<public address>/api/v1/integrations/linear/events`; it also signs the state of installs.',
  ),
  linearRedirectUri: redirect('LINEAR', 'Linear'),
  linearFrontendUrl: frontend('LINEAR'),
  linearResumeSync: flag(
    'LINEAR_RESUME_SYNC_ENABLED',
    'true',
    'An import of Linear that did not bring in everything is repeated after LINEAR_RESUME_INTERVAL_SECONDS; `false`: with the next regular one, a quarter of an hour later.',
  ),
  linearResumeIntervalMs: setting('LINEAR_RESUME_INTERVAL_SECONDS', {
    type: type.secondsAsMs({ min: 60, max: 86_400 }),
    default: '600',
    meaning: 'Seconds after which such an import is repeated.',
  }),
  linearUrl: setting('ENGRAM_LINEAR_URL', {
    type: type.httpUrl(),
    default: 'https://linear.app',
    meaning: 'Address of Linear; with another one, such as a proxy, its API is asked there as well.',
  }),
  notionClientId: text(
    'NOTION_CLIENT_ID',
    'OAuth client id of a public integration of Notion. Without one, people connect with the secret of an internal integration.',
  ),
  notionClientSecret: secret('NOTION_CLIENT_SECRET', 'Its OAuth client secret.'),
  notionStateSecret: secret('NOTION_STATE_SECRET', 'Secret of your own that signs the state of installs.'),
  notionRedirectUri: redirect('NOTION', 'Notion'),
  notionFrontendUrl: frontend('NOTION'),
  notionWebhookSecret: secret(
    'NOTION_WEBHOOK_SECRET',
    'Verification token of its webhooks, which go to `<public address>/api/v1/integrations/notion/events`. While it is unset, the token that Notion sends is in the log, as `notion.webhook.verification`.',
  ),
  notionUrl: setting('ENGRAM_NOTION_URL', {
    type: type.httpUrl(),
    default: 'https://api.notion.com',
    meaning: 'Address of the API of Notion, or of a proxy of it.',
  }),
};
