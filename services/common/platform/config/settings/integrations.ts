import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, flag, secret, setting, text } = rowsOf('Integrations');

const frontend = (prefix: string) =>
  address(
    `${prefix}_FRONTEND_BASE_URL`,
    'Where the browser returns after an install: `<it>/integrations`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  );

/** Providers that people connect; one whose settings are not all there is answered with 503. */
export const integrations = {
  githubAppId: text('GITHUB_APP_ID', 'Id of the GitHub App by which repositories are connected.'),
  githubAppSlug: text('GITHUB_APP_SLUG', 'Name of the app in its address: `https://github.com/apps/<slug>`.'),
  githubAppPrivateKey: secret('GITHUB_APP_PRIVATE_KEY', 'Private key of the app, as PEM; `\\n` stands for a line end.'),
  githubClientId: text('GITHUB_CLIENT_ID', 'Client id of the app.'),
  githubClientSecret: secret('GITHUB_CLIENT_SECRET', 'Client secret of the app.'),
  githubWebhookSecret: secret(
    'GITHUB_WEBHOOK_SECRET',
    'Secret of its webhooks, which go to `<public address>/api/v1/integrations/github/events`; it also signs the state of installs.',
  ),
  githubFrontendUrl: frontend('GITHUB'),
  githubUrl: setting('ENGRAM_GITHUB_URL', {
    type: type.httpUrl(),
    default: 'https://github.com',
    meaning: 'Address of a GitHub Enterprise Server.',
  }),
  sourcePrivateHosts: setting('ENGRAM_SOURCE_PRIVATE_HOSTS', {
    type: type.list(),
    default: '',
    meaning:
      'Hosts on private addresses that people may connect over WebDAV and IMAP, with commas between. Public ones they may always.',
  }),
  sourceS3Roots: setting('ENGRAM_SOURCE_S3_ROOTS', {
    type: type.list(),
    default: '',
    meaning:
      'Buckets, or folders of them, that people may connect: `s3://bucket/folder`, with commas between. Never the one that Engram keeps its files in.',
  }),
  sourceS3Url: address('ENGRAM_SOURCE_S3_URL', 'Endpoint of the S3-compatible server that they are on; unset for AWS.'),
  sourceS3Region: setting('ENGRAM_SOURCE_S3_REGION', {
    type: type.text(),
    default: 'us-east-1',
    meaning: 'Region of those buckets.',
  }),
  sourceS3AccessKey: text('ENGRAM_SOURCE_S3_ACCESS_KEY', "Access key; unset: the usual sources of AWS's libraries."),
  sourceS3SecretKey: secret('ENGRAM_SOURCE_S3_SECRET_KEY', 'The secret of that key.'),
};

const redirect = (prefix: string, provider: string) =>
  address(
    `${prefix}_REDIRECT_URI`,
    `Redirect URI as it is registered at ${provider}. Unset: \`<ENGRAM_PUBLIC_URL>/api/v1/integrations/${prefix.toLowerCase()}/callback\`.`,
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

/** One OAuth client per service of Google, or the same one for several. */
const ID = (title: string) => `Client id of the OAuth client by which ${title} is connected.`;
const SECRET = 'Client secret of that client.';
const STATE = 'Any long random text: it signs the state of installs.';
const googleRedirect = (provider: string) =>
  `Redirect address that the client has at Google. Unset: \`<public address>/api/v1/integrations/${provider}/callback\`, with ENGRAM_PUBLIC_URL.`;

/** Google Drive, Gmail and Google Calendar. */
export const googleIntegrations = {
  googleDriveClientId: text('GOOGLE_DRIVE_CLIENT_ID', ID('Google Drive')),
  googleDriveClientSecret: secret('GOOGLE_DRIVE_CLIENT_SECRET', SECRET),
  googleDriveStateSecret: secret('GOOGLE_DRIVE_STATE_SECRET', STATE),
  googleDriveRedirectUri: address('GOOGLE_DRIVE_REDIRECT_URI', googleRedirect('google_drive')),
  googleDriveFrontendUrl: frontend('GOOGLE_DRIVE'),
  googleDriveMaxFileSizeMb: setting('GOOGLE_DRIVE_MAX_FILE_SIZE_MB', {
    type: type.integer({ min: 1 }),
    default: '25',
    meaning: 'Larger files of Google Drive are left out.',
  }),
  googleDriveReadGroups: setting('GOOGLE_DRIVE_READ_GROUPS', {
    type: type.flag(),
    default: 'false',
    meaning:
      'Asks who connects Google Drive for a second scope, `cloud-identity.groups.readonly`, so that members of Google groups see what is shared with a group. The Cloud Identity API has to be enabled for the OAuth client.',
  }),
  gmailClientId: text('GOOGLE_GMAIL_CLIENT_ID', ID('Gmail')),
  gmailClientSecret: secret('GOOGLE_GMAIL_CLIENT_SECRET', SECRET),
  gmailStateSecret: secret('GOOGLE_GMAIL_STATE_SECRET', STATE),
  gmailRedirectUri: address('GOOGLE_GMAIL_REDIRECT_URI', googleRedirect('gmail')),
  gmailFrontendUrl: frontend('GOOGLE_GMAIL'),
  googleCalendarClientId: text('GOOGLE_CALENDAR_CLIENT_ID', ID('Google Calendar')),
  googleCalendarClientSecret: secret('GOOGLE_CALENDAR_CLIENT_SECRET', SECRET),
  googleCalendarStateSecret: secret('GOOGLE_CALENDAR_STATE_SECRET', STATE),
  googleCalendarRedirectUri: address('GOOGLE_CALENDAR_REDIRECT_URI', googleRedirect('google_calendar')),
  googleCalendarFrontendUrl: frontend('GOOGLE_CALENDAR'),
  googleUrl: address('ENGRAM_GOOGLE_URL', 'Stands in for every address of Google: that of a gateway to its APIs.'),
};

/** The Slack app by which workspaces are connected. */
export const slack = {
  slackClientId: text('SLACK_CLIENT_ID', 'Client id of the Slack app.'),
  slackClientSecret: secret('SLACK_CLIENT_SECRET', 'Client secret of the Slack app.'),
  slackSigningSecret: secret(
    'SLACK_SIGNING_SECRET',
    'Signing secret of the app, whose requests go to `<public address>/api/v1/slack/events`, `/slack/commands` and `/slack/interactive`; it also signs the state of installs and links of members.',
  ),
  slackRedirectUri: address(
    'SLACK_REDIRECT_URI',
    'Redirect URL of the app, exactly as it is registered. Unset: `<ENGRAM_PUBLIC_URL>/api/v1/integrations/slack/callback`.',
  ),
  slackFrontendUrl: address(
    'SLACK_FRONTEND_BASE_URL',
    'Where the browser returns after an install, and where members link their account: `<it>/link-slack`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  ),
  slackHistorySync: flag('SLACK_HISTORY_SYNC_ENABLED', 'true', 'Standing imports of channels start by themselves.'),
  slackUrl: setting('ENGRAM_SLACK_URL', {
    type: type.httpUrl(),
    default: 'https://slack.com',
    meaning: 'Address of Slack; `https://slack-gov.com` for GovSlack.',
  }),
};
