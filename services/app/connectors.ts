import type { Config } from '../common/platform/config/configuration.ts';
import { createSourceNetwork } from '../common/platform/fetch/source-network.ts';
import type { PageFetcher } from '../common/ports/documents.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { MonotonicClock } from '../common/ports/system.ts';
import type { Connector } from '../integrations/providers/connector.ts';
import { createFolderConnector } from '../integrations/providers/folder.ts';
import { createGithubConnector } from '../integrations/providers/github.ts';
import { createGmailConnector } from '../integrations/providers/gmail.ts';
import type { GoogleApp } from '../integrations/providers/google.ts';
import { createCalendarConnector } from '../integrations/providers/google-calendar.ts';
import { createDriveConnector } from '../integrations/providers/google-drive.ts';
import { createImapConnector } from '../integrations/providers/imap.ts';
import { createLinearConnector } from '../integrations/providers/linear.ts';
import { createNotionConnector, type NotionApp } from '../integrations/providers/notion.ts';
import { createS3Connector } from '../integrations/providers/s3.ts';
import { createSlackConnector, type SlackOptions } from '../integrations/providers/slack.ts';
import { createSlackApi, type SlackApi } from '../integrations/providers/slack-api.ts';
import { createWebConnector } from '../integrations/providers/web.ts';
import { createWebdavConnector } from '../integrations/providers/webdav.ts';

export function connectorsOf({
  config,
  fetcher,
  clock,
  logger,
}: {
  readonly config: Config;
  readonly fetcher: PageFetcher;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}): readonly Connector[] {
  const { acceptLocalFilePath, allowedLocalFileRoots: roots, uploadLimitBytes: maxBytes } = config;
  return [
    ...(acceptLocalFilePath && roots.length > 0 ? [createFolderConnector({ roots, maxBytes })] : []),
    ...(config.allowHttpRequests ? [createWebConnector({ fetcher, clock })] : []),
    githubOf(config),
    ...linearOf(config),
    ...googleOf(config),
    notionOf(config, logger),
    createSlackConnector({ api: slackApiOf(config), app: slackOptionsOf(config) }),
    ...s3Of(config),
    ...loginsOf(config),
  ];
}

/** Servers that a person names, with a login: on public addresses, or on hosts that the operator lists. */
function loginsOf({ allowHttpRequests, sourcePrivateHosts: privateHosts, uploadLimitBytes: maxBytes }: Config) {
  if (!allowHttpRequests) return [];
  const network = createSourceNetwork(privateHosts);
  return [createWebdavConnector({ network, maxBytes }), createImapConnector({ network, maxBytes })];
}

/** Without all settings of its app, it is connected with tokens alone. */
function githubOf(config: Config): Connector {
  const { githubAppId: appId, githubAppSlug: appSlug, githubAppPrivateKey: privateKey } = config;
  const { githubClientId: clientId, githubClientSecret: clientSecret, githubWebhookSecret: webhookSecret } = config;
  const frontendUrl = config.githubFrontendUrl ?? config.publicUrl;
  if (!appId || !appSlug || !privateKey || !clientId || !clientSecret || !webhookSecret || !frontendUrl) {
    return createGithubConnector({ webUrl: config.githubUrl, app: null });
  }
  const app = { appId, appSlug, privateKey, clientId, clientSecret, webhookSecret, frontendUrl };
  return createGithubConnector({ webUrl: config.githubUrl, app });
}

/** None unless all of its settings are there. */
function linearOf(config: Config): readonly Connector[] {
  const { linearClientId: clientId, linearClientSecret: clientSecret, linearWebhookSecret: webhookSecret } = config;
  const frontendUrl = config.linearFrontendUrl ?? config.publicUrl;
  const redirectUri = config.linearRedirectUri ?? callbackOf(config, 'linear');
  if (!clientId || !clientSecret || !webhookSecret || !frontendUrl || !redirectUri) return [];
  const { linearUrl: webUrl, linearResumeSync, linearResumeIntervalMs: retryMs } = config;
  const apiUrl = webUrl === 'https://linear.app' ? 'https://api.linear.app' : webUrl;
  const app = { clientId, clientSecret, webhookSecret, redirectUri, frontendUrl, webUrl, apiUrl };
  return [createLinearConnector({ ...app, ...(linearResumeSync ? { retryMs } : {}) })];
}

