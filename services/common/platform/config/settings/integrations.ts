import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, secret, setting, text } = rowsOf('Integrations');

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
  githubFrontendUrl: address(
    'GITHUB_FRONTEND_BASE_URL',
    'Where the browser returns after an install: `<it>/integrations`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  ),
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
