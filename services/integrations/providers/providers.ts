import { HttpError } from '../../common/platform/http/http-error.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { Connector } from './connector.ts';

/** Providers of the contract and our own, in the order of the answers; those without a connector are not configured, or not built. */
export const PROVIDERS = [
  'folder',
  'github',
  'gmail',
  'google_calendar',
  'google_drive',
  'imap',
  'linear',
  'notion',
  's3',
  'slack',
  'web',
  'webdav',
];

/** Connections of a person's account of a Slack team to one of this server: disconnected as others are, and never synced. */
export const SLACK_MEMBER = 'slack_member';

/** 404 for a provider that there is not. */
export function requireProvider(provider: string): void {
  if (PROVIDERS.includes(provider) || provider === SLACK_MEMBER) return;
  throw new HttpError(404, { detail: `Unknown integration provider: '${provider}'` });
}

/** 503 for a provider that this server has no settings for. */
export function configuredConnector(
  { connectors }: Pick<SourceDependencies, 'connectors'>,
  provider: string,
): Connector {
  requireProvider(provider);
  const connector = connectors.get(provider);
  if (connector !== undefined) return connector;
  throw unconfigured(provider);
}

/** The same for people: 503 also for a provider that can be connected by a Dataset resource alone. */
export function connectableConnector(
  dependencies: Pick<SourceDependencies, 'connectors'>,
  provider: string,
): Connector {
  const connector = configuredConnector(dependencies, provider);
  if (isConnectable(connector)) return connector;
  throw unconfigured(provider);
}

export function isConnectable(connector: Connector | undefined): boolean {
  return connector?.oauth !== undefined || connector?.connect !== undefined;
}

export function unconfigured(provider: string): HttpError {
  return new HttpError(503, { detail: notConfigured(provider) });
}

export function notConfigured(provider: string): string {
  return `${provider} integration is not configured on this server.${remedy(provider)}`;
}

function remedy(provider: string): string {
  const settings = REMEDIES[provider];
  return settings === undefined ? '' : ` Set ${settings}, then start it again.`;
}

const REMEDIES: Readonly<Record<string, string>> = {
  folder: 'ACCEPT_LOCAL_FILE_PATH=true and COGNEE_ALLOWED_LOCAL_FILE_ROOTS to the folders that may be read',
  github:
    'GITHUB_APP_ID, GITHUB_APP_SLUG, GITHUB_APP_PRIVATE_KEY, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET, GITHUB_WEBHOOK_SECRET and ENGRAM_PUBLIC_URL',
  gmail: ofGoogle('GOOGLE_GMAIL'),
  google_calendar: ofGoogle('GOOGLE_CALENDAR'),
  google_drive: ofGoogle('GOOGLE_DRIVE'),
  linear: 'LINEAR_CLIENT_ID, LINEAR_CLIENT_SECRET, LINEAR_WEBHOOK_SECRET and ENGRAM_PUBLIC_URL',
  imap: 'ALLOW_HTTP_REQUESTS=true',
  slack: 'SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, SLACK_SIGNING_SECRET and ENGRAM_PUBLIC_URL',
  s3: 'ENGRAM_SOURCE_S3_ROOTS to the buckets that may be read, and their credentials',
  web: 'ALLOW_HTTP_REQUESTS=true',
  webdav: 'ALLOW_HTTP_REQUESTS=true',
};

function ofGoogle(prefix: string): string {
  return `${prefix}_CLIENT_ID, ${prefix}_CLIENT_SECRET, ${prefix}_STATE_SECRET and ENGRAM_PUBLIC_URL`;
}