/** People sign in when all of the settings of a public integration are there; the secret of an internal one always serves. */
function notionOf(config: Config, logger: Logger): Connector {
  const { notionClientId: clientId, notionClientSecret: clientSecret, notionStateSecret: stateSecret } = config;
  const frontendUrl = config.notionFrontendUrl ?? config.publicUrl;
  const redirectUri = config.notionRedirectUri ?? callbackOf(config, 'notion');
  const isApp = clientId && clientSecret && stateSecret && frontendUrl && redirectUri;
  const app: NotionApp | '' | undefined = isApp && { clientId, clientSecret, stateSecret, frontendUrl, redirectUri };
  const { notionUrl: apiUrl, notionWebhookSecret: webhookSecret } = config;
  return createNotionConnector({
    apiUrl,
    logger,
    ...(app ? { app } : {}),
    ...(webhookSecret ? { webhookSecret } : {}),
  });
}

/** Undefined without a public address. */
function callbackOf({ publicUrl }: Config, provider: string): string | undefined {
  return publicUrl && `${publicUrl}/api/v1/integrations/${provider}/callback`;
}

/** Those whose settings are all there. */
function googleOf(config: Config): readonly Connector[] {
  const { publicUrl, googleUrl: url = null } = config;
  const { googleDriveMaxFileSizeMb: maxFileMb, googleDriveReadGroups: readsGroups } = config;
  const ids = [config.googleDriveClientId, config.gmailClientId, config.googleCalendarClientId];
  const open = (
    prefix: 'googleDrive' | 'gmail' | 'googleCalendar',
    provider: string,
    create: (app: GoogleApp) => Connector,
  ) => {
    const clientId = config[`${prefix}ClientId`];
    const clientSecret = config[`${prefix}ClientSecret`];
    const stateSecret = config[`${prefix}StateSecret`];
    const frontendUrl = config[`${prefix}FrontendUrl`] ?? publicUrl;
    const redirectUri = config[`${prefix}RedirectUri`] ?? callbackOf(config, provider);
    if (!clientId || !clientSecret || !stateSecret || !frontendUrl || !redirectUri) return [];
    const isShared = ids.filter((id) => id === clientId).length > 1;
    return [create({ clientId, clientSecret, stateSecret, frontendUrl, redirectUri, url, isShared })];
  };
  return [
    ...open('googleDrive', 'google_drive', (app) => createDriveConnector(app, { maxFileMb, readsGroups })),
    ...open('gmail', 'gmail', createGmailConnector),
    ...open('googleCalendar', 'google_calendar', createCalendarConnector),
  ];
}

function slackApiOf({ slackUrl }: Config): SlackApi {
  return createSlackApi({ apiUrl: `${slackUrl}/api/` });
}

/** None unless all of its settings are there. */
export function slackOptionsOf(config: Config): SlackOptions | null {
  const { slackClientId: clientId, slackClientSecret: clientSecret, slackSigningSecret: signingSecret } = config;
  const { publicUrl, slackUrl: webUrl, slackHistorySync: syncsHistory } = config;
  const redirectUri = config.slackRedirectUri ?? callbackOf(config, 'slack');
  const frontendUrl = config.slackFrontendUrl ?? publicUrl;
  if (!clientId || !clientSecret || !signingSecret || !redirectUri || !frontendUrl) return null;
  return {
    api: slackApiOf(config),
    clientId,
    clientSecret,
    signingSecret,
    redirectUri,
    frontendUrl,
    webUrl,
    syncsHistory,
  };
}

function s3Of(config: Config): readonly Connector[] {
  const { sourceS3Roots: roots, sourceS3Url: endpoint, sourceS3Region: region, uploadLimitBytes: maxBytes } = config;
  const { sourceS3AccessKey: accessKey, sourceS3SecretKey: secretKey } = config;
  if (roots.length === 0) return [];
  const credentials = accessKey && secretKey ? { accessKey, secretKey } : {};
  return [createS3Connector({ roots, region, maxBytes, ...credentials, ...(endpoint ? { endpoint } : {}) })];
}
